#include "label/gpu/run.hpp"

#include "label/gpu/after.hpp"
#include "label/statistics_rows.hpp"

namespace nearfield::labelling {
namespace {

constexpr int count_threads = 128;

/// A thread owns an image.
__global__ void __launch_bounds__(count_threads)
    subtract_bases(std::int64_t images, const std::int64_t* base, std::int64_t* to, std::int64_t stride) {
    cuda::wait_for_kernel_before();
    const std::int64_t i = std::int64_t{blockIdx.x} * count_threads + threadIdx.x;
    if (i < images) to[i * stride] = base == nullptr ? 0 : base[i + 1] - base[i];
}

template <class Id>
lattice<Id> lattice_of(const problem& p) {
    using number = typename lattice<Id>::number;
    lattice<Id> g;
    for (int axis = 0; axis < p.rank; ++axis) {
        g.size[3 - p.rank + axis] = static_cast<number>(p.size[static_cast<std::size_t>(axis)]);
        g.wraps[3 - p.rank + axis] = p.periodic[static_cast<std::size_t>(axis)];
    }
    g.images = static_cast<number>(p.images);
    g.words = (g.size[2] + word_cells - 1) / word_cells;
    return g;
}

/// True if ids of rows padded to whole words fit 32 bits with one to spare.
bool is_narrow(const problem& p) { return lattice_of<wide_id>(p).all_words() < std::int64_t{1} << (31 - 5); }

bool uses_tiles(const device_call<narrow_id>& call) { return tiles_serve(call) || linked_tiles_serve(call); }

void label_only(const device& on, const problem& p, const any_input<device>& image, const label_fields<device>& out,
                std::int64_t* base) {
    if (!is_narrow(p)) return run_cells<wide_id>({on, p, image, out, lattice_of<wide_id>(p), base});
    const device_call<narrow_id> call{on, p, image, out, lattice_of<narrow_id>(p), base};
    if (tiles_serve(call)) run_tiles(call);
    else if (linked_tiles_serve(call)) run_linked_tiles(call);
    else run_cells(call);
}

/// True if labelling yields everything that the call wants: no tables, or tables that tiles make.
bool makes_all_at_once(const device& on, const problem& p, const any_input<device>& image,
                       const label_fields<device>& out) {
    if (!p.filtered() && !out.tables.any() && !out.make_tables) return true;
    if (!is_narrow(p)) return false;
    const device_call<narrow_id> call{on, p, image, out, lattice_of<narrow_id>(p)};
    if (out.tables.any() && !tiles_measure(tiles_serve(call), out.tables)) return false;
    return uses_tiles(call);
}

/// Labels first, then filters and tables. 32-bit labels in C order are written directly to the output.
void label_and_more(const device& on, const problem& p, const any_input<device>& image,
                    const label_fields<device>& out) {
    const bool narrow = most_unfiltered(p) <= largest_label(dtype::int32);
    const bool in_place = narrow && serves_tables(out.label);
    cuda::workspace memory(on);
    const std::int64_t bytes = in_place ? 0 : p.cells * p.images * (narrow ? 4 : 8);
    const std::int64_t scratch = memory.reserve<std::byte>(bytes), base = memory.reserve<std::int64_t>(p.images + 1);
    memory.allocate();
    const labels_made labels{in_place ? out.label.data : memory.get<std::byte>(scratch),
                             narrow ? dtype::uint32 : dtype::int64, memory.get<std::int64_t>(base)};
    label_fields<device> first;
    std::vector<std::int64_t> shape(image.shape.begin(), image.shape.begin() + p.batch_axes + p.rank);
    first.label = any_output<device>::contiguous(labels.data, labels.type, shape);
    label_only(on, p, image, first, labels.base);
    const bool by_tiles = is_narrow(p) && uses_tiles({on, p, image, first, lattice_of<narrow_id>(p)});
    if (p.filtered() && !by_tiles) filter_labels(on, p, labels);
    if (out.label.wanted() && !in_place) {
        if (most_components(p) > largest_label(out.label.type)) {
            const std::vector<std::int64_t> all = read_base(on, p, labels.base);
            for (std::size_t i = 1; i < all.size(); ++i) check_number(out.label.type, all[i] - all[i - 1]);
        }
        copy_labels(on, p, labels, out.label);
    }
    put_counts(on, p.images, labels.base, out.count);
    const component_tables<device> tables = tables_of(on, p, image, out, labels.base);
    if (tables.any()) measure_labels(on, p, tables, labels);
}

}  // namespace

bool tiles_measure(bool mask, const component_tables<device>& tables) {
    const auto wanted = statistics::columns::of(tables);
    if (!mask) return wanted.want_shape_only();
    return (!wanted.want_range() && !wanted.want_sums()) || size_of(tables.intensity.type) <= 2;
}

void put_counts(const device& on, std::int64_t images, const std::int64_t* base, const any_output<device>& count) {
    if (!count.wanted()) return;
    cuda::launch_overlapped(on, subtract_bases, cuda::blocks_for(images, count_threads), count_threads, 0, images, base,
                            static_cast<std::int64_t*>(count.data), count.stride[0]);
}

void run(const device& on, const problem& p, const any_input<device>& image, const label_fields<device>& out) {
    const cuda::device_guard current(on);
    if (p.cells * p.images == 0) {
        if (out.make_tables) check_tables(p, image, out, out.make_tables(0));
        return put_counts(on, p.images, nullptr, out.count);
    }
    if (makes_all_at_once(on, p, image, out)) label_only(on, p, image, out, nullptr);
    else label_and_more(on, p, image, out);
}

}  // namespace nearfield::labelling
