// Shared definitions of the device engine: positions of rows, words and cells, and trees of nodes in device memory.
//
// A row is cut into words of 32 cells. A node is a run of connected cells inside one word; its number (id) is that of
// its first cell in raster order, with every row padded to whole words. The smallest id of a component is therefore its
// first cell, which determines its label.
#pragma once

#include "base/annotate.hpp"
#include "base/cuda.cuh"

namespace nearfield::labelling {

using word = std::uint32_t;
using state = unsigned long long;  ///< type of atomics
constexpr int word_cells = 32;

/// Batch, planes, rows, cells: every image as a volume, with missing axes of length 1 in front. Numbers are as wide as
/// ids: 32 bits if ids of padded rows need at most 31, since 64-bit divisions take about a hundred instructions.
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

/// Position of the cell `lane` of a word.
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

/// Positions of an array's cells, in elements: strides along planes, rows and cells, and along the batch axes.
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

/// Mask of bits 0 to `bit`.
__device__ inline word up_to(int bit) { return 0xffffffffu >> (31 - bit); }
/// Returns the highest bit of `starts` that is not above `bit`; one must exist.
__device__ inline int start_of(word starts, int bit) { return 31 - __clz(static_cast<int>(starts & up_to(bit))); }

/// Trees of nodes: parent[slot of a] is a's parent, smaller than a, or a itself for a root. Slots are ids without their
/// last `Shift` bits: if neighbouring cells are always connected, nodes start at least two cells apart. After
/// numbering, a root holds its label with the highest bit set.
template <class Id>
struct forest {
    Id* parent;
    int shift;

    static constexpr Id numbered = Id{1} << (8 * sizeof(Id) - 1);

    [[nodiscard]] __device__ Id* slot(Id a) const { return parent + (a >> shift); }
    /// Finds the root of a node. A stale value is an ancestor too, so these loads need no order; unite() relies on
    /// atomics.
    [[nodiscard]] __device__ Id root(Id a) const {
        for (Id up = *slot(a); up != a && (up & numbered) == 0; up = *slot(a)) a = up;
        return a;
    }
    /// Links the larger root below the smaller one; retries while other threads change the roots.
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
