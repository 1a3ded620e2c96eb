// Times what is done with labels: tables, lists, numbers and contacts, on the host or on a GPU.
#include "components.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <random>

#include "nearfield/error.hpp"
#include "nearfield/label.hpp"
#include "report_json.hpp"

namespace nearfield::bench {

label_data make_label_data(const shape_t& shape, int grain) {
    label_data data{grain == 0 ? "one label" : fmt::format("blocks of {}", grain), shape, {}, 1};
    data.labels.assign(static_cast<std::size_t>(cells_of(shape)), 1);
    if (grain == 0) return data;
    // A block a number of the generator, in raster order, so that others can make the same image.
    constexpr unsigned percent = 50;
    std::mt19937 random(static_cast<unsigned>(1000 * grain) + percent);
    shape_t blocks;
    for (const std::int64_t side : shape) blocks.push_back((side + grain - 1) / grain);
    std::vector<std::uint8_t> block(static_cast<std::size_t>(cells_of(blocks)));
    for (std::uint8_t& each : block) each = random() % 100 < percent ? 1 : 0;
    std::vector<std::uint8_t> image(data.labels.size());
    spread(cells_of(shape), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t cell = begin; cell < end; ++cell) {
            std::int64_t rest = cell, at = 0, times = 1;
            for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
                at += rest % shape[axis] / grain * times;
                times *= blocks[axis];
            }
            image[static_cast<std::size_t>(cell)] = block[static_cast<std::size_t>(at)];
        }
    });
    const std::int64_t sum = std::count(image.begin(), image.end(), 1);
    data.density = static_cast<double>(sum) / static_cast<double>(image.size());
    label_fields<host> out;
    out.label = any_output<host>::contiguous(static_cast<void*>(data.labels.data()), dtype::int32, shape);
    out.count = any_output<host>::contiguous(static_cast<void*>(&data.count), dtype::int64, shape_t{1});
    label(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out);
    return data;
}

std::vector<std::uint8_t> byte_values(std::int64_t cells) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(cells));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(mix(i));
    return values;
}

std::vector<float> real_values(std::int64_t cells) {
    std::vector<float> values(static_cast<std::size_t>(cells));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(mix(i) >> 40) / 65536.0F;
    return values;
}

namespace {

session measure_components(const component_request& wanted) {
    session s;
    s.place = "host", s.device = processor();
    print_header(s);
    for (const shape_t& shape : wanted.shapes)
        for (const int grain : wanted.grains) {
            const label_data data = make_label_data(shape, grain);
            std::vector<std::unique_ptr<std::byte[]>> memory;
            const component_calls<host> calls(data, [&](std::int64_t bytes) {
                return memory.emplace_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes))).get();
            });
            std::copy(data.labels.begin(), data.labels.end(), static_cast<std::int32_t*>(calls.labels()));
            const auto bytes = byte_values(cells_of(shape));
            std::copy(bytes.begin(), bytes.end(), static_cast<std::uint8_t*>(calls.bytes()));
            const auto reals = real_values(cells_of(shape));
            std::copy(reals.begin(), reals.end(), static_cast<float*>(calls.reals()));
            for (const auto& [name, call] : calls.all())
                for (const int threads : wanted.threads) {
                    const std::vector<double> ms = time_runs([&] { call(host{threads, {}}); }, 3, 9, 1.0);
                    report(s, {data.name, shape, data.density, name, threads, median(ms), static_cast<int>(ms.size())});
                }
        }
    return s;
}

}  // namespace

int components_main(int argc, char** argv) {
    std::string place = "host", json;
    std::vector<std::int64_t> squares = {4096}, cubes = {256};
    component_request wanted{{}, {0, 1, 8}, {1, 0}};
    CLI::App app{"Times tables, lists, numbers and contacts of labels on images of blocks. Medians after a warm-up."};
    app.add_option("--place", place, "host or device")->check(CLI::IsMember({"host", "device"}));
    app.add_option("--2d", squares, "sides of squares; 0: none")->delimiter(',');
    app.add_option("--3d", cubes, "sides of cubes; 0: none")->delimiter(',');
    app.add_option("--grains", wanted.grains, "sides of the blocks; 0: one label on all cells")->delimiter(',');
    app.add_option("--threads", wanted.threads, "threads; 0: every core")->delimiter(',');
    app.add_option("--json", json, "file for the results");
    CLI11_PARSE(app, argc, argv);
    for (const std::int64_t side : squares)
        if (side > 0) wanted.shapes.push_back({side, side});
    for (const std::int64_t side : cubes)
        if (side > 0) wanted.shapes.push_back({side, side, side});
    try {
        const session s = place == "host" ? measure_components(wanted) : measure_components_on_device(wanted);
        if (!json.empty()) write_json(s, json, "components");
    } catch (const error& problem) {
        fmt::print(stderr, "bench_all components: {}\n", problem.what());
        return problem.code() == error_code::unsupported ? 77 : 1;
    }
    return 0;
}

}  // namespace nearfield::bench
