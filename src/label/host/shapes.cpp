#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "label/host/shapes.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/wide.hpp"
#include "label/host/bits.hpp"
#include "label/host/shapes.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::labelling::HWY_NAMESPACE {

using word = std::uint64_t;

/// Initialises memory just before it is used. The first row determines where a component begins along all axes but the
/// last, and in volumes but the last two.
template <int Axes>
void begin(const shape_memory& to, const rows_alike& r, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t c = first; to.size != nullptr && c < last; ++c) to.size[c] = 0;
    for (std::int64_t c = first; to.box != nullptr && c < last; ++c) {
        std::int64_t* const box = to.box + c * 2 * Axes;
        for (int axis = 0; axis < Axes; ++axis) box[axis] = far, box[Axes + axis] = 0;
        if constexpr (Axes == 2) box[0] = r.y;
        if constexpr (Axes == 3) box[0] = r.z;
    }
    for (std::int64_t i = first * Axes; to.sum != nullptr && i < last * Axes; ++i) to.sum[i] = 0;
    for (std::int64_t c = first; to.border != nullptr && c < last; ++c) to.border[c] = 0;
    for (std::int64_t c = first; to.faces != nullptr && c < last; ++c) to.faces[c] = 0;
}

/// Adds a run. Except for its cells, the summands are equal for all runs of the rows. `More`: border and faces too.
template <int Axes, bool More>
class adder {
public:
    adder(const shape_memory& to, const rows_alike& r)
        : to_(to),
          rows_(static_cast<word>(r.rows)),
          z_(static_cast<word>(r.z * r.rows)),
          y_(static_cast<word>(r.y) * rows_ + rows_ * (rows_ - 1) / 2),
          first_y_(r.y),
          end_y_(r.y + r.rows),
          end_z_(r.z + 1),
          first_cell_(r.periodic ? -1 : 0),
          end_cell_(r.periodic ? -1 : r.cells),
          at_end_(r.at_end) {}

    HWY_INLINE void add(std::uint64_t c, std::int64_t first, std::int64_t end, std::int64_t faces) const {
        const auto n = static_cast<word>(end - first);
        if (to_.size) to_.size[c] += static_cast<std::int64_t>(n * rows_);
        if (to_.sum) {
            shared_sum* const sum = to_.sum + c * Axes;
            const uint128 twice = static_cast<uint128>(static_cast<word>(first + end - 1)) * n;
            if constexpr (Axes == 3) sum[0] += n * z_;
            if constexpr (Axes >= 2) sum[Axes - 2] += n * y_;
            sum[Axes - 1] += static_cast<word>(twice >> 1) * rows_;
        }
        if (to_.box) {
            std::int64_t* const box = to_.box + c * 2 * Axes;
            if constexpr (Axes == 3) {
                box[3] = end_z_;
                box[1] = std::min(box[1], first_y_);
                box[4] = std::max(box[4], end_y_);
            }
            if constexpr (Axes == 2) box[2] = end_y_;
            box[Axes - 1] = std::min(box[Axes - 1], first);
            box[2 * Axes - 1] = std::max(box[2 * Axes - 1], end);
        }
        if constexpr (!More) return;
        if (to_.border)
            to_.border[c] |= static_cast<std::uint8_t>(at_end_ | (first == first_cell_) | (end == end_cell_));
        if (to_.faces) to_.faces[c] += faces;
    }

private:
    shape_memory to_;
    word rows_, z_, y_;  ///< number of rows, and sums of their coordinates
    std::int64_t first_y_, end_y_, end_z_;
    std::int64_t first_cell_, end_cell_;  ///< cells at the ends of the last axis, else -1
    bool at_end_;
};

/// Returns the faces of cells `inside` a word towards the rows beside it.
HWY_INLINE std::int64_t faces_beside(const rows_alike& r, std::int64_t w, word inside) {
    std::int64_t faces = 0;
    for (int k = 0; k < r.beside; ++k) faces += std::popcount(inside & ~r.beside_words[k][w]);
    return faces;
}

/// Masks of a word: bits from `first` on, and bits before `end`, which is not 0.
HWY_INLINE word from_bit(std::int64_t first) { return ~word{0} << first; }
HWY_INLINE word before_bit(std::int64_t end) { return ~word{0} >> (word_bits - end); }

/// Adds runs one by one. To merge adjacent ones of one component costs more, because of mispredicted
/// branches.
/// Over 40 lines because a run continues from word to word.
template <int Axes, bool More>
std::int64_t add_runs(const shape_memory& to, const rows_alike& r, std::int64_t lowest, std::uint64_t count,
                      row_run* others) {
    const adder<Axes, More> sums(to, r);
    const std::uint32_t* label = r.label;
    row_run* other = others;
    std::int64_t first = 0, faces = 0;
    bool open = false;  // a run continues from the word before and began at `first`
    const bool around =
        r.periodic && (r.foreground[0] & 1) != 0 && (r.foreground[r.words - 1] >> (r.cells - 1) % word_bits & 1) != 0;
    for (std::int64_t w = 0; w < r.words; ++w) {
        const word f = r.foreground[w];
        if (f == 0) {
            open = false;
            continue;
        }
        word s, next;
        if (r.starts != nullptr) {
            s = r.starts[w];
            next = r.foreground[w + 1] & ~r.starts[w + 1];
        } else {
            s = f & ~(f << 1 | r.foreground[w - 1] >> 63);
            next = r.foreground[w + 1];
        }
        word ends = f & ~((f >> 1 & ~(s >> 1)) | next << 63);
        const std::int64_t base = w * word_bits;
        std::int64_t from = 0;  // first bit of the run in this word
        const auto next_run = [&] {
            from = std::countr_zero(s), first = base + from;
            s &= s - 1;
            if constexpr (More) faces = around && first == 0 ? 1 : 2;
        };
        if (!open) next_run();
        open = (f & ~ends) >> 63 != 0;
        for (; ends != 0; ends &= ends - 1) {
            const std::int64_t to_bit = std::countr_zero(ends) + 1;
            if constexpr (More) faces += faces_beside(r, w, from_bit(from) & before_bit(to_bit));
            if constexpr (More) faces -= around && base + to_bit == r.cells ? 1 : 0;
            const std::uint32_t name = *label++;
            const auto c = static_cast<std::uint64_t>(std::int64_t{name} - lowest);
            if (c < count) [[likely]]
                sums.add(c, first, base + to_bit, faces);
            else *other++ = {first, base + to_bit, name, static_cast<std::uint64_t>(faces)};
            next_run();
        }
        if constexpr (More)
            if (open) faces += faces_beside(r, w, from_bit(from));
    }
    return other - others;
}

template <int Axes>
std::int64_t add_of(const shape_memory& to, const rows_alike& r, std::int64_t lowest, std::int64_t count,
                    std::int64_t& begun, row_run* others) {
    std::uint32_t most = 0;
    for (std::int64_t k = 0; k < r.runs; ++k) most = std::max(most, r.label[k]);
    if (most > begun) {
        begin<Axes>(to, r, std::min(begun + 1 - lowest, count), std::min(std::int64_t{most} + 1 - lowest, count));
        begun = most;
    }
    const auto held = static_cast<std::uint64_t>(count);
    if (to.border != nullptr || to.faces != nullptr) return add_runs<Axes, true>(to, r, lowest, held, others);
    return add_runs<Axes, false>(to, r, lowest, held, others);
}

std::int64_t add(int axes, const shape_memory& to, const rows_alike& r, std::int64_t lowest, std::int64_t count,
                 std::int64_t& begun, row_run* others) {
    if (axes == 1) return add_of<1>(to, r, lowest, count, begun, others);
    if (axes == 2) return add_of<2>(to, r, lowest, count, begun, others);
    return add_of<3>(to, r, lowest, count, begun, others);
}

/// Divides sums by sizes. Sizes are spread first, so that one loop over contiguous numbers divides.
template <class Sum>
void divide_as(int axes, shared_sum* sum, const std::int64_t* size, std::int64_t components) {
    constexpr std::int64_t together = 128;
    double by[together * 8];
    for (std::int64_t begin = 0; begin < components; begin += together) {
        const std::int64_t end = std::min(begin + together, components);
        for (std::int64_t c = begin, i = 0; c < end; ++c)
            for (int axis = 0; axis < axes; ++axis, ++i) by[i] = static_cast<double>(size[c]);
        shared_sum* const at = sum + begin * axes;
        for (std::int64_t i = 0; i < (end - begin) * axes; ++i)
            at[i] = std::bit_cast<word>(static_cast<double>(static_cast<Sum>(at[i])) / by[i]);
    }
}

void divide(int axes, shared_sum* sum, const std::int64_t* size, std::int64_t components, bool sums_below_2_63) {
    if (sums_below_2_63) divide_as<std::int64_t>(axes, sum, size, components);
    else divide_as<std::uint64_t>(axes, sum, size, components);
}

}  // namespace nearfield::labelling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::labelling {

HWY_EXPORT(add);
HWY_EXPORT(divide);

std::int64_t add_shapes(int axes, const shape_memory& to, const rows_alike& rows, std::int64_t lowest,
                        std::int64_t count, std::int64_t& begun, row_run* others) {
    return HWY_DYNAMIC_DISPATCH(add)(axes, to, rows, lowest, count, begun, others);
}
void divide_sums(int axes, shared_sum* sum, const std::int64_t* size, std::int64_t components, bool sums_below_2_63) {
    HWY_DYNAMIC_DISPATCH(divide)(axes, sum, size, components, sums_below_2_63);
}

}  // namespace nearfield::labelling
#endif
