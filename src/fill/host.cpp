#include "base/parallel.hpp"
#include "fill/core.hpp"

namespace nearfield::fill {
namespace {

constexpr std::int64_t cells_at_once = 1 << 13;

/// Calls body(cell) for all cells. Reports no progress, because the distances take most of the time.
template <class Body>
void for_cells(const host& on, std::int64_t cells, const Body& body) {
    const host silent{on.threads, {}};
    workers team(silent, cells);
    team.for_each(cells, cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t cell = first; cell < last; ++cell) body(cell);
    });
}

template <class Bits>
void gather_bits(const host& on, const gathering& g) {
    const cell_offsets from(g.image.size, g.image.step, g.image.rank), to(g.out.size, g.out.step, g.out.rank);
    const auto* const image = static_cast<const Bits*>(g.image.data);
    auto* const out = static_cast<Bits*>(g.out.data);
    for_cells(on, g.cells, [&](std::int64_t cell) {
        const std::int64_t source = g.source_of(cell) * g.channels, target = cell * g.channels;
        for (std::int64_t c = 0; c < g.channels; ++c)
            out[to.of(target + c)] = image == nullptr ? Bits{0} : image[from.of(source + c)];
    });
}

}  // namespace

void gather(const host& on, const gathering& g) {
    switch (size_of(g.out.type)) {
        case 1: return gather_bits<std::uint8_t>(on, g);
        case 2: return gather_bits<std::uint16_t>(on, g);
        case 4: return gather_bits<std::uint32_t>(on, g);
        default: return gather_bits<std::uint64_t>(on, g);
    }
}

void mark(const host& on, const marking& m) {
    for_cells(on, m.cells, [&](std::int64_t cell) {
        m.marks[cell] = m.lower.label(cell) == m.label ? 1 : 0;
        m.marks[m.cells + cell] = m.upper.label(cell) == m.label ? 1 : 0;
    });
}

void run(const host& on, const offer& o) {
    for_cells(on, o.cells, [&](std::int64_t cell) {
        for (int k = 0; k < o.positions; ++k) o.make(k, cell);
    });
}

void read(const host& on, const cells_at& slice, std::int64_t cells, std::int64_t* to) {
    for_cells(on, cells, [&](std::int64_t cell) { to[cell] = slice.label(cell); });
}

}  // namespace nearfield::fill
