// On the host: computes distances, then walks blocks of rays.
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "nearfield/chessboard.hpp"
#include "raycast/core.hpp"

namespace nearfield::rays {
namespace {

constexpr std::int64_t rays_at_once = 256, cells_at_once = 1 << 16;

/// Writes 0 for occupied cells, else 1.
void mark(const host& on, const any_input<host>& mask, std::uint8_t* to) {
    workers team(on, mask.cells());
    const cell_offsets at(mask.shape.data(), mask.stride.data(), mask.rank);
    team.for_each(mask.cells(), cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        chessboard::with_bits(mask.type, [&]<class Bits>(Bits, Bits counts) {
            const Bits* const from = static_cast<const Bits*>(mask.data);
            for (std::int64_t i = first; i < last; ++i) to[i] = (from[at.of(i)] & counts) == 0 ? 1 : 0;
        });
    });
}

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& mask) {
    const bool octants = p.skips == ray_skips::octants;
    const int count = octants ? (p.rank == 3 ? 8 : 4) : 1;
    const host_scratch<std::uint8_t> field(count * p.volume());
    const std::uint8_t* fields[8];
    const host quiet{on.threads, {}};
    for (int k = 0; k < count; ++k) {
        std::uint8_t* const to = field.get() + k * p.volume();
        fields[k] = to;
        if (p.skips == ray_skips::none) {
            mark(quiet, mask, to);
            continue;
        }
        step_options how{.sites = sites::nonzero};
        for (int axis = 0; octants && axis < p.rank; ++axis)
            how.side[static_cast<std::size_t>(axis)] = (k >> (p.rank - 1 - axis) & 1) != 0 ? -1 : 1;
        chessboard_distance(quiet, mask,
                            any_output<host>::contiguous(
                                to, dtype::uint8, std::span(mask.shape.data(), static_cast<std::size_t>(p.rank))),
                            how);
    }
    rehearse_step("rays, cell by cell or skip by skip");
    workers team(on, p.rays);
    team.for_each(p.rays, rays_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t i = first; i < last; ++i) cast(p, i, fields);
    });
}

}  // namespace nearfield::rays
