#include <algorithm>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "morphology/core.hpp"

namespace nearfield::morphology {
namespace {

template <class Bits>
void choose_elements(const host& on, const any_input<host>& marks, kept which, const any_input<host>& from,
                     const any_output<host>& out) {
    constexpr std::int64_t at_once = std::int64_t{1} << 16;
    const std::int64_t* const size = out.shape.data();
    const cell_offsets mark_at(size, marks.stride.data(), out.rank), from_at(size, from.stride.data(), from.rank),
        to_at(size, out.stride.data(), out.rank);
    const auto* const mark = static_cast<const std::uint8_t*>(marks.data);
    const auto* const read = static_cast<const Bits*>(from.data);
    auto* const to = static_cast<Bits*>(out.data);
    const bool keep = which == kept::marked;
    const auto choose_at = [&](std::int64_t m, std::int64_t f, std::int64_t t) {
        to[t] = (mark[m] != 0) != keep ? Bits{0} : read != nullptr ? read[f] : Bits{1};
    };
    const auto even = [&](const auto& view) {
        return !view.wanted() || is_contiguous(size, view.stride.data(), out.rank);
    };
    const bool dense = even(marks) && even(from) && even(out);
    // Reports no progress, because the distances have taken most of the time.
    const host silent{on.threads, {}};
    workers team(silent, out.cells());
    team.for_each(out.cells(), at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        if (dense)
            for (std::int64_t i = first; i < last; ++i) choose_at(i, i, i);
        else
            for (std::int64_t i = first; i < last; ++i)
                choose_at(mark_at.of(i), read != nullptr ? from_at.of(i) : 0, to_at.of(i));
    });
}

}  // namespace

void choose(const host& on, const any_input<host>& marks, kept which, const any_input<host>& from,
            const any_output<host>& out) {
    switch (size_of(out.type)) {
        case 1: return choose_elements<std::uint8_t>(on, marks, which, from, out);
        case 2: return choose_elements<std::uint16_t>(on, marks, which, from, out);
        case 4: return choose_elements<std::uint32_t>(on, marks, which, from, out);
        default: return choose_elements<std::uint64_t>(on, marks, which, from, out);
    }
}

}  // namespace nearfield::morphology
