// Times what lies beside random squares and cubes on a GPU, and asks for the workspace of every kind of shape.
#include "targets.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "nearfield/plan.hpp"
#include "pictures.hpp"
#include "report_json.hpp"

namespace nearfield::bench {

void report(target_session& s, const target_result& r) {
    const auto cells = static_cast<double>(cells_of(r.measured.shape));
    fmt::print("{:<10} {:<26} {:>8.3f}% {:>9} ", r.part, image_name(r.measured.data, r.measured.shape),
               100 * r.measured.density, r.measured.field);
    if (r.workspace_bytes > 0 || r.part == "workspace")
        fmt::print("{:>10.3f} bytes a cell\n", r.workspace_bytes / cells);
    else fmt::print("{:>10.4f} ms {:>9.2f} ps a cell {}\n", r.measured.ms, r.measured.ms / cells * 1e9, r.how);
    std::fflush(stdout);
    s.results.push_back(r);
}

namespace {

/// What the library plans for every kind of shape; needs no GPU.
void ask_for_workspace(target_session& s) {
    std::vector<shape_t> shapes = {{100'000'000}};
    for (const auto* list : {&usual_shapes, &odd_shapes, &flat_shapes}) {
        for (const shape_t& shape : *list) {
            if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
        }
    }
    for (const shape_t& shape : shapes) {
        const auto image = any_input<device>::contiguous(nullptr, dtype::uint8, shape);
        for (const std::string field : {"distance", "index32", "index"}) {
            if (field == "index32" && cells_of(shape) > std::int64_t{1} << 31) continue;
            fields<device> out;
            if (field == "distance") out.distance = any_output<device>::contiguous(nullptr, dtype::float32, shape);
            else
                out.index =
                    any_output<device>::contiguous(nullptr, field == "index" ? dtype::int64 : dtype::int32, shape);
            const auto bytes = static_cast<double>(plan(device{nullptr}, image, out).workspace_bytes);
            report(s, {"workspace", "", {"random", shape, 0, field, 0, 0, 0}, bytes});
        }
    }
}

void write(const target_session& s, const std::string& path) {
    nlohmann::ordered_json j = head_of(s.head);
    j["targets"] = nlohmann::ordered_json::array();
    for (const target_result& r : s.results) {
        nlohmann::ordered_json row{{"part", r.part}, {"data", r.measured.data}, {"shape", r.measured.shape}};
        if (r.part == "workspace") {
            row["field"] = r.measured.field;
            row["bytes"] = r.workspace_bytes;
        } else {
            row["density"] = r.measured.density;
            row["field"] = r.measured.field;
            if (!r.how.empty()) row["how"] = r.how;
            row["ms"] = r.measured.ms;
            row["runs"] = r.measured.runs;
        }
        j["targets"].push_back(row);
    }
    write_file(path, j);
}

}  // namespace

int targets_main(int argc, char** argv) {
    target_request wanted{{"small", "bad", "odd", "flat", "workspace"}, {}, std::int64_t{1} << 33};
    std::string json;
    CLI::App app{
        "Times distances and nearest sites on a GPU where random squares and cubes do not show them: bad inputs "
        "(pictures.cpp), odd shapes, time a cell from small to large, single small images as calls and in CUDA graphs; "
        "and asks for the workspace of every kind of shape. Medians after a warm-up."};
    app.add_option("--only", wanted.parts, "parts: bad, odd, flat, small, workspace (which needs no GPU)")
        ->delimiter(',')
        ->check(CLI::IsMember({"bad", "odd", "flat", "small", "workspace"}))
        ->capture_default_str();
    app.add_option("--atlas", wanted.atlas, "volume from which the picture 'atlas' is made")->check(CLI::ExistingFile);
    app.add_option("--most-cells", wanted.most_cells, "larger images are left out")->capture_default_str();
    app.add_option("--json", json, "file for the results");
    CLI11_PARSE(app, argc, argv);
    try {
        target_session s;
        s.head.place = "device";
        if (std::any_of(wanted.parts.begin(), wanted.parts.end(), [](auto& part) { return part != "workspace"; }))
            measure_targets(s, wanted);
        if (std::find(wanted.parts.begin(), wanted.parts.end(), "workspace") != wanted.parts.end())
            ask_for_workspace(s);
        if (!json.empty()) write(s, json);
        return 0;
    } catch (const error& e) {
        fmt::print(stderr, "bench_all targets: {}\n", e.what());
        return e.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
