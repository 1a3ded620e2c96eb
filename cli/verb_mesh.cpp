// nearfield voxelize, isosurface, offset. x is the last axis of a volume, but the first coordinate of a mesh.
#include <fmt/format.h>

#include <algorithm>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/mesh_facts.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "edge/arrays_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/isosurface.hpp"
#include "nearfield/offset.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Reverses the order of a mesh's coordinates, which mirrors it, and so reverses the faces' orientation, too.
mesh reversed_axes(mesh m) {
    for (auto& at : m.vertices) std::swap(at[0], at[2]);
    for (auto& face : m.faces) std::swap(face[1], face[2]);
    return m;
}

double parse_length(const std::string& name, const std::string& text) {
    const double value = parse_number(name, text, name + " 0.5");
    if (!(value > 0)) refuse(fmt::format("{} is {}; give a positive length", name, text));
    return value;
}

/// Throws, before any work is done, if no mesh can be written there.
void check_mesh_output(const std::string& path) {
    static_cast<void>(mesh_format_of(path));
    io::require_place(path);
}

void save_mesh(const std::string& path, const mesh& m, const vertex_values* also = nullptr) {
    io::output file(path);
    file.write(mesh_bytes(m, mesh_format_of(path), false, also));
    file.commit();
}

/// Writes the result of offset(), and returns a text about the thickness of a hollow part's wall.
std::string save_offset(const std::string& path, const offset_result& made, double distance, json_report& said) {
    if (made.thickness.empty()) return save_mesh(path, made.surface), "";
    const double asked = std::abs(distance);
    const vertex_values thickness{"thickness", made.thickness, asked, 2 * asked};
    save_mesh(path, made.surface, &thickness);
    const auto [least, most] = std::minmax_element(made.thickness.begin(), made.thickness.end());
    said["wall"] = {{"least", *least}, {"most", *most}};
    return fmt::format(", its wall {:.4g} to {:.4g}", *least, *most);
}

}  // namespace

int voxelize_verb(const arguments& args) {
    check_destination(args.output);
    if (args.pitch.empty() == args.size.empty()) refuse("--pitch or --size: give one of them");
    in_words_of_options([&] {
        const mesh m = reversed_axes(read_solid(args));
        mesh_grid grid;
        if (!args.pitch.empty()) grid = grid_around(m, parse_length("--pitch", args.pitch));
        else {
            std::vector<std::int64_t> shape = parse_size(args.size);
            if (shape.size() == 1) shape.resize(3, shape[0]);
            if (shape.size() != 3) refuse(fmt::format("--size is {}; give 3 sizes, such as 64x64x64", args.size));
            grid = grid_around(m, {shape[0], shape[1], shape[2]});
        }
        io::array made = io::make_array(dtype::uint8, {grid.shape.begin(), grid.shape.end()});
        made.spacing.assign(grid.pitch.begin(), grid.pitch.end());
        const voxelize_options how{!args.shell, args.shell, args.winding};
        const any_output<host> out = made.out();
        const computed done = compute(args, placed_call{[&](const host& on) { voxelize(on, m, grid, out, how); },
                                                        [&](int ordinal, int warmups, int repeat) {
                                                            return edge::run_arrays_on_device(
                                                                ordinal, {}, {&out, 1},
                                                                [&](const device& on, auto, auto to) {
                                                                    voxelize(on, device_mesh(on, m), grid, to[0], how);
                                                                },
                                                                warmups, repeat);
                                                        }});
        const auto* const cells = reinterpret_cast<const std::uint8_t*>(made.data.get());
        const std::int64_t marked = std::count(cells, cells + made.cells(), std::uint8_t{1});
        io::write(args.output, made);
        json_report said = start_report(args);
        said["input"] = {{"path", args.input}, {"faces", m.faces.size()}};
        said["shape"] = made.shape, said["pitch"] = grid.pitch[0];
        said["origin"] = grid.origin, said["cells"] = marked;
        said["run"] = describe(done, made.cells());
        finish(args, said,
               fmt::format("voxelize: {} faces, {} cells of {:.6g}: {} marked in {} on {} ({}) -> {}", m.faces.size(),
                           text_of(made.shape), grid.pitch[0], marked, text_of_ms(done.median_ms()), done.device,
                           done.name, args.output),
               args.output == "-");
    });
    return 0;
}

int isosurface_verb(const arguments& args) {
    check_mesh_output(args.output);
    in_words_of_options([&] {
        const loaded input = load(args.input, args);
        if (input.image.shape.size() != 3)
            refuse(fmt::format("{} has {} axes; give a volume of 3", args.input, input.image.shape.size()));
        isosurface_options how;
        for (std::size_t k = 0; k < 3; ++k) how.spacing[k] = input.per_axis[k];
        how.inside_below = args.below, how.closed = args.closed;
        if (args.sharp) how.method = isosurface_method::dual_contouring;
        const double level = args.level.empty() ? 0.5 : parse_number("--level", args.level, "--level 0.5");
        mesh made;
        const any_input<host> in = input.image.in();
        const computed done = compute(args, placed_call{[&](const host& on) { made = isosurface(on, in, level, how); },
                                                        [&](int ordinal, int warmups, int repeat) {
                                                            return edge::run_arrays_on_device(
                                                                ordinal, {&in, 1}, {},
                                                                [&](const device& on, auto read, auto) {
                                                                    made = isosurface(on, read[0], level, how);
                                                                },
                                                                warmups, repeat);
                                                        }});
        made = reversed_axes(std::move(made));
        save_mesh(args.output, made);
        const mesh_measures is = measure_mesh(made);
        json_report said = start_report(args);
        said["input"] = describe(input.image), said["input"]["path"] = args.input;
        said["level"] = level, said["mesh"] = describe(made, is);
        said["run"] = describe(done, input.image.cells());
        finish(args, said,
               fmt::format("isosurface: {} {}, level {:g}: {} in {} on {} ({}) -> {}", text_of_axes(input.image),
                           nearfield::name_of(input.image.type), level, text_of_mesh(made, is),
                           text_of_ms(done.median_ms()), done.device, done.name, args.output));
    });
    return 0;
}

int offset_verb(const arguments& args) {
    check_mesh_output(args.output);
    const double distance = parse_number("--distance", args.radius, "--distance 2");
    offset_options how;
    if (!args.pitch.empty()) how.pitch = parse_length("--pitch", args.pitch);
    how.method = args.operation == "voxels" ? offset_method::voxels : offset_method::exact;
    how.sharp = args.sharp, how.hollow = args.hollow, how.winding = args.winding;
    in_words_of_options([&] {
        const mesh m = read_solid(args);
        offset_result made;
        const auto at = [&](const auto& on) { made = offset(on, m, distance, how); };
        const computed done = compute(
            args, placed_call{at, [&](int ordinal, int warmups, int repeat) {
                                  return edge::run_arrays_on_device(
                                      ordinal, {}, {}, [&](const device& on, auto, auto) { at(on); }, warmups, repeat);
                              }});
        const std::array<std::int64_t, 3>& shape = made.grid.shape;
        const mesh_measures is = measure_mesh(made.surface);
        json_report said = start_report(args);
        said["input"] = describe(m, measure_mesh(m)), said["input"]["path"] = args.input;
        said["distance"] = distance, said["mesh"] = describe(made.surface, is);
        said["pitch"] = made.grid.pitch[0], said["error_bound"] = made.error_bound, said["grid"] = shape;
        const std::string wall = save_offset(args.output, made, distance, said);
        said["run"] = describe(done, shape[0] * shape[1] * shape[2]);
        finish(
            args, said,
            fmt::format("offset: {} faces, distance {:g}{}: {}{}, pitch {:.4g} ({} cells), within {:.4g} of the true "
                        "surface, in {} on {} ({}) -> {}",
                        m.faces.size(), distance, args.hollow ? ", hollow" : "", text_of_mesh(made.surface, is), wall,
                        made.grid.pitch[0], text_of(shape), made.error_bound, text_of_ms(done.median_ms()), done.device,
                        done.name, args.output));
    });
    return 0;
}

}  // namespace nearfield::cli
