// Times connected components on the GPU: events on the stream, runs queued one behind the other, arrays in as many
// copies as it takes that no run finds them in the cache.
#include <fstream>

#include "device.hpp"
#include "io/io.hpp"
#include "label_request.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {
namespace {

struct device_request : label_request {
    std::vector<std::string> more;
    std::string images;

    /// Whether the case is timed as one of `more`: on the largest images, with blocks of 1 and 8 at 10, 50 and 90 %,
    /// and on hard ones.
    [[nodiscard]] bool asks_for_more(const label_case& each, const label_result& r) const {
        const auto& sides = r.shape.size() == 2 ? sides2 : sides3;
        const bool chosen = r.data != "random" || (r.shape[0] == *std::max_element(sides.begin(), sides.end()) &&
                                                   (r.grain == 1 || r.grain == 8) && r.percent % 40 == 10);
        return chosen && std::find(more.begin(), more.end(), each.name) != more.end();
    }
};

class arrays {
public:
    arrays(const timer& t, const shape_t& shape, dtype type = dtype::uint8) : timer_(t), shape_(shape), type_(type) {
        const std::int64_t cells = cells_of(shape);
        for (std::int64_t k = std::clamp<std::int64_t>((std::int64_t{200} << 20) / (5 * cells) + 1, 2, 8); k > 0; --k)
            image_.emplace_back(cells * size_of(type)), label_.emplace_back(4 * cells);
        count_.emplace_back(8);
    }
    void load(const void* cells) {
        const auto bytes = static_cast<std::size_t>(cells_of(shape_) * size_of(type_));
        for (const device_memory& to : image_)
            expect(cudaMemcpyAsync(to.get(), cells, bytes, cudaMemcpyHostToDevice, timer_.stream()), "upload");
        timer_.wait();
    }
    [[nodiscard]] any_input<device> image(int k) const {
        const void* at = image_[static_cast<std::size_t>(k) % image_.size()].get();
        return any_input<device>::contiguous(at, type_, shape_);
    }
    [[nodiscard]] label_fields<device> fields(int k) const {
        label_fields<device> out;
        void* at = label_[static_cast<std::size_t>(k) % label_.size()].get();
        out.label = any_output<device>::contiguous(at, dtype::int32, shape_);
        return out;
    }
    [[nodiscard]] std::int64_t components(const label_options& how) const {
        label_fields<device> counted = fields(0);
        counted.count = any_output<device>::contiguous(count_[0].get(), dtype::int64, shape_t{1});
        label(device{timer_.stream()}, image(0), counted, how);
        std::int64_t rows = 0;
        expect(cudaMemcpyAsync(&rows, count_[0].get(), sizeof(rows), cudaMemcpyDeviceToHost, timer_.stream()), "count");
        timer_.wait();
        return rows;
    }
    /// Rows for the components that the image has, made once.
    component_tables<device> tables(const label_case& what, const label_options& how) {
        const std::int64_t rows = components(how);
        rows_.clear();
        const auto axes = static_cast<std::int64_t>(shape_.size());
        const auto make = [&](dtype type, const shape_t& of) {
            rows_.emplace_back(cells_of(of) * size_of(type));
            return any_output<device>::contiguous(rows_.back().get(), type, of);
        };
        component_tables<device> t;
        t.size = make(dtype::int64, {rows}), t.box = make(dtype::int64, {rows, 2, axes});
        t.centroid = make(dtype::float64, {rows, axes});
        if (what.faces) t.border = make(dtype::uint8, {rows}), t.faces = make(dtype::int64, {rows});
        if (what.values)
            t.mean = make(dtype::float64, {rows}), t.variance = make(dtype::float64, {rows}), t.intensity = image(0);
        return t;
    }

private:
    const timer& timer_;
    shape_t shape_;
    dtype type_;
    std::vector<device_memory> image_, label_, count_, rows_;
};

class label_timing {
public:
    explicit label_timing(const device_request& wanted) : wanted_(wanted), session_(device_session(timer_)) {
        print_header(session_);
        if (!wanted.images.empty()) measure_saved(wanted.images);
    }

    void measure(const shape_t& shape) {
        arrays at(timer_, shape);
        each_image(wanted_, shape,
                   [&](label_result r, const std::vector<std::uint8_t>& cells) { measure(r, cells, at); });
        release_device_memory();
    }

    void write() const {
        nlohmann::ordered_json j = head_of(session_);
        if (!saved_.empty()) j["label_images"] = saved_;
        write_results(wanted_, std::move(j), results_);
    }

private:
    static constexpr int runs = 15;

    /// Images that label_images.py has saved, with an index of them.
    void measure_saved(const std::filesystem::path& folder) {
        std::ifstream index(folder / "index.json");
        if (!index) throw error(error_code::io, fmt::format("{} has no index.json", folder.string()));
        for (const auto& each : nlohmann::ordered_json::parse(index)) {
            const io::array cells = io::read(folder / each.at("file").get<std::string>());
            arrays at(timer_, cells.shape, cells.type);
            at.load(cells.data.get());
            for (const int connectivity : each.at("connectivities")) {
                const label_options how{
                    .connectivity = connectivity,
                    .criterion = each.at("equal").get<bool>() ? criterion::equal : criterion::nonzero};
                nlohmann::ordered_json row{{"engine", "nearfield"},           {"image", each.at("image")},
                                           {"text", each.at("text")},         {"shape", cells.shape},
                                           {"bytes", size_of(cells.type)},    {"connectivity", connectivity},
                                           {"components", at.components(how)}};
                row["ms"] = median_ms(at, how, {}), row["runs"] = runs;
                fmt::print("{:<14} {:>3}-connected {:>9} components {:>9.4f} ms\n", row["image"].get<std::string>(),
                           connectivity, row["components"].get<std::int64_t>(), row["ms"].get<double>());
                saved_.push_back(std::move(row));
            }
        }
    }

    [[nodiscard]] double median_ms(const arrays& at, const label_options& how,
                                   const component_tables<device>& tables) const {
        const auto run = [&](int k) {
            label_fields<device> out = at.fields(k);
            out.tables = tables;
            label(device{timer_.stream()}, at.image(k), out, how);
        };
        timer_.time(3, run);
        return median(timer_.time(runs, run));
    }

    void measure(label_result r, const std::vector<std::uint8_t>& cells, arrays& at) {
        for (const label_case& what : label_cases) {
            const bool always = wanted_.asks_for(what);
            if (!always && !wanted_.asks_for_more(what, r)) continue;
            at.load(what.criterion == criterion::nonzero ? cells.data()
                                                         : in_three_values(cells, r.shape, r.grain).data());
            std::vector<int> connectivities = wanted_.connectivities(r.shape);
            if (!always && r.shape.size() == 3) connectivities.resize(1);
            for (const int connectivity : connectivities) {
                r.connectivity = connectivity, r.what = what.name;
                time(r, what, at);
            }
        }
    }

    void time(label_result& r, const label_case& what, arrays& at) {
        const label_options how{
            .connectivity = r.connectivity, .criterion = what.criterion, .tolerance = what.tolerance};
        const component_tables<device> tables = what.shapes ? at.tables(what, how) : component_tables<device>{};
        r.runs = runs, r.ms = median_ms(at, how, tables);
        const double floor = 5.0 * static_cast<double>(cells_of(r.shape)) / (session_.copy_gb_s[0].second * 1e6);
        fmt::print("{:<14} {:<10} g {:>2} {:>3} % {:>3}-connected {:<22} {:>9.4f} ms {:>6.2f} floors\n", r.data,
                   image_name("random", r.shape), r.grain, r.percent, r.connectivity, r.what, r.ms, r.ms / floor);
        std::fflush(stdout);
        results_.push_back(r);
    }

    const device_request& wanted_;
    timer timer_;
    session session_;
    std::vector<label_result> results_;
    std::vector<nlohmann::ordered_json> saved_;
};

}  // namespace

int label_device_main(int argc, char** argv) {
    device_request wanted;
    wanted.place = "device", wanted.sides2 = {4096, 8192}, wanted.sides3 = {512}, wanted.grains = {1, 4, 8, 16};
    CLI::App app{
        "Times nearfield's connected components on the GPU. Milliseconds are medians of 15 runs after a warm-up."};
    declare(app, wanted);
    app.add_option("--more", wanted.more,
                   "what else is asked for on a share of the images, with the first connectivity in 3-D")
        ->delimiter(';');
    app.add_option("--images", wanted.images, "folder of images that label_images.py --save has made: they too");
    CLI11_PARSE(app, argc, argv);
    return time_labels(wanted, [&] {
        expect_device();
        return label_timing(wanted);
    });
}

}  // namespace nearfield::bench
