// Tiles: their positions, their results in device memory, and trees of a tile's nodes in shared memory.
//
// A block owns a tile, a thread a bundle of words. Nodes are numbered through the tile, word after word. The result of
// a tile is its parts (components of the tile by itself), each with a tree node in device memory, and the part of each
// node.
#pragma once

#include "base/cuda_scan.cuh"
#include "label/gpu/tiles/bundle.cuh"

namespace nearfield::labelling {

using narrow_id = std::uint32_t;
using narrow_lattice = lattice<narrow_id>;

/// Words by bundles of rows by bundles of planes. `Slots`: largest number of nodes of a bundle of words.
template <class Bundle, int Changes, int Words, int Down, int Deep, int Slots>
struct tiling {
    using bundle = Bundle;
    using touching = labelling::touching<Bundle, Changes>;
    static constexpr bool valued = Slots > word_cells / 2;  ///< neighbouring cells may belong to different nodes
    static constexpr int words = Words, down = Down, deep = Deep, threads = Words * Down * Deep;
    static constexpr int rows = Down * Bundle::rows, planes = Deep * Bundle::planes;
    static constexpr int row_words = Bundle::count * threads;  ///< words of cells
    static constexpr int nodes = Slots * threads;              ///< largest number of nodes
    static constexpr int columns = words * word_cells;
    /// Blocks per multiprocessor, which fill its 2048 threads: 4096^2 is then one wave of blocks on an H200.
    static constexpr int resident = (Deep > 1 ? 1536 : 2048) / threads;
    static_assert(nodes <= 1 << 16 && rows * planes * columns <= 1 << 16);
};

/// Position of a tile in its image: first plane, row and word.
template <class Tiling>
struct tile_place {
    int number, image, z, y, word;
    [[nodiscard]] NF_HD static int across(const narrow_lattice& g, int axis) {
        const int by = axis == 0 ? Tiling::planes : Tiling::rows;
        return axis == 2 ? (g.words + Tiling::words - 1) / Tiling::words : (g.size[axis] + by - 1) / by;
    }
    [[nodiscard]] NF_HD static int all(const narrow_lattice& g) {
        return g.images * across(g, 0) * across(g, 1) * across(g, 2);
    }
    __device__ tile_place(const narrow_lattice& g, int number_) : number(number_), image(0), z(0) {
        const auto all = static_cast<std::uint32_t>(number), wide = static_cast<std::uint32_t>(across(g, 2));
        std::uint32_t rest = all / wide;
        word = static_cast<int>(all - rest * wide) * Tiling::words;
        y = static_cast<int>(rest) * Tiling::rows;
        if (Tiling::deep == 1 && g.images == 1 && g.size[0] == 1) return;  // avoids slow divisions
        const auto high = static_cast<std::uint32_t>(across(g, 1)), deep = static_cast<std::uint32_t>(across(g, 0));
        y = static_cast<int>(rest % high) * Tiling::rows, rest /= high;
        z = static_cast<int>(rest % deep) * Tiling::planes, image = static_cast<int>(rest / deep);
    }
    /// Returns the number of the row, among those of all images.
    [[nodiscard]] __device__ int row(const narrow_lattice& g, int plane, int line) const {
        return (image * g.size[0] + z + plane) * g.size[1] + y + line;
    }
    [[nodiscard]] __device__ bool holds(const narrow_lattice& g, int plane, int line, int column_word) const {
        return z + plane < g.size[0] && y + line < g.size[1] && word + column_word < g.words;
    }
};

/// A thread's bundle of words within its tile.
template <class Tiling>
struct tile_bundle {
    int thread, w, y, z;
    __device__ explicit tile_bundle(int thread_)
        : thread(thread_),
          w(thread % Tiling::words),
          y(thread / Tiling::words % Tiling::down),
          z(thread / (Tiling::words * Tiling::down)) {}
    [[nodiscard]] __device__ int plane(int row) const {
        return z * Tiling::bundle::planes + row / Tiling::bundle::rows;
    }
    [[nodiscard]] __device__ int line(int row) const { return y * Tiling::bundle::rows + row % Tiling::bundle::rows; }
    /// Returns the index of the word of its row `row` in the tile.
    [[nodiscard]] __device__ int at(int row) const {
        return (plane(row) * Tiling::rows + line(row)) * Tiling::words + w;
    }
    /// Returns the thread of a touching bundle before it, which is in the tile.
    [[nodiscard]] __device__ int other(const touch& t) const {
        return thread + (t.dz * Tiling::down + t.dy) * Tiling::words;
    }
    [[nodiscard]] __device__ bool reaches(const touch& t) const {
        return y + t.dy >= 0 && y + t.dy < Tiling::down && (t.dz == 0 || (Tiling::deep > 1 && z > 0));
    }
};

/// A part: the id of its first cell above the number of its place in `parts`. The smallest part of a component is
/// therefore that of its first cell.
using part = unsigned long long;
constexpr part part_of(std::uint32_t id, std::uint32_t place) { return part{id} << 32 | place; }

/// Largest number of nodes in a tile whose words share nodes (gpu/links/alike.cuh).
constexpr std::uint32_t few_nodes = 128;

/// The results of tiles in device memory. Tile t's words, nodes and parts begin at t times the most a tile can have.
struct tile_store {
    word* cells;               ///< in the order of the tile, row by row
    word* starts;              ///< starts of nodes of each bundle of words; null: at the start of every run of cells
    std::uint16_t* before;     ///< per bundle of words: nodes of the tile before its own, or before those it shares
    std::uint16_t* node_part;  ///< part of each node
    part* parts;               ///< trees: each names one that is not larger, a root names itself
    std::uint32_t* counts;     ///< number of parts of each tile
};

/// Memory that the first kernel of a call clears for later ones.
struct fresh_words {
    state* states;  ///< states of the numbering
    std::int64_t state_count;
    word* marks;  ///< marks of split components; null: not wanted
    std::int64_t mark_words;

    /// Clears the memory. All threads of a kernel call it before they return.
    __device__ void clear() const {
        const std::int64_t all = std::int64_t{gridDim.x} * blockDim.x;
        const std::int64_t me = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
        for (std::int64_t i = me; i < state_count; i += all) states[i] = 0;
        if (marks == nullptr) return;
        for (std::int64_t i = me; i < mark_words / 4; i += all) reinterpret_cast<uint4*>(marks)[i] = uint4{0, 0, 0, 0};
    }
};

/// Trees of the parts of all tiles.
struct part_forest {
    part* parts;

    [[nodiscard]] __device__ part& at(part a) const { return parts[static_cast<std::uint32_t>(a)]; }
    /// Finds a root and links the passed parts to their grandparents. It never writes to a root, so that no other
    /// thread's change is lost; stale values are ancestors too, and unite() relies on atomics.
    [[nodiscard]] __device__ part root(part a) const {
        part up = at(a);
        while (up != a) {
            const part next = at(up);
            if (next == up) return up;
            at(a) = next;
            a = next, up = at(a);
        }
        return a;
    }
    /// Finds a root without writing: other threads flatten at the same time and must not get an older ancestor again.
    [[nodiscard]] __device__ part settled_root(part a) const {
        for (part up = at(a); up != a; up = at(a)) a = up;
        return a;
    }
    /// Links the later root below the earlier one; retries while other threads change the roots.
    __device__ void unite(std::uint32_t one, std::uint32_t other) const {
        part a = parts[one], b = parts[other];  // both loads are in flight at once
        a = root(a), b = root(b);
        while (a != b) {
            const part high = a < b ? b : a, low = a < b ? a : b;
            const part seen = atomicMin(&at(high), low);
            if (seen == high) return;
            a = root(seen), b = root(low);
        }
    }
};

/// Trees of a tile's nodes in shared memory. An entry holds the node's parent, not larger than itself, above the first
/// cell of the node, in halves of 16 bits. The smaller of two entries of a root is therefore that of the smaller
/// parent, then of the earlier first cell.
struct node_forest {
    std::uint32_t* entry;

    static constexpr int half = 16;
    static constexpr std::uint32_t low_half = (1U << half) - 1;

    [[nodiscard]] __device__ std::uint32_t read(std::uint32_t a) const {
        return *static_cast<volatile std::uint32_t*>(entry + a);
    }
    __device__ void plant(std::uint32_t a, std::uint32_t parent, std::uint32_t first_cell) const {
        entry[a] = parent << half | first_cell;
    }
    /// Returns the root of a's tree; `of_root` becomes its entry.
    [[nodiscard]] __device__ std::uint32_t root(std::uint32_t a, std::uint32_t& of_root) const {
        for (of_root = read(a); of_root >> half != a; of_root = read(a)) a = of_root >> half;
        return a;
    }
    __device__ void unite(std::uint32_t a, std::uint32_t b) const {
        std::uint32_t of_a = 0, of_b = 0;
        a = root(a, of_a), b = root(b, of_b);
        while (a != b) {
            const std::uint32_t high = max(a, b), low = min(a, b), of_high = a < b ? of_b : of_a;
            const std::uint32_t seen = atomicMin(entry + high, low << half | (of_high & low_half)) >> half;
            if (seen == high) return;
            a = root(seen, of_a), b = root(low, of_b);
        }
    }
    /// Links node `a` to its root and shortens the path of the nodes that it passes; returns the root.
    __device__ std::uint32_t flatten(std::uint32_t a) const {
        const std::uint32_t mine = read(a);
        std::uint32_t at = mine >> half;
        for (std::uint32_t next = read(at) >> half; next != at; next = read(at) >> half) {
            at = next;
            atomicMin(entry + a, at << half | (mine & low_half));
        }
        return at;
    }
};

}  // namespace nearfield::labelling
