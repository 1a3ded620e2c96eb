// `bench_all methods`: each published method's time, rounds and errors, over sizes and densities.
#include "methods.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>

#include "nearfield/error.hpp"
#include "nearfield/system.hpp"
#include "report_json.hpp"

namespace nearfield::bench {
namespace {

const std::vector<method_case>& all_methods() {
    static const std::vector<method_case> list = {
        {"exact", exact_method{}},
        {"banding", banding{}},
        {"jump-flood", jump_flood{}},
        {"jump-flood doubling", jump_flood{.steps = jump_flood::order::doubling}},
        {"jump-flood 1+", jump_flood{.rounds_before = 1}},
        {"jump-flood +1", jump_flood{.rounds_after = 1}},
        {"jump-flood +2", jump_flood{.rounds_after = 2}},
        {"jump-flood two sites", jump_flood{.sites_per_cell = 2}},
        {"jump-flood squared", jump_flood{.runs = 2}},
        {"jump-flood randomised", jump_flood{.randomised = true, .seed = 1}},
        {"plane-sweep", plane_sweep{}},
        {"plane-sweep independent", plane_sweep{.independent = true}},
        {"plane-sweep cooperative", plane_sweep{.launch = plane_sweep::form::cooperative}},
        {"plane-sweep banded", plane_sweep{.launch = plane_sweep::form::banded}},
        {"plane-sweep shuffled", plane_sweep{.launch = plane_sweep::form::shuffled}},
        {"plane-sweep cooperative independent",
         plane_sweep{.independent = true, .launch = plane_sweep::form::cooperative}},
        {"plane-sweep banded independent", plane_sweep{.independent = true, .launch = plane_sweep::form::banded}},
        {"plane-sweep shuffled independent", plane_sweep{.independent = true, .launch = plane_sweep::form::shuffled}},
        {"brushfire", brushfire{}},
        {"brushfire parallel", brushfire{.parallel = true}},
        {"chamfer", chamfer_method{}},
        {"chamfer iterated", chamfer_method{.iterated = true}},
        {"chamfer 5,7,11", chamfer_method{.weights = {5, 7, 11}}},
        {"chamfer 5,7,11 iterated", chamfer_method{.weights = {5, 7, 11}, .iterated = true}},
    };
    return list;
}

struct settings {
    std::string place = "host", json;
    std::vector<std::int64_t> sides2{512, 1024}, sides3{64};
    std::vector<double> densities{0.0001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9};
    std::vector<std::string> methods;
    int runs = 3, threads = 0;
    bool errors = false;
};

class host_subject final : public method_subject {
public:
    host_subject(const std::vector<std::uint8_t>& image, const shape_t& shape, int threads)
        : image_(image), shape_(shape), index_(image.size()), threads_(threads) {}
    method_report run(const method& by) override {
        fields<host> out;
        out.index = any_output<host>::contiguous(index_.data(), dtype::int32, shape_);
        return nearest_sites(by, host{threads_}, any_input<host>::contiguous(image_.data(), dtype::uint8, shape_), out);
    }
    std::vector<std::int32_t> sites() override { return index_; }

private:
    const std::vector<std::uint8_t>& image_;
    shape_t shape_;
    std::vector<std::int32_t> index_;
    int threads_;
};

/// Median times, of the whole and of each stage by itself.
method_report median_report(const std::vector<method_report>& all) {
    method_report report = all.front();
    const auto middle = [&](const auto& seconds_of) {
        std::vector<double> seconds;
        for (const method_report& each : all) seconds.push_back(seconds_of(each));
        return median(seconds);
    };
    report.seconds = middle([](const method_report& r) { return r.seconds; });
    for (std::size_t k = 0; k < report.stages.size(); ++k)
        report.stages[k].seconds = middle([k](const method_report& r) { return r.stages[k].seconds; });
    return report;
}

nlohmann::ordered_json stages_of(const method_report& report, double copy_gb_s) {
    nlohmann::ordered_json list;
    for (const method_stage& each : report.stages) {
        nlohmann::ordered_json one{
            {"name", each.name}, {"ms", each.seconds * 1e3}, {"rounds", each.rounds}, {"bytes", each.bytes}};
        if (copy_gb_s > 0) one["floors"] = each.seconds * copy_gb_s * 1e9 / static_cast<double>(each.bytes);
        list.push_back(one);
    }
    return list;
}

nlohmann::ordered_json errors_of(const std::vector<std::uint8_t>& image, const shape_t& shape,
                                 const std::vector<std::int32_t>& index) {
    const method_errors e = compare_sites(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, shape),
                                          any_input<host>::contiguous(index.data(), dtype::int32, shape));
    return {{"wrong_sites", e.wrong_sites},
            {"other_ties", e.other_ties},
            {"missing", e.missing},
            {"mean_error", e.mean_error},
            {"largest_error", e.largest_error},
            {"largest_relative_error", e.largest_relative_error}};
}

/// The slowest round of those that are all alike, as times the floor.
double worst_floors(const method_report& report, double copy_gb_s) {
    double worst = 0;
    for (const method_stage& each : report.stages)
        if (each.name.starts_with("step"))
            worst = std::max(worst, each.seconds * copy_gb_s * 1e9 / static_cast<double>(each.bytes));
    return worst;
}

void measure(const settings& o, const session& s, const shape_t& shape, double density,
             nlohmann::ordered_json& results) {
    const std::vector<std::uint8_t> image = random_sites(cells_of(shape), density);
    const std::unique_ptr<method_subject> subject =
        o.place == "host" ? std::make_unique<host_subject>(image, shape, o.threads) : subject_on_device(image, shape);
    const double copy = copy_of(s, 0), copy_ms = subject->copy_ms();
    for (const method_case& each : all_methods()) {
        if (!o.methods.empty() && std::find(o.methods.begin(), o.methods.end(), each.name) == o.methods.end()) continue;
        try {
            std::vector<method_report> reports;
            // Warms up. What is slow is steady, too.
            const int runs = subject->run(each.how).seconds > 0.1 ? 1 : o.runs;
            for (int run = 0; run < runs; ++run) reports.push_back(subject->run(each.how));
            const method_report report = median_report(reports);
            nlohmann::ordered_json one{{"method", each.name},
                                       {"shape", shape},
                                       {"density", density},
                                       {"ms", report.seconds * 1e3},
                                       {"rounds", report.rounds},
                                       {"bytes", report.bytes},
                                       {"stages", stages_of(report, copy)}};
            if (copy_ms > 0) one["copy_ms"] = copy_ms;
            if (o.errors) one["errors"] = errors_of(image, shape, subject->sites());
            fmt::print("{:<26} {:<14} {:>8.4f}% {:>10.3f} ms {:>5} rounds {:>8.1f} MB", each.name,
                       image_name("random", shape), density * 100, report.seconds * 1e3, report.rounds,
                       static_cast<double>(report.bytes) * 1e-6);
            if (copy > 0) fmt::print("  worst step {:.2f} floors", worst_floors(report, copy));
            if (o.errors) fmt::print("  wrong {}", one["errors"]["wrong_sites"].get<std::int64_t>());
            fmt::print("\n");
            results.push_back(one);
        } catch (const error& problem) {
            // What this place or grid does not allow is left out, and said.
            if (problem.code() != error_code::invalid_argument && problem.code() != error_code::unsupported) throw;
            if (o.methods.size() == 1) fmt::print("{}: {}\n", each.name, problem.what());
        }
    }
}

int run(const settings& o) {
    session s;
    if (o.place == "host") {
        s.place = "host", s.device = processor();
        s.details = fmt::format("{} cores, {}", query_system().cores, query_system().simd);
    } else {
        s = method_session_on_device();
    }
    print_header(s);
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (std::int64_t n : o.sides2)
        for (double density : o.densities) measure(o, s, {n, n}, density, results);
    for (std::int64_t n : o.sides3)
        for (double density : o.densities) measure(o, s, {n, n, n}, density, results);
    if (o.json.empty()) return 0;
    nlohmann::ordered_json all = head_of(s);
    all["results"] = results;
    write_file(o.json, all);
    return 0;
}

}  // namespace

int methods_main(int argc, char** argv) {
    settings o;
    CLI::App app{"Times the published methods and counts their rounds and errors"};
    app.add_option("--place", o.place, "host or device")->check(CLI::IsMember({"host", "device"}));
    app.add_option("--sides2", o.sides2, "sides of square images")->delimiter(',')->expected(0, 99);
    app.add_option("--sides3", o.sides3, "sides of cubes")->delimiter(',')->expected(0, 99);
    app.add_option("--densities", o.densities, "shares of sites")->delimiter(',');
    app.add_option("--methods", o.methods, "names of methods; all")->delimiter(',');
    app.add_option("--runs", o.runs, "runs of each, of slow ones (0.1 s) one; the median counts");
    app.add_option("--threads", o.threads, "threads on the host; 0: every core");
    app.add_flag("--errors", o.errors, "compare with the exact answer");
    app.add_option("--json", o.json, "file of results");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(o);
    } catch (const error& problem) {
        fmt::print(stderr, "bench_all methods: {}\n", problem.what());
        return problem.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
