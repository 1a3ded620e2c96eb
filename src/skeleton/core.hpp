// What host and device share: the neighbourhood of a cell as a word, which cells are simple, and the turns.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "nearfield/skeleton.hpp"

namespace nearfield::skeleton {

/// The 3x3x3 cells round one: bit 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1), x the last axis. The one in the middle is not
/// counted. An image is the plane dz = 0 with nothing above and below, where 26 and 6 neighbours mean 8 and 4.
using word = std::uint32_t;

/// Calls of more cells than that, or on a device of more bits, number them in 64 bits. Tests lower it.
inline std::int64_t most_narrow = std::numeric_limits<std::uint32_t>::max();

inline constexpr int middle = 13;
inline constexpr word cube = (word{1} << 27) - 1, round_middle = cube & ~(word{1} << middle);
inline constexpr word face_cells = 1u << 4 | 1u << 10 | 1u << 12 | 1u << 14 | 1u << 16 | 1u << 22;
inline constexpr word corner_cells = 1u | 1u << 2 | 1u << 6 | 1u << 8 | 1u << 18 | 1u << 20 | 1u << 24 | 1u << 26;
inline constexpr word edge_cells = round_middle & ~face_cells & ~corner_cells;
/// The first and the last column, row and plane.
inline constexpr word x_first = 0x1249249, x_last = x_first << 2;
inline constexpr word y_first = 0x1C0E07, y_last = y_first << 6;

/// The cells of a word and all that share a face, an edge or a corner with one of them.
NF_HD constexpr word grown(word m) {
    m |= (m & ~x_last) << 1 | (m & ~x_first) >> 1;
    m |= (m & ~y_last) << 3 | (m & ~y_first) >> 3;
    return (m | m << 9 | m >> 9) & cube;
}
/// The same with those that share a face.
NF_HD constexpr word grown_by_faces(word m) {
    return (m | (m & ~x_last) << 1 | (m & ~x_first) >> 1 | (m & ~y_last) << 3 | (m & ~y_first) >> 3 | m << 9 | m >> 9) &
           cube;
}

/// How many components of a cell's neighbours there are: none, one or several.
enum class components : std::uint8_t { none, one, several };

/// Of cells that touch by faces, edges or corners.
NF_HD constexpr components components_of(word m) {
    if (m == 0) return components::none;
    // A cell that shares a face with the middle reaches 17 others at once.
    word reached = (m & face_cells) != 0 ? m & face_cells : m;
    reached &= ~reached + 1;
    for (word before = 0; before != reached && reached != m;) before = reached, reached = grown(reached) & m;
    return reached == m ? components::one : components::several;
}

/// Of cells that touch by faces, within the 18 neighbours that share a face or an edge, of components that share a face
/// with the middle.
NF_HD constexpr components face_components_of(word m) {
    m &= face_cells | edge_cells;
    const word wanted = m & face_cells;
    if (wanted == 0) return components::none;
    word reached = wanted & (~wanted + 1);
    for (word before = 0; before != reached && (reached & wanted) != wanted;)
        before = reached, reached = grown_by_faces(reached) & m;
    return (reached & wanted) == wanted ? components::one : components::several;
}

/// Which cells are neighbours, and which stay.
struct rule {
    bool faces = false;
    kept_cells keep = kept_cells::ends;
};

/// What becomes of a cell that is looked at.
enum class verdict : std::uint8_t {
    removed,
    held,    ///< for good
    waiting  ///< until a neighbour is removed
};

/// Whether a word has exactly one cell.
NF_HD constexpr bool is_single(word m) { return m != 0 && (m & (m - 1)) == 0; }

/// The neighbours that count.
NF_HD constexpr word near_cells(bool faces) { return faces ? face_cells : round_middle; }

/// By a cell's neighbours in the shape now, and by those `before` the round. The cell is simple if and only if its
/// neighbours are of one component, and those outside too.
NF_HD constexpr verdict look_at(word shape, word before, const rule& by) {
    shape &= round_middle;
    const word outside = ~shape & round_middle, near = near_cells(by.faces);
    if (by.keep == kept_cells::ends && is_single(shape & near) && is_single(before & near)) return verdict::held;
    const bool open = (by.faces ? components_of(outside) : face_components_of(outside)) == components::one;
    // Isthmuses may have any surroundings outside.
    if (!open && by.keep != kept_cells::isthmuses) return verdict::waiting;
    const components inside = by.faces ? face_components_of(shape) : components_of(shape);
    if (by.keep == kept_cells::isthmuses && inside == components::several) return verdict::held;
    return open && inside == components::one ? verdict::removed : verdict::waiting;
}

/// Three axes, 1 cell along those that an image lacks, and images.
struct shape_of_call {
    std::int64_t images = 1, size[3]{1, 1, 1};
    bool wraps[3]{};             ///< periodic, and longer than 1
    double thickness = 1.0 / 8;  ///< of a layer: 1 / layers_a_cell of a cell's shortest side
    int layers = 2;              ///< at most, with one for cells without a site

    [[nodiscard]] NF_HD constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    /// Turns along an axis.
    [[nodiscard]] NF_HD constexpr int turns(int axis) const {
        return size[axis] == 1 ? 1 : wraps[axis] && size[axis] % 2 != 0 ? 3 : 2;
    }
    [[nodiscard]] NF_HD constexpr int turns() const { return turns(0) * turns(1) * turns(2); }
    [[nodiscard]] NF_HD constexpr int turn(int axis, std::int64_t at) const {
        return turns(axis) == 3 && at == size[axis] - 1 ? 2 : static_cast<int>(at & 1);
    }
    /// Of cell (z, y, x).
    [[nodiscard]] NF_HD constexpr int turn(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return (turn(0, z) * turns(1) + turn(1, y)) * turns(2) + turn(2, x);
    }
};

inline constexpr int most_turns = 27;

/// Cells go layer by layer. The first `even_layers` are an eighth of a cell thick each. Beyond, an octave of distances
/// has `layers_an_octave`: a layer is thinner than 1/2048 of its distance, and the number of layers is bounded. One
/// layer for each squared distance would make up to thirty times as many, and layers follow one another.
inline constexpr int layers_a_cell = 8, even_layers = 4096, layers_an_octave = even_layers / 2, octaves = 28;
inline constexpr int farthest_layer = octaves * layers_an_octave + even_layers - 1;

/// Whether there is no cell outside to measure from.
template <class Squared>
NF_HD constexpr bool is_endless(Squared squared) {
    if constexpr (std::is_floating_point_v<Squared>) return squared == std::numeric_limits<Squared>::infinity();
    else return squared == static_cast<Squared>(-1);
}

/// Layer of a cell by its squared distance to the nearest cell outside; `thickness` is that of a layer. The root is
/// rounded correctly everywhere, so that host and device agree.
NF_HD inline int layer_of(double squared, double thickness) {
    const double layers = std::sqrt(squared) / thickness;
    if (layers < even_layers) return static_cast<int>(layers);
    if (!(layers < static_cast<double>(std::int64_t{even_layers} << octaves))) return farthest_layer;
    auto number = static_cast<std::int64_t>(layers);
    int octave = 0;
    for (; number >= even_layers; number /= 2) ++octave;
    return octave * layers_an_octave + static_cast<int>(number);
}

/// Thins the cells of positive squared distance, which are contiguous, in C order, of type uint32, uint64 or float64.
/// They may be overwritten.
void thin(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
          const any_input<host>& anchors, const any_output<host>& out);
void thin(const device& on, const shape_of_call& shape, const rule& by, const any_output<device>& squared,
          const any_input<device>& anchors, const any_output<device>& out);

}  // namespace nearfield::skeleton
