// On the host: computes distances, then draws tiles of pixels, so that a thread's rays read the same cells.
#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "nearfield/chessboard.hpp"
#include "render/room.hpp"

namespace nearfield::pictures {
namespace {

constexpr std::int64_t rays_at_once = 256, cells_at_once = 1 << 16, tile = 16;

/// Computes the distances of a scene's volume; owns their memory.
class distances {
public:
    distances(const host& on, const scene& s, const wanted& w) : on_(on), s_(s) {
        if (!w.skip && !w.clear) return;
        const std::int64_t cells = s.what.field.cells();
        const host_scratch<std::uint8_t> solid(cells);
        if (s.what.field.bytes) mark<std::uint8_t>(solid.get());
        else mark<float>(solid.get());
        const auto image = any_input<host>::contiguous(solid.get(), dtype::uint8, s.what.field.size);
        if (w.skip) measure_blocks(solid.get());
        if (!w.clear) return;
        clear_ = host_scratch<std::uint8_t>(cells);
        const host_scratch<float> distance(cells);
        distance_options how;
        how.spacing = w.spacing, how.sites = sites::nonzero, how.max_distance = 64 * s.narrow;
        nearfield::distance(on, image, any_output<host>::contiguous(distance.get(), dtype::float32, s.what.field.size),
                            how);
        for_cells([&](std::int64_t i) {
            clear_.get()[i] = quarters_of(distance.get()[i], static_cast<float>(quarters / s.narrow));
        });
    }
    [[nodiscard]] const std::uint8_t* skip() const { return skip_.get(); }
    [[nodiscard]] const std::uint8_t* clear() const { return clear_.get(); }

private:
    template <class T>
    void mark(std::uint8_t* solid) {
        const volume& f = s_.what.field;
        const std::int64_t n = f.size[2], step = f.step[2];
        workers team(on_, f.cells() / n);
        team.for_each(f.cells() / n, std::max<std::int64_t>(1, cells_at_once / n), 1,
                      [&](std::int64_t first, std::int64_t last, int) {
                          for (std::int64_t row = first; row < last; ++row) {
                              const T* const from = static_cast<const T*>(f.data) + row / f.size[1] * f.step[0] +
                                                    row % f.size[1] * f.step[1];
                              for (std::int64_t x = 0; x < n; ++x) solid[row * n + x] = s_.mark_of(from[x * step]);
                          }
                      });
    }
    /// Finds how many blocks of two cells a side are free around each block.
    void measure_blocks(const std::uint8_t* solid) {
        const std::int64_t* const n = s_.what.field.size;
        const std::int64_t size[] = {blocks_of(n[0]), blocks_of(n[1]), blocks_of(n[2])}, rows = size[0] * size[1];
        const host_scratch<std::uint8_t> taken(rows * size[2]);
        skip_ = host_scratch<std::uint8_t>(rows * size[2]);
        workers team(on_, rows);
        team.for_each(rows, std::max<std::int64_t>(1, cells_at_once / n[2]), 1,
                      [&](std::int64_t first, std::int64_t last, int) {
                          std::vector<std::uint8_t> any(static_cast<std::size_t>(2 * size[2] + 1));
                          for (std::int64_t row = first; row < last; ++row) {
                              std::fill(any.begin(), any.end(), std::uint8_t{0});
                              const std::int64_t z = row / size[1] * 2, y = row % size[1] * 2;
                              for (std::int64_t k = z; k < std::min(z + 3, n[0]); ++k)
                                  for (std::int64_t i = y; i < std::min(y + 3, n[1]); ++i)
                                      for (std::int64_t x = 0; x < n[2]; ++x)
                                          any[static_cast<std::size_t>(x)] |= solid[(k * n[1] + i) * n[2] + x];
                              const std::uint8_t* from = any.data();
                              for (std::int64_t x = 0; x < size[2]; ++x, from += 2)
                                  taken.get()[row * size[2] + x] = s_.is_taken(from[0] | from[1] | from[2]) ? 1 : 0;
                          }
                      });
        chessboard_distance(on_, any_input<host>::contiguous(taken.get(), dtype::uint8, size),
                            any_output<host>::contiguous(skip_.get(), dtype::uint8, size), {.sites = sites::nonzero});
    }
    template <class Body>
    void for_cells(const Body& body) {
        workers team(on_, s_.what.field.cells());
        team.for_each(s_.what.field.cells(), cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t i = first; i < last; ++i) body(i);
        });
    }

    const host& on_;
    const scene& s_;
    host_scratch<std::uint8_t> skip_, clear_;
};

}  // namespace

void run(const host& on, const tracing& p) {
    workers team(on, p.rays);
    team.for_each(p.rays, rays_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t i = first; i < last; ++i) trace(p, i);
    });
}

void run(const host& on, const scene& s, const wanted& w) {
    const host quiet{on.threads, {}};
    scene whole = s;
    distances made(quiet, whole, w);
    whole.what.skip = made.skip(), whole.clear = made.clear();
    const std::int64_t across = (s.width + tile - 1) / tile, tiles = across * ((s.height + tile - 1) / tile);
    workers team(on, tiles);
    team.for_each(tiles, 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t top = k / across * tile, left = k % across * tile;
            for (std::int64_t y = top; y < std::min(top + tile, s.height); ++y)
                for (std::int64_t x = left; x < std::min(left + tile, s.width); ++x) draw(whole, whole.mode, y, x);
        }
    });
}

}  // namespace nearfield::pictures
