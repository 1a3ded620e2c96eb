// relabel() on the host. Every part of the image numbers its values in the order of their first cells. Values that an
// earlier part has too take its number; the others count on from part to part. Then all cells are written.
#include <deque>

#include "components/engine.hpp"
#include "components/host_map.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

/// A value's bits as an unsigned number.
template <class T>
constexpr std::uint64_t bits_of(T value) {
    return static_cast<std::make_unsigned_t<T>>(value);
}

struct part {
    explicit part(workers& team) : number(team) {}
    value_map number;                  ///< the value's number in this part, from 0
    std::deque<std::uint64_t> values;  ///< the values by number; a deque copies nothing as it grows
    /// By number: the value's final number, from 1. Until it is known: the value's rank among those that begin in this
    /// part, or, below 0, -1 - (part + parts * number) of an earlier part that has the value.
    host_scratch<std::int64_t> final;
    std::int64_t begun = 0;   ///< values that begin in this part
    std::int64_t before = 0;  ///< values that begin in earlier parts
};

template <class T, class Body>
void for_each_run_of(const array3& a, const pieces& all, std::int64_t first, std::int64_t last, const Body& body) {
    for (std::int64_t k = first; k < last; ++k) {
        const piece p = all[k];
        for_each_run(line_of<T>(a, p.line), p,
                     [&](T value, std::int64_t x, std::int64_t end) { body(value, p.line, x, end); });
    }
}

class numbering {
public:
    numbering(workers& team, const pieces& all) : team_(team), all_(all) {
        const std::int64_t count = std::min<std::int64_t>(team.threads(), all.count());
        for (std::int64_t k = 0; k < count; ++k) parts_.emplace_back(team);
    }

    /// Numbers the values and returns how many there are besides 0.
    template <class T>
    std::int64_t find_values(const array3& a) {
        for_parts([&](std::int64_t k) {
            part& mine = parts_[static_cast<std::size_t>(k)];
            const std::int64_t end = first_piece(k + 1);
            for (std::int64_t at = first_piece(k), next = at; at < end; at = next) {
                next = std::min(at + all_.block(), end);
                for_each_run_of<T>(a, all_, at, next, [&](T value, std::int64_t, std::int64_t, std::int64_t) {
                    if (value == 0) return;
                    const auto fresh = static_cast<std::int64_t>(mine.values.size());
                    if (mine.number.get_or_set(bits_of(value), fresh) == fresh) mine.values.push_back(bits_of(value));
                });
                team_.go_on(next - at);
            }
        });
        for_parts([&](std::int64_t k) { rank(k); });
        std::int64_t all = 0;
        for (part& each : parts_) each.before = std::exchange(all, all + each.begun);
        for_finals([](part& mine, std::int64_t& rank) { rank = rank < 0 ? rank : mine.before + rank + 1; });
        // This step never writes final numbers, as other threads read them: even storing the same value would race.
        for_finals([&](part&, std::int64_t& number) {
            if (number < 0) number = final_of(-1 - number);
        });
        return all;
    }

    /// The final number, from 1, of a value in part k; 0 if the value was not there before.
    [[nodiscard]] std::int64_t get(std::int64_t k, std::uint64_t value) const {
        const part& mine = parts_[static_cast<std::size_t>(k)];
        const std::int64_t number = mine.number.get(value);
        return number < 0 ? 0 : mine.final.get()[number];
    }
    [[nodiscard]] std::int64_t part_of(std::int64_t piece) const {
        const auto count = static_cast<std::int64_t>(parts_.size());
        std::int64_t k = piece * count / all_.count();
        while (first_piece(k + 1) <= piece) ++k;
        return k;
    }

private:
    [[nodiscard]] std::int64_t first_piece(std::int64_t k) const {
        return all_.count() * k / static_cast<std::int64_t>(parts_.size());
    }
    template <class Body>
    void for_parts(const Body& body) {
        team_.for_each(static_cast<std::int64_t>(parts_.size()), 1, 0,
                       [&](std::int64_t k, std::int64_t, int) { body(k); });
    }

    /// Finds which of the part's values begin in it, and ranks them.
    void rank(std::int64_t k) {
        part& mine = parts_[static_cast<std::size_t>(k)];
        const auto count = static_cast<std::int64_t>(mine.values.size());
        mine.final = host_scratch<std::int64_t>(count);
        in_steps(team_, count, [&](std::int64_t i, std::int64_t last) {
            for (; i < last; ++i)
                mine.final.get()[i] = rank_of(k, mine.values[static_cast<std::size_t>(i)], mine.begun);
        });
    }
    template <class Body>
    void for_finals(const Body& body) {
        for_parts([&](std::int64_t k) {
            part& mine = parts_[static_cast<std::size_t>(k)];
            in_steps(team_, static_cast<std::int64_t>(mine.values.size()), [&](std::int64_t i, std::int64_t last) {
                for (; i < last; ++i) body(mine, mine.final.get()[i]);
            });
        });
    }
    [[nodiscard]] std::int64_t final_of(std::int64_t code) const {
        const auto count = static_cast<std::int64_t>(parts_.size());
        return parts_[static_cast<std::size_t>(code % count)].final.get()[code / count];
    }
    std::int64_t rank_of(std::int64_t k, std::uint64_t value, std::int64_t& begun) const {
        for (std::int64_t j = 0; j < k; ++j)
            if (const std::int64_t there = parts_[static_cast<std::size_t>(j)].number.get(value); there >= 0)
                return -1 - (j + static_cast<std::int64_t>(parts_.size()) * there);
        return begun++;
    }

    workers& team_;
    const pieces& all_;
    std::vector<part> parts_;
};

template <class T, class Out>
void write(workers& team, const array3& a, const pieces& all, const numbering& number, const array3& out, Out* to) {
    team.for_each(all.count(), all.block(), 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t mine = number.part_of(k);
            for_each_run_of<T>(a, all, k, k + 1, [&](T value, std::int64_t line, std::int64_t x, std::int64_t end) {
                const Out label = value == 0 ? Out{0} : static_cast<Out>(number.get(mine, bits_of(value)));
                Out* const cells = to + out.line_at(line);
                for (; x < end; ++x) cells[x * out.step[2]] = label;
            });
        }
    });
}

}  // namespace

void renumber(const host& on, const any_input<host>& labels, const any_output<host>& out,
              const any_output<host>& count) {
    array3 a = array3_of(labels), to = array3_of(out);
    if (a.is_dense() && to.is_dense()) a.side[2] = a.cells(), a.side[0] = a.side[1] = 1, a.step[2] = to.step[2] = 1;
    const pieces all(a);
    std::int64_t values = 0;
    if (all.count() > 0)
        with_integer(labels.type, [&]<class T>(T) {
            workers team(on, 2 * all.count());
            numbering number(team, all);
            values = number.find_values<T>(a);
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
