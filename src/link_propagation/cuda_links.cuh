// First labels and links on a device. A word holds the links of four directions of a cell. Each four directions have a
// plane of words, so that neighbouring cells' words are adjacent.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "base/cuda.cuh"
#include "link_propagation/core.hpp"

namespace nearfield::link_propagation {

constexpr int link_threads = 256, most_channels = 4;

/// A word of four links of one or two bytes.
template <class Link>
using word_of = std::conditional_t<sizeof(Link) == 1, std::uint32_t, std::uint64_t>;

template <class Link>
__device__ int link_in(word_of<Link> word, int nth) {
    return static_cast<int>(static_cast<Link>(word >> (nth * 8 * static_cast<int>(sizeof(Link)))));
}

template <class T>
struct pixels {
    const T* data = nullptr;
    std::int64_t stride[3]{}, channel_stride = 0;  // in elements
    std::int64_t jump[most_directions]{};          ///< to the neighbour, in elements
    int channels = 1;
    labelling::rule<T> rule;

    /// A cell's channels, in registers. Missing channels are zero, so they add no difference.
    struct colour {
        T of[most_channels];
    };
    template <bool Colour>
    using content = std::conditional_t<Colour, colour, T>;

    template <bool Colour>
    __device__ content<Colour> load(const T* at) const {
        if constexpr (Colour) {
            colour c;
#pragma unroll
            for (int nth = 0; nth < most_channels; ++nth) c.of[nth] = nth < channels ? at[nth * channel_stride] : T{};
            return c;
        } else {
            return *at;
        }
    }
    __device__ bool foreground(T value) const { return rule.foreground(value); }
    __device__ bool foreground(const colour& c) const {
        bool any = false;
#pragma unroll
        for (int nth = 0; nth < most_channels; ++nth) any = any || (nth < channels && rule.foreground(c.of[nth]));
        return any;
    }
    __device__ bool linked(T a, T b) const { return rule.linked(a, b); }
    __device__ bool linked(const colour& a, const colour& b) const { return rule.linked(a.of, b.of, most_channels, 1); }
};

/// Writes first labels, and links of one cell or none for each direction. A thread owns a cell.
template <class T, bool Colour, class Link>
__global__ void __launch_bounds__(link_threads)
    read_image(const pixels<T> image, const grid3 grid, const directions ways, address* label, word_of<Link>* links) {
    const std::int64_t cells = grid.cells(), cell = static_cast<std::int64_t>(blockIdx.x) * link_threads + threadIdx.x;
    if (cell >= cells) return;
    const auto number = static_cast<std::uint32_t>(cell), width = static_cast<std::uint32_t>(grid.size[2]),
               height = static_cast<std::uint32_t>(grid.size[1]), row = number / width, plane = row / height;
    const std::uint32_t x = number - row * width, y = row - plane * height;
    const T* const mine = image.data + plane * image.stride[0] + y * image.stride[1] + x * image.stride[2];
    const auto value = image.template load<Colour>(mine);
    const bool counts = image.foreground(value);
    const unsigned sides = sides_of(grid, plane, y, x);
    label[cell] = counts ? static_cast<address>(cell) : background;
    for (int first = 0; first < ways.count; first += pack) {
        typename pixels<T>::template content<Colour> other[pack];
        bool yes[pack];
#pragma unroll
        for (int nth = 0; nth < pack; ++nth) {
            const int way = first + nth;
            yes[nth] = counts && way < ways.count && (ways.leaves[way] & sides) == 0;
            other[nth] = image.template load<Colour>(yes[nth] ? mine + image.jump[way] : mine);
        }
#pragma unroll
        for (int nth = 0; nth < pack; ++nth)
            yes[nth] = yes[nth] && image.foreground(other[nth]) && image.linked(value, other[nth]);
        word_of<Link> word = 0;
#pragma unroll
        for (int nth = 0; nth < pack; ++nth)
            word |= static_cast<word_of<Link>>(yes[nth]) << (nth * 8 * static_cast<int>(sizeof(Link)));
        links[first / pack * cells + cell] = word;
    }
}

constexpr int grown_at_once = 4;

/// Grows links by one step. A thread owns a few cells and alone writes their words. It may read a word that another
/// thread has already grown (see can_grow).
template <class Link>
__global__ void __launch_bounds__(link_threads)
    grow_links(word_of<Link>* links, const directions ways, std::int64_t cells, int done, int length) {
    const std::int64_t first_cell = static_cast<std::int64_t>(blockIdx.x) * link_threads * grown_at_once + threadIdx.x;
    for (int first = 0; first < ways.count; first += pack) {
        word_of<Link>* const plane = links + first / pack * cells;
        word_of<Link> word[grown_at_once];
        int more[grown_at_once][pack];
#pragma unroll
        for (int i = 0; i < grown_at_once; ++i) {
            const std::int64_t cell = first_cell + i * link_threads;
            word[i] = cell < cells ? plane[cell] : 0;
        }
#pragma unroll
        for (int i = 0; i < grown_at_once; ++i)
#pragma unroll
            for (int nth = 0; nth < pack; ++nth) {
                const int link = link_in<Link>(word[i], nth);
                const std::int64_t end = first_cell + i * link_threads + std::int64_t{ways.offset[first + nth]} * link;
                more[i][nth] = 0;
                if (can_grow(link, done, length))
                    more[i][nth] = reinterpret_cast<const volatile Link*>(plane)[end * pack + nth];
            }
#pragma unroll
        for (int i = 0; i < grown_at_once; ++i) {
            word_of<Link> longer = word[i];
#pragma unroll
            for (int nth = 0; nth < pack; ++nth) {
                const int link = link_in<Link>(word[i], nth);
                longer += static_cast<word_of<Link>>(grown(link, more[i][nth], length) - link)
                          << (nth * 8 * static_cast<int>(sizeof(Link)));
            }
            if (longer != word[i]) plane[first_cell + i * link_threads] = longer;
        }
    }
}

}  // namespace nearfield::link_propagation
