#include "label/host/stream.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace nearfield::labelling {
namespace {

/// Adds another pair of bits by which the same two cells name each other.
void add(link_pair& to, link_pair other) { to.here |= other.here, to.there |= other.there; }

}  // namespace

stream::stream(workers& crew, const problem& p, const any_input<host>& image)
    : crew_(crew),
      p_(p),
      image_(image),
      cells_(p.cells * p.images),
      cell_bytes_(p.channels * size_of(image.type)),
      plain_(p.options.criterion == criterion::nonzero),
      contiguous_(is_contiguous(image.shape.data(), image.stride.data(), image.rank)),
      foreground_(words() + 3),
      starts_(words() + 3),
      before_(words() + 1) {
    std::int64_t step = 1;
    for (int a = p.rank - 1; a >= 0; --a) {
        axes_[a] = {step, p.size[static_cast<std::size_t>(a)]};
        step *= axes_[a].size;
    }
    for (int a = 0; a < p.rank; ++a)
        if (axes_[a].size > 1) last_ = a;
    find_groups();
    for (word* const at : {foreground_.get(), starts_.get()}) at[0] = at[words() + 1] = at[words() + 2] = 0;
    if (cells_ == 0) return;
    read();
    find_starts();
}

// ---- steps ----------------------------------------------------------------------------------------------------------

void stream::find_groups() {
    for (const std::int64_t step : backward_steps(p_)) {
        // An axis of one cell has no neighbours but, if it is periodic, the cell itself: this gives other bits of the
        // same link.
        bool moves = false, within = true;
        for (int a = 0; a < p_.rank; ++a) {
            if (along(step, a, p_.rank) == 0) continue;
            if (axes_[a].size > 1) moves = true;
            else
                within = within && p_.periodic[static_cast<std::size_t>(a)] && p_.options.criterion == criterion::links;
        }
        if (moves && within) add_group(step);
    }
    // Steps that differ along the last axis only become one group.
    std::map<std::pair<std::int64_t, std::pair<ends, ends>>, step_group> all;
    for (const step_group& g : groups_) {
        step_group& to = all.try_emplace({g.back, {g.leaves, g.wraps}}, g).first->second;
        to.straight |= g.straight, to.west |= g.west, to.east |= g.east;
        add(to.by_straight, g.by_straight), add(to.by_west, g.by_west), add(to.by_east, g.by_east);
    }
    groups_.clear();
    for (const auto& [key, g] : all) groups_.push_back(g);
}

/// Adds one group for each combination of axes across which the step may wrap.
void stream::add_group(std::int64_t step) {
    std::vector<step_group> ways(1);
    bool within = true;  // the step stays in its line
    for (int a = 0; a < p_.rank; ++a) {
        const int by = along(step, a, p_.rank);
        if (by == 0 || axes_[a].size == 1) continue;
        const auto& [length, size] = axes_[a];
        const ends end = ends{1} << (2 * a + (by > 0 ? 1 : 0));
        const bool wraps = p_.periodic[static_cast<std::size_t>(a)];
        const std::size_t count = ways.size();
        for (std::size_t k = 0; k < count; ++k) {
            if (wraps) {
                step_group round = ways[k];
                round.back += by * (size - 1) * length, round.wraps |= end;
                ways.push_back(round);
            }
            if (a == last_) {
                (by < 0 ? ways[k].west : ways[k].east) = true;
            } else {
                ways[k].back -= by * length, ways[k].leaves |= end;
            }
        }
        within = within && a == last_;
    }
    const link_pair by = p_.options.criterion == criterion::links ? links_along(step, p_.rank) : link_pair{};
    for (step_group& g : ways) {
        if (within && g.wraps == 0) {
            joined_ = true;
            add(by_joined_, g.west ? by : link_pair{by.there, by.here});
            continue;
        }
        g.straight = !g.west && !g.east;
        (g.west ? g.by_west : g.east ? g.by_east : g.by_straight) = by;
        groups_.push_back(g);
    }
}

// ---- cells to bits --------------------------------------------------------------------------------------------------

/// Copies cells in raster order, contiguously.
void stream::copy_cells(std::int64_t first, std::int64_t last, std::uint8_t* to) const {
    const auto as = [&]<class T>(T) {
        const std::int64_t count = (last - first) * p_.channels;
        for_each_stretch(first * p_.channels, count, image_.shape.data(), image_.stride.data(), image_.rank, false,
                         [&](std::int64_t offset, std::int64_t step, std::int64_t length, std::int64_t done) {
                             const T* const from = static_cast<const T*>(image_.data) + offset;
                             T* const line = reinterpret_cast<T*>(to) + done;
                             for (std::int64_t i = 0; i < length; ++i) line[i] = from[i * step];
                         });
    };
    switch (size_of(image_.type)) {
        case 1: return as(std::uint8_t{});
        case 2: return as(std::uint16_t{});
        case 4: return as(std::uint32_t{});
        default: return as(std::uint64_t{});
    }
}

void stream::read() {
    if (!plain_ && !contiguous_) copy_ = host_scratch<std::uint8_t>(cells_ * cell_bytes_);
    std::vector<host_scratch<std::uint8_t>> lines(static_cast<std::size_t>(crew_.threads()));
    for_tasks(cells_, task_cells, 1, [&](std::int64_t first, std::int64_t last, int thread) {
        // Scratch: copied cells, then bytes of foreground.
        host_scratch<std::uint8_t>& mine = lines[static_cast<std::size_t>(thread)];
        if (mine.get() == nullptr) mine = host_scratch<std::uint8_t>(task_cells * (cell_bytes_ + 1));
        const void* cells = static_cast<const std::uint8_t*>(image_.data) + (contiguous_ ? first * cell_bytes_ : 0);
        if (!contiguous_) {
            std::uint8_t* const to = plain_ ? mine.get() : copy_.get() + first * cell_bytes_;
            copy_cells(first, last, to);
            cells = to;
        }
        word bits[task_words + 1];
        foreground_words(p_.options, {image_.type, p_.channels, cells}, last - first,
                         mine.get() + task_cells * cell_bytes_, bits);
        std::copy_n(bits, (last - first + word_bits - 1) / word_bits, foreground_.get() + 1 + first / word_bits);
    });
}

/// Bit i: the criterion links cell i of word w and the one `back` before it, among the cells `wanted`.
stream::word stream::linked(std::int64_t w, std::int64_t back, word wanted, link_pair by) const {
    if (plain_ || wanted == 0) return wanted;
    const std::int64_t base = w * word_bits, first = std::max(base, back);
    const std::int64_t last = std::min({base + word_bits, cells_, cells_ + back});
    const std::uint8_t* const cells =
        contiguous_ ? static_cast<const std::uint8_t*>(image_.data) : static_cast<const std::uint8_t*>(copy_.get());
    const cell_row here{image_.type, p_.channels, cells + first * cell_bytes_};
    return wanted & linked_cells(p_.options, by, here, cells + (first - back) * cell_bytes_, last - first)
                        << (first - base);
}

/// Finds the runs; no thread needs to know where a run began.
void stream::find_starts() {
    const std::int64_t tasks = (words() + task_words - 1) / task_words;
    std::vector<std::int64_t> count(static_cast<std::size_t>(tasks));
    for_tasks(words(), task_words, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t& sum = count[static_cast<std::size_t>(first / task_words)];
        end_masks at(*this, first, ends{1} << 2 * last_);
        for (std::int64_t w = first; w < last; ++w, at.next()) {
            const word f = foreground()[w], west = f << 1 | foreground()[w - 1] >> (word_bits - 1);
            const word joined = joined_ ? f & west & ~at.any_of(ends{1} << 2 * last_) : 0;
            starts_.get()[1 + w] = f & ~linked(w, 1, joined, by_joined_);
            sum += std::popcount(starts()[w]);
        }
    });
    for (std::int64_t& each : count) runs_ += std::exchange(each, runs_);
    parent_ = host_scratch<std::int64_t>(runs_);
    for_tasks(words(), task_words, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t run = count[static_cast<std::size_t>(first / task_words)];
        for (std::int64_t w = first; w < last; ++w) {
            before_.get()[w] = run;
            for (const std::int64_t end = run + std::popcount(starts()[w]); run < end; ++run) parent_.get()[run] = run;
        }
    });
}

// ---- runs to trees --------------------------------------------------------------------------------------------------

/// Finds the root of a run. Every stored parent comes before its run, so all threads may join trees at once.
std::int64_t stream::root(std::int64_t run) const {
    for (std::int64_t up = parent_of(run); up != run;) {
        const std::int64_t next = parent_of(up);
        if (next != up) std::atomic_ref(parent_.get()[run]).store(next, std::memory_order_relaxed);
        run = up, up = next;
    }
    return run;
}

void stream::unite(std::int64_t here, std::int64_t there) const {
    // With many steps most links are between runs that already point to the same one.
    if (parent_of(here) == parent_of(there)) return;
    std::int64_t a = root(here), b = root(there);
    while (a != b) {
        if (a < b) std::swap(a, b);
        std::int64_t expected = a;
        if (std::atomic_ref(parent_.get()[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) break;
        a = root(a), b = root(b);
    }
}

void stream::unite_all(word links, std::int64_t w, std::int64_t back) const {
    for (; links != 0; links &= links - 1) {
        const std::int64_t cell = w * word_bits + std::countr_zero(links);
        unite(run_of(cell), run_of(cell - back));
    }
}

/// Links the runs of a word. It drops redundant links: a straight one that follows one between the same two runs; a
/// slanted one if a straight one leads to a run that holds the other end.
void stream::link_word(std::int64_t w, const end_masks& at) const {
    const word here = foreground()[w], joined = here & ~starts()[w];
    const word no_west = at.any_of(ends{1} << 2 * last_), no_east = at.any_of(ends{2} << 2 * last_);
    for (const step_group& g : groups_) {
        const word from = here & ~at.any_of(g.leaves) & at.all_of(g.wraps);
        if (from == 0) continue;
        const word there = shifted(foreground(), w, g.back), there_joined = there & ~shifted(starts(), w, g.back);
        const word l = g.straight ? linked(w, g.back, from & there, g.by_straight) : 0;
        unite_all(l & ~(l << 1 & joined & there_joined), w, g.back);
        if (g.west) {
            const word known = (joined & l << 1) | (l & there_joined);
            const word wanted = from & ~no_west & shifted(foreground(), w, g.back + 1) & ~known;
            unite_all(linked(w, g.back + 1, wanted, g.by_west), w, g.back + 1);
        }
        if (g.east) {
            const word beside = shifted(foreground(), w, g.back - 1);
            const word known = (joined >> 1 & l >> 1) | (l & beside & ~shifted(starts(), w, g.back - 1));
            unite_all(linked(w, g.back - 1, from & ~no_east & beside & ~known, g.by_east), w, g.back - 1);
        }
    }
}

void stream::link() {
    if (links_blocks()) return link_blocks();
    ends wanted = ends{3} << 2 * last_;
    for (const step_group& g : groups_) wanted |= g.leaves | g.wraps;
    // Few enough words that all their steps take a few milliseconds at most.
    const auto steps = static_cast<std::int64_t>(groups_.size()) + 1;
    const std::int64_t together = std::clamp<std::int64_t>((std::int64_t{1} << 17) / steps, 1, task_words);
    crew_.for_each(words(), together, word_bits, [&](std::int64_t w, std::int64_t end, int) {
        for (end_masks at(*this, w, wanted); w < end; ++w, at.next())
            if (foreground()[w] != 0) link_word(w, at);
    });
}

// ---- trees to components --------------------------------------------------------------------------------------------

void stream::number(std::vector<std::int64_t>& base) {
    const std::int64_t tasks = (runs_ + task_cells - 1) / task_cells;
    std::vector<std::int64_t> roots(static_cast<std::size_t>(tasks));
    std::int64_t* const parent = parent_.get();
    for_tasks(runs_, task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t& sum = roots[static_cast<std::size_t>(first / task_cells)];
        for (std::int64_t run = first; run < last; ++run) sum += parent[run] == run;
    });
    std::int64_t all = 0;
    for (std::int64_t& each : roots) all += std::exchange(each, all);
    std::fill(base.begin(), base.end(), all);
    const auto first_run = [&](std::int64_t image) {
        const std::int64_t cell = image * p_.cells;
        return cell == 0 ? 0 : run_of(cell - 1) + 1;
    };
    for_tasks(runs_, task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t next = roots[static_cast<std::size_t>(first / task_cells)], image = 0;
        for (std::int64_t step = p_.images; step > 0; step /= 2)  // the first image that does not begin before
            while (image + step <= p_.images && first_run(image + step - 1) < first) image += step;
        std::int64_t begins = image < p_.images ? first_run(image) : runs_;
        for (std::int64_t run = first; run < last; ++run) {
            for (; image < p_.images && begins == run; begins = image < p_.images ? first_run(image) : runs_)
                base[static_cast<std::size_t>(image++)] = next;
            if (parent[run] == run) parent[run] = -1 - next++;
        }
    });
}

}  // namespace nearfield::labelling
