// Links of values of any type, and of colours: a warp compares 32 cells of a row at once, row after row. The results
// for 31 rows and the one above become one word per lane.
#pragma once

#include "label/gpu/links/cell_values.cuh"
#include "label/gpu/links/links.cuh"

namespace nearfield::labelling {

/// Walk of a warp through values. Values of up to 8 bytes are staged for the current plane and the one in front; larger
/// ones are read again.
template <bool Deep, class T, int Channels, bool Within>
class value_walk {
public:
    using source = pixel_source<T, Channels, Within>;
    using value = typename source::value;
    static constexpr bool staged = sizeof(value) <= 8;
    static constexpr int turns = Deep ? 2 : 1;
    static constexpr int across =
        word_cells + 3;  ///< pitch of a staged row: cells, one before and one after; odd to avoid bank conflicts
    static constexpr int warps =
        turns * sizeof(value) > 8 && staged ? 2 : 4;   ///< warps of a block, limited by 48 KiB of shared memory
    static constexpr int blocks = warps == 2 ? 6 : 5;  ///< blocks on a multiprocessor, limited by its shared memory
    /// Stores per row its cells, those linked with the cell before, above and in front, and those with equal values.
    struct stage {
        uint4 linked[cuda::warp], equal[Within ? cuda::warp : 1];
        value cells[staged ? turns : 1][staged ? cuda::warp * across : 1];
    };

    __device__ value_walk(const narrow_lattice& g, const source& from, const strip_place& at, stage& s)
        : g_(g), from_(from), at_(at), stage_(s), image_(from.image(at.image)), first_(at.word * word_cells) {
        west_ = neighbour(g, 2, first_, -1), east_ = neighbour(g, 2, first_ + at.last, 1);
        column_ = from.at.along[2] * (first_ + min(at.lane, at.last));
        all_ = from.all_linked ? ~word{0} : 0;
    }
    /// Reads plane `z`; planes are read in order.
    /// Over 40 lines because its steps share what a lane has in registers.
    [[nodiscard]] __device__ strip_links look(int z) {
        strip_links l;
        const int plane = neighbour(g_, 0, z, 0);
        if (plane < 0) return l;
        const bool there = at_.holds(g_);
        two outside{};
        if (there && west_ >= 0) outside.west = at(row(plane, at_.y), west_);
        if (there && east_ >= 0) outside.east = at(row(plane, at_.y), east_);
        __syncwarp();
        compare_rows(z, plane);
        __syncwarp();
        if constexpr (staged) {
            stage_.cells[turn(z)][at_.lane * across] = outside.west;
            stage_.cells[turn(z)][at_.lane * across + at_.last + 2] = outside.east;
            __syncwarp();
        }
        const value first = own_cell(z, plane, 0), last = own_cell(z, plane, at_.last);
        const uint4 linked = stage_.linked[at_.lane];
        const word set = there ? (linked.x | (from_.has_background ? 0 : ~word{0})) & up_to(at_.last) : 0;
        const bool west_set = there && west_ >= 0 && from_.foreground(outside.west),
                   east_set = there && east_ >= 0 && from_.foreground(outside.east);
        const bool next = east_set && (set >> at_.last & 1) != 0 && is_linked(last, outside.east);
        l.here.set = set;
        l.here.marks = (west_set ? strip_word::west_set : 0) | (east_set ? strip_word::east_set : 0) |
                       (next ? strip_word::next : 0);
        const word both = set & (set << 1 | (west_set ? 1U : 0U));
        const word set_above = __shfl_up_sync(cuda::every_lane, set, 1),
                   marks_above = __shfl_up_sync(cuda::every_lane, l.here.marks, 1);
        l.here.on = ((linked.y & ~1U) | (from_.linked(first, outside.west) ? 1U : 0U) | all_) & both;
        l.up = (linked.z | all_) & set & set_above, l.to_front = (linked.w | all_) & set & front_.set;
        if constexpr (Within) {
            const uint4 equal = stage_.equal[at_.lane];
            l.here.same = ((equal.y & ~1U) | (source::equal(first, outside.west) ? 1U : 0U)) & both;
            l.same_up = equal.z & l.up, l.same_front = equal.w & l.to_front;
        } else {
            l.here.same = l.here.on, l.same_up = l.up, l.same_front = l.to_front;
        }
        l.sides_up = linked_sides(outside, {outside.west.from_lane_before(), outside.east.from_lane_before()},
                                  l.here.marks & marks_above);
        if constexpr (Deep) {
            l.sides_front = linked_sides(outside, front_sides_, l.here.marks & front_.marks);
            l.as_front = set == front_.set && l.same_front == set && source::equal(outside.west, front_sides_.west) &&
                         source::equal(outside.east, front_sides_.east);
            front_ = l.here, front_sides_ = outside;
        }
        return l;
    }
    /// Returns those candidates that have a slanted link of this kind: row by row, with two rows in flight.
    template <int Kind>
    [[nodiscard]] __device__ word ask(int z, word candidates) const {
        constexpr link_kind kind = kind_of(Kind);
        word mine = 0;
        for (unsigned left = __ballot_sync(cuda::every_lane, candidates != 0 ? 1 : 0); left != 0;) {
            const int one = __ffs(static_cast<int>(left)) - 1;
            left &= left - 1;
            const int other = left != 0 ? __ffs(static_cast<int>(left)) - 1 : one;
            left &= left - 1;
            const value a = cell<kind.from, 0>(z, one), b = cell<kind.to, kind.by>(z, one);
            const value c = cell<kind.from, 0>(z, other), d = cell<kind.to, kind.by>(z, other);
            const word of_one = __ballot_sync(cuda::every_lane, from_.linked(a, b) ? 1 : 0),
                       of_other = __ballot_sync(cuda::every_lane, from_.linked(c, d) ? 1 : 0);
            mine = at_.lane == one ? of_one : at_.lane == other ? of_other : mine;
        }
        return (mine | all_) & candidates;
    }

private:
    /// The cells on both sides of a word.
    struct two {
        value west, east;
    };
    [[nodiscard]] __device__ static int turn(int z) { return Deep ? z & 1 : 0; }
    [[nodiscard]] __device__ const T* row(int plane, int y) const { return image_ + from_.at.cell(plane, y, 0); }
    [[nodiscard]] __device__ value at(const T* row, int x) const { return from_.load(row + x * from_.at.along[2]); }
    /// Returns a cell of the lane's own row.
    [[nodiscard]] __device__ value own_cell(int z, int plane, int x) const {
        if constexpr (staged) return stage_.cells[turn(z)][at_.lane * across + 1 + x];
        else return at_.holds(g_) ? at(row(plane, at_.y), first_ + x) : value{};
    }
    /// Returns the lane's cell, `By` on, of the row that lane `of` has or looks at.
    template <link_row Row, int By>
    [[nodiscard]] __device__ value cell(int z, int of) const {
        constexpr bool up = Row == link_row::above || Row == link_row::front_above;
        constexpr bool front = Row == link_row::front || Row == link_row::front_above;
        if constexpr (staged) {
            return stage_.cells[turn(front ? z - 1 : z)][(up ? of - 1 : of) * across + 1 + By + at_.lane];
        } else {
            const T* const line = row(front ? neighbour(g_, 0, z, -1) : z, at_.row(up ? of - 1 : of));
            if (By < 0 && at_.lane == 0) return at(line, max(west_, 0));
            if (By > 0 && at_.lane >= at_.last) return at(line, max(east_, 0));
            return from_.load(line + column_ + By * from_.at.along[2]);
        }
    }
    /// Compares all rows; results for rows that do not exist are ignored.
    __device__ void compare_rows(int z, int plane) {
        const std::int64_t down = from_.at.along[1];
        const T* cell = row(plane, max(at_.above, 0)) + column_;
        const T* const first = row(plane, at_.top) + column_;
        const int in_front = Deep && !staged ? neighbour(g_, 0, z, -1) : -1;
        const std::int64_t to_front = in_front < 0 ? 0 : (in_front - plane) * from_.at.along[0];
        const int rows = min(link_strips::rows, g_.size[1] - at_.top);
        value above{};
        constexpr int together = staged ? 8 : 2;
#pragma unroll 1
        for (int begin = 0; begin <= rows; begin += together) {
            value here[together] = {}, front[together] = {};
#pragma unroll
            for (int i = 0; i < together; ++i) {
                if (i <= rows - begin) {
                    here[i] = from_.load_raw(cell);
                    if constexpr (Deep && !staged) front[i] = from_.load_raw(cell + to_front);
                }
                cell = i == 0 && begin == 0 ? first : cell + down;
            }
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int place = (begin + i) * across + 1 + at_.lane;
                here[i] = from_.in_order(here[i]);
                if constexpr (Deep && !staged) front[i] = from_.in_order(front[i]);
                if constexpr (Deep && staged) front[i] = stage_.cells[turn(z - 1)][place];
                if constexpr (staged) stage_.cells[turn(z)][place] = here[i];
                compare_row(begin + i, here[i], above, front[i]);
                above = here[i];
            }
        }
    }
    __device__ void compare_row(int k, const value& here, const value& above, const value& front) {
        const auto all = [](bool b) { return __ballot_sync(cuda::every_lane, b ? 1 : 0); };
        const value before = here.from_lane_before();
        const uint4 linked{all(from_.stands_out(here)), all(from_.linked(here, before)), all(from_.linked(here, above)),
                           Deep ? all(from_.linked(here, front)) : 0};
        if (at_.lane == 0) stage_.linked[k] = linked;
        if constexpr (Within) {
            const uint4 equal{0, all(source::equal(here, before)), all(source::equal(here, above)),
                              Deep ? all(source::equal(here, front)) : 0};
            if (at_.lane == 0) stage_.equal[k] = equal;
        }
    }
    /// Returns the links of the cells beside the word; `marks` are those of both rows.
    [[nodiscard]] __device__ word linked_sides(const two& a, const two& b, word marks) const {
        const bool west = (marks & strip_word::west_set) != 0, east = (marks & strip_word::east_set) != 0;
        return (west && is_linked(a.west, b.west) ? 1U : 0U) | (east && is_linked(a.east, b.east) ? 1U << 31 : 0U);
    }
    [[nodiscard]] __device__ bool is_linked(const value& a, const value& b) const {
        return all_ != 0 || from_.linked(a, b);
    }

    const narrow_lattice& g_;
    const source& from_;
    const strip_place& at_;
    stage& stage_;
    const T* image_;
    int first_, west_, east_;
    std::int64_t column_;  ///< column of the lane, in elements
    word all_;
    two front_sides_{};
    strip_word front_;
};

}  // namespace nearfield::labelling
