#include "exact/cuda_options_sites.hpp"

#include <array>
#include <limits>

#include "exact/cuda_options_fields.cuh"

namespace nearfield::exact {
namespace {

// A warp has 32 cells of a line in turn, and a block 32 neighbouring lines, so that the cells round them are in its cache.
constexpr int find_warps = 8;
constexpr int find_rows = 32;

/// All steps from a cell to others of the grid by squared distance, up to `Most`; those of one distance in the order of the
/// tie rule: by the last axis, then by the one before it.
template <int Axes, int Most>
struct steps_by_distance {
    static constexpr int reach = [] {
        int r = 0;
        while ((r + 1) * (r + 1) <= Most) ++r;
        return r;
    }();

    template <class Each>
    static constexpr void each(const Each& each) {
        const int deep = Axes == 3 ? reach : 0;
        for (int x = -reach; x <= reach; ++x)
            for (int y = -reach; y <= reach; ++y)
                for (int z = -deep; z <= deep; ++z)
                    if (x * x + y * y + z * z <= Most) each(x, y, z);
    }
    static constexpr int count() {
        int n = 0;
        each([&](int, int, int) { ++n; });
        return n;
    }

    std::array<std::uint16_t, Most + 2> first{};
    std::array<std::uint32_t, count()> step{};  ///< x, y and z in a byte each

    constexpr steps_by_distance() {
        std::array<int, Most + 2> at{};
        each([&](int x, int y, int z) { ++at[static_cast<std::size_t>(x * x + y * y + z * z + 1)]; });
        for (std::size_t d = 1; d < at.size(); ++d) at[d] += at[d - 1];
        for (std::size_t d = 0; d < at.size(); ++d) first[d] = static_cast<std::uint16_t>(at[d]);
        each([&](int x, int y, int z) {
            const auto to = static_cast<std::size_t>(at[static_cast<std::size_t>(x * x + y * y + z * z)]++);
            step[to] = static_cast<std::uint32_t>((x & 0xff) | (y & 0xff) << 8 | (z & 0xff) << 16);
        });
    }
};

constexpr int farthest_in_plane = 2047, farthest_in_space = 255;
using plane_steps = steps_by_distance<2, farthest_in_plane>;
using space_steps = steps_by_distance<3, farthest_in_space>;
static_assert(plane_steps::count() < 65536 && space_steps::count() < 65536);
__device__ constexpr plane_steps in_plane;
__device__ constexpr space_steps in_space;

/// The grid, whose axes are z, y and x of as many images, and what the fields are made of. Passed to the kernel by value.
struct site_search_of {
    std::int64_t images, cells;
    std::int32_t depth, height, length;  ///< depth 1 in images
    bool volumes;
    int rank;
    narrow_states distances;
    std::int32_t* refused;
    outputs out;
};

struct found_at {
    std::int32_t x, y, z;
    bool any;
};

/// Of a cell: the first place at its distance that is of another class.
template <class Bits>
__device__ found_at find_site(const site_search_of& of, const Bits* image, int distance2, const found_at& own) {
    const auto value_at = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
        return image[(static_cast<std::int64_t>(z) * of.height + y) * of.length + x];
    };
    const Bits mine = value_at(own.x, own.y, own.z);
    const std::uint16_t* const first = of.volumes ? &in_space.first[0] : &in_plane.first[0];
    const std::uint32_t* const step = of.volumes ? &in_space.step[0] : &in_plane.step[0];
    const int end = first[distance2 + 1];
    for (int i = first[distance2]; i < end; ++i) {
        const std::uint32_t by = step[i];
        const std::int32_t x = own.x + static_cast<std::int8_t>(by), y = own.y + static_cast<std::int8_t>(by >> 8),
                           z = own.z + static_cast<std::int8_t>(by >> 16);
        if (static_cast<std::uint32_t>(x) >= static_cast<std::uint32_t>(of.length) ||
            static_cast<std::uint32_t>(y) >= static_cast<std::uint32_t>(of.height) ||
            static_cast<std::uint32_t>(z) >= static_cast<std::uint32_t>(of.depth))
            continue;
        if (value_at(x, y, z) != mine) return {x, y, z, true};
    }
    return {0, 0, 0, false};
}

/// The fields of a cell.
template <bool Alone>
__device__ void put_found(const site_search_of& of, std::int64_t first, const found_at& own, const found_at& site,
                          int distance2) {
    const auto number = [&](const found_at& at) {
        return (static_cast<std::int64_t>(at.z) * of.height + at.y) * of.length + at.x;
    };
    const std::int64_t cell = first + number(own), linear = site.any ? number(site) : -1;
    if (of.out.index != nullptr) of.out.index[cell] = linear;
    if (of.out.index32 != nullptr) of.out.index32[cell] = static_cast<std::int32_t>(linear);
    if constexpr (!Alone) {
        const std::int32_t value = site.any ? distance2 * of.distances.factor : no_site<std::int32_t>();
        of.out.put_value(cell, value, last_value<std::int32_t>());
        for (int source = 0; of.out.coordinates != nullptr && source < of.out.image_rank; ++source) {
            const int back = of.rank - 1 - of.out.problem_axis[source];
            of.out.coordinates[source * of.out.cells + cell] = !site.any                         ? -1
                                                               : of.out.problem_axis[source] < 0 ? 0
                                                               : back == 0                       ? site.x
                                                               : back == 1                       ? site.y
                                                                                                 : site.z;
        }
    }
}

/// A block 32 lines of 32 cells each, a lane a cell. `Alone`: of the fields only linear indices.
template <class Bits, bool Alone>
__global__ void __launch_bounds__(find_warps* cuda::warp)
    find_sites_by_distance(const __grid_constant__ site_search_of of, const Bits* image) {
    cuda::wait_for_kernel_before();
    if (__syncthreads_or(*static_cast<volatile std::int32_t*>(of.refused))) return;
    const std::int64_t columns = (of.length + cuda::warp - 1) / cuda::warp,
                       groups = (of.height + find_rows - 1) / find_rows;
    const std::int64_t above = quotient(blockIdx.x, columns), plane = quotient(above, groups),
                       nth_image = quotient(plane, of.depth), first = nth_image * of.depth * of.height * of.length;
    const auto x =
        static_cast<std::int32_t>(blockIdx.x - above * columns) * cuda::warp + static_cast<std::int32_t>(threadIdx.x);
    const auto top = static_cast<std::int32_t>(above - plane * groups) * find_rows;
    const auto z = static_cast<std::int32_t>(plane - nth_image * of.depth);
    const int most = of.volumes ? farthest_in_space : farthest_in_plane;
    for (std::int32_t y = top + static_cast<std::int32_t>(threadIdx.y);
         y < min(top + find_rows, of.height) && x < of.length; y += find_warps) {
        const found_at own{x, y, z, true};
        const int distance2 = of.distances.data[(plane * of.height + y) * of.distances.pitch + x];
        found_at site{0, 0, 0, false};
        if (distance2 == 0) site = own;
        else if (distance2 <= most && distance2 < of.distances.saturated)
            site = find_site(of, image + first, distance2, own);
        else if (distance2 < of.distances.saturated) *of.refused = 1;
        put_found<Alone>(of, first, own, site, distance2);
    }
}

}  // namespace

bool finds_sites(const option_call& call) {
    const plan& p = call.p;
    const int searched = p.rank - p.first_axis;
    if (!p.sites_wanted || p.by != classes::values || searched < 2 || searched > 3 || p.numbers == tier::float64)
        return false;
    if (p.weighted || p.half_cell || p.is_signed() || !p.plain_outputs || p.any(border::closed) ||
        p.any(border::periodic) || p.closed_beside < std::numeric_limits<double>::infinity() || call.list.size() > 1)
        return false;
    for (auto axis = static_cast<std::size_t>(p.first_axis); axis < static_cast<std::size_t>(p.rank); ++axis)
        if (p.weight[axis] != 1 || p.size[axis] > std::numeric_limits<std::int32_t>::max() / 2) return false;
    return has_contiguous_fields(p, call.list[0]);
}

void find_sites(const option_call& call, const narrow_states& distances, const elements& image, std::int32_t* refused) {
    const plan& p = call.p;
    const auto last = static_cast<std::size_t>(p.rank - 1);
    site_search_of of{};
    of.volumes = p.rank - p.first_axis == 3;
    of.length = static_cast<std::int32_t>(p.size[last]), of.height = static_cast<std::int32_t>(p.size[last - 1]);
    of.depth = of.volumes ? static_cast<std::int32_t>(p.size[last - 2]) : 1;
    of.cells = p.cells, of.images = p.cells / of.length / of.height / of.depth;
    of.rank = p.rank;
    of.distances = distances, of.refused = refused;
    of.out = contiguous_fields(p, call.list[0], call.out);
    const bool alone = of.out.distance32 == nullptr && of.out.distance64 == nullptr && of.out.squared32 == nullptr &&
                       of.out.squared64 == nullptr && of.out.squared_float == nullptr && of.out.coordinates == nullptr;
    const std::int64_t blocks =
        of.images * of.depth * blocks_for(of.height, find_rows) * blocks_for(of.length, cuda::warp);
    const auto go = [&]<class Bits>(Bits) {
        const auto launch = [&](auto kernel) {
            cuda::launch<cuda::order::overlapped>(call.on, kernel, blocks, dim3(cuda::warp, find_warps), 0, of,
                                                  reinterpret_cast<const Bits*>(image.data));
        };
        if (alone) launch(find_sites_by_distance<Bits, true>);
        else launch(find_sites_by_distance<Bits, false>);
    };
    switch (image.bytes) {
        case 1: return go(std::uint8_t{});
        case 2: return go(std::uint16_t{});
        case 4: return go(std::uint32_t{});
        default: return go(std::uint64_t{});
    }
}

}  // namespace nearfield::exact
