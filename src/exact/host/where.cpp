#include "exact/where.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/parallel.hpp"
#include "base/with_bytes.hpp"

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

/// Marks the sites of lines, which are one class, by loops that vectorize if the arrays are contiguous.
template <class T>
void mark_sites(const where_cells& cells, std::int64_t first, std::int64_t last) {
    const std::int64_t n = cells.length(), step = cells.image.step[cells.rank - 1],
                       where_step = cells.where.step[cells.rank - 1];
    const bool zero = cells.rule == sites::zero;
    const T value_bits = cells.image.type >= dtype::float16 ? static_cast<T>(static_cast<T>(~T{0}) >> 1)
                                                            : static_cast<T>(~T{0});  // zero may have either sign
    for (std::int64_t line = first; line < last; ++line) {
        const T* const image = &cells.image.at<T>(cells.start(cells.image, line));
        const std::uint8_t* const where = &cells.where.at<std::uint8_t>(cells.start(cells.where, line));
        std::uint8_t* const mask = cells.mask + line * n;
        const auto mark = [=](auto by, auto where_by) {
            for (std::int64_t x = 0; x < n; ++x) {
                const bool site = ((image[x * by] & value_bits) == 0) == zero;
                mask[x] = static_cast<std::uint8_t>((where[x * where_by] != 0 ? 1 : 0) & (site ? 1 : 0));
            }
        };
        using one = std::integral_constant<std::int64_t, 1>;
        if (step == 1 && where_step == 1) mark(one{}, one{});
        else mark(step, where_step);
    }
}

}  // namespace

void run_step(const host& on, const where_cells& cells) {
    if (cells.step == where_step::mark && !cells.has_classes())
        return for_lines(on, cells, [&](std::int64_t first, std::int64_t last) {
            with_bytes(cells.image.bytes, [&]<class T>(T) { mark_sites<T>(cells, first, last); });
        });
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
