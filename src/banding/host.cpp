// Parallel banding on the host: runs the three phases over blocks of neighbouring lines.
#include <string>

#include "banding/core.hpp"
#include "banding/parameters.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "methods/room.hpp"

namespace nearfield::bands {
namespace {

/// Lines that a thread processes side by side: 16 cells of 32 bits fill a cache line; phase 1, which streams, takes
/// four times as many.
constexpr std::int64_t flood_lines = 64, block_lines = 16;

/// Number of cells from which on threads save more than they cost in every phase.
constexpr std::int64_t worth_threads = 1 << 14;

constexpr std::int64_t blocks_of(std::int64_t lines, std::int64_t in_block) {
    return (lines + in_block - 1) / in_block;
}

/// One call: the memory and parameters that all phases share.
template <class V, class Key, class Product>
class banded {
public:
    banded(workers& team, const metric<V>& m, const methods::grid& g, const parameters& with)
        : team_(team),
          m_(m),
          size_(g.size),
          with_(with),
          cells_(g.cells()),
          first_(with.m1 * flooded_lines()),
          last_(with.m1 * flooded_lines()),
          lists_(with.m2 * std::max({size_[0] * size_[1], size_[0] * size_[2], std::int64_t{1}})),
          after_(with.m2 > 1 ? cells_ : 0) {}

    /// Number of blocks of lines in all phases, for the progress callback.
    static std::int64_t items(const methods::grid& g, const parameters& with) {
        const bool volume = g.size[0] > 1;
        const std::int64_t flooded = blocks_of(volume ? g.size[1] * g.size[2] : g.size[2], flood_lines);
        const std::int64_t rows = volume ? g.size[0] * blocks_of(g.size[2], block_lines) : 0;
        const std::int64_t columns = g.size[0] * blocks_of(g.size[1], block_lines);
        return flooded * (2 * with.m1 + 1) + (rows + columns) * (with.m2 + with.m3);
    }

    void run(methods::buffers& site, methods::stages& report) {
        constexpr std::int64_t bytes = sizeof(Key);
        const bool volume = size_[0] > 1;
        Key *now = site.template in<Key>(), *spare = site.template out<Key>();
        flood(now, volume ? now : spare, volume);
        report.done("phase 1", 2, 4 * bytes * cells_);
        if (volume) {
            const pass rows{size_[0], size_[1], size_[2]};
            prune_lines<1>(now, rows, report);
            colour<1>(now, spare, rows, report);
        }
        const pass columns{size_[0], size_[2], size_[1]};
        prune_lines<2>(spare, columns, report);
        colour<2>(spare, now, columns, report);
    }

private:
    [[nodiscard]] std::int64_t flooded_lines() const { return size_[0] > 1 ? size_[1] * size_[2] : size_[2]; }

    /// Phase 1 along the first axis: forwards within each band, across bands, and backwards within each band. Writes an
    /// image with exchanged axes.
    void flood(Key* cells, Key* out, bool volume) {
        const std::int64_t lines = flooded_lines(), positions = volume ? size_[0] : size_[1];
        const std::int64_t blocks = blocks_of(lines, flood_lines);
        team_.for_each(blocks * with_.m1, 1, 1, [&](std::int64_t item, std::int64_t, int) {
            flood_forth(cells, positions, lines, item % blocks * flood_lines, static_cast<int>(item / blocks));
        });
        team_.for_each(blocks, 1, 1, [&](std::int64_t block, std::int64_t, int) {
            const std::int64_t begin = block * flood_lines, end = std::min(begin + flood_lines, lines);
            for (std::int64_t line = begin; line < end; ++line) join_ends(lines, line);
        });
        team_.for_each(blocks * with_.m1, 1, 1, [&](std::int64_t item, std::int64_t, int) {
            flood_back(cells, out, volume, positions, lines, item % blocks * flood_lines,
                       static_cast<int>(item / blocks));
        });
    }

    /// Gives every cell of a band the nearest site before it in the band, and stores the band's first and last site.
    void flood_forth(Key* cells, std::int64_t positions, std::int64_t lines, std::int64_t line, int band) {
        const auto width = static_cast<int>(std::min(flood_lines, lines - line));
        std::int32_t* const first = first_.get() + band * lines + line;
        std::int32_t* const last = last_.get() + band * lines + line;
        std::fill_n(first, width, -1), std::fill_n(last, width, -1);
        const std::int32_t end = band_begin(positions, band + 1, with_.m1);
        for (std::int32_t at = band_begin(positions, band, with_.m1); at < end; ++at) {
            Key* const row = cells + at * lines + line;
            for (int x = 0; x < width; ++x) {
                if (row[x] >= 0) last[x] = at, first[x] = first[x] < 0 ? at : first[x];
                row[x] = last[x];
            }
        }
    }

    /// Finds, for every band of a line, the last site in the bands before it and the first in those after it.
    void join_ends(std::int64_t lines, std::int64_t line) {
        std::int32_t before = -1, after = -1;
        for (int band = 0; band < with_.m1; ++band) {
            const std::int32_t own = last_.get()[band * lines + line];
            last_.get()[band * lines + line] = before;
            if (own >= 0) before = own;
        }
        for (int band = with_.m1; band-- > 0;) {
            const std::int32_t own = first_.get()[band * lines + line];
            first_.get()[band * lines + line] = after;
            if (own >= 0) after = own;
        }
    }

    void flood_back(const Key* cells, Key* out, bool volume, std::int64_t positions, std::int64_t lines,
                    std::int64_t line, int band) {
        const auto width = static_cast<int>(std::min(flood_lines, lines - line));
        std::int32_t* const after = first_.get() + band * lines + line;
        const std::int32_t* const before = last_.get() + band * lines + line;
        const std::int64_t step = volume ? 1 : positions, row_step = volume ? lines : 1;
        const std::int32_t begin = band_begin(positions, band, with_.m1);
        for (std::int32_t at = band_begin(positions, band + 1, with_.m1); at-- > begin;) {
            const Key* const row = cells + at * lines + line;
            Key* const to = out + at * row_step + line * step;
            for (int x = 0; x < width; ++x) {
                const auto in_band = static_cast<std::int32_t>(row[x]);
                if (in_band == at) after[x] = at;
                to[x * step] = nearer_end(at, in_band >= 0 ? in_band : before[x], after[x]);
            }
        }
    }

    template <int Axis>
    line<V, Key, Axis> line_of(Key* cells, const pass& p, std::int64_t slab, std::int64_t across) const {
        const std::int64_t first = slab * p.positions * p.lines + across;
        return {m_,
                cells + first,
                after_.get() == nullptr ? nullptr : after_.get() + first,
                p.lines,
                static_cast<std::int32_t>(slab),
                static_cast<std::int32_t>(across)};
    }

    /// Calls body(slab, line) for the lines of block number `block`.
    template <class Body>
    static void for_lines(const pass& p, std::int64_t block, const Body& body) {
        const std::int64_t in_slab = blocks_of(p.lines, block_lines), slab = block / in_slab;
        const std::int64_t begin = block % in_slab * block_lines, end = std::min(begin + block_lines, p.lines);
        for (std::int64_t across = begin; across < end; ++across) body(slab, across);
    }

    /// Phase 2: builds a list for every band of every line, then joins bands in pairs until one is left.
    template <int Axis>
    void prune_lines(Key* cells, const pass& p, methods::stages& report) {
        const std::int64_t blocks = p.slabs * blocks_of(p.lines, block_lines), lines = p.slabs * p.lines;
        team_.for_each(blocks * with_.m2, 1, 1, [&](std::int64_t item, std::int64_t, int) {
            const auto band = static_cast<int>(item / blocks);
            for_lines(p, item % blocks, [&](std::int64_t slab, std::int64_t across) {
                lists_.get()[band * lines + slab * p.lines + across] =
                    prune<Product>(line_of<Axis>(cells, p, slab, across), band_begin(p.positions, band, with_.m2),
                                   band_begin(p.positions, band + 1, with_.m2));
            });
        });
        for (int apart = 1; apart < with_.m2; apart *= 2) {
            const std::int64_t pairs = (with_.m2 - apart + 2 * apart - 1) / (2 * apart);
            team_.for_each(blocks * pairs, 1, 0, [&](std::int64_t item, std::int64_t, int) {
                const std::int64_t band = item / blocks * 2 * apart;
                for_lines(p, item % blocks, [&](std::int64_t slab, std::int64_t across) {
                    ends* const low = lists_.get() + band * lines + slab * p.lines + across;
                    *low = joined<Product>(line_of<Axis>(cells, p, slab, across), *low, low[apart * lines]);
                });
            });
        }
        report.done(name("phase 2", Axis), 1, 2 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }

    /// Phase 3: gives every cell of a line the nearest site of the list, by m3 walks that serve every m3rd cell each.
    /// Writes with the slab's axes exchanged.
    template <int Axis>
    void colour(Key* cells, Key* out, const pass& p, methods::stages& report) {
        const std::int64_t blocks = p.slabs * blocks_of(p.lines, block_lines);
        team_.for_each(blocks * with_.m3, 1, 1, [&](std::int64_t item, std::int64_t, int) {
            const std::int64_t shift = item / blocks;
            for_lines(p, item % blocks, [&](std::int64_t slab, std::int64_t across) {
                const auto cells_of_line = line_of<Axis>(cells, p, slab, across);
                walk<V, Key, Axis> along(cells_of_line, lists_.get()[slab * p.lines + across].last);
                Key* const to = out + (slab * p.lines + across) * p.positions;
                for (std::int64_t q = p.positions - 1 - shift; q >= 0; q -= with_.m3)
                    to[q] = along.nearest(static_cast<std::int32_t>(q));
            });
        });
        report.done(name("phase 3", Axis), 1, 2 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }

    [[nodiscard]] std::string name(const char* phase, int axis) const {
        return size_[0] == 1 ? phase : phase + std::string(axis == 1 ? ", middle axis" : ", last axis");
    }

    workers& team_;
    metric<V> m_;
    const std::int64_t* size_;
    parameters with_;
    std::int64_t cells_;
    host_scratch<std::int32_t> first_, last_;  ///< by band of phase 1 and line; later the nearest sites outside it
    host_scratch<ends> lists_;                 ///< by band of phase 2 and line
    host_scratch<std::int32_t> after_;
};

}  // namespace
}  // namespace nearfield::bands

namespace nearfield::methods {

void solve(const host& on, const grid& g, const banding& how, buffers& site, stages& report) {
    const bands::parameters with = bands::chosen(g, how, false);
    bands::with_products(g, [&]<class V, class Key, class Product>(const metric<V>& m, Key, Product) {
        using engine = bands::banded<V, Key, Product>;
        const host alone{1, on.progress};
        workers team(g.cells() < bands::worth_threads ? alone : on, engine::items(g, with));
        engine(team, m, g, with).run(site, report);
    });
}

}  // namespace nearfield::methods
