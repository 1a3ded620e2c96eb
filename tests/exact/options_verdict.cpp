// The expected contents of a call's arrays, compared bit for bit.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "exact/options_call.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::uint64_t float_bits(dtype type, double value) {
    if (type == dtype::boolean) return value < inf;
    if (type == dtype::float16) return half_bits(value);
    std::uint64_t bits = 0;
    if (type == dtype::float32) {
        const auto single = static_cast<float>(value);
        std::memcpy(&bits, &single, sizeof single);
    } else {
        std::memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

/// Compares the elements of one item with its result, cell by cell.
class comparison {
public:
    explicit comparison(const option_item& item) : item_(item), p_(item.problem), a_(item.answer) {
        const auto first = p_.shape.begin() + p_.batch_axes;
        inner_.assign(first, p_.shape.end());
        image_ = cells_of(inner_);
        cells_ = cells_of(p_.shape);
    }

    [[nodiscard]] std::string run() {
        for (std::int64_t cell = 0; cell < cells_; ++cell) {
            const std::string bad = wrong_cell(cell);
            if (!bad.empty()) return "cell " + std::to_string(cell) + " of " + text_of_shape() + ": " + bad;
        }
        return guards();
    }

private:
    [[nodiscard]] std::string text_of_shape() const {
        std::string text;
        for (std::int64_t n : p_.shape) text += (text.empty() ? "" : "x") + std::to_string(n);
        return text;
    }

    [[nodiscard]] std::string wrong_cell(std::int64_t cell) {
        const auto k = static_cast<std::size_t>(cell);
        const double sign = a_.negative[k] != 0 ? -1.0 : 1.0;
        std::string bad = wrong("squared", item_.squared, cell, [&](dtype t) { return squared_bits(t, k, sign); });
        if (bad.empty())
            bad = wrong("distance", item_.distance, cell,
                        [&](dtype t) { return float_bits(t, sign * std::sqrt(a_.squared[k])); });
        if (bad.empty()) bad = wrong("trusted", item_.trusted, cell, [&](dtype) { return a_.trusted[k]; });
        std::int64_t site = a_.index[k];
        if (bad.empty() && a_.ambiguous[k] != 0) bad = reported_site(cell, site);
        return bad.empty() ? wrong_site(cell, site) : bad;
    }

    [[nodiscard]] std::uint64_t squared_bits(dtype type, std::size_t k, double sign) const {
        if (type >= dtype::float16) return float_bits(type, sign * a_.squared[k]);
        if (a_.found[k] == 0) return ~std::uint64_t{0};
        // Closed borders can keep values small where the grid's squares exceed integers; the oracle then has doubles.
        return a_.whole ? static_cast<std::uint64_t>(a_.units[k]) : static_cast<std::uint64_t>(a_.squared[k]);
    }

    /// Any of the sites that tie only by rounding is accepted, as long as all fields name the same one.
    [[nodiscard]] std::string reported_site(std::int64_t cell, std::int64_t& site) const {
        const std::int64_t base = cell / image_ * image_;
        if (item_.index) site = signed_bits(*item_.index, cell);
        else if (item_.coordinates) site = site_of_coordinates(cell);
        else if (item_.label) site = site_of_label(cell);
        if (site < 0 || site >= image_) return "site " + std::to_string(site) + " is outside the image";
        const bool valid = p_.candidate(static_cast<std::size_t>(cell), static_cast<std::size_t>(base + site));
        if (!valid) return "cell " + std::to_string(site) + " is no site of it";
        const double value = oracle::value_between(p_, cell, base + site);
        if (value == a_.squared[static_cast<std::size_t>(cell)]) return {};
        std::ostringstream text;
        text.precision(20);
        text << "site " << site << " is at " << value << ", the nearest at "
             << a_.squared[static_cast<std::size_t>(cell)];
        return text.str();
    }
    [[nodiscard]] std::int64_t site_of_coordinates(std::int64_t cell) const {
        std::int64_t site = 0;
        for (std::size_t axis = 0; axis < inner_.size(); ++axis) {
            const std::int64_t at = signed_bits(*item_.coordinates, static_cast<std::int64_t>(axis) * cells_ + cell);
            if (at < 0 || at >= inner_[axis]) return -1;
            site = site * inner_[axis] + at;
        }
        return site;
    }
    [[nodiscard]] std::int64_t site_of_label(std::int64_t cell) const {
        const std::int64_t base = cell / image_ * image_;
        for (std::int64_t site = 0; site < image_; ++site) {
            if (p_.value[static_cast<std::size_t>(base + site)] == bits(*item_.label, cell) &&
                p_.candidate(static_cast<std::size_t>(cell), static_cast<std::size_t>(base + site)) &&
                oracle::value_between(p_, cell, base + site) == a_.squared[static_cast<std::size_t>(cell)])
                return site;
        }
        return -1;
    }

    [[nodiscard]] std::string wrong_site(std::int64_t cell, std::int64_t site) {
        const std::int64_t base = cell / image_ * image_;
        std::string bad = wrong("index", item_.index, cell, [&](dtype) { return static_cast<std::uint64_t>(site); });
        if (bad.empty())
            bad = wrong("label", item_.label, cell,
                        [&](dtype) { return site < 0 ? 0 : p_.value[static_cast<std::size_t>(base + site)]; });
        std::int64_t rest = site;
        for (std::size_t axis = inner_.size(); axis-- > 0 && bad.empty();) {
            const std::int64_t at = site < 0 ? -1 : rest % inner_[axis];
            bad = wrong("coordinates", item_.coordinates, static_cast<std::int64_t>(axis) * cells_ + cell,
                        [&](dtype) { return static_cast<std::uint64_t>(at); });
            rest /= inner_[axis];
        }
        return bad;
    }

    /// `expected` returns bits, of which as many as the type has are compared.
    template <class Expected>
    [[nodiscard]] std::string wrong(const char* name, const std::optional<guarded>& field, std::int64_t i,
                                    Expected&& expected) const {
        if (!field) return {};
        const std::uint64_t got = bits(*field, i), want = expected(field->type()) & mask(field->type());
        if (got == want) return {};
        return std::string(name) + " (" + name_of(field->type()) + ") is " + text(field->type(), got) + ", expected " +
               text(field->type(), want);
    }

    [[nodiscard]] static std::uint64_t mask(dtype type) {
        return size_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(type))) - 1;
    }
    [[nodiscard]] static std::uint64_t bits(const guarded& array, std::int64_t i) {
        std::uint64_t value = 0;
        std::memcpy(&value, array.element(i), static_cast<std::size_t>(size_of(array.type())));
        return value;
    }
    [[nodiscard]] static std::int64_t signed_bits(const guarded& array, std::int64_t i) {
        const std::uint64_t value = bits(array, i);
        return size_of(array.type()) == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
    }
    [[nodiscard]] static std::string text(dtype type, std::uint64_t value) {
        std::ostringstream out;
        out.precision(20);
        double number = 0;
        float single = 0;
        std::memcpy(&number, &value, sizeof number), std::memcpy(&single, &value, sizeof single);
        if (type == dtype::float64) out << number;
        else if (type == dtype::float32) out << single;
        else if (type == dtype::float16) out << "float16 bits 0x" << std::hex << value;
        else if (type == dtype::int32) out << static_cast<std::int32_t>(value);
        else if (type == dtype::int64) out << static_cast<std::int64_t>(value);
        else out << value;
        return out.str();
    }

    [[nodiscard]] std::string guards() const {
        for (const auto* field :
             {&item_.squared, &item_.distance, &item_.index, &item_.coordinates, &item_.label, &item_.trusted}) {
            const std::string bad = *field ? (*field)->guards_broken() : std::string();
            if (!bad.empty()) return bad;
        }
        return {};
    }

    const option_item& item_;
    const oracle::option_problem& p_;
    const oracle::option_answer& a_;
    shape_t inner_;
    std::int64_t image_ = 1, cells_ = 0;
};

// ---- types that the call must accept -------------------------------------------------------------------------------

/// True if the type can hold all results. `apart` is the largest squared distance of any two cells.
bool holds(dtype type, long double largest, long double apart, bool half_cell) {
    const long double units = half_cell ? 4 * largest : largest;
    switch (type) {
        case dtype::uint16: return largest < 65535;
        case dtype::uint32: return largest < 4294967295.0L;
        case dtype::uint64: return apart < 4611686018427387904.0L || largest < 9007199254740992.0L;
        case dtype::float16: return units <= 2048;
        case dtype::float32: return units <= 16777216;
        default: return true;
    }
}

struct due {
    bool success = true;  ///< an error is wrong
    bool error = false;   ///< success is wrong
};

/// If values fit in this image but might not in others, the library may accept or refuse the type.
due due_of(const option_call& c) {
    due d;
    for (const option_item& item : c.items) {
        const oracle::option_bound bound = oracle::bound_of(item.problem);
        const long double limit = static_cast<long double>(c.options.max_distance) * c.options.max_distance;
        const long double largest = std::min(bound.largest, limit);
        const bool empty = cells_of(item.image.shape()) == 0;
        if (item.squared && c.form != form_value::power) {
            const dtype type = item.squared->type();
            const dtype narrow = squared_distance_type(item.image.shape().data(),
                                                       static_cast<int>(item.image.shape().size()), c.options);
            d.success = d.success && (holds(type, largest, bound.largest, c.options.half_cell) || type == narrow);
            d.error = d.error || (!empty && bound.reached <= limit &&
                                  !holds(type, bound.reached, bound.reached, c.options.half_cell));
        }
        if (item.distance && item.distance->type() == dtype::float16) {
            d.success = d.success && largest < 65504.0L * 65504;
            for (const double cell : item.problem.spacing)
                d.success = d.success && cell > (c.options.half_cell ? 0x1p-24 : 0x1p-25);
        }
    }
    return d;
}

std::string run_and_compare(const option_engine& run, option_call& c) {
    const due expected = due_of(c);
    std::vector<std::vector<std::byte>> before;
    for (const guarded* array : c.arrays()) before.push_back(array->bytes());
    try {
        run(c);
    } catch (const error& e) {
        const std::string message = e.what();
        if (expected.success || e.code() != error_code::invalid_argument) return "threw: " + message;
        if (message.find("out.squared") == std::string::npos && message.find("out.distance") == std::string::npos)
            return "the error does not name the field: " + message;
        std::size_t k = 0;
        for (const guarded* array : c.arrays()) {
            if (array->bytes() != before[k++]) return "an array was changed before the error was found: " + message;
        }
        return {};
    }
    if (expected.error) return "was accepted, but a field's type cannot hold every answer";
    std::size_t k = 0;
    for (option_item& item : c.items) {
        for (const guarded* array : item.arrays()) {
            const bool input = array == &item.image || (item.weights && array == &*item.weights);
            if (array->bytes() != before[k++] && input) return "an input or the bytes round it were changed";
        }
    }
    for (std::size_t j = 0; j < c.items.size(); ++j) {
        const std::string bad = verdict(c.items[j]);
        if (!bad.empty()) return (c.form == form_value::list ? "job " + std::to_string(j) + ": " : "") + bad;
    }
    return {};
}

}  // namespace

std::string verdict(const option_item& done) { return comparison(done).run(); }

std::string check(const option_engine& run, option_call& c) {
    std::string bad;
    try {
        bad = run_and_compare(run, c);
    } catch (const std::exception& e) {
        bad = std::string("threw: ") + e.what();
    }
    return bad.empty() ? bad : bad + "\n  in " + c.story;
}

}  // namespace nearfield::test
