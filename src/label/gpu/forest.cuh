// What the device engine's kernels share: where rows, words and cells lie, and trees of nodes in device memory.
//
// A row is cut into words of 32 cells. A node is a stretch of cells inside one word that hang together; its number (id)
// is that of its first cell in raster order, counted with every row padded to whole words. So the smallest id of a
// component is its first cell, which is what numbers it.
#pragma once

#include "base/annotate.hpp"
#include "base/cuda.cuh"

namespace nearfield::labelling {

using word = std::uint32_t;
using state = unsigned long long;  ///< as atomics take it
constexpr int word_cells = 32;

/// Batch, planes, rows, cells: every image as a volume, missing axes of length 1 in front. Numbers are as wide as ids:
/// 32 bits where ids of padded rows need no more than 31, since divisions of 64 bits take a hundred instructions.
template <class Id>
struct lattice {
    using number = std::conditional_t<sizeof(Id) == 4, std::int32_t, std::int64_t>;
    number size[3] = {1, 1, 1};  ///< planes, rows, cells of one image
    bool wraps[3] = {};
    number images = 1;
    number words = 1;  ///< per row

    [[nodiscard]] constexpr bool is_periodic() const { return wraps[0] || wraps[1] || wraps[2]; }
    [[nodiscard]] NF_HD constexpr number all_words() const { return images * size[0] * size[1] * words; }
};

/// Where the cell `lane` of a word lies.
template <class Id>
struct place {
    using number = typename lattice<Id>::number;
    number image, z, y, x;
    __device__ place(const lattice<Id>& g, number word, int lane) {
        const number row = word / g.words, plane = row / g.size[1];
        x = (word - row * g.words) * word_cells + lane;
        y = row - plane * g.size[1];
        image = plane / g.size[0], z = plane - image * g.size[0];
    }
};

/// Where the cells of an array lie, in elements: strides along planes, rows and cells, and along the axes of the batch.
struct strides {
    std::int64_t along[3];
    std::int64_t image_size[max_rank], image_stride[max_rank];
    int batch_axes;

    [[nodiscard]] __device__ std::int64_t image(std::int64_t number) const {
        std::int64_t at = 0;
        for (int axis = batch_axes - 1; axis >= 0; --axis) {
            at += number % image_size[axis] * image_stride[axis];
            number /= image_size[axis];
        }
        return at;
    }
    [[nodiscard]] __device__ std::int64_t cell(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return z * along[0] + y * along[1] + x * along[2];
    }
};

/// Bits 0 to `bit`.
__device__ inline word up_to(int bit) { return 0xffffffffu >> (31 - bit); }
/// The highest bit of `starts` that is not above `bit`; there is one.
__device__ inline int start_of(word starts, int bit) { return 31 - __clz(static_cast<int>(starts & up_to(bit))); }

/// Trees of nodes: parent[slot of a] is a's parent, smaller than a, or a itself for a root. Slots are ids without their
/// last `Shift` bits: where neighbouring cells always hang together, nodes start at least two cells apart.
/// Once numbered, a root holds its label with the highest bit set.
template <class Id>
struct forest {
    Id* parent;
    int shift;

    static constexpr Id numbered = Id{1} << (8 * sizeof(Id) - 1);

    [[nodiscard]] __device__ Id* slot(Id a) const { return parent + (a >> shift); }
    /// A value from before another thread's change is an ancestor too, so these loads need no order; unite() asks the
    /// memory.
    [[nodiscard]] __device__ Id root(Id a) const {
        for (Id up = *slot(a); up != a && (up & numbered) == 0; up = *slot(a)) a = up;
        return a;
    }
    /// Hangs the larger root below the smaller one, until no other thread was quicker.
    __device__ void unite(Id a, Id b) const {
        a = root(a), b = root(b);
        while (a != b) {
            const Id high = a < b ? b : a, low = a < b ? a : b;
            const Id before = atomicMin(slot(high), low);
            if (before == high) return;
            a = root(before), b = root(low);
        }
    }
};

}  // namespace nearfield::labelling
