// relabel() on the host. Every part of the image numbers its values in the order of their first cells, and writes these
// numbers. Values that an earlier part has too take its number; the others count on from part to part. Then the cells
// of all parts but the first, whose numbers are final, are written again.
#include <vector>

#include "base/unwritten.hpp"
#include "components/engine.hpp"
#include "components/host_map.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

template <class Value>
struct part {
    part(workers& team, std::int64_t cells) : number(team, cells) {}
    value_map<Value> number;  ///< the value's number in this part, from 1
    std::uint32_t count = 0;  ///< values that have numbers
    /// The values by number, from 0. The first part, all of whose values begin in it, needs neither these nor the next.
    std::vector<Value, asking_allocator<Value>> values;
    /// By number, from 0: the value's final number, from 1. Until it is known: the value's rank among those that begin
    /// in this part, or, below 0, -1 - (part + parts * number) of an earlier part that has the value.
    host_scratch<std::int64_t> final;
    std::int64_t begun = 0;   ///< values that begin in this part
    std::int64_t before = 0;  ///< values that begin in earlier parts
};

/// Value is unsigned.
template <class Value>
class numbering {
public:
    numbering(workers& team, const array3& a, const pieces& all) : team_(team), all_(all) {
        // A part has at most 2^31 cells, as a piece has at most 2^16, so that its numbers fit 32 bits.
        constexpr std::int64_t most_pieces = 1 << 15;
        const std::int64_t wanted = std::max<std::int64_t>(team.threads(), (all.count() - 1) / most_pieces + 1),
                           count = std::min(wanted, all.count());
        for (std::int64_t k = 0; k < count; ++k) parts_.emplace_back(team, a.cells() / count);
    }

    /// Numbers the values of each part. Writes a cell's number in its part, from 1, unless `to` is null. `known`: all
    /// values have numbers, and others, which would have come since, become 0.
    template <class Out>
    void number_cells(const array3& a, bool known, const array3& out, Out* to) {
        for_parts([&](std::int64_t k) {
            part<Value>& mine = parts_[static_cast<std::size_t>(k)];
            const std::int64_t last = first_piece(k + 1);
            for (std::int64_t at = first_piece(k), next = at; at < last; at = next) {
                next = std::min(at + all_.block(), last);
                for (std::int64_t each = at; each < next; ++each) {
                    const piece p = all_[each];
                    Out* const cells = to == nullptr ? nullptr : to + out.line_at(p.line);
                    number_piece(line_of<Value>(a, p.line), p, mine, known, cells, out.step[2]);
                }
                team_.go_on(next - at);
            }
        });
    }

    /// Gives the values their final numbers and returns how many there are besides 0.
    std::int64_t join_parts() {
        for_parts([&](std::int64_t k) { rank(k); });
        parts_[0].begun = parts_[0].count;
        std::int64_t all = 0;
        for (part<Value>& each : parts_) each.before = std::exchange(all, all + each.begun);
        for_finals([](part<Value>& mine, std::int64_t& rank) { rank = rank < 0 ? rank : mine.before + rank + 1; });
        // This step never writes final numbers, as other threads read them: even storing the same value would race.
        for_finals([&](part<Value>&, std::int64_t& number) {
            if (number < 0) number = final_of(-1 - number);
        });
        return all;
    }

    /// Replaces the parts' numbers by the final ones. The first part has these already.
    template <class Out>
    void finish_cells(const array3& out, Out* to) {
        const std::int64_t begin = parts_.size() > 1 ? first_piece(1) : all_.count();
        team_.for_each(all_.count() - begin, all_.block(), 1, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t k = begin + first; k < begin + last; ++k) {
                const part<Value>& mine = parts_[static_cast<std::size_t>(part_of(k))];
                const auto known = static_cast<std::uint64_t>(mine.values.size());
                const piece p = all_[k];
                Out* const cells = to + out.line_at(p.line);
                for (std::int64_t x = p.first; x < p.last; ++x) {
                    Out& own = cells[x * out.step[2]];
                    own = own == 0 || own > known ? Out{0} : static_cast<Out>(mine.final.get()[own - 1]);
                }
            }
        });
    }

private:
    static constexpr std::int64_t cells_ahead = 16;  ///< cells whose places in a table are fetched together

    /// Looks up cells one by one, without branches that they decide, but for runs.
    template <class Out>
    void number_piece(const line<Value>& cells, const piece& p, part<Value>& mine, bool known, Out* to,
                      std::int64_t step) {
        const bool listed = &mine != parts_.data();
        const auto number_of = [&](Value value) {
            if (known) return mine.number.get(value);
            const std::uint32_t number = mine.number.get_or_set(value, mine.count + 1);
            if (number <= mine.count) return number;
            ++mine.count;
            if (listed) mine.values.push_back(value);
            return number;
        };
        for (std::int64_t x = p.first; x < p.last;) {
            const Value value = cells[x];
            std::int64_t end = std::min(x + cells_ahead, p.last);
            unsigned char other = 0;
            for (std::int64_t i = x; i < end; ++i)
                other = static_cast<unsigned char>(other | (cells[i] != value ? 1 : 0));
            if (other == 0) {
                end = run_end(cells, x, p.last);
                const auto label = static_cast<Out>(number_of(value));
                for (; to != nullptr && x < end; ++x) to[x * step] = label;
                x = end;
                continue;
            }
            if (mine.number.is_large())
                for (std::int64_t i = end; i < std::min(end + cells_ahead, p.last); ++i) mine.number.fetch(cells[i]);
            for (; x < end; ++x) {
                const auto label = static_cast<Out>(number_of(cells[x]));
                if (to != nullptr) to[x * step] = label;
            }
        }
    }
    [[nodiscard]] std::int64_t part_of(std::int64_t piece) const {
        const auto count = static_cast<std::int64_t>(parts_.size());
        std::int64_t k = piece * count / all_.count();
        while (first_piece(k + 1) <= piece) ++k;
        return k;
    }
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
        part<Value>& mine = parts_[static_cast<std::size_t>(k)];
        const auto count = static_cast<std::int64_t>(mine.values.size());
        mine.final = host_scratch<std::int64_t>(count);
        in_steps(team_, count, [&](std::int64_t i, std::int64_t last) {
            for (; i < last; ++i) {
                const Value ahead = mine.values[static_cast<std::size_t>(std::min(i + cells_ahead, count - 1))];
                for (std::int64_t j = 0; j < k; ++j) parts_[static_cast<std::size_t>(j)].number.fetch(ahead);
                mine.final.get()[i] = rank_of(k, mine.values[static_cast<std::size_t>(i)], mine.begun);
            }
        });
    }
    template <class Body>
    void for_finals(const Body& body) {
        for_parts([&](std::int64_t k) {
            part<Value>& mine = parts_[static_cast<std::size_t>(k)];
            in_steps(team_, static_cast<std::int64_t>(mine.values.size()), [&](std::int64_t i, std::int64_t last) {
                for (; i < last; ++i) body(mine, mine.final.get()[i]);
            });
        });
    }
    [[nodiscard]] std::int64_t final_of(std::int64_t code) const {
        const auto count = static_cast<std::int64_t>(parts_.size());
        const std::int64_t part = code % count, number = code / count;
        return part == 0 ? number + 1 : parts_[static_cast<std::size_t>(part)].final.get()[number];
    }
    std::int64_t rank_of(std::int64_t k, Value value, std::int64_t& begun) const {
        for (std::int64_t j = 0; j < k; ++j)
            if (const std::int64_t there = parts_[static_cast<std::size_t>(j)].number.get(value); there > 0)
                return -1 - (j + static_cast<std::int64_t>(parts_.size()) * (there - 1));
        return begun++;
    }

    workers& team_;
    const pieces& all_;
    std::vector<part<Value>> parts_;
};

}  // namespace

void renumber(const host& on, const any_input<host>& labels, const any_output<host>& out,
              const any_output<host>& count) {
    array3 a = array3_of(labels), to = array3_of(out);
    if (a.is_dense() && to.is_dense()) a.side[2] = a.cells(), a.side[0] = a.side[1] = 1, a.step[2] = to.step[2] = 1;
    const pieces all(a);
    std::int64_t values = 0;
    // Numbers are written at once if `out` can number as many values as there are cells.
    const bool at_once = a.cells() <= most_of(out.type);
    const auto solve = [&]<class Value, class Out>(Value, Out) {
        workers team(on, (at_once ? 2 : 3) * all.count());
        numbering<Value> number(team, a, all);
        auto* const data = static_cast<Out*>(out.data);
        number.number_cells(a, false, to, at_once ? data : nullptr);
        values = number.join_parts();
        check_numbers(out.type, values);
        if (!at_once) number.number_cells(a, true, to, data);
        number.finish_cells(to, data);
    };
    if (all.count() > 0)
        with_integer(labels.type, [&]<class T>(T) {
            using value = std::make_unsigned_t<T>;
            switch (size_of(out.type)) {
                case 2: return solve(value{}, std::uint16_t{});
                case 4: return solve(value{}, std::uint32_t{});
                default: return solve(value{}, std::uint64_t{});
            }
        });
    if (count.wanted()) *static_cast<std::int64_t*>(count.data) = values;
}

}  // namespace nearfield::components
