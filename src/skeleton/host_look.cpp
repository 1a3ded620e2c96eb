// Tests of many neighbourhoods together. Compiled once per instruction set, so that the compiler uses the machine's
// widest vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "skeleton/host_look.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "skeleton/host_state.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::skeleton::HWY_NAMESPACE {

constexpr int lanes = 32;

/// Sets of cells whose components are counted, one a lane. A set is connected if `reached`, which begins as one of its
/// wanted cells, ends with all of them.
struct floods {
    alignas(64) word set[lanes], wanted[lanes], reached[lanes];
};

/// Begins with a cell that shares a face with the middle, if there is one: it reaches most others in one step.
template <bool ByFaces>
void begin(floods& f) {
    for (int k = 0; k < lanes; ++k) {
        if (ByFaces) f.set[k] &= face_cells | edge_cells;
        const word beside = f.set[k] & face_cells;
        f.wanted[k] = ByFaces ? beside : f.set[k];
        const word from = beside != 0 ? beside : f.wanted[k];
        f.reached[k] = from & (~from + 1);
    }
}
/// Grows all sets until each has reached all wanted cells or grows no more.
template <bool ByFaces>
void spread(floods& f) {
    for (word more = 1; more != 0;) {
        more = 0;
        for (int k = 0; k < lanes; ++k) {
            const word before = f.reached[k], now = (ByFaces ? grown_by_faces(before) : grown(before)) & f.set[k];
            f.reached[k] = now;
            more |= (f.wanted[k] & ~now) != 0 ? now ^ before : 0;
        }
    }
}

template <bool Faces>
void look_at_lanes(neighbourhoods& cells, int first, kept_cells keep) {
    floods in, out;
    for (int k = 0; k < lanes; ++k) {
        const word shape = halved(cells.states[first + k]);
        cells.shape[first + k] = shape, cells.marks[first + k] = halved(cells.states[first + k] >> 1);
        in.set[k] = shape & round_middle, out.set[k] = ~shape & round_middle;
    }
    begin<Faces>(in), begin<!Faces>(out);
    spread<Faces>(in), spread<!Faces>(out);
    const bool isthmuses = keep == kept_cells::isthmuses;
    for (int k = 0; k < lanes; ++k) {
        const bool whole = (in.wanted[k] & ~in.reached[k]) == 0, one = whole & (in.wanted[k] != 0);
        const bool open = ((out.wanted[k] & ~out.reached[k]) == 0) & (out.wanted[k] != 0);
        const bool simple = open & one;
        cells.said[first + k] = isthmuses && !whole ? verdict::held : simple ? verdict::removed : verdict::waiting;
    }
}

void look_at_all(neighbourhoods& cells, int count, const rule& by) {
    for (int first = 0; first < count; first += lanes)
        by.faces ? look_at_lanes<true>(cells, first, by.keep) : look_at_lanes<false>(cells, first, by.keep);
}

}  // namespace nearfield::skeleton::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::skeleton {

HWY_EXPORT(look_at_all);

void look_at_all(neighbourhoods& cells, int count, const rule& by) {
    HWY_DYNAMIC_DISPATCH(look_at_all)(cells, count, by);
}

}  // namespace nearfield::skeleton
#endif
