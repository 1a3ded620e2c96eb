// Links that the image itself gives, a bit for each neighbour: the bits of 32 cells of a row become one word per
// neighbour, a row to a lane.
#pragma once

#include "label/gpu/links/links.cuh"

namespace nearfield::labelling {

/// Walk of a warp through a graph. A lane holds the words of its row: for each step the cells that name the neighbour
/// there. Of the plane in front it keeps the words that name cells in the current plane.
template <bool Deep, bool Slanted>
class graph_walk {
public:
    /// The bits of lines and images, and of the faces of volumes, lie in an element's first byte.
    using element = std::conditional_t<Deep && Slanted, std::uint32_t, std::uint8_t>;
    struct source {
        const element* data;
        strides at;
    };
    struct stage {};
    static constexpr int warps = 4;
    static constexpr int blocks =
        Deep && Slanted ? 3 : 4;  ///< blocks on a multiprocessor, limited by registers: up to 36 words a lane

    __device__ graph_walk(const narrow_lattice& g, const source& from, const strip_place& at, stage&)
        : g_(g), from_(from), at_(at), image_(from.data + from.at.image(at.image)), first_(at.word * word_cells) {
        west_ = neighbour(g, 2, first_, -1), east_ = neighbour(g, 2, first_ + at.last, 1);
    }
    /// Reads plane `z`; planes are read in order.
    [[nodiscard]] __device__ strip_links look(int z) {
        strip_links l;
        keep_front();
        const int plane = neighbour(g_, 0, z, 0);
        if (plane < 0) return l;
        const bool there = at_.holds(g_);
        sides_ = {};
        if (there && west_ >= 0) sides_.west = load(plane, at_.y, west_);
        if (there && east_ >= 0) sides_.east = load(plane, at_.y, east_);
        read_rows(plane);
        l.here.set = set_ = there ? up_to(at_.last) : 0;
        const bool west_set = there && west_ >= 0, east_set = there && east_ >= 0;
        const bool next = east_set && ((here_[to_east] >> at_.last & 1) | names<to_west>(sides_.east)) != 0;
        l.here.marks = (west_set ? strip_word::west_set : 0) | (east_set ? strip_word::east_set : 0) |
                       (next ? strip_word::next : 0);
        l.here.on = (here_[to_west] | here_[to_east] << 1 | names<to_east>(sides_.west)) & set_ &
                    (set_ << 1 | (west_set ? 1U : 0U));
        const word marks_above = before(l.here.marks);
        l.up = (here_[to_above] | before(here_[to_below])) & set_ & before(set_);
        const two above{before(sides_.west), before(sides_.east)};
        l.sides_up = linked_sides<to_above, to_below>(sides_, above, l.here.marks & marks_above);
        if constexpr (Deep) {
            l.to_front = (here_[to_front] | front_[to_behind - 18]) & set_ & front_set_;
            l.sides_front = linked_sides<to_front, to_behind>(sides_, front_sides_, l.here.marks & front_marks_);
        }
        marks_ = l.here.marks;
        return l;
    }
    /// Returns those candidates that have a slanted link of this kind.
    template <int Kind>
    [[nodiscard]] __device__ word ask(int, word candidates) const {
        if constexpr (!Slanted) return 0;
        constexpr link_kind kind = kind_of(Kind);
        constexpr bool crosses = kind.to != link_row::above;
        if constexpr (crosses && !Deep) return 0;
        constexpr int dz = crosses ? -1 : 0, dy = kind.from == link_row::above ? 1
                                                  : kind.to == link_row::front ? 0
                                                                               : -1;
        constexpr int to = step(dz, dy, kind.by), back = step(-dz, -dy, -kind.by);
        const word mine = kind.from == link_row::above ? before(here_[to]) : here_[to];
        word theirs = 0;
        two sides{};
        if constexpr (crosses) theirs = front_[back - 18], sides = front_sides_;
        else theirs = here_[back], sides = sides_;
        if constexpr (kind.to != link_row::front)
            theirs = before(theirs), sides = {before(sides.west), before(sides.east)};
        if constexpr (kind.by < 0) theirs = theirs << 1 | names<back>(sides.west);
        if constexpr (kind.by > 0) theirs = theirs >> 1 | names<back>(sides.east) << at_.last;
        return (mine | theirs) & candidates;
    }

private:
    /// The cells on both sides of a word.
    struct two {
        std::uint32_t west, east;
    };
    /// A step's number in a volume; neighbours in front of or before a cell have smaller numbers than the cell, 13.
    static constexpr int step(int dz, int dy, int dx) { return 13 + 9 * dz + 3 * dy + dx; }
    static constexpr int to_west = step(0, 0, -1), to_east = step(0, 0, 1), to_above = step(0, -1, 0),
                         to_below = step(0, 1, 0), to_front = step(-1, 0, 0), to_behind = step(1, 0, 0);
    static constexpr bool is_wanted(int k) {
        const int changes = (k / 9 != 1) + (k / 3 % 3 != 1) + (k % 3 != 1);
        return changes > 0 && (Slanted || changes == 1) && (Deep || k / 9 == 1);
    }
    static constexpr std::uint32_t bit(int k) {
        return Deep ? link_bit({k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1}) : link_bit({k / 3 % 3 - 1, k % 3 - 1});
    }
    /// Returns 1 if a cell names the neighbour.
    template <int Step>
    [[nodiscard]] __device__ static word names(std::uint32_t cell) {
        constexpr std::uint32_t mask = bit(Step);
        return (cell & mask) != 0 ? 1 : 0;
    }
    [[nodiscard]] __device__ static word before(word of) { return __shfl_up_sync(cuda::every_lane, of, 1); }
    [[nodiscard]] __device__ std::uint32_t load(int plane, int y, int x) const {
        return image_[from_.at.cell(plane, y, x)];
    }
    /// Returns the links of the cells beside the word; `marks` are those of both rows.
    template <int To, int Back>
    [[nodiscard]] __device__ word linked_sides(const two& a, const two& b, word marks) const {
        const word west = names<To>(a.west) | names<Back>(b.west), east = names<To>(a.east) | names<Back>(b.east);
        return ((marks & strip_word::west_set) != 0 ? west : 0) |
               ((marks & strip_word::east_set) != 0 ? east << 31 : 0);
    }
    __device__ void keep_front() {
        if constexpr (Deep)
#pragma unroll
            for (int k = 0; k < 9; ++k) front_[k] = here_[18 + k];
        front_sides_ = sides_, front_set_ = set_, front_marks_ = marks_;
    }
    /// A lane reads its column of every row: neighbouring lanes read neighbouring cells.
    __device__ void read_rows(int plane) {
        constexpr int together = 8;
        const bool inside = at_.lane <= at_.last;
#pragma unroll 1
        for (int begin = 0; begin < cuda::warp; begin += together) {
            std::uint32_t cell[together];
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int y = at_.row(begin + i);
                cell[i] = inside && y >= 0 && y < g_.size[1] ? load(plane, y, first_ + at_.lane) : 0;
            }
#pragma unroll
            for (int i = 0; i < together; ++i) unpack(begin + i, cell[i], std::make_integer_sequence<int, 27>{});
        }
    }
    template <int... Step>
    __device__ void unpack(int row, std::uint32_t cell, std::integer_sequence<int, Step...>) {
        (unpack_step<Step>(row, cell), ...);
    }
    template <int Step>
    __device__ void unpack_step(int row, std::uint32_t cell) {
        if constexpr (is_wanted(Step)) {
            const word all = __ballot_sync(cuda::every_lane, names<Step>(cell) != 0);
            if (at_.lane == row) here_[Step] = all;
        }
    }

    const narrow_lattice& g_;
    const source& from_;
    const strip_place& at_;
    const element* image_;
    int first_, west_, east_;
    word here_[27] = {}, set_ = 0, marks_ = 0;  ///< words of the row, by step
    two sides_{};
    word front_[9] = {}, front_set_ = 0, front_marks_ = 0;  ///< words of the plane in front, by the steps behind it
    two front_sides_{};
};

}  // namespace nearfield::labelling
