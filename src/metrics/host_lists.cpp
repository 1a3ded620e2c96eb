// On the host: lists points of surfaces with their distances to the other side's points.
#include "base/rehearsal.hpp"
#include "metrics/host_lines.hpp"
#include "metrics/near.hpp"

namespace nearfield::metrics {
namespace {

/// Rows to each side in which points look for their nearest one, and the number of cells of a box for each point that
/// may do so: by estimate a point then takes less time than so many cells in the engine.
struct stage {
    int rows;
    std::int64_t cells_of_point;

    [[nodiscard]] std::int64_t most(const job& j) const { return 64 + j.cells() / cells_of_point; }
};
constexpr int near_rows = 3;
constexpr stage far_stages[] = {{8, 1024}, {64, 8192}};

/// Looks for the nearest of a side's points in a job's mask.
struct nearest_byte : nearest {
    const std::uint8_t* mask;
    std::int64_t size;

    nearest_byte(const group& g, int side, const job& j) : nearest(j), mask(g.mask[side] + j.base), size(j.size[2]) {}

    [[nodiscard]] spot spot_of(std::int64_t cell) const {
        const std::int64_t row = cell / size, plane = row / rows;
        return {static_cast<std::int32_t>(plane), static_cast<std::int32_t>(row - plane * rows),
                static_cast<std::int32_t>(cell - row * size)};
    }
    void look(const spot& at, int z, int y) {
        const std::uint8_t* const line = mask + (static_cast<std::int64_t>(at.z + z) * rows + at.y + y) * size;
        for (std::int32_t x = 0; (at.x >= x || at.x + x < size) && square(z, y, x) < least; ++x)
            if ((at.x >= x && line[at.x - x] != 0) || (at.x + x < size && line[at.x + x] != 0)) return offer(z, y, x);
    }
    /// Returns the key of a cell's distance, or the cell with far_bit if no nearest point is within so many rows.
    std::uint64_t key_for(std::int64_t cell, int steps, bool doubles) {
        if (mask[cell] != 0) return least = 0, key(doubles);
        const spot at = spot_of(cell);
        const bool found = in_rows(at, steps, [&](int z, int y) { look(at, z, y); });
        return found && exact() ? key(doubles) : far_bit | static_cast<std::uint64_t>(cell);
    }
};

/// The state of a side of a job while its lines are listed.
struct listing {
    std::int64_t next = 0, far = 0;  ///< the next place of the list; the number of far points
};

/// Lists the points of some lines of a job. After many far points others need not be looked for.
void list_lines(const problem& p, const group& g, const job& j, int side, std::int64_t first, std::int64_t last,
                listing& to) {
    const std::int64_t from = first * j.size[2], count = (last - first) * j.size[2];
    const std::uint8_t* const mask = g.mask[side] + j.base + from;
    nearest_byte point(g, 1 - side, j);
    const bool alone = j.points[1 - side] == 0, doubles = p.squared == dtype::float64;
    const bool looks = std::atomic_ref(to.far).load(std::memory_order_relaxed) <= far_stages[0].most(j);
    std::int64_t points = 0, far = 0;
    for_marked(mask, count, [&](std::int64_t) { ++points; });
    std::int64_t at = std::atomic_ref(to.next).fetch_add(points, std::memory_order_relaxed);
    for_marked(mask, count, [&](std::int64_t i) {
        std::uint64_t key = 0;
        if (!alone)
            key = looks ? point.key_for(from + i, near_rows, doubles) : far_bit | static_cast<std::uint64_t>(from + i);
        far += (key & far_bit) != 0 ? 1 : 0;
        g.key[at] = key, g.code[at++] = mask[i];
    });
    std::atomic_ref(to.far).fetch_add(far, std::memory_order_relaxed);
}

/// Lets the far points of a list look in more rows. Returns the number of those that find no other point.
std::int64_t look_farther(const problem& p, const group& g, const job& j, int side, int rows) {
    nearest_byte point(g, 1 - side, j);
    std::int64_t far = 0;
    for (std::int64_t i = j.start[side]; i < j.start[side] + j.points[side]; ++i) {
        std::uint64_t& key = g.key[i];
        if ((key & far_bit) == 0) continue;
        key = point.key_for(static_cast<std::int64_t>(key & ~far_bit), rows, p.squared == dtype::float64);
        far += (key & far_bit) != 0 ? 1 : 0;
    }
    return far;
}

template <class T>
void look_up_all(const host& on, const group& g, int side) {
    using as = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
    workers team(on, g.cells);
    team.for_each(std::ssize(g.jobs), 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
            const job& j = g.jobs[k];
            const T* const squared = static_cast<const T*>(g.squared) + j.far;
            for (std::int64_t i = j.start[side]; i < j.start[side] + j.points[side]; ++i)
                if ((g.key[i] & far_bit) != 0) g.key[i] = key_of(static_cast<as>(squared[g.key[i] & ~far_bit]));
        }
    });
}

}  // namespace

std::vector<std::uint8_t> list_near(const host& on, const problem& p, const coded&, const group& g) {
    std::vector<listing> sides(2 * g.jobs.size());
    for (std::size_t i = 0; i < sides.size(); ++i) sides[i].next = g.jobs[i / 2].start[i % 2];
    workers team(on, 3 * g.cells);
    line_numbers(g).for_each(team, g, [&](std::size_t k, std::int64_t first, std::int64_t last) {
        for (int side = 0; side < 2; ++side)
            list_lines(p, g, g.jobs[k], side, first, last, sides[2 * k + static_cast<std::size_t>(side)]);
    });
    std::vector<std::uint8_t> left(g.jobs.size(), rehearsing() != nullptr ? 1 : 0);
    team.for_each(std::ssize(g.jobs), 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
            std::int64_t far[2] = {sides[2 * k].far, sides[2 * k + 1].far};
            for (const stage& each : far_stages) {
                const bool looks = far[0] + far[1] <= each.most(g.jobs[k]);
                for (int side = 0; looks && side < 2; ++side)
                    if (far[side] > 0) far[side] = look_farther(p, g, g.jobs[k], side, each.rows);
            }
            left[k] = far[0] + far[1] > 0 ? 1 : 0;
        }
    });
    return left;
}

void look_up(const host& on, dtype squared, const group& g, int side) {
    if (squared == dtype::uint32) look_up_all<std::uint32_t>(on, g, side);
    else if (squared == dtype::uint64) look_up_all<std::uint64_t>(on, g, side);
    else look_up_all<double>(on, g, side);
}

}  // namespace nearfield::metrics
