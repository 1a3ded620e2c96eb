// Times the exact engine: distances and nearest sites, over sizes and densities, on the host and on a GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "bench.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/system.hpp"
#include "pictures.hpp"
#include "simd.hpp"

namespace nearfield::bench {
namespace {

struct options {
    std::string place = "host";
    std::vector<std::int64_t> sides2{512, 1024, 2048, 4096};
    std::vector<std::int64_t> sides3{64, 128, 256, 512};
    std::vector<double> densities{0.0001, 0.01, 0.1, 0.3, 0.5, 0.9};
    std::vector<std::string> pictures;
    std::vector<std::string> fields{"distance", "index32"};
    std::vector<int> threads;
    std::vector<std::string> files;
    std::string atlas, json;
    bool simd = false;
};

/// Best of a few copies of 256 MiB by `threads` threads, bytes read plus bytes written.
double host_copy_gb_s(int threads) {
    constexpr std::size_t bytes = std::size_t{1} << 28;
    std::vector<char> from(bytes, 1), to(bytes, 2);
    const auto work = [&] {
        std::vector<std::jthread> team;
        for (std::size_t t = 0; t < static_cast<std::size_t>(threads); ++t) {
            const std::size_t begin = bytes * t / static_cast<std::size_t>(threads);
            const std::size_t end = bytes * (t + 1) / static_cast<std::size_t>(threads);
            team.emplace_back([&, begin, end] { std::memcpy(to.data() + begin, from.data() + begin, end - begin); });
        }
    };
    const auto ms = time_runs(work, 5, 9, 1.0);
    return 2.0 * static_cast<double>(bytes) / (*std::min_element(ms.begin(), ms.end()) * 1e-3) * 1e-9;
}

struct subject {
    std::string data;
    shape_t shape;
    double density;
    std::vector<std::uint8_t> image;
};

void measure(session& s, const subject& p, const std::string& field, int threads, const std::string& simd = {}) {
    const auto cells = static_cast<std::size_t>(cells_of(p.shape));
    std::vector<std::byte> memory(cells * static_cast<std::size_t>(field_bytes(field)));
    fields<host> out;
    if (field == "distance") out.distance = any_output<host>::contiguous(memory.data(), dtype::float32, p.shape);
    else
        out.index =
            any_output<host>::contiguous(memory.data(), field == "index" ? dtype::int64 : dtype::int32, p.shape);
    host on;
    on.threads = threads;
    const auto image = any_input<host>::contiguous(p.image.data(), dtype::uint8, p.shape);
    const auto ms = time_runs([&] { distance_transform(on, image, out); }, 3, 11, 1.0);
    report(s, {p.data, p.shape, p.density, field, threads, median(ms), static_cast<int>(ms.size()), simd});
}

/// The images on which instruction sets are compared: 4096^2 and 256^3.
constexpr std::int64_t simd_cells = std::int64_t{1} << 24;

session measure_host(const request& wanted, const options& o) {
    const painter pictures(o.atlas);
    session s;
    s.place = "host";
    s.device = processor();
    const system_info system = query_system();
    s.details = fmt::format("{} cores, {}", system.cores, system.simd);
    std::vector<int> threads = o.threads;
    if (threads.empty()) threads = system.cores > 1 ? std::vector<int>{1, system.cores} : std::vector<int>{1};
    for (int n : threads) s.copy_gb_s.emplace_back(n, host_copy_gb_s(n));
    print_header(s);
    const auto run = [&](const subject& p) {
        for (const std::string& field : wanted.fields) {
            for (int n : threads) measure(s, p, field, n);
        }
        if (!o.simd || cells_of(p.shape) != simd_cells) return;
        for (const std::int64_t level : lesser_simd()) {
            const only_simd now(level);
            measure(s, p, "distance", threads.front(), name_of_simd(level));
        }
    };
    for (const shape_t& shape : wanted.shapes) {
        for (double density : wanted.densities) run({"random", shape, density, random_sites(cells_of(shape), density)});
        for (const std::string& name : wanted.pictures) {
            auto image = pictures.paint(name, shape);
            const double density = share_of_sites(image);
            run({name, shape, density, std::move(image)});
        }
    }
    for (const std::string& path : o.files) {
        subject p{path.substr(path.rfind('/') + 1), {}, 0, {}};
        p.image = read_mask(path, p.shape);
        p.density = share_of_sites(p.image);
        run(p);
    }
    return s;
}

int run(const options& o) {
    request wanted{{}, o.densities, o.pictures, o.fields, o.atlas};
    if (!painter(o.atlas).knows("atlas") && std::erase(wanted.pictures, "atlas") > 0)
        fmt::print("bench_all exact: no --atlas, its picture is left out\n");
    for (std::int64_t n : o.sides2) wanted.shapes.push_back({n, n});
    for (std::int64_t n : o.sides3) wanted.shapes.push_back({n, n, n});
    const session s = o.place == "host" ? measure_host(wanted, o) : measure_device(wanted);
    if (!o.json.empty()) write_json(s, o.json);
    return 0;
}

void declare(CLI::App& app, options& o) {
    app.add_option("--place", o.place, "host or device")
        ->check(CLI::IsMember({"host", "device"}))
        ->capture_default_str();
    app.add_option("--2d", o.sides2, "sides of square images; 0 for none")->delimiter(',')->capture_default_str();
    app.add_option("--3d", o.sides3, "sides of cubic volumes; 0 for none")->delimiter(',')->capture_default_str();
    app.add_option("--densities", o.densities, "shares of cells that are sites")
        ->delimiter(',')
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    std::vector<std::string> names;
    for (const picture_kind& kind : picture_kinds()) names.emplace_back(kind.name);
    app.add_option("--pictures", o.pictures, "images besides the random ones, by name, of every size")
        ->delimiter(',')
        ->check(CLI::IsMember(names));
    app.add_option("--atlas", o.atlas, "volume from which the picture 'atlas' is made")->check(CLI::ExistingFile);
    app.add_option("--fields", o.fields, "distance (float32), index (int64), index32 (int32)")
        ->delimiter(',')
        ->check(CLI::IsMember({"distance", "index", "index32"}))
        ->capture_default_str();
    app.add_flag(
        "--simd", o.simd,
        "also with lesser instruction sets: distances of 4096^2 and 256^3, the first number of threads (host)");
    app.add_option("--threads", o.threads, "on the host; default: 1 and every core")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--file", o.files, "images and volumes whose zeros are the sites (host)")->check(CLI::ExistingFile);
    app.add_option("--json", o.json, "file for the results");
}

}  // namespace

int exact_main(int argc, char** argv) {
    options o;
    CLI::App app{
        "Times nearfield's exact distance and nearest-site fields. Images are random sites (bench.hpp says which), "
        "pictures (pictures.cpp) and files; milliseconds are medians after a warm-up; 'copy %' compares reading the "
        "image and writing the field once at the measured bandwidth of a copy."};
    declare(app, o);
    CLI11_PARSE(app, argc, argv);
    if (o.place == "device" && app.count("--2d") == 0) o.sides2 = {512, 1024, 2048, 4096, 8192, 16384};
    if (o.place == "device" && app.count("--3d") == 0) o.sides3 = {64, 128, 256, 512, 768, 1024};
    for (auto* sides : {&o.sides2, &o.sides3}) std::erase_if(*sides, [](std::int64_t n) { return n <= 0; });
    try {
        return run(o);
    } catch (const error& e) {
        fmt::print(stderr, "bench_all exact: {}\n", e.what());
        return e.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
