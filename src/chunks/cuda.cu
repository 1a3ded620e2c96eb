// The steps on a device.
#include <algorithm>

#include "base/cuda.cuh"
#include "chunks/core.hpp"

namespace nearfield::chunks {
namespace {

using word = unsigned long long;  // the type that CUDA's 64-bit atomics take
constexpr int threads_of_block = 256;

template <class... Parameters, class... Arguments>
void launch(const device& on, void (*kernel)(Parameters...), std::int64_t cells, const Arguments&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(cells, threads_of_block), dim3(threads_of_block), 0, arguments...);
}
__device__ std::int64_t own_cell() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Kernels below have a thread for each cell; neighbouring threads read neighbouring cells of the last axis.
template <class Word>
__global__ void __launch_bounds__(threads_of_block)
    mark_missing(const __grid_constant__ strided of, const Word* field, std::int64_t cells, no_site none, int* found) {
    const std::int64_t cell = own_cell();
    if (cell < cells && none.is(field[of.at(cell)])) *found = 1;
}

/// Only cells that begin a run of one label compete for the place of its first cell.
template <class Label>
__global__ void __launch_bounds__(threads_of_block)
    put_first(const Label* labels, std::int64_t cells, word* first, word count) {
    const std::int64_t cell = own_cell();
    if (cell >= cells) return;
    const Label label = labels[cell];
    if (cell > 0 && labels[cell - 1] == label) return;
    if (const word row = static_cast<word>(label) - 1; row < count) atomicMin(first + row, static_cast<word>(cell));
}

template <class Label>
__global__ void __launch_bounds__(threads_of_block)
    gather_box(const __grid_constant__ strided of, const Label* labels, std::int64_t cells, std::int64_t* to) {
    if (const std::int64_t cell = own_cell(); cell < cells) to[cell] = static_cast<std::int64_t>(labels[of.at(cell)]);
}

template <class Label, class Number>
__global__ void __launch_bounds__(threads_of_block)
    put_numbers(const __grid_constant__ strided from, const Label* labels, const __grid_constant__ strided to,
                Number* out, std::int64_t cells, const std::int64_t* numbers, std::int64_t count) {
    if (const std::int64_t cell = own_cell(); cell < cells)
        out[to.at(cell)] = static_cast<Number>(number_of(labels[from.at(cell)], numbers, count));
}

}  // namespace

bool every_cell_has_site(const device& on, const any_input<device>& field) {
    const cuda::device_guard guard(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<int>(1);
    memory.allocate();
    int* const found = memory.get<int>(at);
    cuda::clear(on, found, sizeof(int));
    with_word(field.type, [&]<class Word>(Word) {
        launch(on, mark_missing<Word>, field.cells(), strided_of(field), static_cast<const Word*>(field.data),
               field.cells(), no_site_of(field.type), found);
    });
    int missing = 0;
    cuda::fetch(on, &missing, found, sizeof(missing));
    return missing == 0;
}

void find_first(const device& on, const any_input<device>& labels, std::span<std::int64_t> first) {
    const cuda::device_guard guard(on);
    cuda::workspace memory(on);
    const auto count = static_cast<std::int64_t>(first.size());
    const std::int64_t at = memory.reserve<word>(count), bytes = count * static_cast<std::int64_t>(sizeof(word));
    memory.allocate();
    word* const there = memory.get<word>(at);
    cuda::send(on, there, first.data(), bytes);  // -1, the largest word
    with_label(labels.type, [&]<class Label>(Label) {
        launch(on, put_first<Label>, labels.cells(), static_cast<const Label*>(labels.data), labels.cells(), there,
               static_cast<word>(count));
    });
    cuda::fetch(on, first.data(), there, bytes);
}

void gather(const device& on, std::span<const any_input<device>> boxes, std::span<std::int64_t> to) {
    if (to.empty()) return;
    const cuda::device_guard guard(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<std::int64_t>(static_cast<std::int64_t>(to.size()));
    memory.allocate();
    auto* const there = memory.get<std::int64_t>(at);
    std::int64_t begin = 0;
    for (const any_input<device>& box : boxes) {
        with_label(box.type, [&]<class Label>(Label) {
            launch(on, gather_box<Label>, box.cells(), strided_of(box), static_cast<const Label*>(box.data),
                   box.cells(), there + begin);
        });
        begin += box.cells();
    }
    cuda::fetch(on, to.data(), there, static_cast<std::int64_t>(to.size_bytes()));
}

void renumber(const device& on, const any_input<device>& labels, std::span<const std::int64_t> numbers,
              const any_output<device>& out) {
    const cuda::device_guard guard(on);
    cuda::workspace memory(on);
    const auto count = static_cast<std::int64_t>(numbers.size());
    const std::int64_t at = memory.reserve<std::int64_t>(std::max<std::int64_t>(count, 1));
    memory.allocate();
    auto* const table = memory.get<std::int64_t>(at);
    cuda::send(on, table, numbers.data(), static_cast<std::int64_t>(numbers.size_bytes()));
    with_label(labels.type, [&]<class Label>(Label) {
        with_label(out.type, [&]<class Number>(Number) {
            launch(on, put_numbers<Label, Number>, labels.cells(), strided_of(labels),
                   static_cast<const Label*>(labels.data), strided_of(out), static_cast<Number*>(out.data),
                   labels.cells(), static_cast<const std::int64_t*>(table), count);
        });
    });
}

}  // namespace nearfield::chunks
