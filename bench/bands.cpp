// `bench_all bands`: the time of each phase of parallel banding over its numbers of bands, on a GPU. Each of them acts
// on one phase only, so that one run measures three.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

#include "methods.hpp"
#include "nearfield/error.hpp"
#include "report_json.hpp"

namespace nearfield::bench {
namespace {

constexpr std::array m1{1, 4, 8, 16, 32, 64, 128, 256};
constexpr std::array m2{1, 2, 4, 8, 16, 32}, m3{1, 2, 4, 8, 16, 32};

/// Milliseconds of the stages whose names begin so.
double ms_of(const method_report& report, std::string_view phase) {
    double seconds = 0;
    for (const method_stage& each : report.stages)
        if (each.name.starts_with(phase)) seconds += each.seconds;
    return seconds * 1e3;
}

/// The medians of the three phases.
std::array<double, 3> phases_of(method_subject& subject, const banding& how, int runs) {
    std::array<std::vector<double>, 3> all;
    for (int run = 0; run <= runs; ++run) {
        const method_report report = subject.run(how);
        if (run == 0) continue;  // warms up
        all[0].push_back(ms_of(report, "phase 1")), all[1].push_back(ms_of(report, "phase 2"));
        all[2].push_back(ms_of(report, "phase 3"));
    }
    return {median(all[0]), median(all[1]), median(all[2])};
}

void print_row(const char* name, const std::vector<std::pair<int, double>>& row) {
    fmt::print("  {}", name);
    for (const auto& [bands, ms] : row) fmt::print("  {}: {:.4f}", bands, ms);
    fmt::print("\n");
}

nlohmann::ordered_json as_json(const std::vector<std::pair<int, double>>& row) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [bands, ms] : row) list.push_back({bands, ms});
    return list;
}

void measure(const shape_t& shape, double density, int runs, nlohmann::ordered_json& results) {
    const std::vector<std::uint8_t> image = random_sites(cells_of(shape), density);
    const std::unique_ptr<method_subject> subject = subject_on_device(image, shape);
    std::array<std::vector<std::pair<int, double>>, 3> rows;
    for (std::size_t k = 0; k < m1.size(); ++k) {
        const std::size_t short_k = std::min(k, m2.size() - 1);
        const std::array<double, 3> ms = phases_of(*subject, {m1[k], m2[short_k], m3[short_k]}, runs);
        rows[0].emplace_back(m1[k], ms[0]);
        if (k == short_k) rows[1].emplace_back(m2[k], ms[1]), rows[2].emplace_back(m3[k], ms[2]);
    }
    const std::array<double, 3> best = phases_of(*subject, {}, runs);
    fmt::print("{}, {} % sites; by default {:.4f} ms\n", image_name("random", shape), density * 100,
               best[0] + best[1] + best[2]);
    print_row("m1", rows[0]), print_row("m2", rows[1]), print_row("m3", rows[2]);
    results.push_back({{"shape", shape},
                       {"density", density},
                       {"default_ms", best[0] + best[1] + best[2]},
                       {"default_phases_ms", best},
                       {"m1", as_json(rows[0])},
                       {"m2", as_json(rows[1])},
                       {"m3", as_json(rows[2])}});
}

}  // namespace

int bands_main(int argc, char** argv) {
    std::vector<std::int64_t> sides2{512, 2048, 8192}, sides3{128, 512};
    std::vector<double> densities{0.0001, 0.01, 0.5};
    int runs = 3;
    std::string json;
    CLI::App app{"Times the phases of parallel banding over numbers of bands, on a GPU"};
    app.add_option("--sides2", sides2, "sides of square images")->delimiter(',')->expected(0, 99);
    app.add_option("--sides3", sides3, "sides of cubes")->delimiter(',')->expected(0, 99);
    app.add_option("--densities", densities, "shares of sites")->delimiter(',');
    app.add_option("--runs", runs, "runs of each; the median counts");
    app.add_option("--json", json, "file of results");
    CLI11_PARSE(app, argc, argv);
    try {
        const session s = method_session_on_device();
        nlohmann::ordered_json results = nlohmann::ordered_json::array();
        for (const double density : densities) {
            for (const std::int64_t n : sides2) measure({n, n}, density, runs, results);
            for (const std::int64_t n : sides3) measure({n, n, n}, density, runs, results);
        }
        if (json.empty()) return 0;
        nlohmann::ordered_json all = head_of(s);
        all["results"] = results;
        write_file(json, all);
        return 0;
    } catch (const error& problem) {
        fmt::print(stderr, "bench_all bands: {}\n", problem.what());
        return problem.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
