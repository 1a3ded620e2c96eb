// Tiles of which it is known already which cells hang together (cuda_links.cuh).
#pragma once

#include "label/cuda_links.cuh"
#include "label/cuda_tile_border.cuh"
#include "label/cuda_tile_unite.cuh"

namespace nearfield::labelling {

/// The records of words, and where round the ends of an image their bits lead.
template <class Tiling>
struct recorded_words {
    using record_of = link_record<typename Tiling::touching>;
    const narrow_lattice& g;
    const word* records;

    [[nodiscard]] __device__ const word* at(int image, int z, int y, int w) const {
        const int row = (image * g.size[0] + z) * g.size[1] + y;
        return records + (std::int64_t{row} * g.words + w) * record_of::size;
    }
    /// The bit of a word's last cell.
    [[nodiscard]] __device__ int last_bit(int w) const { return min(word_cells, g.size[2] - w * word_cells) - 1; }
};

template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    unite_linked_tiles(narrow_lattice g, const word* records, tile_store out, fresh_words fresh) {
    using record_of = link_record<typename Tiling::touching>;
    __shared__ tile_workshop<Tiling> s;
    __shared__ word going_on[Tiling::threads];
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    fresh.clear();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const tile_bundle<Tiling> b(me);
    const recorded_words<Tiling> words{g, records};
    const int y = at.y + b.line(0), w = at.word + b.w;
    const bool held = at.holds(g, b.plane(0), b.line(0), b.w);
    const word* const record = words.at(at.image, at.z + b.plane(0), y, w);
    const word cells = held ? record[0] : 0, linked = held ? record[1] : 0, on = linked & ~1U;
    s.cells[b.at(0)] = s.all[me] = cells, s.first[me] = cells & ~on, going_on[me] = on;
    out.starts[std::int64_t{at.number} * Tiling::threads + me] = cells & ~on;
    __syncthreads();
    touches found[Tiling::touching::count];
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) {
        const touch t = Tiling::touching::get(i);
        found[i] = {0, 0, 0, 0};
        if (cells == 0 || !b.reaches(t) || y + t.dy >= g.size[1]) continue;
        three_links l = record_of::links(record, i);
        if (b.w == 0) l.west &= ~1U;
        if (b.w == Tiling::words - 1 || w == g.words - 1) l.east &= ~(1U << words.last_bit(w));
        found[i] = without_implied(l, on, going_on[b.other(t)], t.slanted);
    }
    unite_found(s, g, at, b, out, found, on, (linked & 1) != 0 && b.w > 0);
}

/// Links that lead out of a tile, or round the image.
template <class Tiling>
class linked_border {
public:
    using record_of = link_record<typename Tiling::touching>;
    __device__ linked_border(const narrow_lattice& g, const word* records, const tile_place<Tiling>& at,
                             const part_joiner<Tiling>& parts)
        : words_{g, records}, at_(at), parts_(parts) {}

    /// Touch `i` of a bundle for which it leads to a tile above or in front, or round.
    __device__ void join(int i, int item) const {
        using items = border_items<Tiling>;
        const touch t = Tiling::touching::get(i);
        const narrow_lattice& g = words_.g;
        const tile_bundle<Tiling> b(items::bundle_of(t, item));
        const bool row_alone = t.dy > 0 && !items::is_front(t, item);  // the image's last row leaves the tile as well
        const int line = row_alone ? min(b.line(0), g.size[1] - 1 - at_.y) : b.line(0);
        if (!at_.holds(g, b.plane(0), line, b.w)) return;
        const cell mine{at_.z + b.plane(0), at_.y + line, at_.word + b.w, 0};
        const cell there{neighbour(g, 0, mine.z, t.dz), neighbour(g, 1, mine.y, t.dy), mine.w, 0};
        const word* const record = at(mine);
        if (record[0] == 0 || there.z < 0 || there.y < 0) return;
        const touches c = without_implied(record_of::links(record, i), record[1] & ~1U, at(there)[1] & ~1U, t.slanted);
        for (word left = first_of_each(c.same, c.on); left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.with(x), there.with(x));
        }
        for (word left = c.west; left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.with(x), before(there.with(x)));
        }
        for (word left = c.east; left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.with(x), after(there.with(x)));
        }
    }

    /// The ends of a row of the tile, whose first bundle is `thread`'s, and the tiles beside it.
    __device__ void join_ends(int thread) const {
        const narrow_lattice& g = words_.g;
        const tile_bundle<Tiling> b(thread);
        if (!at_.holds(g, b.plane(0), b.line(0), 0)) return;
        const cell first{at_.z + b.plane(0), at_.y + b.line(0), at_.word, 0};
        const int last_word = min(at_.word + Tiling::words, g.words) - 1;
        const cell last{first.z, first.y, last_word, words_.last_bit(last_word)};
        const word *const of_first = at(first), *const of_last = at(last);
        if ((of_first[1] & 1) != 0) pair(first, before(first));
#pragma unroll
        for (int i = 0; i < Tiling::touching::count; ++i) {
            const touch t = Tiling::touching::get(i);
            if (!t.slanted || !b.reaches(t) || first.y + t.dy >= g.size[1]) continue;
            if ((record_of::links(of_first, i).west & 1) != 0) pair(first, before(first.beside(t)));
            if ((record_of::links(of_last, i).east >> last.x & 1) != 0) pair(last, after(last.beside(t)));
        }
    }

private:
    struct cell {
        int z, y, w, x;  ///< plane, row, word, bit
        [[nodiscard]] __device__ cell with(int bit) const { return {z, y, w, bit}; }
        [[nodiscard]] __device__ cell beside(const touch& t) const { return {z + t.dz, y + t.dy, w, x}; }
    };
    [[nodiscard]] __device__ const word* at(const cell& c) const { return words_.at(at_.image, c.z, c.y, c.w); }
    [[nodiscard]] __device__ cell before(const cell& c) const {
        if (c.x > 0) return {c.z, c.y, c.w, c.x - 1};
        const int w = (c.w > 0 ? c.w : words_.g.words) - 1;
        return {c.z, c.y, w, words_.last_bit(w)};
    }
    [[nodiscard]] __device__ cell after(const cell& c) const {
        if (c.x < words_.last_bit(c.w)) return {c.z, c.y, c.w, c.x + 1};
        return {c.z, c.y, c.w + 1 < words_.g.words ? c.w + 1 : 0, 0};
    }
    [[nodiscard]] __device__ std::uint32_t node(const cell& c) const {
        using place = tile_place<Tiling>;
        const narrow_lattice& g = words_.g;
        const int plane = at_.image * place::across(g, 0) + c.z / Tiling::planes;
        const int tile = (plane * place::across(g, 1) + c.y / Tiling::rows) * place::across(g, 2) + c.w / Tiling::words;
        const int thread =
            (c.z % Tiling::planes * Tiling::down + c.y % Tiling::rows) * Tiling::words + c.w % Tiling::words;
        return parts_.node(tile, thread, parts_.from.starts[std::int64_t{tile} * Tiling::threads + thread], c.x);
    }
    __device__ void pair(const cell& one, const cell& other) const { parts_.pair({node(one), node(other)}); }

    recorded_words<Tiling> words_;
    const tile_place<Tiling>& at_;
    const part_joiner<Tiling>& parts_;
};

template <class Tiling>
__global__ void __launch_bounds__(border_items<Tiling>::threads)
    unite_linked_borders(narrow_lattice g, const word* records, tile_store from) {
    using items = border_items<Tiling>;
    static_assert(Tiling::bundle::count == 1);
    __shared__ pair_memory memory;
    __shared__ link_list list;
    cuda::wait_for_kernel_before();
    const part_joiner<Tiling> parts{from, memory, list};
    parts.clear();
    __syncthreads();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const linked_border<Tiling> border(g, records, at, parts);
    const typename items::chosen mine = items::choose(static_cast<int>(threadIdx.x));
    if (mine.touch >= 0) border.join(mine.touch, mine.item);
    else if (mine.item < Tiling::down * Tiling::deep) border.join_ends(mine.item * Tiling::words);
    __syncthreads();
    parts.unite_listed();
}

}  // namespace nearfield::labelling
