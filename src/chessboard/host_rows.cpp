#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "chessboard/host_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "chessboard/core.hpp"
#include "chessboard/host_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::chessboard::HWY_NAMESPACE {

template <class T>
HWY_INLINE T least(T a, T b) {
    return a < b ? a : b;
}
template <class T>
HWY_INLINE T one_more(T a) {
    return static_cast<T>(a + 1);
}

template <class T>
void least_of(const T* first, const T* second, const T* third, std::int64_t count, T* to) {
    for (std::int64_t x = 0; x < count; ++x) to[x] = least(least(first[x], second[x]), third[x]);
}
template <class T>
void step(const T* HWY_RESTRICT from, std::int64_t count, T* HWY_RESTRICT to) {
    for (std::int64_t x = 0; x < count; ++x) to[x] = least(to[x], one_more(from[x]));
}
template <class T>
void step_beside(const T* left, const T* middle, const T* right, std::int64_t count, T* HWY_RESTRICT to) {
    for (std::int64_t x = 0; x < count; ++x) to[x] = least(to[x], one_more(least(least(left[x], right[x]), middle[x])));
}
template <class T>
T spread(const T* from, std::int64_t by, std::int64_t count, T* HWY_RESTRICT to) {
    const auto way = static_cast<T>(by), reached = static_cast<T>(unreached<T> - way);
    T most = 0;
    for (std::int64_t x = 0; x < count; ++x) {
        const T beside = least(least(from[x - by], from[x + by]), reached);
        to[x] = least(from[x], static_cast<T>(beside + way));
        most = to[x] > most ? to[x] : most;
    }
    return most;
}
template <class T>
void write(const T* HWY_RESTRICT from, std::int64_t count, std::uint32_t limit, std::uint32_t none,
           std::uint32_t* HWY_RESTRICT to) {
    for (std::int64_t x = 0; x < count; ++x) to[x] = from[x] > limit ? none : from[x];
}

template <class T>
row_loops<T> loops() {
    return {least_of<T>, step<T>, step_beside<T>, spread<T>, write<T>};
}
row_loops<std::uint16_t> narrow() { return loops<std::uint16_t>(); }
row_loops<std::uint32_t> wide() { return loops<std::uint32_t>(); }

}  // namespace nearfield::chessboard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::chessboard {

HWY_EXPORT(narrow);
HWY_EXPORT(wide);

template <>
const row_loops<std::uint16_t>& rows() {
    static const row_loops<std::uint16_t> found = HWY_DYNAMIC_DISPATCH(narrow)();
    return found;
}
template <>
const row_loops<std::uint32_t>& rows() {
    static const row_loops<std::uint32_t> found = HWY_DYNAMIC_DISPATCH(wide)();
    return found;
}

}  // namespace nearfield::chessboard
#endif
