// Tables of components on a device, from labels just made; copies of labels into the call's own array.
#include <algorithm>
#include <span>
#include <utility>

#include "label/gpu/after.hpp"
#include "label/statistics_rows.hpp"
#include "nearfield/components.hpp"

namespace nearfield::labelling {
namespace {

using statistics::column;
using statistics::columns;

constexpr int table_threads = 256;

/// Copies rows of finished tables to those of the call: one for each component.
template <class T>
__global__ void __launch_bounds__(table_threads)
    copy_rows(column from, column to, int inner, int outer, const std::int64_t* count) {
    cuda::wait_for_kernel_before();
    const std::int64_t row = std::int64_t{blockIdx.x} * table_threads + threadIdx.x;
    if (row >= to.rows || row >= *count) return;
    for (int i = 0; i < outer; ++i)
        for (int j = 0; j < inner; ++j)
            to.put(row, static_cast<const T*>(from.data)[row * from.step + i * from.inner[0] + j * from.inner[1]], i,
                   j);
}

struct grid3 {
    std::int64_t size[3];
    bool wraps[3];
    [[nodiscard]] __device__ std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};

__global__ void __launch_bounds__(table_threads) clear_ends(column border, column faces, const std::int64_t* count) {
    cuda::wait_for_kernel_before();
    const std::int64_t row = std::int64_t{blockIdx.x} * table_threads + threadIdx.x;
    if (row >= *count) return;
    if (border.has(row)) border.put(row, std::uint8_t{0});
    if (faces.has(row)) faces.put(row, std::int64_t{0});
}

/// Corrects `border` and `faces` for periodic axes, which component_statistics() does not know. A thread owns a cell.
template <class Label>
__global__ void __launch_bounds__(table_threads)
    look_at_ends(grid3 g, const Label* labels, column border, column faces) {
    cuda::wait_for_kernel_before();
    const std::int64_t c = std::int64_t{blockIdx.x} * table_threads + threadIdx.x;
    if (c >= g.cells() || labels[c] == 0) return;
    const auto row = static_cast<std::int64_t>(labels[c]) - 1;
    std::int64_t step = 1, rest = c;
    unsigned open_faces = 0;
    for (int axis = 2; axis >= 0; step *= g.size[axis], --axis) {
        const std::int64_t n = g.size[axis], at = rest % n;
        rest /= n;
        for (const int by : {-1, 1}) {
            const bool inside = at + by >= 0 && at + by < n;
            if (!inside && !g.wraps[axis] && border.has(row)) border.put(row, std::uint8_t{1});
            const std::int64_t there = c + ((at + by + n) % n - at) * step;
            open_faces += (!inside && !g.wraps[axis]) || labels[there] != labels[c] ? 1 : 0;
        }
    }
    if (faces.has(row) && open_faces != 0)
        atomicAdd(static_cast<state*>(faces.data) + row * faces.step, state{open_faces});
}

template <class From, class To>
__global__ void __launch_bounds__(table_threads)
    copy_cells(std::int64_t cells, std::int64_t images, grid3 g, const From* from, To* to, strides at) {
    cuda::wait_for_kernel_before();
    const std::int64_t c = std::int64_t{blockIdx.x} * table_threads + threadIdx.x;
    if (c >= cells * images) return;
    const std::int64_t image = images > 1 ? c / cells : 0, of_image = c - image * cells;
    const std::int64_t row = of_image / g.size[2], z = row / g.size[1];
    to[at.image(image) + at.cell(z, row - z * g.size[1], of_image - row * g.size[2])] = static_cast<To>(from[c]);
}

grid3 grid_of(const problem& p) {
    grid3 g{{1, 1, 1}, {true, true, true}};  // an axis that the image lacks has no ends
    for (int axis = 0; axis < p.rank; ++axis) {
        g.size[3 - p.rank + axis] = p.size[static_cast<std::size_t>(axis)];
        g.wraps[3 - p.rank + axis] = p.periodic[static_cast<std::size_t>(axis)];
    }
    return g;
}

/// The tables of one image.
class table_call {
public:
    table_call(const device& on, const problem& p, const labels_made& labels, std::int64_t image,
               const std::int64_t* count)
        : on_(on), p_(p), count_(count), memory_(on) {
        labels_ = any_input<device>::contiguous(
            static_cast<const std::byte*>(labels.data) + image * p.cells * size_of(labels.type), labels.type,
            std::span(p.size).first(static_cast<std::size_t>(p.rank)));
    }

    void measure(const component_tables<device>& to) {
        std::vector<std::pair<any_output<device> component_tables<device>::*, std::int64_t>> places;
        component_tables<device> made = to;
        for (const auto member : members) {
            if (!(to.*member).wanted()) continue;
            places.emplace_back(member, memory_.reserve<std::uint64_t>((to.*member).cells()));
        }
        memory_.allocate();
        for (const auto& [member, at] : places) {
            const any_output<device>& v = to.*member;
            made.*member = any_output<device>::contiguous(memory_.get<std::byte>(at), v.type,
                                                          std::span(v.shape).first(static_cast<std::size_t>(v.rank)));
        }
        component_statistics(on_, labels_, made);
        if (std::any_of(p_.periodic.begin(), p_.periodic.end(), [](bool wraps) { return wraps; })) correct_ends(made);
        for (const auto& [member, at] : places) copy(made.*member, to.*member);
    }

private:
    using tables = component_tables<device>;
    using table = any_output<device> tables::*;
    static constexpr table members[] = {&tables::size,  &tables::box,     &tables::centroid, &tables::border,
                                        &tables::faces, &tables::lowest,  &tables::highest,  &tables::sum,
                                        &tables::mean,  &tables::variance};

    void correct_ends(const tables& made) {
        const column border = statistics::column_of(made.border), faces = statistics::column_of(made.faces);
        if (!border.wanted() && !faces.wanted()) return;
        start(clear_ends, std::max(border.rows, faces.rows), border, faces, count_);
        const grid3 g = grid_of(p_);
        if (labels_.type == dtype::uint32)
            start(look_at_ends<std::uint32_t>, p_.cells, g, static_cast<const std::uint32_t*>(labels_.data), border,
                  faces);
        else
            start(look_at_ends<std::int64_t>, p_.cells, g, static_cast<const std::int64_t*>(labels_.data), border,
                  faces);
    }
    void copy(const any_output<device>& from, const any_output<device>& to) {
        const int outer = to.rank > 1 ? static_cast<int>(to.shape[1]) : 1,
                  inner = to.rank > 2 ? static_cast<int>(to.shape[2]) : 1;
        const auto with = [&](auto kernel) {
            start(kernel, to.shape[0], statistics::column_of(from), statistics::column_of(to), inner, outer, count_);
        };
        switch (size_of(to.type)) {
            case 1: return with(copy_rows<std::uint8_t>);
            case 2: return with(copy_rows<std::uint16_t>);
            case 4: return with(copy_rows<std::uint32_t>);
            default: return with(copy_rows<std::uint64_t>);
        }
    }
    template <class... Parameters, class... Arguments>
    void start(void (*kernel)(Parameters...), std::int64_t work, const Arguments&... arguments) {
        cuda::launch_overlapped(on_, kernel, cuda::blocks_for(work, table_threads), table_threads, 0, arguments...);
    }

    const device& on_;
    const problem& p_;
    const std::int64_t* count_;
    any_input<device> labels_;
    cuda::workspace memory_;
};

/// Returns rows `first` to `first + rows` of every wanted table, for one image's components, and its intensity.
component_tables<device> rows_of(const component_tables<device>& all, const problem& p, std::int64_t image,
                                 std::int64_t first, std::int64_t rows) {
    using tables = component_tables<device>;
    tables part = all;
    for (const auto member : {&tables::size, &tables::box, &tables::centroid, &tables::border, &tables::faces,
                              &tables::lowest, &tables::highest, &tables::sum, &tables::mean, &tables::variance}) {
        any_output<device>& v = part.*member;
        if (!v.wanted()) continue;
        const std::int64_t left = std::clamp<std::int64_t>(v.shape[0] - first, 0, rows);
        v.data = static_cast<std::byte*>(v.data) + (left == 0 ? 0 : first * v.stride[0] * size_of(v.type));
        v.shape[0] = left;
    }
    any_input<device>& in = part.intensity;
    if (!in.wanted() || p.batch_axes == 0) return part;
    std::int64_t offset = 0;
    for (int axis = p.batch_axes - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        offset += image % in.shape[a] * in.stride[a], image /= in.shape[a];
    }
    in.data = static_cast<const std::byte*>(in.data) + offset * size_of(in.type);
    in.rank -= p.batch_axes;
    for (int axis = 0; axis < in.rank; ++axis) {
        const auto to = static_cast<std::size_t>(axis), from = static_cast<std::size_t>(axis + p.batch_axes);
        in.shape[to] = in.shape[from], in.stride[to] = in.stride[from];
    }
    return part;
}

}  // namespace

std::vector<std::int64_t> read_base(const device& on, const problem& p, const std::int64_t* base) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(p.images) + 1);
    cuda::fetch(on, all.data(), base, static_cast<std::int64_t>(all.size() * sizeof(all[0])));
    return all;
}

component_tables<device> tables_of(const device& on, const problem& p, const any_input<device>& image,
                                   const label_fields<device>& out, const std::int64_t* base) {
    if (!out.make_tables) return out.tables;
    const component_tables<device> made = out.make_tables(read_base(on, p, base).back());
    check_tables(p, image, out, made);
    return made;
}

bool serves_tables(const any_output<device>& label) {
    if (!label.wanted() || size_of(label.type) != 4) return false;
    std::int64_t step = 1;
    for (int axis = label.rank - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (label.shape[a] > 1 && label.stride[a] != step) return false;
        step *= label.shape[a];
    }
    return true;
}

void measure_labels(const device& on, const problem& p, const component_tables<device>& to, const labels_made& labels) {
    if (p.images == 1 && p.batch_axes == 0) return table_call(on, p, labels, 0, labels.base + 1).measure(to);
    const std::vector<std::int64_t> base = read_base(on, p, labels.base);
    cuda::workspace memory(on);
    const std::int64_t counts = memory.reserve<std::int64_t>(p.images);
    memory.allocate();
    put_counts(on, p.images, labels.base,
               any_output<device>(view<std::int64_t, 1, device>(memory.get<std::int64_t>(counts), {p.images})));
    for (std::int64_t i = 0; i < p.images; ++i) {
        const std::int64_t first = base[static_cast<std::size_t>(i)],
                           rows = base[static_cast<std::size_t>(i) + 1] - first;
        if (rows == 0) continue;
        const component_tables<device> part = rows_of(to, p, i, first, rows);
        if (columns::of(part).rows() > 0)
            table_call(on, p, labels, i, memory.get<std::int64_t>(counts) + i).measure(part);
    }
}

void copy_labels(const device& on, const problem& p, const labels_made& labels, const any_output<device>& to) {
    const device_call<wide_id> call{on, p, {}, {}, {}};
    const auto copy = [&]<class From, class To>(From, To) {
        cuda::launch_overlapped(on, copy_cells<From, To>, cuda::blocks_for(p.cells * p.images, table_threads),
                                table_threads, 0, p.cells, p.images, grid_of(p), static_cast<const From*>(labels.data),
                                static_cast<To*>(to.data), call.strides_of(to));
    };
    const auto from = [&](auto of) {
        switch (to.type) {
            case dtype::uint16: return copy(of, std::uint16_t{});
            case dtype::int32:
            case dtype::uint32: return copy(of, std::uint32_t{});
            default: return copy(of, std::uint64_t{});
        }
    };
    if (labels.type == dtype::uint32) from(std::uint32_t{});
    else from(std::int64_t{});
}

}  // namespace nearfield::labelling
