// Times label propagation: which calls, and the host's part.
#include "propagation.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "nearfield/system.hpp"
#include "report_json.hpp"

namespace nearfield::bench {
namespace {

constexpr std::int64_t quick_cells = 1 << 21;

/// What the source text measured, on a Tesla C2050 with transfers.
struct text_row {
    shape_t shape;
    int connectivity;
    int length;
    double ms;
};
const std::vector<text_row> text_rows = {
    {{300, 100}, 4, 32, 4.04},          {{300, 100}, 8, 64, 2.44},      {{768, 1024}, 4, 64, 7.48},
    {{768, 1024}, 8, 128, 10.78},       {{4096, 4096}, 4, 256, 343.84}, {{4096, 4096}, 8, 128, 356.43},
    {{100, 256, 256}, 6, 128, 1499.43},
};

class measurer {
public:
    measurer(propagation_session& s, const propagation_request& wanted, propagation_timer& by)
        : session_(s), wanted_(wanted), by_(by) {}

    /// The text's table, in both forms, beside label().
    void text() {
        for (const text_row& row : text_rows)
            for (const char* name : {"regions", "noise", "atlas"}) {
                const bool volume = row.shape.size() == 3;
                if (volume == (name == std::string("regions")) || (!volume && name == std::string("atlas"))) continue;
                if (!take(name, row.shape)) continue;
                for (const bool hooked : {false, true})
                    add("text", row.connectivity, {.hooked = hooked, .gather_length = row.length}, row.ms, true);
            }
    }

    void lengths() {
        const std::pair<const char*, shape_t> images[] = {
            {"regions", {4096, 4096}}, {"noise", {4096, 4096}}, {"noise", {100, 256, 256}}, {"spiral", {1023, 1023}}};
        for (const auto& [name, shape] : images) {
            if (!take(name, shape)) continue;
            for (const bool hooked : {false, true})
                for (int length = 1; length <= 512; length *= 2)
                    add("length", shape.size() == 3 ? 6 : 4, {.hooked = hooked, .gather_length = length});
        }
    }

    void switches() {
        const std::pair<const char*, shape_t> images[] = {{"regions", {768, 1024}},
                                                          {"noise", {768, 1024}},
                                                          {"spiral", {255, 255}},
                                                          {"hilbert", {256, 256}},
                                                          {"noise", {100, 256, 256}}};
        const propagation_options all[] = {{.links = false, .masters = false},
                                           {.links = false},
                                           {.masters = false},
                                           {},
                                           {.links = false, .hooked = true},
                                           {.hooked = true},
                                           {.masters = false, .hooked = true}};
        for (const auto& [name, shape] : images) {
            if (!take(name, shape)) continue;
            for (const propagation_options& how : all) add("switches", shape.size() == 3 ? 6 : 4, how);
        }
    }

private:
    /// False where there is no such image, or it is too large for this run.
    bool take(const std::string& name, const shape_t& shape) {
        if (wanted_.quick && cells_of(shape) > quick_cells) return false;
        if (image_.name != name || image_.shape != shape) {
            image_ = propagation_picture(name, shape, wanted_.atlas);
            if (!image_.values.empty()) by_.take(image_);
        }
        return !image_.values.empty();
    }

    void add(const char* part, int connectivity, const propagation_options& how, double published_ms = 0,
             bool extra = false) {
        const propagation_timing took = by_.time(connectivity, how, extra);
        const int threads = session_.head.place == "host" ? wanted_.threads : 0;
        session_.rows.push_back({part, image_.name, image_.shape, connectivity, how, threads, published_ms, took});
        const auto rounds = static_cast<double>(took.report.rounds);
        fmt::print(
            "{:<9} {:<20} {:>2} {:>3} {}{}{}{} {:>6} rounds {:>10.3f} ms, links {:>8.3f}, a round {:>8.4f}; label() "
            "{:>8.3f}\n",
            part, image_name(image_.name, image_.shape), connectivity, how.gather_length, how.neighbours ? 'n' : '-',
            how.links ? 'l' : '-', how.masters ? 'm' : '-', how.hooked ? 'h' : '-', took.report.rounds, took.ms,
            1e3 * took.report.seconds_links, 1e3 * took.report.seconds_rounds / rounds, took.label_ms);
        std::fflush(stdout);
    }

    propagation_session& session_;
    const propagation_request& wanted_;
    propagation_timer& by_;
    propagation_image image_;
};

class host_timer final : public propagation_timer {
public:
    explicit host_timer(int threads) : on_{threads, {}} {}

    void take(const propagation_image& image) override {
        image_ = &image;
        labels_.assign(static_cast<std::size_t>(cells_of(image.shape)), 0);
    }

    propagation_timing time(int connectivity, const propagation_options& how, bool extra) override {
        const auto in = image_->view<host>(image_->values.data());
        const auto out = any_output<host>::contiguous(labels_.data(), dtype::int32, image_->shape);
        const label_options look = image_->look(connectivity);
        propagation_timing took;
        took.ms = median(time_runs([&] { took.report = label_by_propagation(on_, in, out, look, how); }, 1, 9, 0.5));
        if (extra) took.label_ms = median(time_runs([&] { label(on_, in, out, look); }, 1, 9, 0.5));
        return took;
    }

private:
    host on_;
    const propagation_image* image_ = nullptr;
    std::vector<std::int32_t> labels_;
};

propagation_session measure_on_host(const propagation_request& wanted) {
    propagation_session s;
    s.head.place = "host";
    s.head.device = processor();
    s.head.details =
        fmt::format("{}, {} thread{}", query_system().simd, wanted.threads, wanted.threads == 1 ? "" : "s");
    host_timer by(wanted.threads);
    measure_propagation(s, wanted, by);
    return s;
}

void write(const propagation_session& s, const std::string& path) {
    nlohmann::ordered_json j = head_of(s.head);
    for (const propagation_row& r : s.rows) {
        j["propagation"].push_back({{"part", r.part},
                                    {"image", r.image},
                                    {"shape", r.shape},
                                    {"connectivity", r.connectivity},
                                    {"neighbours", r.how.neighbours},
                                    {"links", r.how.links},
                                    {"masters", r.how.masters},
                                    {"hooked", r.how.hooked},
                                    {"length", r.how.gather_length},
                                    {"threads", r.threads},
                                    {"rounds", r.took.report.rounds},
                                    {"components", r.took.report.components},
                                    {"ms", r.took.ms},
                                    {"links_ms", 1e3 * r.took.report.seconds_links},
                                    {"rounds_ms", 1e3 * r.took.report.seconds_rounds},
                                    {"transfers_ms", r.took.ms_with_transfers},
                                    {"label_ms", r.took.label_ms},
                                    {"published_ms", r.published_ms}});
    }
    write_file(path, j);
}

}  // namespace

void measure_propagation(propagation_session& s, const propagation_request& wanted, propagation_timer& by) {
    measurer all(s, wanted, by);
    all.text();
    all.lengths();
    all.switches();
}

int propagation_main(int argc, char** argv) {
    std::string place = "host", json;
    propagation_request wanted;
    CLI::App app{
        "Times label propagation beside label(): the source text's table, the length of links, the switches; medians "
        "after "
        "a warm-up, of whole calls with the wait for the labels."};
    app.add_option("--place", place, "host or device")->check(CLI::IsMember({"host", "device"}))->capture_default_str();
    app.add_option("--atlas", wanted.atlas, "a volume of labels, for the image \"atlas\"")->check(CLI::ExistingFile);
    app.add_flag("--quick", wanted.quick, "without images of more than two million cells");
    app.add_option("--threads", wanted.threads, "on the host")->capture_default_str();
    app.add_option("--json", json, "file for the results");
    CLI11_PARSE(app, argc, argv);
    try {
        const auto s = place == "device" ? measure_propagation_on_device(wanted) : measure_on_host(wanted);
        if (!json.empty()) write(s, json);
        return 0;
    } catch (const error& e) {
        fmt::print(stderr, "bench_all propagation: {}\n", e.what());
        return e.code() == error_code::unsupported ? 77 : 1;
    }
}

}  // namespace nearfield::bench
