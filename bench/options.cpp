// Times every option of the full call beside the plain one.
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "nearfield/system.hpp"
#include "nearfield/voronoi.hpp"
#include "report_json.hpp"

namespace nearfield::bench {

void report(option_session& s, const std::string& name, const std::string& with, const shape_t& shape, double ms,
            double compared) {
    const double times = ms / compared;
    fmt::print("{:<16} {:<44} {:>10.3f} ms {:>7.2f}\n", image_name("random", shape), name, ms, times);
    std::fflush(stdout);
    s.results.push_back({name, with, shape, ms, times});
}

namespace {

double time_on_host(const option_case& c, const shape_t& shape, const std::vector<std::uint32_t>& cells, int threads) {
    const std::vector<std::uint8_t> bytes(cells.begin(), cells.end());
    const auto n = cells.size();
    std::vector<float> distance(c.distance ? n : 0);
    std::vector<std::int64_t> index(c.index ? n : 0);
    std::vector<std::uint32_t> label(c.label ? n : 0);
    std::vector<std::uint8_t> trusted(c.trusted ? n : 0);
    fields<host> out;
    if (c.distance) out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    if (c.index) out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
    if (c.label) out.label = any_output<host>::contiguous(label.data(), dtype::uint32, shape);
    if (c.trusted) out.trusted = any_output<host>::contiguous(trusted.data(), dtype::uint8, shape);
    const auto image = reads_labels(c) ? any_input<host>::contiguous(cells.data(), dtype::uint32, shape)
                                       : any_input<host>::contiguous(bytes.data(), dtype::uint8, shape);
    std::vector<std::int32_t> weight(c.weighted ? n : 0);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<std::int32_t>(mix(i) % 100);
    const auto weights = any_input<host>::contiguous(weight.data(), dtype::int32, shape);
    const host on{threads, {}};
    return median(time_runs(
        [&] {
            if (c.weighted) power_diagram(on, image, weights, out, c.options);
            else distance_transform(on, image, out, c.options);
        },
        3, 7, 2.0));
}

option_session measure_on_host(const std::vector<shape_t>& shapes, int threads) {
    option_session s;
    s.head.place = "host";
    s.head.device = processor();
    s.head.details = fmt::format("{}, {} thread{}", query_system().simd, threads, threads == 1 ? "" : "s");
    for (const shape_t& shape : shapes) {
        measure_options(s, shape, [&](const option_case& c, const std::vector<std::uint32_t>& image) {
            return time_on_host(c, shape, image, threads);
        });
    }
    return s;
}

void write(const option_session& s, const std::string& path) {
    nlohmann::ordered_json j = head_of(s.head);
    for (const option_result& r : s.results) {
        j["options"].push_back(
            {{"name", r.name}, {"with", r.with}, {"shape", r.shape}, {"ms", r.ms}, {"times", r.times}});
    }
    write_file(path, j);
}

}  // namespace

int options_main(int argc, char** argv) {
    std::string place = "host", json;
    int threads = 1;
    std::vector<std::int64_t> sides2, sides3;
    CLI::App app{
        "Times every option of distance_transform beside the plain call on the same image (1 % random sites unless "
        "the name says otherwise); medians after a warm-up."};
    app.add_option("--place", place, "host or device")->check(CLI::IsMember({"host", "device"}))->capture_default_str();
    app.add_option("--2d", sides2, "sides of square images (default 2048, device 8192)")->delimiter(',');
    app.add_option("--3d", sides3, "sides of cubic volumes (default 256, device 512)")->delimiter(',');
    app.add_option("--threads", threads, "on the host")->capture_default_str();
    app.add_option("--json", json, "file for the results");
    CLI11_PARSE(app, argc, argv);
    const bool device = place == "device";
    if (sides2.empty()) sides2 = {device ? 8192 : 2048};
    if (sides3.empty()) sides3 = {device ? 512 : 256};
    std::vector<shape_t> shapes;
    shapes.reserve(sides2.size() + sides3.size());
    for (std::int64_t n : sides2) shapes.push_back({n, n});
    for (std::int64_t n : sides3) shapes.push_back({n, n, n});
    try {
        const auto s = device ? measure_options_on_device(shapes) : measure_on_host(shapes, threads);
        if (!json.empty()) write(s, json);
        return 0;
    } catch (const error& e) {
        fmt::print(stderr, "bench_all options: {}\n", e.what());
        return e.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
