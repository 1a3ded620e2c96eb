// Words that share the nodes of the word above or in front: their cells are connected to all cells there, and to each
// other as those are. In images of large areas a tile then has the nodes of only a few rows.
#pragma once

#include "label/gpu/links/store.cuh"
#include "label/gpu/tiles/unite.cuh"

namespace nearfield::labelling {

/// A word's nodes: the distance back to the thread that shares them, and the thread that owns them in the end.
struct alike_word {
    int back = 0;  ///< 0: the word owns its nodes
    int owner;
};

/// Finds the owners: the nodes of a word begin at s.before[owner]. In a tile with more than few_nodes every word keeps
/// its own (gpu/tiles/tables.cuh distributes those of tiles with many parts over threads). The last word always owns
/// its nodes, so that it gives their number. Synchronises the block. `nodes` becomes the number of nodes of the tile.
template <class Tiling>
__device__ alike_word find_alike(tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, const kept_record& record,
                                 bool first_row, bool first_plane, std::uint32_t& nodes) {
    constexpr int line = Tiling::words, plane = Tiling::words * Tiling::down;
    static_assert(Tiling::nodes < 1 << 16);
    const int me = b.thread, lane = me % cuda::warp;
    const word cells = record.cells, starts = s.first[me];
    const bool may = cells != 0 && me + 1 < Tiling::threads;
    const word cells_above = __shfl_up_sync(cuda::every_lane, cells, line),
               starts_above = __shfl_up_sync(cuda::every_lane, starts, line);
    alike_word mine{0, me};
    if (may && !first_row && lane >= line && (record.up & starts) == starts && cells_above == cells &&
        starts_above == starts)
        mine.back = line;
    // Go up the column in one step, to the row that owns its nodes or shares those in front.
    const unsigned column = (Tiling::words == 2 ? 0x55555555U : 0x11111111U) << lane % Tiling::words;
    static_assert(Tiling::words == 2 || Tiling::words == 4);
    const unsigned others = __ballot_sync(cuda::every_lane, mine.back == 0 ? 1 : 0) & column;
    int next = me - lane + 31 - __clz(static_cast<int>(others & up_to(lane)));
    if constexpr (Tiling::deep > 1) {
        __syncthreads();
        if (may && mine.back == 0 && !first_plane && (record.front & starts) == starts && s.all[me - plane] == cells &&
            s.first[me - plane] == starts)
            mine.back = plane, next = me - plane;
        s.before[me] = static_cast<std::uint16_t>(next);
        __syncthreads();
        for (mine.owner = next; (next = s.before[next]) != mine.owner;) mine.owner = next;
    } else {
        mine.owner = next;
    }
    const auto all = static_cast<std::uint32_t>(__popc(starts));
    std::uint32_t both = 0;
    const std::uint32_t before = cuda::sum_before(all << node_forest::half | (mine.back == 0 ? all : 0), s.held, both);
    nodes = both & node_forest::low_half;
    if (nodes > few_nodes) mine = {0, me}, nodes = both >> node_forest::half;
    if (mine.back == 0)
        s.before[me] = static_cast<std::uint16_t>(nodes > few_nodes ? before >> node_forest::half
                                                                    : before & node_forest::low_half);
    __syncthreads();
    if (mine.back != 0) s.before[me] = s.before[mine.owner];
    return mine;
}

/// True if two words have the same nodes.
template <class Tiling>
__device__ bool is_alike(const tile_workshop<Tiling>& s, int one, int other) {
    return s.before[one] == s.before[other] && s.all[one] == s.all[other] && s.first[one] == s.first[other];
}

/// Drops links that the word `back` threads before, whose nodes this word shares, has too: links to words with equal
/// nodes. s.beside holds all words' links upwards, and whether their first cells connect to the word before.
template <class Tiling>
__device__ void drop_alike(const tile_workshop<Tiling>& s, int me, int back, word& up, word& front, bool& joined) {
    constexpr int line = Tiling::words, plane = Tiling::words * Tiling::down;
    if (back == 0) return;
    if (joined && s.beside[Tiling::deep > 1 ? 1 : 0][me - back] != 0 && is_alike(s, me - 1, me - 1 - back))
        joined = false;
    if (back == line) up = 0;
    else if (up != 0 && is_alike(s, me - line, me - line - plane)) up &= ~s.beside[0][me - plane];
    if (Tiling::deep > 1 && back == plane) front = 0;
}

}  // namespace nearfield::labelling
