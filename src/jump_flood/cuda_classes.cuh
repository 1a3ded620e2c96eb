// Runs several rounds of jump flooding of a volume in one kernel, between two arrays in shared memory: while steps are
// s or more, a cell receives sites only from cells whose coordinates equal its own modulo s (its class).
#pragma once

#include "jump_flood/cuda_offsets.cuh"

namespace nearfield::methods::tiles {

/// Classes in shared memory: 16 cells along each axis, `side` classes beside each other. Missing cells hold no site.
/// Rows and planes are padded so that a warp's reads fall into different banks, for every step.
struct class_array {
    static constexpr int log_size = 4, size = 1 << log_size, side = 4, tile = 4;
    static constexpr int row = 80, plane = size * row + 8, words = size * plane;
    static constexpr std::size_t bytes = 4 * (2 * words + row);  ///< two arrays and a row without sites
    static constexpr int beyond = 68;                            ///< offset in a row of words without a site
    static NF_HD int of_x(int x) { return side * x + (x >> 3) * 4; }
    static NF_HD int of_y(int y) { return y * row + (y >> 2 & 1) * 8; }
};

/// Parameters of the kernel and of a word's terms, as in `offsets`, in steps of the last of these rounds.
struct class_plan {
    std::int32_t nx, ny, nz, log_unit;
    std::int32_t x_blocks;
    to_prepare also;
    std::uint32_t one = 1;
    // Terms for steps of 1, 2 and 4 cells of a class.
    std::uint32_t linear[3][3], minus_linear[3][3], after[3][3], before[3][3];
    static constexpr std::uint32_t none = class_word::nothing;
};

/// A round between the two arrays. A thread finds the sites of 4 by 4 by 4 cells that lie a step apart.
template <int Log>
class class_round {
    static constexpr int step = 1 << Log, cells = class_array::tile;
    static constexpr bool halo = Log < 2;
    static constexpr int first_word = halo ? 0 : 1, last_word = halo ? 5 : 4;
    static constexpr int over_z = step * class_array::plane;
    /// Offset of the tile's k-th cell.
    static constexpr NF_HD int along_x(int k) { return Log == 2 ? 16 * k + (k >= 2 ? 4 : 0) : 4 * step * k; }
    static constexpr NF_HD int along_y(int k) {
        return class_array::row * step * k + (Log == 2 ? (k & 1) * 8 : Log == 1 ? (k >> 1) * 8 : 0);
    }

public:
    std::int32_t x, y, z, side;  ///< the tile's first cell, and its class

    __device__ class_round(const class_plan& p, std::uint32_t thread, const std::uint32_t* nothing)
        : p_(p), nothing_(nothing) {
        const auto t = static_cast<std::int32_t>(thread);
        side = t & 3;
        const int a = t >> 2 & 7, warp = t >> 5;
        if constexpr (Log == 2) x = a & 3, y = (a >> 2) + (warp & 1) * 2, z = warp >> 1;
        else if constexpr (Log == 1)
            x = (a & 1) + (warp & 1) * 8, y = (a >> 1 & 1) + (warp >> 1 & 1) * 8, z = (a >> 2) + (warp >> 2) * 8;
        else x = (a & 3) * 4, y = ((a >> 2) + (warp & 1) * 2) * 4, z = (warp >> 1) * 4;
        const int own = class_array::of_x(x);
        at_ = own + side + class_array::of_y(y) + z * class_array::plane;
        row_ = own + side;
        if constexpr (halo) {
            constexpr int last = step * cells;
            left_ = x >= step ? class_array::of_x(x - step) - own : class_array::beyond - own;
            right_ = x + last < class_array::size ? class_array::of_x(x + last) - own : class_array::beyond - own;
            above_ = y >= step, below_ = y + last < class_array::size;
            up_ = class_array::of_y(y - step) - class_array::of_y(y);
            down_ = class_array::of_y(y + last) - class_array::of_y(y);
        }
    }

    /// Calls put(m, t, c, word) with the result of each cell.
    template <class Put>
    __device__ void run(const std::uint32_t* from, const Put& put) {
#pragma unroll
        for (int k = 0; k < 3; ++k)
#pragma unroll
            for (int t = 0; t < cells; ++t)
#pragma unroll
                for (int c = 0; c < cells; ++c) best_[k][t][c] = ~0u;
        from_ = from + at_;
        int m = 0;
        if constexpr (halo) {
            if (z >= step) {
                from_ -= over_z;
                plane<true, false, false>();
            }
            move_on();
        }
#pragma unroll 1
        for (; m < cells; ++m) {
            plane<true, true, true>();
            if (m > 0) write(m - 1, put);
            move_on();
        }
        if constexpr (halo)
            if (z + cells * step < class_array::size) plane<false, false, true>();
        write(cells - 1, put);
    }

private:
    struct heard {
        std::uint32_t here, x_after, x_before, y_after, y_before, z_after, z_before;
        __device__ heard(const class_plan& p, std::uint32_t w) : here(w) {
            const std::uint32_t x = w & class_word::low * class_word::unit(2),
                                y = w & class_word::low * class_word::unit(1), z = w & class_word::low;
            x_after = x * p.linear[Log][2] + p.after[Log][2], x_before = x * p.minus_linear[Log][2] + p.before[Log][2];
            y_after = y * p.linear[Log][1] + p.after[Log][1], y_before = y * p.minus_linear[Log][1] + p.before[Log][1];
            z_after = z * p.linear[Log][0] + p.after[Log][0], z_before = z * p.minus_linear[Log][0] + p.before[Log][0];
        }
    };

    template <bool After, bool Same, bool Before>
    __device__ void plane() {
        std::uint32_t next[6];
        read(next, first_word);
#pragma unroll
        for (int r = first_word; r <= last_word; ++r) {
            std::uint32_t now[6];
#pragma unroll
            for (int w = 0; w < 6; ++w) now[w] = next[w];
            if (r < last_word) read(next, r + 1);
            if (Log == 1 && ((r == 0 && !above_) || (r == 5 && !below_))) continue;
            offer_row<After, Same, Before>(now, r);
        }
        from_ += over_z;
    }
    __device__ void read(std::uint32_t (&to)[6], int r) const {
        const std::uint32_t* row;
        if (r == 0) row = above_ ? from_ + up_ : nothing_ + row_;
        else if (r == 5) row = below_ ? from_ + down_ : nothing_ + row_;
        else row = from_ + along_y(r - 1);
        if constexpr (halo) to[0] = row[left_], to[5] = row[right_];
#pragma unroll
        for (int c = 0; c < cells; ++c) to[c + 1] = row[along_x(c)];
    }

    __device__ std::uint32_t in_column(const heard& h, int w, int cell) const {
        return w == cell ? h.x_before * p_.one + h.here : w == cell + 2 ? h.x_after * p_.one + h.here : h.here;
    }
    __device__ std::uint32_t in_row(const heard& h, std::uint32_t column, int r, int t) const {
        return r == t ? h.y_before * p_.one + column : r == t + 2 ? h.y_after * p_.one + column : column;
    }

    template <bool After, bool Same, bool Before>
    __device__ void offer_row(const std::uint32_t (&row)[6], int r) {
#pragma unroll
        for (int v = first_word; v < last_word; v += 2) {
            const int w = v + 1;
            const heard one(p_, row[v]), other(p_, row[w]);
#pragma unroll
            for (int cell = max(0, v - 2); cell <= min(w, cells - 1); ++cell) {
                const bool by_one = cell <= v, by_other = w <= cell + 2;
                const std::uint32_t first = by_one ? in_column(one, v, cell) : 0,
                                    second = by_other ? in_column(other, w, cell) : 0;
#pragma unroll
                for (int t = max(0, r - 2); t <= min(r, cells - 1); ++t) {
                    const std::uint32_t a = by_one ? in_row(one, first, r, t) : 0,
                                        b = by_other ? in_row(other, second, r, t) : 0;
                    if (by_one) {
                        if (After) best_[2][t][cell] = __viaddmin_u32(a, one.z_before, best_[2][t][cell]);
                        if (Before) best_[0][t][cell] = __viaddmin_u32(a, one.z_after, best_[0][t][cell]);
                    }
                    if (by_other) {
                        if (After) best_[2][t][cell] = __viaddmin_u32(b, other.z_before, best_[2][t][cell]);
                        if (Before) best_[0][t][cell] = __viaddmin_u32(b, other.z_after, best_[0][t][cell]);
                    }
                    if (!Same) continue;
                    if (by_one && by_other) best_[1][t][cell] = __vimin3_u32(best_[1][t][cell], a, b);
                    else best_[1][t][cell] = min(best_[1][t][cell], by_one ? a : b);
                }
            }
        }
    }
    template <class Put>
    __device__ void write(int m, const Put& put) {
#pragma unroll
        for (int t = 0; t < cells; ++t)
#pragma unroll
            for (int c = 0; c < cells; ++c) put(m, t, c, at_ + m * over_z + along_y(t) + along_x(c), best_[0][t][c]);
    }
    __device__ void move_on() {
#pragma unroll
        for (int t = 0; t < cells; ++t)
#pragma unroll
            for (int c = 0; c < cells; ++c)
                best_[0][t][c] = best_[1][t][c], best_[1][t][c] = best_[2][t][c], best_[2][t][c] = ~0u;
    }

    const class_plan& p_;
    const std::uint32_t* const nothing_;
    const std::uint32_t* from_;
    std::int32_t at_, row_, left_ = 0, right_ = 0, up_ = 0, down_ = 0;
    bool above_ = false, below_ = false;
    std::uint32_t best_[3][cells][cells];
};

}  // namespace nearfield::methods::tiles
