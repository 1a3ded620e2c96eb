#include "exact/options_choice.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace nearfield::test {
namespace {

bool floating(std::optional<dtype> type) { return type && *type >= dtype::float16; }

bool integral_spacing(int v) {
    const auto kind = static_cast<spacing_value>(v);
    return kind == spacing_value::none || kind == spacing_value::one || kind == spacing_value::integral ||
           kind == spacing_value::wide;
}

bool has_closed(int v) {
    const auto kinds = border_kinds(v);
    return std::find(kinds.begin(), kinds.end(), border::closed) != kinds.end();
}

/// True if power diagrams exclude a value: they take spacing, open or periodic ends and batch_axes only.
bool excluded_by_power(dim b, int vb) {
    switch (b) {
        case dim::rule: return vb != static_cast<int>(sites::nonzero);
        case dim::border: return has_closed(vb);
        case dim::squared: return vb != 0 && type_of(b, vb) != dtype::float64;
        case dim::weights: return vb == 0;
        case dim::sign:
        case dim::half_cell:
        case dim::limit:
        case dim::distance:
        case dim::trusted: return vb != 0;
        default: return false;
    }
}

bool excluded_by(dim a, int va, dim b, int vb) {
    if (a == dim::form && va == static_cast<int>(form_value::power)) return excluded_by_power(b, vb);
    if (a == dim::form) return b == dim::weights && vb != 0;
    if (a == dim::weights && va != 0) return b != dim::weights && excluded_by_power(b, vb);
    if (a == dim::rule && va == static_cast<int>(sites::other_labels))
        return b == dim::image && floating(static_cast<dtype>(vb));
    if (a == dim::border) return b == dim::axes && border_kinds(va).size() > static_cast<std::size_t>(vb) + 1;
    if (a == dim::distance && type_of(a, va) == dtype::boolean) return b == dim::sign && vb != 0;
    if (a != dim::squared || va == 0 || type_of(a, va) == dtype::float64) return false;
    if (b == dim::spacing) return !integral_spacing(vb);
    return !floating(type_of(a, va)) && (b == dim::sign || b == dim::half_cell) && vb != 0;
}

}  // namespace

const std::array<dimension, dims>& dimensions() {
    static const std::vector<const char*> layouts{"tight",      "contiguous", "reversed",
                                                  "transposed", "stepping",   "scrambled"};
    static const std::array<dimension, dims> list{{
        {"form", {"call", "list", "power"}},
        {"axes", {"1", "2", "3", "4", "5"}},
        {"batch", {"0", "1", "2", "3"}},
        {"rule", {"zero", "nonzero", "other_labels"}},
        {"sign", {"none", "inside_negative", "outside_negative"}},
        {"half_cell", {"off", "on"}},
        {"border",
         {"open", "closed", "periodic", "open+closed", "open+periodic", "closed+periodic", "open+closed+periodic"}},
        {"limit", {"none", "zero", "reached", "just_missed", "small", "wide"}},
        {"spacing", {"none", "one", "integral", "half", "third", "close", "stack", "wide", "huge", "same"}},
        {"image",
         {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64"}},
        {"image_layout", layouts},
        {"output_layout", layouts},
        {"content", {"zeros", "constant", "one_cell", "two_values", "many_labels", "blocks", "holes", "seeds"}},
        {"squared", {"none", "uint16", "uint32", "uint64", "float16", "float32", "float64"}},
        {"distance", {"none", "bool", "float16", "float32", "float64"}},
        {"index", {"none", "int32", "int64"}},
        {"coordinates", {"no", "yes"}},
        {"label", {"no", "yes"}},
        {"trusted", {"none", "bool", "uint8"}},
        {"weights",
         {"none", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"}},
        {"threads", {"1", "2", "3", "7"}},
    }};
    return list;
}

std::vector<border> border_kinds(int v) {
    static const std::vector<border> kinds[] = {
        {border::open},
        {border::closed},
        {border::periodic},
        {border::open, border::closed},
        {border::open, border::periodic},
        {border::closed, border::periodic},
        {border::open, border::closed, border::periodic},
    };
    return kinds[v];
}

std::optional<dtype> type_of(dim d, int v) {
    const std::string name = dimensions()[static_cast<std::size_t>(d)].values[static_cast<std::size_t>(v)];
    for (int t = 0; t < 12; ++t) {
        if (name == name_of(static_cast<dtype>(t))) return static_cast<dtype>(t);
    }
    return std::nullopt;
}

std::string text_of(const choice& c) {
    std::string text;
    for (std::size_t d = 0; d < dims; ++d) {
        text += (d > 0 ? " " : "") + std::string(dimensions()[d].name) + '=';
        text += dimensions()[d].values[c.value[d]];
    }
    return text;
}

bool excluded(dim a, int va, dim b, int vb) { return excluded_by(a, va, b, vb) || excluded_by(b, vb, a, va); }

namespace {

/// Makes one attempt; false if no value of some dimension fits those drawn before it.
bool try_draw(dice& random, const std::optional<value_pair>& wanted, choice& c) {
    std::vector<dim> drawn;
    const auto fits = [&](dim d, int v) {
        return std::none_of(drawn.begin(), drawn.end(), [&](dim other) { return excluded(d, v, other, c[other]); });
    };
    const auto set = [&](dim d, int v) {
        c.value[static_cast<std::size_t>(d)] = static_cast<std::uint8_t>(v);
        drawn.push_back(d);
    };
    if (wanted) set(wanted->a, wanted->va), set(wanted->b, wanted->vb);
    std::vector<dim> order;
    for (std::size_t d = 0; d < dims; ++d) order.push_back(static_cast<dim>(d));
    for (std::size_t k = dims; k > 2; --k)  // the form stays first: most other values decide it
        std::swap(order[k - 1], order[1 + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k) - 1))]);
    for (dim d : order) {
        if (std::find(drawn.begin(), drawn.end(), d) != drawn.end()) continue;
        std::vector<int> values;
        const auto count = static_cast<int>(dimensions()[static_cast<std::size_t>(d)].values.size());
        for (int v = 0; v < count; ++v) {
            if (!fits(d, v)) continue;
            values.push_back(v);
            if (d == dim::form && v == static_cast<int>(form_value::call)) values.insert(values.end(), 2, v);
        }
        if (values.empty()) return false;
        set(d, values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))]);
    }
    return true;
}

}  // namespace

choice draw(dice& random, const std::optional<value_pair>& wanted) {
    constexpr dim outputs[] = {dim::squared, dim::distance, dim::index, dim::coordinates, dim::label, dim::trusted};
    for (int attempt = 0; attempt < 10000; ++attempt) {
        choice c;
        if (!try_draw(random, wanted, c)) continue;
        if (std::any_of(std::begin(outputs), std::end(outputs), [&](dim d) { return c[d] != 0; })) return c;
    }
    throw std::logic_error("no case has the wanted pair of values; say in excluded() that there is none");
}

pair_table::pair_table() {
    for (std::size_t d = 0; d < dims; ++d) {
        first_[d] = values_;
        values_ += dimensions()[d].values.size();
    }
    pairs_.resize(values_ * values_);
}

std::size_t pair_table::at(dim a, int va, dim b, int vb) const {
    const std::size_t row = first_[static_cast<std::size_t>(a)] + static_cast<std::size_t>(va);
    return row * values_ + first_[static_cast<std::size_t>(b)] + static_cast<std::size_t>(vb);
}

void pair_table::count(const choice& c) {
    for (std::size_t a = 0; a < dims; ++a) {
        for (std::size_t b = 0; b < dims; ++b)
            ++pairs_[at(static_cast<dim>(a), c.value[a], static_cast<dim>(b), c.value[b])];
    }
}

template <class Visit>
void pair_table::each_pair(dim a, dim b, Visit&& visit) const {
    const auto count_of = [](dim d) {
        return static_cast<int>(dimensions()[static_cast<std::size_t>(d)].values.size());
    };
    for (int va = 0; va < count_of(a); ++va) {
        for (int vb = 0; vb < count_of(b); ++vb) {
            if (!excluded(a, va, b, vb)) visit(value_pair{a, b, va, vb}, pairs_[at(a, va, b, vb)]);
        }
    }
}

std::vector<value_pair> pair_table::missing() const {
    std::vector<value_pair> list;
    for (std::size_t a = 0; a < dims; ++a) {
        for (std::size_t b = a + 1; b < dims; ++b) {
            each_pair(static_cast<dim>(a), static_cast<dim>(b), [&](const value_pair& pair, int times) {
                if (times == 0) list.push_back(pair);
            });
        }
    }
    return list;
}

std::string pair_table::text() const {
    std::string text = "how often each value occurred:\n";
    char line[200];
    for (std::size_t d = 0; d < dims; ++d) {
        text += "  " + std::string(dimensions()[d].name) + ':';
        for (std::size_t v = 0; v < dimensions()[d].values.size(); ++v) {
            const int times =
                pairs_[at(static_cast<dim>(d), static_cast<int>(v), static_cast<dim>(d), static_cast<int>(v))];
            text += ' ' + std::string(dimensions()[d].values[v]) + ' ' + std::to_string(times);
        }
        text += '\n';
    }
    text += "how often each pair of values occurred (pairs: rarest .. most frequent):\n";
    for (std::size_t a = 0; a < dims; ++a) {
        for (std::size_t b = a + 1; b < dims; ++b) {
            int pairs = 0, least = 1 << 30, most = 0;
            each_pair(static_cast<dim>(a), static_cast<dim>(b), [&](const value_pair&, int times) {
                ++pairs, least = std::min(least, times), most = std::max(most, times);
            });
            std::snprintf(line, sizeof line, "  %-13s x %-13s %4d: %d .. %d\n", dimensions()[a].name,
                          dimensions()[b].name, pairs, least, most);
            text += line;
        }
    }
    return text;
}

}  // namespace nearfield::test
