#include "cli/inlets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options.hpp"
#include "cli/parse.hpp"

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

}  // namespace

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

}  // namespace nearfield::cli
