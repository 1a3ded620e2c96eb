// Times connected components: granularities, densities, connectivities, criteria and tables, on the host.
#include <ctime>

#include "label_request.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {
namespace {

struct host_request : label_request {
    std::vector<int> threads;
    bool processor_time = false;
};

/// Milliseconds of this process's threads together, as time_runs() takes those of the clock on the wall.
std::vector<double> processor_ms(const std::function<void()>& work) {
    const auto now = [] { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    work();
    std::vector<double> ms;
    for (const double start = now(); ms.size() < 21 && (ms.size() < 5 || now() < start + 150);) {
        const double before = now();
        work();
        ms.push_back(now() - before);
    }
    return ms;
}

/// Memory that a call fills, made and touched once.
struct memory {
    explicit memory(const shape_t& shape)
        : label(static_cast<std::size_t>(cells_of(shape))), axes(static_cast<std::int64_t>(shape.size())) {}
    component_tables<host> tables(const label_case& what, const any_input<host>& image, std::int64_t rows) {
        const auto n = static_cast<std::size_t>(rows), d = static_cast<std::size_t>(axes);
        for (auto* each : {&size, &faces}) each->resize(std::max(each->size(), n));
        box.resize(std::max(box.size(), n * 2 * d));
        for (auto* each : {&mean, &variance}) each->resize(std::max(each->size(), n));
        centroid.resize(std::max(centroid.size(), n * d));
        border.resize(std::max(border.size(), n));
        component_tables<host> t;
        t.size = any_output<host>::contiguous(size.data(), dtype::int64, shape_t{rows});
        t.box = any_output<host>::contiguous(box.data(), dtype::int64, shape_t{rows, 2, axes});
        t.centroid = any_output<host>::contiguous(centroid.data(), dtype::float64, shape_t{rows, axes});
        if (what.faces) {
            t.border = any_output<host>::contiguous(border.data(), dtype::uint8, shape_t{rows});
            t.faces = any_output<host>::contiguous(faces.data(), dtype::int64, shape_t{rows});
        }
        if (what.values) {
            t.intensity = image;
            t.mean = any_output<host>::contiguous(mean.data(), dtype::float64, shape_t{rows});
            t.variance = any_output<host>::contiguous(variance.data(), dtype::float64, shape_t{rows});
        }
        return t;
    }
    std::vector<std::int32_t> label;
    std::int64_t axes;
    std::vector<std::int64_t> size, box, faces;
    std::vector<double> centroid, mean, variance;
    std::vector<std::uint8_t> border;
};

void print(const label_result& r) {
    fmt::print("{:<14} {:<12} g {:>2} {:>3} % {:>3}-connected {:<22} {} thread{} {:>10.3f} ms {:>9.1f} Mcells/s\n",
               r.data, image_name("random", r.shape), r.grain, r.percent, r.connectivity, r.what, r.threads,
               r.threads == 1 ? " " : "s", r.ms, static_cast<double>(cells_of(r.shape)) / r.ms * 1e-3);
    std::fflush(stdout);
}

class bench {
public:
    explicit bench(const host_request& o) : o_(o) {
        session_.place = "host", session_.device = processor();
        const system_info system = query_system();
        session_.details = fmt::format("{} cores, {}", system.cores, system.simd);
        threads_ = o.threads;
        if (threads_.empty()) threads_ = system.cores > 1 ? std::vector<int>{1, system.cores} : std::vector<int>{1};
    }

    void measure(const shape_t& shape) {
        memory to(shape);
        each_image(o_, shape, [&](label_result r, const std::vector<std::uint8_t>& cells) { measure(r, cells, to); });
    }

    void write() const {
        nlohmann::ordered_json j = head_of(session_);
        j["clock"] = o_.processor_time ? "processor time" : "wall-clock time";
        write_results(o_, std::move(j), results_);
    }

private:
    /// Criteria and tables are timed beside labels on the smallest image and volume, by the first number of threads.
    [[nodiscard]] bool first_of_rank(const shape_t& shape) const {
        return shape[0] == (shape.size() == 2 ? o_.sides2 : o_.sides3).front();
    }

    void measure(label_result r, const std::vector<std::uint8_t>& cells, memory& to) {
        const std::vector<std::uint8_t> values = in_three_values(cells, r.shape, r.grain);
        const auto plain = any_input<host>::contiguous(cells.data(), dtype::uint8, r.shape);
        const auto coloured = any_input<host>::contiguous(values.data(), dtype::uint8, r.shape);
        for (const int connectivity : o_.connectivities(r.shape))
            for (const label_case& what : label_cases) {
                if (!o_.asks_for(what)) continue;
                const auto& image = what.criterion == criterion::nonzero ? plain : coloured;
                for (const int threads : threads_) {
                    if (std::string_view(what.name) != "labels" && !(first_of_rank(r.shape) && threads == threads_[0]))
                        continue;
                    r.connectivity = connectivity, r.what = what.name, r.threads = threads;
                    time(r, what, image, to);
                }
            }
    }

    void time(label_result& r, const label_case& what, const any_input<host>& image, memory& to) {
        label_fields<host> out;
        out.label = any_output<host>::contiguous(to.label.data(), dtype::int32, r.shape);
        if (what.shapes) out.make_tables = [&](std::int64_t rows) { return to.tables(what, image, rows); };
        label_options how{.connectivity = r.connectivity, .criterion = what.criterion, .tolerance = what.tolerance};
        const auto work = [&] { label(host{r.threads, {}}, image, out, how); };
        const auto ms = o_.processor_time ? processor_ms(work) : time_runs(work, 5, 21, 0.15);
        r.ms = *std::min_element(ms.begin(), ms.end()), r.runs = static_cast<int>(ms.size());
        print(r);
        results_.push_back(r);
    }

    const host_request& o_;
    session session_;
    std::vector<int> threads_;
    std::vector<label_result> results_;
};

}  // namespace

int label_main(int argc, char** argv) {
    host_request o;
    o.place = "host", o.sides2 = {2048, 4096}, o.sides3 = {256}, o.grains = {1, 2, 4, 8, 16};
    CLI::App app{
        "Times nearfield's connected components of random blocks (label.hpp says which): the best of up to 21 runs "
        "after a warm-up, into labels that the caller gave."};
    declare(app, o);
    app.add_option("--threads", o.threads, "default: 1 and every core")->delimiter(',')->check(CLI::PositiveNumber);
    app.add_flag("--processor-time", o.processor_time,
                 "what the threads used together: where others use the machine too");
    CLI11_PARSE(app, argc, argv);
    return time_labels(o, [&] { return bench(o); });
}

}  // namespace nearfield::bench
