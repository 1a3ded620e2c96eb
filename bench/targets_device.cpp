// The GPU's part of `bench_all targets`.
#include "targets.hpp"

#include <cmath>

#include "device.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {
namespace {

class measurer {
public:
    measurer(target_session& s, const target_request& wanted, const timer& t)
        : session_(s), wanted_(wanted), timer_(t), pictures_(wanted.atlas) {}

    void bad() {
        for (const shape_t& shape : bad_shapes) {
            measure("bad", "random", shape, usual_density, {"distance", "index32"});
            for (const picture_kind& kind : picture_kinds()) {
                if (pictures_.knows(kind.name)) measure("bad", kind.name, shape, 0, {"distance", "index32"});
                else fmt::print("bench_all targets: no --atlas, its picture is left out\n");
            }
        }
    }

    void odd() {
        std::vector<shape_t> compared;
        for (const shape_t& shape : odd_shapes) {
            measure("odd", "random", shape, usual_density, {"distance", "index32"});
            const shape_t& near = nearest_usual(shape);
            if (std::find(compared.begin(), compared.end(), near) != compared.end()) continue;
            compared.push_back(near);
            measure("odd", "random", near, usual_density, {"distance", "index32"});
        }
    }

    /// Linear indices as int64 for all sizes, since the largest need it.
    void flat() {
        for (const shape_t& shape : flat_shapes) {
            for (const double density : {0.01, usual_density})
                measure("flat", "random", shape, density, {"distance", "index"});
        }
    }

    void small() {
        for (const shape_t& shape : small_shapes) {
            for (const double density : {0.0001, 0.01, 0.1, 0.5}) {
                const device_image image(timer_, "random", shape, density, pictures_);
                for (const std::string field : {"distance", "index32"}) measure_small(image, field);
            }
        }
    }

private:
    void measure(const std::string& part, const std::string& data, const shape_t& shape, double density,
                 const std::vector<std::string>& fields_wanted);
    void measure_small(const device_image& image, const std::string& field);
    /// Of the usual shapes with as many axes, the one with the most similar number of cells.
    static const shape_t& nearest_usual(const shape_t& shape);

    target_session& session_;
    const target_request& wanted_;
    const timer& timer_;
    const painter pictures_;
};

const shape_t& measurer::nearest_usual(const shape_t& shape) {
    const auto apart = [&](const shape_t& other) {
        if (other.size() != shape.size()) return 1e9;
        return std::abs(std::log(static_cast<double>(cells_of(other)) / static_cast<double>(cells_of(shape))));
    };
    return *std::min_element(usual_shapes.begin(), usual_shapes.end(),
                             [&](const shape_t& a, const shape_t& b) { return apart(a) < apart(b); });
}

void measurer::measure(const std::string& part, const std::string& data, const shape_t& shape, double density,
                       const std::vector<std::string>& fields_wanted) {
    const auto leave_out = [&](const std::string& why) {
        fmt::print("bench_all targets: {} is left out: {}\n", image_name(data, shape), why);
    };
    if (cells_of(shape) > wanted_.most_cells) return leave_out("more cells than --most-cells");
    try {
        const device_image image(timer_, data, shape, density, pictures_);
        for (const std::string& field : fields_wanted) {
            const auto [ms, runs] = device_call(timer_, image, field).measure();
            report(session_, {part, "", {data, shape, image.density(), field, 0, ms, runs}});
        }
    } catch (const error& e) {
        leave_out(e.what());
    }
    release_device_memory();  // the largest images need it all
}

/// Graphs of the calls of one image, launched by turns so that no call finds its arrays in the cache.
class graphs {
public:
    /// `count` graphs of `calls` calls each.
    graphs(const timer& t, const device_call& call, std::int64_t count, std::int64_t calls) : timer_(t) {
        for (std::int64_t k = 0; k < count; ++k) {
            cudaGraph_t graph = nullptr;
            expect(cudaStreamBeginCapture(t.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
            for (std::int64_t n = 0; n < calls; ++n) call(static_cast<int>(k * calls + n));
            expect(cudaStreamEndCapture(t.stream(), &graph), "cudaStreamEndCapture");
            ready_.emplace_back();
            expect(cudaGraphInstantiate(&ready_.back(), graph, 0), "cudaGraphInstantiate");
            cudaGraphDestroy(graph);
        }
    }
    ~graphs() {
        for (cudaGraphExec_t each : ready_) cudaGraphExecDestroy(each);
    }
    graphs(const graphs&) = delete;
    graphs& operator=(const graphs&) = delete;

    /// Median milliseconds of a launch.
    [[nodiscard]] double measure(int runs) const {
        const auto launch = [&](int k) {
            expect(cudaGraphLaunch(ready_[static_cast<std::size_t>(k) % ready_.size()], timer_.stream()),
                   "cudaGraphLaunch");
        };
        timer_.time(static_cast<int>(ready_.size()), launch);
        return median(timer_.time(runs, launch));
    }

private:
    const timer& timer_;
    std::vector<cudaGraphExec_t> ready_;
};

void measurer::measure_small(const device_image& image, const std::string& field) {
    const device_call call(timer_, image, field);
    const auto add = [&](const char* how, double ms, int runs) {
        report(session_, {"small", how, {"random", image.shape(), image.density(), field, 0, ms, runs}});
    };
    const auto [ms, runs] = call.measure();
    add("call", ms, runs);
    int turn = 0;
    const auto waited = time_runs([&] { call(turn++), timer_.wait(); }, 200, 200, 0);
    add("wait", median(waited), 200);
    constexpr int launches = 100;
    add("graph", graphs(timer_, call, image.copies(), 1).measure(launches), launches);
    const auto together = static_cast<double>(image.copies());
    add("in graph", graphs(timer_, call, 1, image.copies()).measure(9) / together, 9);
}

}  // namespace

void measure_targets(target_session& s, const target_request& wanted) {
    expect_device();
    const timer t;
    s.head = device_session(t);
    measurer m(s, wanted, t);
    for (const std::string& part : wanted.parts) {
        if (part == "bad") m.bad();
        if (part == "odd") m.odd();
        if (part == "flat") m.flat();
        if (part == "small") m.small();
    }
}

}  // namespace nearfield::bench
