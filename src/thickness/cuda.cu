// Local thickness on a device: computes squared distances, paints crescents, writes the outputs.
#include <algorithm>
#include <span>

#include "base/lines.hpp"
#include "thickness/cuda_cells.cuh"
#include "thickness/cuda_queue.cuh"
#include "thickness/cuda_tiles.cuh"

namespace nearfield::thickness {
namespace {

using cuda::blocks_for;

constexpr int cell_block = 256;
constexpr std::int64_t cells_a_queued = 8;  ///< cells of the array per entry of both queues: one byte per cell

/// A caller's array and its strides.
struct strided {
    void* data = nullptr;
    dtype type = dtype::float32;
    int rank = 0;
    std::int64_t size[max_rank] = {}, stride[max_rank] = {};
    bool contiguous = false;

    template <class Element>
    static strided of(const any_view<Element, device>& v) {
        strided s{const_cast<void*>(static_cast<const void*>(v.data)), v.type, v.rank};
        std::copy_n(v.shape.begin(), v.rank, s.size);
        std::copy_n(v.stride.begin(), v.rank, s.stride);
        s.contiguous = is_contiguous(s.size, s.stride, s.rank);
        return s;
    }
    __device__ std::int64_t at(std::int64_t cell) const {
        return contiguous ? cell : offset_of(cell, size, stride, rank);
    }
};

/// Reads the squared radii that the caller gives. One thread handles one cell.
template <class N>
__global__ void __launch_bounds__(cell_block) read_radii(const strided from, N* to, std::int64_t cells) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * cell_block + threadIdx.x;
    if (i >= cells) return;
    const std::int64_t at = from.at(i);
    switch (from.type) {
        case dtype::uint8: to[i] = given<N>(static_cast<const std::uint8_t*>(from.data)[at]); break;
        case dtype::int16: to[i] = given<N>(static_cast<const std::int16_t*>(from.data)[at]); break;
        case dtype::uint16: to[i] = given<N>(static_cast<const std::uint16_t*>(from.data)[at]); break;
        case dtype::int32: to[i] = given<N>(static_cast<const std::int32_t*>(from.data)[at]); break;
        case dtype::uint32: to[i] = given<N>(static_cast<const std::uint32_t*>(from.data)[at]); break;
        case dtype::int64: to[i] = given<N>(static_cast<const std::int64_t*>(from.data)[at]); break;
        default: to[i] = given<N>(static_cast<const std::uint64_t*>(from.data)[at]);
    }
}

template <class N>
__global__ void __launch_bounds__(cell_block)
    round_down(N* field, std::int64_t cells, const N* least_radius2, int count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * cell_block + threadIdx.x;
    if (i < cells) field[i] = rounded_down(field[i], least_radius2, count);
}

/// A few numbers passed as launch parameters, so that a captured graph needs no memory of the host.
template <class T>
struct numbers {
    static constexpr int most = 64;
    T value[most];
};
template <class T>
__global__ void __launch_bounds__(64) put(T* to, const numbers<T> from, int count) {
    if (static_cast<int>(threadIdx.x) < count) to[threadIdx.x] = from.value[threadIdx.x];
}

/// Writes one output, one thread per cell. T2 may lie in the output itself: each thread reads its own cell first.
template <class N>
__global__ void __launch_bounds__(cell_block)
    write(const strided to, const N* painted, const N* field, const writer<N> made, bool root, std::int64_t cells) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * cell_block + threadIdx.x;
    if (i >= cells) return;
    const N r2 = painted[i];
    const bool endless = field != nullptr && is_endless(field[i]);
    const std::int64_t at = to.at(i);
    switch (to.type) {
        case dtype::float32: static_cast<float*>(to.data)[at] = static_cast<float>(made.thickness(r2, endless)); break;
        case dtype::uint32:
            static_cast<std::uint32_t*>(to.data)[at] = made.template squared<std::uint32_t>(r2, endless);
            break;
        case dtype::uint64:
            static_cast<std::uint64_t*>(to.data)[at] = made.template squared<std::uint64_t>(r2, endless);
            break;
        default:
            static_cast<double*>(to.data)[at] =
                root ? made.thickness(r2, endless) : made.template squared<double>(r2, endless);
    }
}

/// Turns T2 into diameters in place. Below 2^24 a float's root has the bits of a double's root that is then
/// rounded to float. Each thread has a few cells, whose loads overlap.
constexpr int diameters_of_thread = 4;
__global__ void __launch_bounds__(cell_block) write_diameters(std::int32_t* painted, std::int64_t cells) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (cell_block * diameters_of_thread) + threadIdx.x;
    std::int32_t r2[diameters_of_thread];
#pragma unroll
    for (int k = 0; k < diameters_of_thread; ++k)
        r2[k] = first + k * cell_block < cells ? painted[first + k * cell_block] : 0;
#pragma unroll
    for (int k = 0; k < diameters_of_thread; ++k) {
        float diameter = 2 * __fsqrt_rn(static_cast<float>(most(r2[k], 0)));
        if (r2[k] >= 1 << 24 || r2[k] < 0)
            diameter = static_cast<float>(writer<std::int32_t>{}.thickness(r2[k], is_endless(r2[k])));
        if (first + k * cell_block < cells) painted[first + k * cell_block] = __float_as_int(diameter);
    }
}

template <class N>
class engine {
public:
    engine(const device& on, const problem& p, const any_input<device>& image, const any_input<device>& inlets,
           const thickness_fields<device>& out)
        : on_(on),
          p_(p),
          image_(image),
          inlets_(inlets),
          out_(out),
          cells_(p.grid.cells()),
          memory_(on),
          sizes_(static_cast<int>(p.sizes.size())),
          places_(p.plain ? std::min(cells_ / cells_a_queued + 2, most_places) / 2 : 0) {
        const auto field = memory_.reserve<N>(cells_), painted = memory_.reserve<N>(lent() == nullptr ? cells_ : 0),
                   queue = memory_.reserve<word>(2 * places_), queued = memory_.reserve<unsigned>(4),
                   largest = memory_.reserve<word>(p.plain ? tiles() : 0), least_radius2 = memory_.reserve<N>(sizes_),
                   sizes = memory_.reserve<double>(sizes_);
        memory_.allocate();
        field_ = memory_.get<N>(field), painted_ = lent() != nullptr ? lent() : memory_.get<N>(painted);
        queue_ = memory_.get<word>(queue), queued_ = memory_.get<unsigned>(queued);
        largest_ = memory_.get<word>(largest);
        least_radius2_ = memory_.get<N>(least_radius2), size_ = memory_.get<double>(sizes);
    }

    void solve() {
        fill_field();
        start_painting();
        if (p_.plain) paint_plain();
        else
            cuda::launch(on_, paint_cells_of<N>, blocks_for(cells_, cell_threads), dim3(cell_threads), 0,
                         static_cast<const N*>(field_), painted_, p_.grid, metric_of<N>(p_.weight));
        if (out_.squared.wanted() && !is_written(out_.squared)) write_one(out_.squared, false);
        if (out_.thickness.wanted()) write_one(out_.thickness, true);
    }

private:
    static constexpr std::int64_t most_places = std::int64_t{1} << 30;

    N* lent() const {
        const any_output<device>& last = out_.thickness.wanted() ? out_.thickness : out_.squared;
        const bool fits = size_of(last.type) == sizeof(N) &&
                          is_contiguous(last.shape.data(), last.stride.data(), last.rank) &&
                          reinterpret_cast<std::uintptr_t>(last.data) % sizeof(N) == 0;
        return fits ? static_cast<N*>(last.data) : nullptr;
    }
    /// Returns whether T2 already is the requested output: the fast path also writes cells without any site.
    bool is_written(const any_output<device>& squared) const {
        return p_.plain && squared.data == painted_ && squared.type == dtype::uint32 && p_.unit2 == 1;
    }

    template <class T>
    void send(T* to, const std::vector<double>& values) const {
        const auto count = static_cast<int>(values.size());
        for (int first = 0; first < count; first += numbers<T>::most) {
            numbers<T> some{};
            const int length = std::min(count - first, numbers<T>::most);
            for (int k = 0; k < length; ++k)
                some.value[k] = static_cast<T>(values[static_cast<std::size_t>(first + k)]);
            cuda::launch(on_, put<T>, 1, dim3(64), 0, to + first, some, length);
        }
    }

    void fill_field() const {
        if (p_.radii_given) {
            cuda::launch(on_, read_radii<N>, blocks_for(cells_, cell_block), dim3(cell_block), 0, strided::of(image_),
                         field_, cells_);
        } else {
            const auto array_of = [&](N* cells) {
                return any_output<device>::contiguous(
                    cells, p_.field, std::span(image_.shape.data(), static_cast<std::size_t>(image_.rank)));
            };
            // If ways are searched, the memory of T2 holds the distances.
            fields<device> wanted;
            wanted.squared = array_of(inlets_.wanted() ? painted_ : field_);
            distance_transform(on_, image_, wanted, p_.distances);
            if (inlets_.wanted()) watershed(on_, wanted.squared, {{}, array_of(field_)}, p_.moves, inlets_);
        }
        send(least_radius2_, p_.least_radius2);
        send(size_, p_.sizes);
        // Ways that are not there have a negative width only in doubles.
        if (p_.has_sizes || (inlets_.wanted() && p_.numbers == number::real))
            cuda::launch(on_, round_down<N>, blocks_for(cells_, cell_block), dim3(cell_block), 0, field_, cells_,
                         static_cast<const N*>(least_radius2_), p_.size_count());
    }

    /// Starts T2 with 0; or, if many centres may have equal radii, with every centre's own ball, and then drops the
    /// centres that are surrounded.
    void start_painting() const {
        if (!p_.repeats(inlets_.wanted()))
            return cuda::clear(on_, painted_, cells_ * static_cast<std::int64_t>(sizeof(N)));
        const auto blocks = blocks_for(cells_, cell_threads);
        cuda::launch(on_, keep_others<N>, blocks, dim3(cell_threads), 0, static_cast<const N*>(field_), painted_,
                     p_.grid);
        cuda::launch(on_, exchange<N>, blocks, dim3(cell_threads), 0, field_, painted_, cells_);
    }

    template <int Axes>
    [[nodiscard]] std::int64_t tiles_of() const {
        using tile = tile_memory<Axes>;
        const grid3& g = p_.grid;
        return g.images * blocks_for(g.size[0], tile::depth) * blocks_for(g.size[1], tile::height) *
               blocks_for(g.size[2], tile::width);
    }
    [[nodiscard]] std::int64_t tiles() const { return p_.grid.size[0] == 1 ? tiles_of<2>() : tiles_of<3>(); }
    template <int Axes>
    void paint_with(const tiles_call& call) const {
        cuda::launch(on_, paint_tiles<Axes>, tiles_of<Axes>(), dim3(tile_threads), 0, call);
        const int blocks = 8 * cuda::limits().multiprocessors;  // they take entries of the queues until none is left
        cuda::launch(on_, paint_balls<Axes>, blocks, dim3(tile_threads), 0, call);
        cuda::launch(on_, paint_slices_of_balls<Axes>, blocks, dim3(tile_threads), 0, call);
    }
    void paint_plain() const {
        if constexpr (std::is_same_v<N, std::int32_t>) {
            cuda::clear(on_, queued_, 4 * sizeof(unsigned));
            const tiles_call call{p_.grid, field_,           painted_, largest_,
                                  queue_,  queue_ + places_, queued_,  static_cast<unsigned>(places_)};
            if (p_.grid.size[0] == 1) paint_with<2>(call);
            else paint_with<3>(call);
        }
    }

    void write_one(const any_output<device>& to, bool root) const {
        if constexpr (std::is_same_v<N, std::int32_t>)
            if (root && p_.plain && to.type == dtype::float32 && to.data == painted_ && p_.unit2 == 1 && !p_.has_sizes)
                return cuda::launch(on_, write_diameters, blocks_for(cells_, cell_block * diameters_of_thread),
                                    dim3(cell_block), 0, painted_, cells_);
        const writer<N> made{p_.unit2, p_.has_sizes ? least_radius2_ : nullptr, p_.has_sizes ? size_ : nullptr, sizes_};
        const N* const ends = p_.radii_given ? nullptr : p_.plain ? painted_ : field_;  // of cells without any site
        cuda::launch(on_, write<N>, blocks_for(cells_, cell_block), dim3(cell_block), 0, strided::of(to),
                     static_cast<const N*>(painted_), ends, made, root, cells_);
    }

    const device& on_;
    const problem& p_;
    const any_input<device>&image_, &inlets_;
    const thickness_fields<device>& out_;
    std::int64_t cells_;
    cuda::workspace memory_;
    int sizes_;
    std::int64_t places_;
    N *field_ = nullptr, *painted_ = nullptr, *least_radius2_ = nullptr;
    double* size_ = nullptr;
    word *queue_ = nullptr, *largest_ = nullptr;
    unsigned* queued_ = nullptr;
};

}  // namespace

void run(const device& on, const problem& p, const any_input<device>& image, const any_input<device>& inlets,
         const thickness_fields<device>& out) {
    const cuda::device_guard current(on);
    switch (p.numbers) {
        case number::int32: return engine<std::int32_t>(on, p, image, inlets, out).solve();
        case number::int64: return engine<std::int64_t>(on, p, image, inlets, out).solve();
        default: return engine<double>(on, p, image, inlets, out).solve();
    }
}

}  // namespace nearfield::thickness
