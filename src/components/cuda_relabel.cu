// relabel() on a device.
#include "components/cuda_relabel.cuh"

#include "components/engine.hpp"

namespace nearfield::components {
namespace {

template <class Number, class Label>
__global__ void __launch_bounds__(threads_of_block)
    put_numbers(const cell_keys in, const value_table<Number> table, const array3 out, bool dense, Label* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (cell < in.at.cells())
        to[dense ? cell : offset_in(out, cell)] = static_cast<Label>(table.number_of(in.key(cell)));
}

__global__ void put_count(const word* from, std::int64_t* to) {
    *to = from == nullptr ? 0 : static_cast<std::int64_t>(*from);
}

/// Waits for the number of values where the type could be too narrow for it.
void check_count(const device& on, const any_input<device>& labels, const any_output<device>& out, const word* count) {
    const std::int64_t possible =
        size_of(labels.type) <= 2 ? std::min<std::int64_t>(labels.cells(), 65535) : labels.cells();
    if (possible <= most_of(out.type)) return;
    word values = 0;
    cuda::fetch(on, &values, count, sizeof(values));
    check_numbers(out.type, static_cast<std::int64_t>(values));
}

template <class Number>
void renumber_cells(const device& on, const any_input<device>& labels, const any_output<device>& out,
                    const any_output<device>& count) {
    numbering<Number> numbers(on, labels);
    numbers.run();
    check_count(on, labels, out, numbers.count());
    const auto as = [&]<class Label>(Label) {
        cuda::launch(on, put_numbers<Number, Label>, blocks_for(labels.cells(), threads_of_block),
                     dim3(threads_of_block), 0, numbers.cells(), numbers.table(), array3_of(out),
                     array3_of(out).is_dense(), static_cast<Label*>(out.data));
    };
    switch (size_of(out.type)) {
        case 2: as(std::uint16_t{}); break;
        case 4: as(std::uint32_t{}); break;
        default: as(std::uint64_t{});
    }
    if (count.wanted())
        cuda::launch(on, put_count, 1, dim3(1), 0, numbers.count(), static_cast<std::int64_t*>(count.data));
}

}  // namespace

void renumber(const device& on, const any_input<device>& labels, const any_output<device>& out,
              const any_output<device>& count) {
    const cuda::device_guard guard(on);
    if (labels.cells() == 0) {
        if (count.wanted())
            cuda::launch(on, put_count, 1, dim3(1), 0, static_cast<const word*>(nullptr),
                         static_cast<std::int64_t*>(count.data));
        return;
    }
    if (labels.cells() < no_row) renumber_cells<std::uint32_t>(on, labels, out, count);
    else renumber_cells<word>(on, labels, out, count);
}

}  // namespace nearfield::components
