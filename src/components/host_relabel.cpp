// relabel() on the host: every part of the image lists its values in the order of their first cells; the lists, one after
// another, number the values; then all cells are written.
#include "components/engine.hpp"
#include "components/host_map.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

/// Numbers of values, 0 where there is none yet. Small values look them up, others ask a hash table.
class numbering {
public:
    std::int64_t& operator[](std::uint64_t value) {
        if (value >= small) return map_.find_or_make(value, scattered(value)).first;
        if (value >= flat_.size()) flat_.resize(std::min(small, std::max<std::uint64_t>(256, 2 * (value + 1))));
        return flat_[value];
    }
    /// Of a value that has one. Changes nothing, so that many threads may ask.
    [[nodiscard]] std::int64_t get(std::uint64_t value) const {
        return value >= small ? map_.get(value, scattered(value)) : flat_[value];
    }

private:
    static constexpr std::uint64_t small = std::uint64_t{1} << 20;
    std::vector<std::int64_t> flat_;
    open_map<std::uint64_t, std::int64_t> map_;
};

/// Values by their bits.
template <class T>
constexpr std::uint64_t bits_of(T value) {
    return static_cast<std::make_unsigned_t<T>>(value);
}

struct part {
    numbering seen;
    std::vector<std::uint64_t> values;  ///< in the order of their first cells
};

template <class T, class Body>
void for_each_run_of(const array3& a, const pieces& all, std::int64_t first, std::int64_t last, const Body& body) {
    for (std::int64_t k = first; k < last; ++k) {
        const piece p = all[k];
        for_each_run(line_of<T>(a, p.line), p,
                     [&](T value, std::int64_t x, std::int64_t end) { body(value, p.line, x, end); });
    }
}

template <class T>
std::vector<std::uint64_t> values_in_order(workers& team, const array3& a, const pieces& all) {
    const std::int64_t count = std::min<std::int64_t>(team.threads(), all.count());
    std::vector<part> parts(static_cast<std::size_t>(count));
    team.for_each(count, 1, all.count() / count, [&](std::int64_t k, std::int64_t, int) {
        part& mine = parts[static_cast<std::size_t>(k)];
        for_each_run_of<T>(a, all, all.count() * k / count, all.count() * (k + 1) / count,
                           [&](T value, std::int64_t, std::int64_t, std::int64_t) {
                               if (value == 0) return;
                               std::int64_t& seen = mine.seen[bits_of(value)];
                               if (seen == 0) seen = 1, mine.values.push_back(bits_of(value));
                           });
    });
    if (count == 1) return std::move(parts[0].values);
    numbering seen;
    std::vector<std::uint64_t> values;
    for (const part& each : parts)
        for (const std::uint64_t value : each.values)
            if (std::int64_t& before = seen[value]; before == 0) before = 1, values.push_back(value);
    return values;
}

template <class T, class Out>
void write(workers& team, const array3& a, const pieces& all, const numbering& number, const array3& out, Out* to) {
    team.for_each(all.count(), all.block(), 1, [&](std::int64_t first, std::int64_t last, int) {
        for_each_run_of<T>(a, all, first, last, [&](T value, std::int64_t line, std::int64_t x, std::int64_t end) {
            const Out mine = value == 0 ? Out{0} : static_cast<Out>(number.get(bits_of(value)));
            Out* const cells = to + out.line_at(line);
            for (; x < end; ++x) cells[x * out.step[2]] = mine;
        });
    });
}

}  // namespace

void renumber(const host& on, const any_input<host>& labels, const any_output<host>& out,
              const any_output<host>& count) {
    const array3 a = array3_of(labels), to = array3_of(out);
    const pieces all(a);
    std::int64_t values = 0;
    if (all.count() > 0)
        with_integer(labels.type, [&]<class T>(T) {
            workers team(on, 2 * all.count());
            numbering number;
            for (const std::uint64_t value : values_in_order<T>(team, a, all)) number[value] = ++values;
            check_numbers(out.type, values);
            const auto as = [&]<class Out>(Out) { write<T>(team, a, all, number, to, static_cast<Out*>(out.data)); };
            switch (size_of(out.type)) {
                case 2: return as(std::uint16_t{});
                case 4: return as(std::uint32_t{});
                default: return as(std::uint64_t{});
            }
        });
    if (count.wanted()) *static_cast<std::int64_t*>(count.data) = values;
}

}  // namespace nearfield::components
