// The public calls of nearfield/chunks.hpp for windows and components: they check their arguments, then run a step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "chunks/core.hpp"
#include "nearfield/chunks.hpp"

namespace nearfield {
namespace {

constexpr std::int64_t most_cells_a_side = std::int64_t{1} << 40;
constexpr auto label_types = {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64};

void check_place(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&) {}

template <class Place>
void check_readable(const char* name, const any_input<Place>& array) {
    const named_view<Place> one[] = {{name, array}};
    check_data<Place>(one);
}

template <class Place>
void check_label(const char* name, const any_input<Place>& labels) {
    check_image<Place>(name, labels, most_cells_a_side);
    check_type(name, labels.type, label_types);
}

/// Checks where a window lies, and returns along which axes it has a cell more than its chunk.
template <class Place>
std::vector<std::int64_t> checked_place(const any_input<Place>& labels, const chunk_place& place) {
    const auto axes = static_cast<std::size_t>(labels.rank);
    if (place.start.size() != axes || place.size.size() != axes || place.grid.size() != axes)
        fail(fmt::format("place has {}, {} and {} values and labels {} axes; give start, size and grid for each axis",
                         place.start.size(), place.size.size(), place.grid.size(), axes));
    std::vector<std::int64_t> more;
    double cells = 1;
    for (std::size_t k = 0; k < axes; ++k) {
        const std::int64_t start = place.start[k], size = place.size[k], grid = place.grid[k];
        if (start < 0 || size < 1 || grid > most_cells_a_side || start > grid - size)
            fail(fmt::format("place has {} cells from cell {} along axis {}, and the grid {}; give a part of the grid",
                             size, start, k, grid));
        more.push_back(labels.shape[k] - size);
        if (more[k] != 0 && more[k] != 1)
            fail(fmt::format("labels has {} cells along axis {}, and the chunk {}; give as many, or one more",
                             labels.shape[k], k, size));
        cells *= static_cast<double>(grid);
    }
    if (cells >= 0x1p62) fail("grid has more than 2^62 cells");
    return more;
}

/// Returns the view of a corner's box of a labelled window.
template <class Place>
any_input<Place> box_of(any_input<Place> labels, const chunk_place& place, unsigned corner, bool high) {
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < place.size.size(); ++k) {
        const bool at_end = (corner >> k & 1) != 0;
        if (at_end && high) begin += place.size[k] * labels.stride[k];
        labels.shape[k] = at_end ? 1 : place.size[k];
    }
    labels.data = static_cast<const std::byte*>(labels.data) + begin * size_of(labels.type);
    return labels;
}

template <class Place>
std::vector<std::int64_t> boxes_of(const Place& on, const any_input<Place>& labels, const chunk_place& place,
                                   const std::vector<std::int64_t>& more, bool high) {
    std::vector<any_input<Place>> boxes;
    std::int64_t cells = 0;
    for (unsigned corner = 1; corner < 1U << more.size(); ++corner) {
        bool there = true;
        for (std::size_t k = 0; k < more.size(); ++k)
            there = there && ((corner >> k & 1) == 0 || !high || more[k] == 1);
        if (!there) continue;
        boxes.push_back(box_of(labels, place, corner, high));
        cells += boxes.back().cells();
    }
    std::vector<std::int64_t> made(static_cast<std::size_t>(cells));
    chunks::gather(on, boxes, made);
    return made;
}

/// Turns cells of a window into linear indices of the grid; those beyond a periodic axis are its first ones.
void place_cells(std::vector<std::int64_t>& cells, const std::int64_t* window, const chunk_place& place) {
    for (std::int64_t& cell : cells) {
        std::int64_t rest = cell, made = 0, step = 1;
        for (std::size_t k = place.size.size(); k-- > 0; rest /= window[k]) {
            made += (place.start[k] + rest % window[k]) % place.grid[k] * step;
            step *= place.grid[k];
        }
        cell = made;
    }
}

template <class Place>
chunk_faces faces_of(const Place& on, const any_input<Place>& labels, std::int64_t count, const chunk_place& place) {
    check_place(on);
    check_label("labels", labels);
    chunk_faces made{place.size, checked_place(labels, place), {}, {}, {}};
    if (count < 0 || count > labels.cells())
        fail(fmt::format("count is {} for {} cells; give the number of components", count, labels.cells()));
    if (!is_contiguous(labels.shape.data(), labels.stride.data(), labels.rank))
        fail("labels is not contiguous; give a copy");
    check_readable("labels", labels);
    made.first.assign(static_cast<std::size_t>(count), -1);
    if (count > 0) chunks::find_first(on, labels, made.first);
    if (const auto missing = std::find(made.first.begin(), made.first.end(), -1); missing != made.first.end())
        fail(fmt::format("labels has no cell of component {}; give what label() made",
                         missing - made.first.begin() + 1));
    place_cells(made.first, labels.shape.data(), place);
    made.low = boxes_of(on, labels, place, made.more, false);
    made.high = boxes_of(on, labels, place, made.more, true);
    return made;
}

template <class Place>
bool certified(const Place& on, const any_input<Place>& field) {
    check_place(on);
    if (field.rank < 1 || field.rank > max_rank + 1) fail_rank("field", field.rank);
    check_type("field", field.type,
               {dtype::boolean, dtype::uint16, dtype::uint32, dtype::uint64, dtype::int32, dtype::int64, dtype::float16,
                dtype::float32, dtype::float64});
    check_readable("field", field);
    return field.cells() == 0 || chunks::every_cell_has_site(on, field);
}

constexpr std::uint64_t most_of(dtype label) {
    switch (label) {
        case dtype::uint16: return 0xffff;
        case dtype::int32: return 0x7fffffff;
        case dtype::uint32: return 0xffffffff;
        default: return 0x7fffffffffffffff;
    }
}

template <class Place>
void renumbered(const Place& on, const any_input<Place>& labels, std::span<const std::int64_t> numbers,
                const any_output<Place>& out) {
    check_place(on);
    check_label("labels", labels);
    check_type("out", out.type, label_types);
    check_same_shape<Place>("out", out, labels);
    const bool same = labels.data == out.data && labels.type == out.type && labels.stride == out.stride;
    const named_view<Place> both[] = {{"labels", labels}, {"out", out}};
    check_data<Place>(both);
    check_apart<Place>(std::span(both).subspan(same ? 1 : 0), same ? 0 : 1);
    for (const std::int64_t each : numbers)
        if (each < 0 || static_cast<std::uint64_t>(each) > most_of(out.type))
            fail(fmt::format("numbers has {}, which out, of {}, cannot hold; give a wider type", each,
                             name_of(out.type)));
    if (labels.cells() > 0) chunks::renumber(on, labels, numbers, out);
}

}  // namespace

std::vector<std::int64_t> window_halo(double limit, const spacing& cell, int rank) {
    return in_call([&] {
        if (rank < 1 || rank > max_rank) fail_rank("grid", rank);
        if (!(limit >= 0) || std::isinf(limit)) fail(fmt::format("limit is {}; give a finite length", limit));
        const std::int64_t shape[max_rank] = {1, 1, 1, 1, 1, 1, 1, 1};
        const auto lengths = checked_spacing(cell, shape, rank);
        std::vector<std::int64_t> made;
        for (int k = 0; k < rank; ++k)
            made.push_back(static_cast<std::int64_t>(std::min(limit / lengths[static_cast<std::size_t>(k)], 0x1p62)) +
                           1);
        return made;
    });
}

bool every_cell_has_site(const host& on, const any_input<host>& field) {
    return in_call([&] { return certified(on, field); });
}
bool every_cell_has_site(const device& on, const any_input<device>& field) {
    return in_call([&] { return certified(on, field); });
}
chunk_faces chunk_faces_of(const host& on, const any_input<host>& labels, std::int64_t count,
                           const chunk_place& place) {
    return in_call([&] { return faces_of(on, labels, count, place); });
}
chunk_faces chunk_faces_of(const device& on, const any_input<device>& labels, std::int64_t count,
                           const chunk_place& place) {
    return in_call([&] { return faces_of(on, labels, count, place); });
}
void renumber(const host& on, const any_input<host>& labels, std::span<const std::int64_t> numbers,
              const any_output<host>& out) {
    in_call([&] { renumbered(on, labels, numbers, out); });
}
void renumber(const device& on, const any_input<device>& labels, std::span<const std::int64_t> numbers,
              const any_output<device>& out) {
    in_call([&] { renumbered(on, labels, numbers, out); });
}

}  // namespace nearfield
