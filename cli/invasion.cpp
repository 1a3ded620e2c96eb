#include "cli/invasion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A face by its axis, counted from the last one, and its end.
struct face {
    const char* name;
    std::size_t from_last;
    bool far;
};
constexpr face faces[] = {{"left", 0, false},  {"right", 0, true},  {"top", 1, false},
                          {"bottom", 1, true}, {"front", 2, false}, {"back", 2, true}};

void mark(const face& one, io::array& inlets) {
    const std::size_t axis = inlets.shape.size() - 1 - one.from_last;
    auto* const cells = reinterpret_cast<std::uint8_t*>(inlets.data.get());
    std::int64_t step = 1;
    for (std::size_t k = axis + 1; k < inlets.shape.size(); ++k) step *= inlets.shape[k];
    const std::int64_t size = inlets.shape[axis], place = one.far ? size - 1 : 0;
    for (std::int64_t first = 0; first < inlets.cells(); first += size * step)
        std::fill_n(cells + first + place * step, step, std::uint8_t{1});
}

/// Computes squared distances to the background, and the widest ways from the inlets.
template <class Place>
void flood(const Place& on, const any_input<Place>& image, const any_input<Place>& inlets,
           const any_output<Place>& squared, const any_output<Place>& ways, const distance_options& given) {
    fields<Place> out;
    out.squared = squared;
    distance_transform(on, image, out, given);
    watershed_options options;
    options.maxima = true;
    std::array<border, max_rank> ends{};
    for (int axis = 0; axis < image.rank; ++axis)
        if (given.border[axis] == border::periodic) ends[static_cast<std::size_t>(axis)] = border::periodic;
    options.border = borders(ends.data(), static_cast<std::size_t>(image.rank));
    watershed(on, squared, {{}, ways}, options, inlets);
}

/// Returns the squares as uint16, or the array itself if they are too large.
io::array narrowed(io::array ways) {
    return with_elements(ways.data.get(), ways.type, [&](const auto* cells) {
        const std::int64_t n = ways.cells();
        if (std::any_of(cells, cells + n, [](auto cell) { return static_cast<double>(cell) > 65535; }))
            return std::move(ways);
        io::array made = make_like(ways, dtype::uint16, ways.shape);
        std::transform(cells, cells + n, reinterpret_cast<std::uint16_t*>(made.data.get()),
                       [](auto cell) { return static_cast<std::uint16_t>(cell); });
        return made;
    });
}

/// Cells of the faces that --inlets names are 1, others 0, as uint8. Refuses faces that the array does not have.
io::array inlets_of(const arguments& args, const io::array& image) {
    io::array inlets = make_like(image, dtype::uint8, image.shape);
    std::fill_n(reinterpret_cast<std::uint8_t*>(inlets.data.get()), inlets.cells(), std::uint8_t{0});
    for (const std::string& name : split(args.inlets, ','))
        for (const face& one : faces) {
            if (name != one.name && name != "all") continue;
            if (one.from_last < image.shape.size() && inlets.cells() > 0) mark(one, inlets);
            else if (name != "all")
                refuse(fmt::format("--inlets has {}, but {} has {} axes; give {}", name, args.input, image.shape.size(),
                                   image.shape.size() == 1 ? "left, right or all" : "left, right, top, bottom or all"));
        }
    return inlets;
}

}  // namespace

computed find_ways(const arguments& args, const loaded& input, const distance_options& given, const placed_call& after,
                   io::array& ways) {
    const io::array& image = input.image;
    const dtype type = squared_distance_type(image.shape.data(), static_cast<int>(image.shape.size()), given);
    const io::array inlets = inlets_of(args, image);
    io::array squared = make_like(image, type, image.shape);
    ways = make_like(image, type, image.shape);
    const any_input<host> read[] = {image.in(), inlets.in()};
    const any_output<host> to[] = {squared.out(), ways.out()};
    const placed_call call{
        [&](const host& on) { flood<host>(on, read[0], read[1], to[0], to[1], given); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, read, to,
                [&](const device& on, auto in, auto out) { flood<device>(on, in[0], in[1], out[0], out[1], given); },
                warmups, repeat);
        },
    };
    if (args.plan)
        return compute(args, placed_call{[&](const host& on) { call.here(on), after.here(on); },
                                         [&](int ordinal, int warmups, int repeat) {
                                             static_cast<void>(call.there(ordinal, warmups, repeat));
                                             return after.there(ordinal, warmups, repeat);
                                         }});
    computed done = compute(args, call);
    with_elements(squared.data.get(), type, [&]<class T>(const T* cells) {
        if (squared.cells() > 0 && cells[0] == std::numeric_limits<T>::max())
            refuse(
                fmt::format("{} has no zero cell, and pores without walls have no size; give a mask whose zeros are "
                            "solid, or --threshold",
                            args.input));
    });
    ways = narrowed(std::move(ways));
    return done;
}

}  // namespace nearfield::cli
