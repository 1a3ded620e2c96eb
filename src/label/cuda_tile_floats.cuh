// Floating-point values that differ by a limited amount: which cells hang together is asked of the values cell by cell.
#pragma once

#include "label/cuda_cells.cuh"
#include "label/cuda_tile_keys.cuh"

namespace nearfield::labelling {

/// A tile's links as words: of each thread's word, cells that hang together with the one before them; of each touch, those with
/// the cells there of the same column, the one before and the one after.
template <class Tiling>
struct tile_links {
    word on[Tiling::threads];
    three_links link[Tiling::touching::count][Tiling::threads];
    std::uint8_t joined[Tiling::threads];  ///< whether the first cell hangs together with the word before
};

struct float_source {
    using value = float;
    template <class Tiling>
    using links = tile_links<Tiling>;

    cell_source<float> of;

    [[nodiscard]] __device__ const float* image(std::int64_t number) const { return of.image(number); }
    [[nodiscard]] __device__ float load(const float* of_image, int z, int y, int x) const {
        return *of.cell(of_image, z, y, x);
    }
    [[nodiscard]] __device__ bool foreground(float a) const { return of.decide.foreground(a); }
    [[nodiscard]] __device__ bool linked(float a, float b) const { return of.decide.linked(a, b); }
};

/// What a thread's word hangs together with in its tile. A warp owns a word at a time, a lane a cell. Threads meet.
template <class Tiling>
__device__ void find_links(tile_workshop<Tiling>& s, tile_links<Tiling>& links, const narrow_lattice& g,
                           const tile_place<Tiling>& at, const float_source& from, const tile_bundle<Tiling>& mine,
                           touches* found, bool& joined) {
    const float* const image = from.image(at.image);
    const auto inside = [&](int plane, int line, int x) {
        return x >= 0 && x < Tiling::columns && at.holds(g, plane, line, 0) && at.word * word_cells + x < g.size[2];
    };
    const auto load = [&](int plane, int line, int x) {
        return from.load(image, at.z + plane, at.y + line, at.word * word_cells + x);
    };
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int t = static_cast<int>(threadIdx.x) / cuda::warp; t < Tiling::threads; t += Tiling::threads / cuda::warp) {
        const tile_bundle<Tiling> b(t);
        const int plane = b.plane(0), line = b.line(0), x = b.w * word_cells + lane;
        const float value = inside(plane, line, x) ? load(plane, line, x) : 0;
        const bool set = inside(plane, line, x) && from.foreground(value);
        const auto links_with = [&](int dz, int dy, int dx) {
            if (!set || !inside(plane + dz, line + dy, x + dx)) return false;
            const float other = load(plane + dz, line + dy, x + dx);
            return from.foreground(other) && from.linked(value, other);
        };
        const word here = __ballot_sync(cuda::every_lane, set),
                   on = __ballot_sync(cuda::every_lane, links_with(0, 0, -1));
        if (lane == 0) s.cells[b.at(0)] = s.all[t] = here, links.on[t] = on & ~1U, links.joined[t] = on & 1;
        if (lane == 0) s.first[t] = here & ~(on & ~1U);
#pragma unroll
        for (int i = 0; i < Tiling::touching::count; ++i) {
            const touch to = Tiling::touching::get(i);
            if (!b.reaches(to)) continue;
            three_links l{__ballot_sync(cuda::every_lane, links_with(to.dz, to.dy, 0)), 0, 0};
            if (to.slanted) {
                l.west = __ballot_sync(cuda::every_lane, links_with(to.dz, to.dy, -1));
                l.east = __ballot_sync(cuda::every_lane, links_with(to.dz, to.dy, 1));
            }
            if (lane == 0) links.link[i][t] = l;
        }
    }
    __syncthreads();
    joined = links.joined[mine.thread] != 0;
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) {
        const touch t = Tiling::touching::get(i);
        found[i] = {0, 0, 0, 0};
        if (mine.reaches(t))
            found[i] =
                without_implied(links.link[i][mine.thread], links.on[mine.thread], links.on[mine.other(t)], t.slanted);
    }
}

}  // namespace nearfield::labelling
