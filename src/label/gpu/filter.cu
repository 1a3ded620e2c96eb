// The filters of label(): tally the cells and border of every component, select components, renumber them.
#include <algorithm>

#include "label/gpu/after.hpp"
#include "label/gpu/number.cuh"

namespace nearfield::labelling {
namespace {

constexpr int filter_threads = 256, cells_a_thread = 16;

struct image_shape {
    std::int64_t size[3];  ///< planes, rows, cells of an image; missing axes in front have length 1
    bool open[3];          ///< axes whose ends are borders
    std::int64_t images;
    [[nodiscard]] NF_HD std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] __device__ bool at_border(std::int64_t cell) const {
        for (int axis = 2; axis >= 0; --axis) {
            const std::int64_t at = cell % size[axis];
            if (open[axis] && (at == 0 || at == size[axis] - 1)) return true;
            cell /= size[axis];
        }
        return false;
    }
};

/// A thread owns neighbouring cells; a warp whose cells end in one component adds its counts once.
template <class Label>
__global__ void __launch_bounds__(filter_threads)
    tally_cells(image_shape shape, const Label* labels, const std::int64_t* base, component_tallies to) {
    cuda::wait_for_kernel_before();
    const std::int64_t thread = std::int64_t{blockIdx.x} * filter_threads + threadIdx.x;
    const std::int64_t all = shape.cells() * shape.images;
    const std::int64_t first = thread * cells_a_thread, end = min(first + cells_a_thread, all);
    std::int64_t component = -1;
    state mine = 0;
    for (std::int64_t c = first; c < end; ++c) {
        if (labels[c] == 0) continue;
        const std::int64_t image = shape.images > 1 ? c / shape.cells() : 0;
        const std::int64_t here = base[image] + static_cast<std::int64_t>(labels[c]) - 1;
        if (here != component && mine != 0) atomicAdd(to.cells + component, mine), mine = 0;
        component = here, ++mine;
        if (to.border != nullptr && shape.at_border(c - image * shape.cells())) to.border[here] = 1;
    }
    const std::int64_t leader = __shfl_sync(cuda::every_lane, component, 0);
    if (__all_sync(cuda::every_lane, component == leader)) {
        for (int by = cuda::warp / 2; by > 0; by /= 2) mine += __shfl_xor_sync(cuda::every_lane, mine, by);
        if (threadIdx.x % cuda::warp != 0) mine = 0;
    }
    if (mine != 0) atomicAdd(to.cells + component, mine);
}

struct limits {
    std::int64_t smallest, largest;
    bool clear_border;
};

/// Drops components: a rejected component gets 0 cells.
__global__ void __launch_bounds__(filter_threads)
    drop_components(const std::int64_t* count, limits which, component_tallies of) {
    cuda::wait_for_kernel_before();
    const std::int64_t i = std::int64_t{blockIdx.x} * filter_threads + threadIdx.x;
    if (i >= *count) return;
    const bool border = of.border != nullptr && of.border[i] != 0;
    if (!passes(static_cast<std::int64_t>(of.cells[i]), border, which.smallest, which.largest, which.clear_border))
        of.cells[i] = 0;
}

/// Search for the size of the k-th largest component of an image, digit by digit. `size` holds the digits found so far;
/// `left` is the number still wanted among the components whose higher digits equal these.
constexpr int digit_bits = 8, digits = 1 << digit_bits;
struct selection {
    state size;
    std::int64_t left;
    state bins[digits];
};

/// Counts digits in shared memory first; lanes with equal digits (small components are many) count once.
__global__ void __launch_bounds__(filter_threads)
    count_digits(std::int64_t image, const std::int64_t* base, const state* cells, selection* s, int shift) {
    __shared__ std::uint32_t held[digits];
    static_assert(filter_threads == digits);
    cuda::wait_for_kernel_before();
    held[threadIdx.x] = 0;
    __syncthreads();
    const std::int64_t end = base[image + 1];
    const state size = s->size;
    for (std::int64_t first = base[image] + std::int64_t{blockIdx.x} * filter_threads; first < end;
         first += std::int64_t{gridDim.x} * filter_threads) {
        const std::int64_t i = first + threadIdx.x;
        const state mine = i < end ? cells[i] : 0;
        const bool counts = mine != 0 && mine >> (shift + digit_bits) == size >> (shift + digit_bits);
        const auto digit = counts ? static_cast<unsigned>((mine >> shift) % digits) : unsigned{digits};
        const unsigned same = __match_any_sync(cuda::every_lane, digit);
        if (counts && __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % cuda::warp))
            atomicAdd(held + digit, static_cast<std::uint32_t>(__popc(same)));
    }
    __syncthreads();
    if (held[threadIdx.x] != 0) atomicAdd(s->bins + threadIdx.x, state{held[threadIdx.x]});
}

/// One block, a thread for each digit, the largest digit first.
__global__ void __launch_bounds__(digits) choose_digit(selection* s, int shift) {
    __shared__ std::int64_t held[digits / cuda::warp];
    cuda::wait_for_kernel_before();
    const int digit = digits - 1 - static_cast<int>(threadIdx.x);
    const auto mine = static_cast<std::int64_t>(s->bins[digit]);
    const std::int64_t left = s->left;
    std::int64_t all = 0;
    const std::int64_t before = cuda::sum_before(mine, held, all);
    s->bins[digit] = 0;
    if (before < left && (before + mine >= left || digit == 0))
        s->size |= static_cast<state>(digit) << shift, s->left = left - before;
}

__global__ void __launch_bounds__(digits) begin_selection(selection* s, std::int64_t wanted) {
    cuda::wait_for_kernel_before();
    if (threadIdx.x == 0) s->size = wanted == 0 ? ~state{0} : 0, s->left = wanted;  // if none is wanted, all are less
    s->bins[threadIdx.x] = 0;
}

/// Shared memory of a block of number_threads threads that counts threads over all blocks.
struct counting_desk {
    std::uint32_t held[number_threads / cuda::warp];
    std::int64_t place;
    state before;

    /// Returns the block's number in the order in which blocks start, so that blocks before it run. Synchronises.
    __device__ std::int64_t take_place(state* states) {
        if (threadIdx.x == 0) place = static_cast<std::int64_t>(atomicAdd(states, state{1}));
        __syncthreads();
        return place;
    }
    /// Returns how many threads before this one, in this and earlier blocks, have `counts` set. Synchronises.
    __device__ state count_before_me(state* states, bool counts) {
        std::uint32_t total = 0;
        const std::uint32_t upto = cuda::sum_before(counts ? 1U : 0U, held, total);
        if (threadIdx.x < cuda::warp) {
            const state sum = count_before(states + 1, place, total);
            if (threadIdx.x == 0) before = sum;
        }
        __syncthreads();
        return before + upto;
    }
};

/// Keeps the k largest components. A thread owns a component of the image; of components as large as the k-th, the
/// first `left` stay.
__global__ void __launch_bounds__(number_threads)
    drop_behind(std::int64_t image, const std::int64_t* base, state* cells, const selection* s, state* states) {
    __shared__ counting_desk desk;
    cuda::wait_for_kernel_before();
    const std::int64_t first = base[image] + desk.take_place(states) * number_threads, i = first + threadIdx.x;
    if (first >= base[image + 1]) return;
    const state size = s->size, mine = i < base[image + 1] ? cells[i] : 0;
    const bool equal = size != 0 && mine == size;
    const auto before = static_cast<std::int64_t>(desk.count_before_me(states, equal));
    if (mine != 0 && (mine < size || (equal && before >= s->left))) cells[i] = 0;
}

/// Renumbers components that have cells, from 1 on over all images. A thread owns a component and replaces its cells by
/// twice the number of staying components up to it, plus 1 if it stays itself.
__global__ void __launch_bounds__(number_threads)
    number_kept(const std::int64_t* base, std::int64_t images, state* cells, state* states) {
    __shared__ counting_desk desk;
    cuda::wait_for_kernel_before();
    const std::int64_t i = desk.take_place(states) * number_threads + threadIdx.x;
    const bool kept = i < base[images] && cells[i] != 0;
    const state before = desk.count_before_me(states, kept);
    if (i < base[images]) cells[i] = before * 2 + (kept ? 3 : 0);
}

/// Computes how many components stay in the images before each.
__global__ void __launch_bounds__(filter_threads)
    rebase(const std::int64_t* base, std::int64_t images, const state* numbers, std::int64_t* new_base) {
    cuda::wait_for_kernel_before();
    const std::int64_t image = std::int64_t{blockIdx.x} * filter_threads + threadIdx.x;
    if (image <= images)
        new_base[image] = base[image] == 0 ? 0 : static_cast<std::int64_t>(numbers[base[image] - 1] / 2);
}

template <class Label>
__global__ void __launch_bounds__(filter_threads)
    renumber_cells(std::int64_t cells, std::int64_t images, Label* labels, const std::int64_t* base,
                   const std::int64_t* new_base, const state* numbers) {
    cuda::wait_for_kernel_before();
    const std::int64_t c = std::int64_t{blockIdx.x} * filter_threads + threadIdx.x;
    if (c >= cells * images || labels[c] == 0) return;
    const std::int64_t image = images > 1 ? c / cells : 0;
    const state number = numbers[base[image] + static_cast<std::int64_t>(labels[c]) - 1];
    labels[c] =
        number % 2 == 0 ? Label{0} : static_cast<Label>(static_cast<std::int64_t>(number / 2) - new_base[image]);
}

image_shape shape_of(const problem& p) {
    image_shape s{{1, 1, 1}, {false, false, false}, p.images};
    for (int axis = 0; axis < p.rank; ++axis) {
        s.size[3 - p.rank + axis] = p.size[static_cast<std::size_t>(axis)];
        s.open[3 - p.rank + axis] = !p.periodic[static_cast<std::size_t>(axis)];
    }
    return s;
}

template <class... Parameters, class... Arguments>
void start(const device& on, void (*kernel)(Parameters...), std::int64_t blocks, const Arguments&... arguments) {
    cuda::launch_overlapped(on, kernel, blocks, filter_threads, 0, arguments...);
}

template <class Label>
void filter(const device& on, const problem& p, const labels_made& made) {
    auto* const labels = static_cast<Label*>(made.data);
    component_choice choice(on, p, made.base);
    start(on, tally_cells<Label>, cuda::blocks_for(p.cells * p.images, std::int64_t{filter_threads} * cells_a_thread),
          shape_of(p), labels, made.base, choice.tallies());
    choice.choose();
    start(on, renumber_cells<Label>, cuda::blocks_for(p.cells * p.images, filter_threads), p.cells, p.images, labels,
          made.base, choice.new_base(), choice.tallies().cells);
    choice.replace_base();
}

}  // namespace

component_choice::component_choice(const device& on, const problem& p, std::int64_t* base)
    : on_(on), p_(p), base_(base), most_(most_unfiltered(p)), memory_(on) {
    const std::int64_t state_count = 1 + cuda::blocks_for(most_, number_threads);
    const std::int64_t cells = memory_.reserve<state>(most_), states = memory_.reserve<state>(state_count);
    const std::int64_t border = memory_.reserve<std::uint8_t>(p.options.clear_border ? most_ : 0);
    const std::int64_t zero_bytes = memory_.bytes();
    const std::int64_t new_base = memory_.reserve<std::int64_t>(p.images + 1), chosen = memory_.reserve<selection>(1);
    memory_.allocate();
    of_ = {memory_.get<state>(cells), p.options.clear_border ? memory_.get<std::uint8_t>(border) : nullptr};
    states_ = memory_.get<state>(states), new_base_ = memory_.get<std::int64_t>(new_base);
    selection_ = memory_.get<selection>(chosen);
    cuda::clear(on, memory_.get<std::byte>(0), zero_bytes);
}

void component_choice::choose() {
    const label_options& o = p_.options;
    const std::int64_t *const base = base_, *const count = base + p_.images;
    start(on_, drop_components, cuda::blocks_for(most_, filter_threads), count,
          limits{o.smallest, o.largest, o.clear_border}, of_);
    if (o.keep_largest < p_.cells)
        for (std::int64_t image = 0; image < p_.images; ++image) keep_largest(image);
    start(on_, number_kept, cuda::blocks_for(most_, number_threads), base, p_.images, of_.cells, states_);
    start(on_, rebase, cuda::blocks_for(p_.images + 1, filter_threads), base, p_.images, of_.cells, new_base_);
}

void component_choice::replace_base() {
    cuda::copy(on_, base_, new_base_, (p_.images + 1) * std::int64_t{sizeof(std::int64_t)});
}

void component_choice::keep_largest(std::int64_t image) {
    auto* const chosen = static_cast<selection*>(selection_);
    const std::int64_t* const base = base_;
    const auto once = [&](auto kernel, const auto&... arguments) {
        cuda::launch_overlapped(on_, kernel, 1, digits, 0, arguments...);
    };
    once(begin_selection, chosen, p_.options.keep_largest);
    const std::int64_t blocks = cuda::blocks_for(most_ / p_.images, number_threads);
    constexpr std::int64_t counting_blocks = 1024;  // each block adds its counts to 256 numbers in device memory
    constexpr int most_bits = 40;                   // no image has 2^40 cells or more
    for (int shift = most_bits - digit_bits; shift >= 0; shift -= digit_bits) {
        start(on_, count_digits, std::min(blocks, counting_blocks), image, base, of_.cells, chosen, shift);
        once(choose_digit, chosen, shift);
    }
    start(on_, drop_behind, blocks, image, base, of_.cells, chosen, states_);
    cuda::clear(on_, states_, (1 + blocks) * std::int64_t{sizeof(state)});
}

void filter_labels(const device& on, const problem& p, const labels_made& labels) {
    if (labels.type == dtype::uint32) filter<std::uint32_t>(on, p, labels);
    else filter<std::int64_t>(on, p, labels);
}

}  // namespace nearfield::labelling
