#include "exact/where.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"

namespace nearfield::exact {
namespace {

template <class Body>
void for_lines(const host& on, const where_cells& cells, const Body& body) {
    constexpr std::int64_t together = 1 << 14;  // approximate cells of a block of lines
    const host quiet{on.threads, {}};           // the searches report the progress
    workers all(quiet, cells.lines);
    all.for_each(cells.lines, std::max<std::int64_t>(together / cells.length(), 1), 1,
                 [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
}

}  // namespace

void run_step(const host& on, const where_cells& cells) {
    for_lines(on, cells, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t line = first; line < last; ++line) cells.run(line, 0, cells.length());
    });
}

std::uint64_t differing_bits(const host& on, const where_cells& cells) {
    std::atomic<std::uint64_t> any{0}, all{~std::uint64_t{0}};
    for_lines(on, cells, [&](std::int64_t first, std::int64_t last) {
        std::uint64_t some = 0, each = ~std::uint64_t{0};
        for (std::int64_t line = first; line < last; ++line)
            cells.for_codes(line, 0, cells.length(), [&](std::uint64_t code) { some |= code, each &= code; });
        any |= some, all &= each;
    });
    return any & ~all;
}

}  // namespace nearfield::exact
