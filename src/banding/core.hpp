// The mathematics of parallel banding: the exact test for the proximate sites of a line, lists of them that are built
// in bands and joined, and a walk along such a list that gives every cell its nearest site.
//
// Axes are solved first to last. Phase 1 gives each cell the nearest site of its own line along the first axis. For
// each further axis, phase 2 keeps the candidates of a line that are nearest to some point of it, and phase 3 assigns
// them to cells. Of equally near candidates of a line the one at the smaller position wins in every pass. As the last
// pass solves the last axis, that is the library's tie rule. So a candidate that is nowhere nearer than both its
// neighbours can be dropped.
//
// With height(r) = off(r) + weight * r^2, where off(r) is the squared distance of candidate r from the line, the
// squared distance from q to it is height(r) - 2 weight q r + weight q^2. The proximate sites are the corners of the
// lower hull of the points (r, height(r)): the paper's test of bisectors, without a division.
//
// Cao, Tang, Mohamed, Tan, "Parallel banding algorithm to compute exact distance transform with the GPU", I3D 2010, and
// its addendum of 2019 (PBA+).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/annotate.hpp"
#include "methods/core.hpp"

namespace nearfield::bands {

using methods::metric;
using methods::none;

__extension__ typedef __int128 int128;

/// Largest values that a caller may ask for. A block of 1024 threads owns 32 lines, with 32 bands in phase 2 or 32 rows
/// in phase 3. The ends of phase 1's bands take workspace.
inline constexpr int most_m1 = 1024, most_m2 = 32, most_m3 = 32;

/// A pass over cells (slab, position, line) of an array in C order; its lines run along `positions`.
struct pass {
    std::int64_t slabs = 1, positions = 1, lines = 1;
};

/// First position of band `b` of `bands`, for b in [0, bands].
NF_HD constexpr std::int32_t band_begin(std::int64_t positions, std::int64_t b, int bands) {
    return static_cast<std::int32_t>(positions * b / bands);
}

/// The nearer of the sites before and after position `at`; either may be missing (negative).
NF_HD constexpr std::int32_t nearer_end(std::int32_t at, std::int32_t before, std::int32_t after) {
    if (before < 0 || after < 0) return before < 0 ? after : before;
    return at - before <= after - at ? before : after;
}

/// True if b, with a < b < c, is nearer than both a and c at no point of the line. Product is wide enough for
/// (difference of two heights) * (difference of two positions).
template <class Product, class V>
NF_HD constexpr bool dominated(std::int32_t a, V a_height, std::int32_t b, V b_height, std::int32_t c, V c_height) {
    return static_cast<Product>(b_height - a_height) * (c - b) >= static_cast<Product>(c_height - b_height) * (b - a);
}

/// One line of cells in the pass along `Axis`, 1 or 2. A cell holds its candidate, packed without the coordinates from
/// `Axis` on, or none. A candidate's own coordinate is its position, so a candidate in a list stores there the position
/// of its predecessor in the list, or its own if it is the first.
template <class V, class Key, int Axis>
struct line {
    metric<V> m;
    Key* cells;           ///< the line's first cell
    std::int32_t* after;  ///< position of each candidate's successor; may be null if no lists are joined
    std::int64_t stride;
    std::int32_t slab, across;

    NF_HD Key candidate(std::int32_t at) const { return cells[at * stride]; }
    NF_HD Key site(Key candidate) const {
        return candidate & ~static_cast<Key>(static_cast<Key>(m.keys.mask[Axis]) << m.keys.shift[Axis]);
    }
    NF_HD std::int32_t before(Key candidate) const { return m.keys.coordinate(candidate, Axis); }
    NF_HD Key linked(Key candidate, std::int32_t to) const {
        return site(candidate) | static_cast<Key>(static_cast<Key>(to) << m.keys.shift[Axis]);
    }
    NF_HD V off2(Key candidate) const {
        const V z = m.term(0, m.keys.coordinate(candidate, 0), slab);
        return Axis == 1 ? z : m.term(1, m.keys.coordinate(candidate, 1), across) + z;
    }
    NF_HD V height(Key candidate, std::int32_t at) const { return off2(candidate) + m.term(Axis, at, 0); }
    NF_HD V distance2(Key candidate, std::int32_t at, std::int32_t from) const {
        return off2(candidate) + m.term(Axis, at, from);
    }
};

/// Positions of the ends of a list; -1 for an empty list.
struct ends {
    std::int32_t first = -1, last = -1;
};

template <class V>
struct point {
    std::int32_t at = -1;
    V height{};
};

/// Links the proximate candidates in [from, to) into a list, which serves as a stack with its top at the end.
template <class Product, class V, class Key, int Axis>
NF_HD ends prune(const line<V, Key, Axis>& cells, std::int32_t from, std::int32_t to) {
    constexpr int together = 4;  // loads in flight
    ends list;
    point<V> top, under;
    for (std::int32_t at = from; at < to; at += together) {
        Key candidates[together];
        for (int i = 0; i < together; ++i) candidates[i] = at + i < to ? cells.candidate(at + i) : none<Key>;
        for (int i = 0; i < together; ++i) {
            if (candidates[i] < 0) continue;
            const point<V> now{at + i, cells.height(candidates[i], at + i)};
            while (under.at >= 0 &&
                   dominated<Product>(under.at, under.height, top.at, top.height, now.at, now.height)) {
                top = under;
                under.at = -1;
                if (top.at == list.first) break;
                under.at = cells.before(cells.candidate(top.at));
                under.height = cells.height(cells.candidate(under.at), under.at);
            }
            if (list.first < 0) list.first = now.at;
            cells.cells[now.at * cells.stride] = cells.linked(candidates[i], top.at < 0 ? now.at : top.at);
            if (cells.after != nullptr && top.at >= 0) cells.after[top.at * cells.stride] = now.at;
            under = top, top = now;
        }
    }
    list.last = top.at;
    return list;
}

/// Joins the lists of two neighbouring bands: drops ends that the other list dominates until none is dominated.
template <class Product, class V, class Key, int Axis>
NF_HD ends joined(const line<V, Key, Axis>& cells, ends low, ends high) {
    if (low.first < 0 || high.first < 0) return low.first < 0 ? high : low;
    const auto point_at = [&](std::int32_t at) { return point<V>{at, cells.height(cells.candidate(at), at)}; };
    const auto gone = [](const point<V>& a, const point<V>& b, const point<V>& c) {
        return dominated<Product>(a.at, a.height, b.at, b.height, c.at, c.height);
    };
    const auto under = [&](const point<V>& a) {
        return a.at == low.first ? point<V>{} : point_at(cells.before(cells.candidate(a.at)));
    };
    const auto over = [&](const point<V>& b) {
        return b.at == high.last ? point<V>{} : point_at(cells.after[b.at * cells.stride]);
    };
    point<V> a = point_at(low.last), b = point_at(high.first);
    point<V> before = under(a), after = over(b);
    for (;;) {
        if (before.at >= 0 && gone(before, a, b)) a = before, before = under(a);
        else if (after.at >= 0 && gone(a, b, after)) b = after, after = over(b);
        else break;
    }
    cells.cells[b.at * cells.stride] = cells.linked(cells.candidate(b.at), a.at);
    cells.after[a.at * cells.stride] = b.at;
    return {low.first, high.last};
}

/// Walks along a line backwards, from its last site to its first.
template <class V, class Key, int Axis>
class walk {
public:
    NF_HD walk(const line<V, Key, Axis>& cells, std::int32_t last) : cells_(cells), at_(last) {
        if (at_ < 0) return;
        here_ = cells_.candidate(at_);
        look_back();
    }
    /// The site nearest to position q. Later calls must not use a larger q.
    NF_HD Key nearest(std::int32_t q) {
        if (at_ < 0) return none<Key>;
        V distance2 = cells_.distance2(here_, at_, q);
        while (before_ != at_) {
            const V other2 = cells_.distance2(there_, before_, q);
            if (other2 > distance2) break;
            at_ = before_, here_ = there_, distance2 = other2;
            look_back();
        }
        return cells_.linked(here_, at_);
    }

private:
    NF_HD void look_back() {
        before_ = cells_.before(here_);
        there_ = before_ == at_ ? here_ : cells_.candidate(before_);
    }

    const line<V, Key, Axis>& cells_;
    std::int32_t at_, before_ = -1;
    Key here_ = none<Key>, there_ = none<Key>;
};

namespace self_check {
static_assert(band_begin(10, 0, 3) == 0 && band_begin(10, 1, 3) == 3 && band_begin(10, 3, 3) == 10);
static_assert(nearer_end(5, 3, 7) == 3 && nearer_end(5, 3, 6) == 6 && nearer_end(5, -1, 9) == 9);
// Candidates at 0, 1 and 2 that lie on the line: 1 is proximate. At squared distance 1 from the line it is not.
static_assert(!dominated<std::int64_t>(0, 0, 1, 1, 2, 4) && dominated<std::int64_t>(0, 0, 1, 1 + 1, 2, 4));
}  // namespace self_check

}  // namespace nearfield::bands
