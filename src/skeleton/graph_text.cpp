// Input and output of skeleton graphs: cells of an array, CSV, SWC.
#include <fmt/format.h>

#include <iterator>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "skeleton/graph_cells.hpp"

namespace nearfield {
namespace {

/// Calls body(cells) with a pointer to the array's own elements.
template <class Body>
void with_elements(const any_input<host>& array, const Body& body) {
    switch (array.type) {
        case dtype::int8: return body(static_cast<const std::int8_t*>(array.data));
        case dtype::int16: return body(static_cast<const std::int16_t*>(array.data));
        case dtype::uint16: return body(static_cast<const std::uint16_t*>(array.data));
        case dtype::int32: return body(static_cast<const std::int32_t*>(array.data));
        case dtype::uint32: return body(static_cast<const std::uint32_t*>(array.data));
        case dtype::int64: return body(static_cast<const std::int64_t*>(array.data));
        case dtype::uint64: return body(static_cast<const std::uint64_t*>(array.data));
        case dtype::float32: return body(static_cast<const float*>(array.data));
        case dtype::float64: return body(static_cast<const double*>(array.data));
        case dtype::float16: fail("an array has element type float16; give float32");
        default: return body(static_cast<const std::uint8_t*>(array.data));
    }
}

skeleton_cells checked(const any_input<host>& skeleton, const any_input<host>& values, const spacing& cell,
                       const borders& ends) {
    check_image<host>("skeleton", skeleton, std::int64_t{1} << 31);
    if (skeleton.rank > 3) fail(fmt::format("skeleton has {} axes; give 1 to 3", skeleton.rank));
    if (values.wanted()) check_same_shape<host>("values", values, skeleton);
    const named_view<host> all[] = {{"skeleton", skeleton}, {"values", values}};
    check_data<host>(all);
    const auto lengths = checked_spacing(cell, skeleton.shape.data(), skeleton.rank);
    const auto beyond = checked_borders(ends, skeleton.shape.data(), skeleton.rank);
    skeleton_cells found;
    found.axes = skeleton.rank, found.measured = values.wanted();
    for (std::size_t k = 0; k < static_cast<std::size_t>(skeleton.rank); ++k) {
        found.shape[k] = skeleton.shape[k], found.spacing[k] = lengths[k];
        found.wraps[k] = beyond[k] == border::periodic;
    }
    return found;
}

/// Appends the coordinates of a branch's ends, in cells or in units of the spacing.
template <class Value>
void add_ends(std::string& to, const skeleton_graph& graph, const skeleton_branch& b, const Value& value) {
    for (const auto* end : {&b.src, &b.dst})
        for (std::size_t k = 0; k < static_cast<std::size_t>(graph.cells.axes); ++k)
            fmt::format_to(std::back_inserter(to), ",{}", value((*end)[k], k));
}

std::string header_of(const skeleton_graph& graph) {
    std::string text = "skeleton-id,node-id-src,node-id-dst,branch-distance,branch-type";
    if (graph.cells.measured) text += ",mean-pixel-value,least-pixel-value,largest-pixel-value";
    for (const char* name : {"image-coord", "coord"})
        for (const char* end : {"src", "dst"})
            for (int axis = 0; axis < graph.cells.axes; ++axis) text += fmt::format(",{}-{}-{}", name, end, axis);
    text += ",euclidean-distance";
    for (int axis = 1; axis <= graph.cells.axes; ++axis) text += fmt::format(",steps-{}", axis);
    return text + "\n";
}

}  // namespace

skeleton_cells cells_of_skeleton(const any_input<host>& skeleton, const any_input<host>& values, const spacing& cell,
                                 const borders& ends) {
    return in_call([&] {
        skeleton_cells found = checked(skeleton, values, cell, ends);
        if (rehearsing() != nullptr) return found;
        const cell_offsets at(skeleton.shape.data(), skeleton.stride.data(), skeleton.rank);
        with_elements(skeleton, [&](const auto* cells) {
            for (std::int64_t i = 0, n = skeleton.cells(); i < n; ++i)
                if (cells[at.of(i)] != 0) found.at.push_back(i);
        });
        if (!found.measured) return found;
        const cell_offsets value_at(values.shape.data(), values.stride.data(), values.rank);
        with_elements(values, [&](const auto* given) {
            for (const std::int64_t i : found.at) found.values.push_back(static_cast<double>(given[value_at.of(i)]));
        });
        return found;
    });
}

std::string csv_of(const skeleton_graph& graph) {
    const default_floats floats;
    std::string text = header_of(graph);
    for (const skeleton_branch& b : graph.branches) {
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", b.skeleton, b.node_src, b.node_dst, b.length,
                       static_cast<int>(b.kind));
        if (graph.cells.measured) fmt::format_to(std::back_inserter(text), ",{},{},{}", b.mean, b.least, b.largest);
        add_ends(text, graph, b, [](std::int64_t at, std::size_t) { return at; });
        add_ends(text, graph, b,
                 [&](std::int64_t at, std::size_t k) { return static_cast<double>(at) * graph.cells.spacing[k]; });
        fmt::format_to(std::back_inserter(text), ",{}", b.straight);
        for (std::size_t k = 0; k < static_cast<std::size_t>(graph.cells.axes); ++k)
            fmt::format_to(std::back_inserter(text), ",{}", b.steps[k]);
        text += '\n';
    }
    return text;
}

std::string swc_of(const skeleton_graph& graph) {
    const default_floats floats;
    const skeleton_cells& cells = graph.cells;
    const skeleton::neighbours near(cells);
    const std::size_t count = cells.at.size();
    std::vector<std::int64_t> number(count), wave;  // numbers of samples from 1, in the order of the text
    std::vector<skeleton::place> where(count);
    std::string text = "# SWC: id type x y z radius parent\n";
    const auto write = [&](std::int64_t cell, std::int64_t parent) {
        const auto i = static_cast<std::size_t>(cell);
        wave.push_back(cell), number[i] = static_cast<std::int64_t>(wave.size());
        std::array<double, 3> at{};
        for (int k = 0; k < cells.axes; ++k) {
            const auto axis = static_cast<std::size_t>(cells.axes - 1 - k);
            at[static_cast<std::size_t>(k)] = static_cast<double>(where[i][axis]) * cells.spacing[axis];
        }
        fmt::format_to(std::back_inserter(text), "{} 0 {} {} {} {} {}\n", number[i], at[0], at[1], at[2],
                       cells.measured ? cells.values[i] : 1.0,
                       parent < 0 ? -1 : number[static_cast<std::size_t>(parent)]);
    };
    for (std::size_t root = 0; root < count; ++root) {
        if (number[root] != 0) continue;
        where[root] = skeleton::place_of(cells, cells.at[root]);
        write(static_cast<std::int64_t>(root), -1);
        for (std::size_t next = wave.size() - 1; next < wave.size(); ++next) {
            const std::int64_t cell = wave[next];
            for (const std::int64_t other : near[cell]) {
                const auto i = static_cast<std::size_t>(other);
                if (number[i] != 0) continue;
                const skeleton::place step = skeleton::step_between(cells, cell, other);
                for (std::size_t k = 0; k < 3; ++k) where[i][k] = where[static_cast<std::size_t>(cell)][k] + step[k];
                write(other, cell);
            }
        }
    }
    return text;
}

}  // namespace nearfield
