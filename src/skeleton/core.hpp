// Code shared by host and device: neighbourhoods as words, the test for simple cells, the order of tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "nearfield/skeleton.hpp"

namespace nearfield::skeleton {

/// The 3x3x3 cells around a cell: bit 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1), x the last axis. The middle bit is not
/// used. A 2-D image is the plane dz = 0 with nothing above and below; 26 and 6 neighbours then mean 8 and 4.
using word = std::uint32_t;

/// Calls with more cells than this, or on a device with more bits, number them in 64 bits. Tests lower the limit.
inline std::int64_t most_narrow = std::numeric_limits<std::uint32_t>::max();

/// A block of a device that works by itself holds at most `most_held` waiting cells in its own memory, which has room
/// for `held_cells`. Tests lower the limit.
inline constexpr int held_cells = 4096;
inline int most_held = held_cells;

inline constexpr int middle = 13;
inline constexpr word cube = (word{1} << 27) - 1, round_middle = cube & ~(word{1} << middle);
inline constexpr word face_cells = 1u << 4 | 1u << 10 | 1u << 12 | 1u << 14 | 1u << 16 | 1u << 22;
inline constexpr word corner_cells = 1u | 1u << 2 | 1u << 6 | 1u << 8 | 1u << 18 | 1u << 20 | 1u << 24 | 1u << 26;
inline constexpr word edge_cells = round_middle & ~face_cells & ~corner_cells;
/// First and last column, row and plane of a neighbourhood.
inline constexpr word x_first = 0x1249249, x_last = x_first << 2;
inline constexpr word y_first = 0x1C0E07, y_last = y_first << 6;

/// Returns a set of cells dilated by all cells that share a face, an edge or a corner with one of them.
NF_HD constexpr word grown(word m) {
    m |= (m & ~x_last) << 1 | (m & ~x_first) >> 1;
    m |= (m & ~y_last) << 3 | (m & ~y_first) >> 3;
    return (m | m << 9 | m >> 9) & cube;
}
/// Returns a set of cells dilated by all cells that share a face with one of them.
NF_HD constexpr word grown_by_faces(word m) {
    return (m | (m & ~x_last) << 1 | (m & ~x_first) >> 1 | (m & ~y_last) << 3 | (m & ~y_first) >> 3 | m << 9 | m >> 9) &
           cube;
}

/// Number of connected components in a neighbourhood: none, one or several.
enum class components : std::uint8_t { none, one, several };

/// Counts components of cells that touch by faces, edges or corners.
NF_HD constexpr components components_of(word m) {
    if (m == 0) return components::none;
    // A cell that shares a face with the middle reaches 17 others in one step.
    word reached = (m & face_cells) != 0 ? m & face_cells : m;
    reached &= ~reached + 1;
    for (word before = 0; before != reached && reached != m;) before = reached, reached = grown(reached) & m;
    return reached == m ? components::one : components::several;
}

/// Counts components of cells that touch by faces, within the 18 neighbours that share a face or an edge with the
/// middle; only components that share a face with the middle count.
NF_HD constexpr components face_components_of(word m) {
    m &= face_cells | edge_cells;
    const word wanted = m & face_cells;
    if (wanted == 0) return components::none;
    word reached = wanted & (~wanted + 1);
    for (word before = 0; before != reached && (reached & wanted) != wanted;)
        before = reached, reached = grown_by_faces(reached) & m;
    return (reached & wanted) == wanted ? components::one : components::several;
}

/// Adjacency of the shape's cells, and the cells that stay.
struct rule {
    bool faces = false;
    kept_cells keep = kept_cells::ends;
};

/// Result of testing a cell.
enum class verdict : std::uint8_t {
    removed,
    held,    ///< it stays for good
    waiting  ///< it is tested again once a neighbour is removed
};

/// Returns whether a set has exactly one cell.
NF_HD constexpr bool is_single(word m) { return m != 0 && (m & (m - 1)) == 0; }

/// Returns the set of a cell's neighbours under the adjacency of the shape.
NF_HD constexpr word near_cells(bool faces) { return faces ? face_cells : round_middle; }

/// Returns whether a cell is an end that stays: it has one neighbour now, and had one before the round.
NF_HD constexpr bool is_kept_end(word shape, word before, const rule& by) {
    const word near = near_cells(by.faces);
    return by.keep == kept_cells::ends && is_single(shape & near) && is_single(before & near);
}

/// Returns the result for a cell that is no kept end, by the components of its neighbours: whether those outside form
/// one, and how many those in the shape form.
NF_HD constexpr verdict verdict_of(bool open, components inside, kept_cells keep) {
    if (keep == kept_cells::isthmuses && inside == components::several) return verdict::held;
    return open && inside == components::one ? verdict::removed : verdict::waiting;
}

/// Tests a cell by its neighbours in the shape now, and by its neighbours `before` the round. A cell is simple iff its
/// neighbours in the shape form one component, and those outside form one, too.
NF_HD constexpr verdict look_at(word shape, word before, const rule& by) {
    shape &= round_middle;
    const word outside = ~shape & round_middle;
    if (is_kept_end(shape, before, by)) return verdict::held;
    const bool open = (by.faces ? components_of(outside) : face_components_of(outside)) == components::one;
    // An isthmus may have any number of components outside.
    if (!open && by.keep != kept_cells::isthmuses) return verdict::waiting;
    return verdict_of(open, by.faces ? face_components_of(shape) : components_of(shape), by.keep);
}

/// Shape of a call: images of three axes; axes that an image lacks have one cell.
struct shape_of_call {
    std::int64_t images = 1, size[3]{1, 1, 1};
    bool wraps[3]{};              ///< periodic and longer than one cell
    double thickness = 1.0 / 16;  ///< thickness of a layer: 1 / layers_a_cell of a cell's shortest side
    int layers = 2;               ///< upper bound of the number of layers, including one for cells without a site

    [[nodiscard]] NF_HD constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    /// Returns the number of subfields along an axis. A turn tests the cells of one subfield: those of equal parities.
    [[nodiscard]] NF_HD constexpr int turns(int axis) const {
        return size[axis] == 1 ? 1 : wraps[axis] && size[axis] % 2 != 0 ? 3 : 2;
    }
    [[nodiscard]] NF_HD constexpr int turns() const { return turns(0) * turns(1) * turns(2); }
    [[nodiscard]] NF_HD constexpr int turn(int axis, std::int64_t at) const {
        return turns(axis) == 3 && at == size[axis] - 1 ? 2 : static_cast<int>(at & 1);
    }
    /// Returns the subfield of cell (z, y, x).
    [[nodiscard]] NF_HD constexpr int turn(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return (turn(0, z) * turns(1) + turn(1, y)) * turns(2) + turn(2, x);
    }
};

inline constexpr int most_turns = 27;

/// Cells are tested layer by layer. The first `even_layers` layers are a sixteenth of a cell thick. Beyond, each octave
/// of distances has `layers_an_octave` layers, so that a layer is at most 1/128 of its distance thick. This bounds the
/// number: layers are processed one by one, and a ball of radius 250 has 52000 squared distances.
inline constexpr int layers_a_cell = 16, even_layers = 256, layers_an_octave = even_layers / 2, octaves = 33;
inline constexpr int farthest_layer = octaves * layers_an_octave + even_layers - 1;

/// Returns whether no cell outside exists, so that the distance is infinite.
template <class Squared>
NF_HD constexpr bool is_endless(Squared squared) {
    if constexpr (std::is_floating_point_v<Squared>) return squared == std::numeric_limits<Squared>::infinity();
    else return squared == static_cast<Squared>(-1);
}

/// Returns a cell's layer by its squared distance to the nearest cell outside. The root is correctly rounded on host
/// and device, so that both agree.
NF_HD inline int layer_of(double squared, double thickness) {
    const double layers = std::sqrt(squared) / thickness;
    if (layers < even_layers) return static_cast<int>(layers);
    if (!(layers < static_cast<double>(std::int64_t{even_layers} << octaves))) return farthest_layer;
    auto number = static_cast<std::int64_t>(layers);
    int octave = 0;
    for (; number >= even_layers; number /= 2) ++octave;
    return octave * layers_an_octave + static_cast<int>(number);
}

/// Returns the distance at which a layer begins, in sixteenths of a cell.
NF_HD constexpr std::int64_t start_of(int layer) {
    const int octave = layer < even_layers ? 0 : layer / layers_an_octave - 1;
    return static_cast<std::int64_t>(layer - octave * layers_an_octave) << octave;
}

/// Returns how many rounds a layer has at most: one for each sixteenth of a cell up to the layer that follows it. Cells
/// that still wait then are tested in the rounds of that layer.
NF_HD constexpr std::uint32_t rounds_before(int layer, int following) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t rounds = start_of(following) - start_of(layer);
    return static_cast<std::uint32_t>(rounds < most ? rounds : most);
}
/// The last layer has rounds until no cell waits.
inline constexpr std::uint32_t rounds_of_last = std::numeric_limits<std::uint32_t>::max();

/// Thins the cells of positive squared distance. `squared` is contiguous, in C order, of type uint32, uint64 or
/// float64, and may be overwritten.
void thin(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
          const any_input<host>& anchors, const any_output<host>& out);
void thin(const device& on, const shape_of_call& shape, const rule& by, const any_output<device>& squared,
          const any_input<device>& anchors, const any_output<device>& out);

}  // namespace nearfield::skeleton
