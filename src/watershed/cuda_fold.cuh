// Images of four axes: their padded array is a line of places, on which a neighbour is at a fixed offset. A mask says
// which places are cells.
#pragma once

#include "watershed/cuda_call.cuh"

namespace nearfield::watersheds {

/// An array of the caller and the line that replaces it.
struct folded_array {
    frame where;
    array<void> of;
    std::byte* line;
    std::int64_t bytes;

    /// Returns where the element of a place lies in the caller's array, or -1 if the place holds no cell.
    __device__ std::int64_t offset(std::int64_t place) const {
        std::int64_t at[max_rank];
        if (place < where.base) return -1;
        where.locate(place, at);
        for (int axis = 0; axis < where.axes; ++axis)
            if (at[axis] >= where.size[axis]) return -1;
        return of.offset(at, where.axes);
    }
};

/// Copies to the line or from it. One thread handles one place.
template <bool ToLine>
__global__ void __launch_bounds__(threads_of_block) copy_line(const __grid_constant__ folded_array a) {
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int64_t offset = place < a.where.places ? a.offset(place) : -1;
    if (offset < 0) return;
    std::byte *const mine = a.line + place * a.bytes, *const theirs =
                                                          static_cast<std::byte*>(a.of.data) + offset * a.bytes;
    for (std::int64_t i = 0; i < a.bytes; ++i) (ToLine ? mine : theirs)[i] = (ToLine ? theirs : mine)[i];
}
/// Writes the mask of the line: the places of cells that the caller's mask, if there is one, holds.
static __global__ void __launch_bounds__(threads_of_block) write_mask(const __grid_constant__ folded_array a) {
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (place >= a.where.places) return;
    const std::int64_t offset = a.offset(place);
    const bool cell = offset >= 0 && (a.of.data == nullptr || static_cast<const std::uint8_t*>(a.of.data)[offset] != 0);
    a.line[place] = static_cast<std::byte>(cell ? 1 : 0);
}

/// The problem on a line, and its memory.
class folded {
public:
    folded(const device& on, const problem& p) : on_(on), current_(on), memory_(on), line_(p), of_(p) {
        line_.unfolded = p.where;
        const border open[] = {border::open};
        line_.where = frame_of(&p.where.places, open, 1);
        const std::int64_t at[] = {
            room(p.image), room(p.markers), room(p.seed),    room(p.parts),
            room(p.label), room(p.passes),  room(p.extrema), memory_.reserve<std::uint8_t>(p.where.places)};
        memory_.allocate();
        in(line_.image, at[0]), in(line_.markers, at[1]), in(line_.seed, at[2]), in(line_.parts, at[3]);
        put(line_.label, at[4]), put(line_.passes, at[5]), put(line_.extrema, at[6]);
        line_.mask = {memory_.get<std::byte>(at[7]), dtype::uint8, {1}};
        launch(write_mask, {p.where, without_const(p.mask), memory_.get<std::byte>(at[7]), 1});
    }
    [[nodiscard]] const problem& line() const { return line_; }
    void finish() const { out(of_.label, line_.label), out(of_.passes, line_.passes), out(of_.extrema, line_.extrema); }

private:
    static array<void> without_const(const source& a) {
        array<void> made{const_cast<void*>(a.data), a.type, {}};
        std::copy_n(a.stride, max_rank, made.stride);
        return made;
    }
    template <class Void>
    std::int64_t room(const array<Void>& a) {
        return a.data == nullptr ? 0 : memory_.reserve<std::byte>(of_.where.places * size_of(a.type));
    }
    void in(source& a, std::int64_t at) {
        if (a.data == nullptr) return;
        launch(copy_line<true>, {of_.where, without_const(a), memory_.get<std::byte>(at), size_of(a.type)});
        a = {memory_.get<std::byte>(at), a.type, {1}};
    }
    void put(target& a, std::int64_t at) {
        if (a.data != nullptr) a = {memory_.get<std::byte>(at), a.type, {1}};
    }
    void out(const target& a, const target& line) const {
        if (a.data != nullptr)
            launch(copy_line<false>, {of_.where, a, static_cast<std::byte*>(line.data), size_of(a.type)});
    }
    void launch(void (*kernel)(const folded_array), const folded_array& a) const {
        cuda::launch(on_, kernel, cuda::blocks_for(a.where.places, threads_of_block), dim3(threads_of_block), 0, a);
    }

    const device& on_;
    cuda::device_guard current_;
    cuda::workspace memory_;
    problem line_;
    const problem& of_;
};

}  // namespace nearfield::watersheds
