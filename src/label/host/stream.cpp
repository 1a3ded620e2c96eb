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
      place_(words() * word_bits),
      before_(words() + 1) {
    std::int64_t step = 1;
    for (int a = p.rank - 1; a >= 0; --a) {
        axes_[a] = {step, p.size[static_cast<std::size_t>(a)]};
        step *= axes_[a].size;
    }
    for (int a = 0; a < p.rank; ++a)
        if (axes_[a].size > 1) last_ = a;
    if (links_blocks()) joined_ = true;
    else find_groups();
    for (word* const at : {foreground_.get(), starts_.get()}) at[0] = at[words() + 1] = at[words() + 2] = 0;
    if (cells_ == 0) return;
    read();
    find_starts();
    find_nodes();
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
        to.straight |= g.straight, to.west |= g.west, to.east |= g.east, to.along_axis |= g.along_axis;
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
        g.straight = !g.west && !g.east, g.along_axis = g.straight && changes_in(step, p_.rank) == 1;
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

/// Finds the cells that are not linked to the one before them.
void stream::find_starts() {
    for_tasks(words(), task_words, 0, [&](std::int64_t first, std::int64_t last, int) {
        end_masks at(*this, first, ends{1} << 2 * last_);
        for (std::int64_t w = first; w < last; ++w, at.next()) {
            const word f = foreground()[w], west = f << 1 | foreground()[w - 1] >> (word_bits - 1);
            const word joined = joined_ ? f & west & ~at.any_of(ends{1} << 2 * last_) : 0;
            starts_.get()[1 + w] = f & ~linked(w, 1, joined, by_joined_);
        }
    });
}

// ---- words to nodes -------------------------------------------------------------------------------------------------

/// The straight links of a group from the cells `from` of a word.
stream::word stream::straight_links(const step_group& g, std::int64_t w, const end_masks& at, word from) const {
    if (!g.straight) return 0;
    from &= ~at.any_of(g.leaves) & at.all_of(g.wraps);
    return from == 0 ? 0 : linked(w, g.back, from & shifted(foreground(), w, g.back), g.by_straight);
}

/// Finds the nodes of a word: cells that are connected by links along axes that stay in the word.
void stream::find_nodes_in(std::int64_t w, const end_masks& at, std::vector<word>& found) {
    struct reach {
        word links;
        int by;
    };
    reach reaches[(2 * max_rank + 1) * 6];  // links over 1, 2, 4, ... steps, of each group
    int count = 0;
    const word f = foreground()[w];
    word touched = 0;
    const auto add = [&](word links, int by) {
        touched |= links | links >> by;
        for (; links != 0; links &= links << by, by *= 2) reaches[count++] = {links, by};
    };
    const word joined = f & ~starts()[w] & ~word{1};
    add(joined, 1);
    touched = 0;
    for (const step_group& g : groups_) {
        const word within = g.along_axis ? within_word(g.back) : 0;
        if (within == 0) continue;
        const word links = straight_links(g, w, at, f & within);
        if (g.back > 0) add(links, static_cast<int>(g.back));
        else add(links << -g.back, static_cast<int>(-g.back));
    }
    std::uint8_t* const place = place_.get() + w * word_bits;
    const std::size_t before = found.size();
    for (word rest = f; rest != 0;) {
        // The run of the first cell: the sum carries over the joined cells behind it.
        const word first = rest & -rest;
        word cells = first | (((joined + (first << 1)) ^ joined) & joined), last = 0;
        while ((cells & touched) != 0 && cells != std::exchange(last, cells))
            for (const auto& [links, by] : std::span(reaches, static_cast<std::size_t>(count)))
                cells |= cells << by & links, cells |= (cells & links) >> by;
        rest &= ~cells;
        found.push_back(cells);
        for (; cells != 0; cells &= cells - 1)
            place[std::countr_zero(cells)] = static_cast<std::uint8_t>(found.size() - before);
    }
}

void stream::find_nodes() {
    const std::int64_t tasks = (words() + task_words - 1) / task_words;
    node_cells_.resize(static_cast<std::size_t>(tasks)), task_nodes_.resize(static_cast<std::size_t>(tasks));
    std::vector<std::vector<word>> lists(static_cast<std::size_t>(crew_.threads()));
    ends wanted = 0;
    for (const step_group& g : groups_)
        if (g.along_axis && within_word(g.back) != 0) wanted |= g.leaves | g.wraps;
    for_tasks(words(), task_words, word_bits, [&](std::int64_t first, std::int64_t last, int thread) {
        std::vector<word>& found = lists[static_cast<std::size_t>(thread)];
        found.clear();
        std::fill_n(place_.get() + first * word_bits, (last - first) * word_bits, std::uint8_t{0});
        end_masks at(*this, first, wanted);
        for (std::int64_t w = first; w < last; ++w, at.next()) {
            before_.get()[w] = static_cast<std::int64_t>(found.size());
            if (foreground()[w] != 0) find_nodes_in(w, at, found);
        }
        const auto task = static_cast<std::size_t>(first / task_words);
        task_nodes_[task] = static_cast<std::int64_t>(found.size());
        node_cells_[task] = host_scratch<word>(task_nodes_[task]);
        std::copy(found.begin(), found.end(), node_cells_[task].get());
    });
    for (std::int64_t& each : task_nodes_) nodes_ += std::exchange(each, nodes_);
    before_.get()[words()] = nodes_;
    parent_ = host_scratch<std::int64_t>(nodes_);
    for_tasks(words(), task_words, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t node = task_nodes_[static_cast<std::size_t>(first / task_words)];
        const std::int64_t before = node;
        for (std::int64_t w = first; w < last; ++w) before_.get()[w] += before;
        const std::int64_t end = last == words() ? nodes_ : task_nodes_[static_cast<std::size_t>(last / task_words)];
        for (; node < end; ++node) parent_.get()[node] = node;
    });
}

// ---- nodes to trees -------------------------------------------------------------------------------------------------

/// Finds the root of a node. Every stored parent comes before its node, so all threads may join trees at once.
std::int64_t stream::root(std::int64_t node) const {
    for (std::int64_t up = parent_of(node); up != node;) {
        const std::int64_t next = parent_of(up);
        if (next != up) std::atomic_ref(parent_.get()[node]).store(next, std::memory_order_relaxed);
        node = up, up = next;
    }
    return node;
}

void stream::unite_roots(std::int64_t a, std::int64_t b) const {
    while (a != b) {
        if (a < b) std::swap(a, b);
        std::int64_t expected = a;
        if (std::atomic_ref(parent_.get()[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) break;
        a = root(a), b = root(b);
    }
}

/// Unites the nodes of the linked cells of word w and those `moved` bits before them in word `other`, each two once.
void stream::unite_words(word links, std::int64_t w, std::int64_t other, int moved) const {
    if (links == 0) return;
    const word *const here = nodes_in(w).data(), *const there = nodes_in(other).data();
    const std::uint8_t* const place = place_.get() + w * word_bits;
    const std::uint8_t* const other_place = place_.get() + other * word_bits - moved;
    while (links != 0) {
        const int cell = std::countr_zero(links), a = place[cell] - 1, b = other_place[cell] - 1;
        unite(before_.get()[w] + a, before_.get()[other] + b);
        links &= ~(here[a] & (moved >= 0 ? there[b] << moved : there[b] >> -moved));
    }
}

void stream::unite_all(word links, std::int64_t w, std::int64_t back) const {
    if (links == 0) return;
    const std::int64_t from = w * word_bits - back, other = (from + word_bits) / word_bits - 1;
    const int shift = static_cast<int>(from - other * word_bits);
    const word in_first = ~word{0} >> shift;
    unite_words(links & in_first, w, other, -shift);
    if ((links & ~in_first) != 0) unite_words(links & ~in_first, w, other + 1, static_cast<int>(word_bits) - shift);
}

/// Links the nodes of a word with those of other words, and by slanted steps among each other. A slanted link is
/// redundant if a straight one leads to a cell that is linked with the other end.
void stream::link_word(std::int64_t w, const end_masks& at) const {
    const word here = foreground()[w], joined = here & ~starts()[w];
    const word no_west = at.any_of(ends{1} << 2 * last_), no_east = at.any_of(ends{2} << 2 * last_);
    for (const step_group& g : groups_) {
        const word from = here & ~at.any_of(g.leaves) & at.all_of(g.wraps);
        if (from == 0) continue;
        const word l = straight_links(g, w, at, g.along_axis ? from & ~within_word(g.back) : from);
        unite_all(l, w, g.back);
        if (g.west) {
            const word there_joined = l & ~shifted(starts(), w, g.back);
            const word known = (joined & l << 1) | there_joined;
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

/// Links the first node of each word with the last of the word before.
void stream::link_lines() const {
    crew_.for_each(words(), task_words, 0, [&](std::int64_t w, std::int64_t end, int) {
        for (; w < end; ++w)
            if ((foreground()[w] & ~starts()[w] & 1) != 0) unite(node_of(w * word_bits), node_of(w * word_bits - 1));
    });
}

void stream::link() {
    link_lines();
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
    const std::int64_t tasks = (nodes_ + task_cells - 1) / task_cells;
    std::vector<std::int64_t> roots(static_cast<std::size_t>(tasks));
    std::int64_t* const parent = parent_.get();
    for_tasks(nodes_, task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t& sum = roots[static_cast<std::size_t>(first / task_cells)];
        for (std::int64_t node = first; node < last; ++node) sum += parent[node] == node;
    });
    std::int64_t all = 0;
    for (std::int64_t& each : roots) all += std::exchange(each, all);
    std::fill(base.begin(), base.end(), all);
    const auto first_node = [&](std::int64_t image) {
        const std::int64_t cell = image * p_.cells, w = cell / word_bits;
        std::int64_t node = before_.get()[w];  // nodes are in the order of their first cells
        for (std::int64_t c = w * word_bits; c < cell; ++c) node = std::max(node, before_.get()[w] + place_.get()[c]);
        return node;
    };
    for_tasks(nodes_, task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t next = roots[static_cast<std::size_t>(first / task_cells)], image = 0;
        for (std::int64_t step = p_.images; step > 0; step /= 2)  // the first image that does not begin before
            while (image + step <= p_.images && first_node(image + step - 1) < first) image += step;
        std::int64_t begins = image < p_.images ? first_node(image) : nodes_;
        for (std::int64_t node = first; node < last; ++node) {
            for (; image < p_.images && begins == node; begins = image < p_.images ? first_node(image) : nodes_)
                base[static_cast<std::size_t>(image++)] = next;
            if (parent[node] == node) parent[node] = -1 - next++;
        }
    });
}

}  // namespace nearfield::labelling
