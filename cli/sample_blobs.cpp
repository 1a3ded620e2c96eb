// Makes blobs, which are blurred noise, cut so that the wanted share of cells is inside; and cells and labels, which
// are a jittered Voronoi diagram.
#include <algorithm>
#include <vector>

#include "cli/generator.hpp"
#include "cli/sample_shapes.hpp"
#include "cli/slabs.hpp"

namespace nearfield::cli {
namespace {

/// Lines that are blurred side by side, so that an axis with a long stride is read in runs of this many cells.
constexpr std::int64_t tile_lines = 64;

/// Replaces each cell by the mean over 2 * radius + 1 cells, in `lines` neighbouring lines of `length` cells, which are
/// `stride` apart. Lines wrap around.
void blur_tile(std::uint32_t* first, std::int64_t length, std::int64_t stride, std::int64_t lines, std::int64_t radius,
               std::vector<std::uint32_t>& copy) {
    copy.resize(static_cast<std::size_t>(length * lines));
    for (std::int64_t i = 0; i < length; ++i) std::copy_n(first + i * stride, lines, copy.begin() + i * lines);
    const auto row = [&](std::int64_t i) { return copy.data() + (i % length + length) % length * lines; };
    const auto width = static_cast<std::uint64_t>(2 * radius + 1);
    std::uint64_t sums[tile_lines] = {};
    for (std::int64_t i = -radius; i <= radius; ++i)
        for (std::int64_t l = 0; l < lines; ++l) sums[l] += row(i)[l];
    for (std::int64_t i = 0; i < length; ++i) {
        const std::uint32_t *leaves = row(i - radius), *enters = row(i + radius + 1);
        for (std::int64_t l = 0; l < lines; ++l) {
            first[i * stride + l] = static_cast<std::uint32_t>(sums[l] / width);
            sums[l] += enters[l];
            sums[l] -= leaves[l];
        }
    }
}

void blur_axis(std::vector<std::uint32_t>& noise, const point& size, std::size_t axis, std::int64_t wanted_radius) {
    const std::int64_t length = size[axis], radius = std::min(wanted_radius, (length - 1) / 2);
    std::int64_t stride = 1;
    for (std::size_t inner = axis + 1; inner < 3; ++inner) stride *= size[inner];
    const std::int64_t blocks = static_cast<std::int64_t>(noise.size()) / (length * stride);
    const std::int64_t tiles = (stride + tile_lines - 1) / tile_lines;
    for_slabs(blocks * tiles, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint32_t> copy;
        for (std::int64_t job = begin; job < end; ++job) {
            const std::int64_t from = job % tiles * tile_lines;
            std::uint32_t* first = noise.data() + job / tiles * length * stride + from;
            blur_tile(first, length, stride, std::min(tile_lines, stride - from), radius, copy);
        }
    });
}

/// The value above which `share` of the cells lie, to one part in 2^16 of the range of values.
std::uint32_t value_above_which(const std::vector<std::uint32_t>& noise, double share) {
    const auto [least, most] = std::minmax_element(noise.begin(), noise.end());
    const std::uint64_t low = *least, range = *most - low + std::uint64_t{1};
    std::vector<std::int64_t> histogram(1 << 16, 0);
    for (std::uint32_t value : noise) ++histogram[(value - low) * histogram.size() / range];
    const auto wanted = static_cast<std::int64_t>(share * static_cast<double>(noise.size()));
    std::int64_t above = 0;
    std::uint64_t bin = histogram.size();
    while (bin > 0 && above < wanted) above += histogram[--bin];
    return static_cast<std::uint32_t>(low + bin * range / histogram.size());
}

/// The seed of a square block. It keeps away from the block's border, so that the nearest seeds are in adjacent blocks.
point seed_of(const canvas& on, const point& block, std::int64_t side, std::uint64_t seed) {
    point at{};
    std::uint64_t key = seed;
    for (std::int64_t b : block) key = scramble(key, static_cast<std::uint64_t>(b));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (!on.used(axis)) continue;
        key = scramble(key);
        at[axis] = block[axis] * side + side / 8 +
                   static_cast<std::int64_t>(key % static_cast<std::uint64_t>(side - side / 4));
    }
    return at;
}

constexpr std::int64_t squared_distance(const point& a, const point& b) {
    std::int64_t sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return sum;
}

/// True if `p` is farther than wall / 2 from the bisectors of its own seed with all others.
bool inside_cell(const point& p, const std::vector<point>& seeds, std::int64_t wall) {
    const auto nearer = [&](const point& a, const point& b) { return squared_distance(p, a) < squared_distance(p, b); };
    const point& own = *std::min_element(seeds.begin(), seeds.end(), nearer);
    for (const point& other : seeds) {
        if (&other == &own) continue;
        // The distance to a bisector is gap / (2 * |own - other|); squares keep it in integers.
        const std::int64_t gap = squared_distance(p, other) - squared_distance(p, own);
        if (gap * gap < wall * wall * squared_distance(own, other)) return false;
    }
    return true;
}

std::vector<point> seeds_around(const canvas& on, const point& block, std::int64_t side, std::uint64_t seed) {
    std::vector<point> seeds;
    const std::int64_t reach[3] = {on.used(0), on.used(1), 1};
    for (std::int64_t z = -reach[0]; z <= reach[0]; ++z)
        for (std::int64_t y = -reach[1]; y <= reach[1]; ++y)
            for (std::int64_t x = -reach[2]; x <= reach[2]; ++x)
                seeds.push_back(seed_of(on, {block[0] + z, block[1] + y, block[2] + x}, side, seed));
    return seeds;
}

/// Number of blocks along an axis whose seeds can be nearest to a cell.
std::int64_t blocks_along(const canvas& on, std::size_t axis, std::int64_t side) { return on.size[axis] / side + 3; }

/// The label of the polygon around a block's seed, or 0 for a gap.
std::uint16_t label_of(const canvas& on, const point& block, std::int64_t side, std::uint64_t seed,
                       std::uint64_t gap_limit) {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
        number = number * (on.used(axis) ? blocks_along(on, axis, side) : 1) + (on.used(axis) ? block[axis] + 1 : 0);
    if (scramble(~seed, static_cast<std::uint64_t>(number)) >> 11 >= gap_limit) return 0;
    return static_cast<std::uint16_t>(1 + number % 65535);
}

}  // namespace

void draw_labels(const canvas& on, std::uint16_t* labels, std::uint64_t seed, std::int64_t wanted_scale,
                 double density) {
    const std::int64_t side = std::max<std::int64_t>(4, wanted_scale);
    const auto gap_limit = static_cast<std::uint64_t>(density * 0x1p53);
    for_slabs(on.size[0] * on.size[1], [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            point p{row / on.size[1], row % on.size[1], 0};
            std::vector<point> seeds;
            std::vector<std::uint16_t> label;
            for (; p[2] < on.size[2]; ++p[2]) {
                if (p[2] % side == 0) {
                    seeds = seeds_around(on, {p[0] / side, p[1] / side, p[2] / side}, side, seed);
                    label.clear();
                    for (const point& each : seeds) {
                        // A seed lies in its own block, so its place determines the block.
                        const auto block = [&](std::size_t axis) {
                            return on.used(axis) ? (each[axis] + side) / side - 1 : std::int64_t{0};
                        };
                        label.push_back(label_of(on, {block(0), block(1), block(2)}, side, seed, gap_limit));
                    }
                }
                const auto nearest = std::min_element(seeds.begin(), seeds.end(), [&](const point& a, const point& b) {
                    return squared_distance(p, a) < squared_distance(p, b);
                });
                labels[row * on.size[2] + p[2]] = label[static_cast<std::size_t>(nearest - seeds.begin())];
            }
        }
    });
}

void draw_blobs(const canvas& on, std::uint64_t seed, std::int64_t scale, double density) {
    std::vector<std::uint32_t> noise(static_cast<std::size_t>(on.count()));
    // Noise has 24 bits: a sum over up to 2^40 cells fits 64 bits, and blurring leaves enough levels for the cut.
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint32_t>(scramble(seed, i) >> 40);
    // Three box blurs approximate a Gaussian blur.
    for (int pass = 0; pass < 3; ++pass)
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (on.used(axis)) blur_axis(noise, on.size, axis, std::max<std::int64_t>(1, scale / 4));
    const std::uint32_t cut = value_above_which(noise, density);
    for (std::size_t i = 0; i < noise.size(); ++i) on.cells[i] = noise[i] >= cut ? 255 : 0;
}

void draw_cells(const canvas& on, std::uint64_t seed, std::int64_t wanted_scale) {
    const std::int64_t side = std::max<std::int64_t>(4, wanted_scale), wall = std::max<std::int64_t>(2, side / 10);
    for_slabs(on.size[0] * on.size[1], [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            point p{row / on.size[1], row % on.size[1], 0};
            std::vector<point> seeds;
            for (; p[2] < on.size[2]; ++p[2]) {
                if (p[2] % side == 0) seeds = seeds_around(on, {p[0] / side, p[1] / side, p[2] / side}, side, seed);
                on.at(p) = inside_cell(p, seeds, wall) ? 255 : 0;
            }
        }
    });
}

}  // namespace nearfield::cli
