// What is timed of connected components, and how it is asked for and written down: the same for host and device.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "label.hpp"
#include "report_json.hpp"

namespace nearfield::bench {

struct label_request {
    std::vector<std::int64_t> sides2, sides3, grains;
    std::vector<int> percents{10, 30, 50, 70, 90}, connectivities2{8, 4}, connectivities3{26, 18, 6};
    std::vector<std::string> what{"labels"}, hard;
    std::string place, json;

    [[nodiscard]] bool asks_for(const label_case& each) const {
        return std::find(what.begin(), what.end(), each.name) != what.end();
    }
    [[nodiscard]] const std::vector<int>& connectivities(const shape_t& shape) const {
        return shape.size() == 2 ? connectivities2 : connectivities3;
    }
};

inline void declare(CLI::App& app, label_request& r) {
    std::vector<std::string> names;
    for (const label_case& each : label_cases) names.emplace_back(each.name);
    const auto list = [&](const char* name, auto& values, const char* help, char between = ',') {
        return app.add_option(name, values, help)->delimiter(between)->capture_default_str();
    };
    app.add_option("--place", r.place)->check(CLI::IsMember({r.place}))->capture_default_str();
    list("--2d", r.sides2, "sides of square images; 0 for none");
    list("--3d", r.sides3, "sides of cubic volumes; 0 for none");
    list("--grains", r.grains, "sides of the blocks that share a value")->check(CLI::PositiveNumber);
    list("--percents", r.percents, "chances of a block to be foreground")->check(CLI::Range(0, 100));
    list("--connectivities-2d", r.connectivities2, "of 8 and 4")->check(CLI::IsMember({8, 4}));
    list("--connectivities-3d", r.connectivities3, "of 26, 18 and 6")->check(CLI::IsMember({26, 18, 6}));
    list("--what", r.what, "what is asked for, apart by semicolons", ';')->check(CLI::IsMember(names));
    list("--hard", r.hard, "hard images too")->check(CLI::IsMember({"checkerboard", "comb", "spiral"}));
    app.add_option("--json", r.json, "file for the results");
}

inline void write_results(const label_request& r, nlohmann::ordered_json j, const std::vector<label_result>& results) {
    for (const label_result& each : results)
        j["labels"].push_back({{"engine", "nearfield"},
                               {"data", each.data},
                               {"shape", each.shape},
                               {"grain", each.grain},
                               {"percent", each.percent},
                               {"connectivity", each.connectivity},
                               {"what", each.what},
                               {"threads", each.threads},
                               {"ms", each.ms},
                               {"runs", each.runs}});
    if (!r.json.empty()) write_file(r.json, j);
}

/// Random images, then the hard ones; `one(result, cells)` times what is asked for on each.
template <class One>
void each_image(const label_request& r, const shape_t& shape, const One& one) {
    for (const std::int64_t grain : r.grains)
        for (const int percent : r.percents)
            one(label_result{"random", shape, grain, percent}, grains(shape, grain, percent));
    for (const std::string& name : r.hard) one(label_result{name, shape}, hard_image(name, shape));
}

/// The whole program: `make()` gives what measures shapes and then writes. Returns the exit status.
template <class Make>
int time_labels(const label_request& r, const Make& make) {
    try {
        auto all = make();
        for (const std::int64_t n : r.sides2)
            if (n > 0) all.measure({n, n});
        for (const std::int64_t n : r.sides3)
            if (n > 0) all.measure({n, n, n});
        all.write();
        return 0;
    } catch (const error& e) {
        fmt::print(stderr, "bench_all label: {}\n", e.what());
        return e.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
