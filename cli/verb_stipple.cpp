// nearfield stipple
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>

#include "cli/compute.hpp"
#include "cli/drawing.hpp"
#include "cli/files.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/report.hpp"
#include "cli/tour.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "io/gif_write.hpp"
#include "io/io.hpp"
#include "nearfield/centroidal.hpp"
#include "nearfield/stipple.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

constexpr std::int64_t usual_points = 20000, usual_pixels = 1600, cells_a_point = 12;

bool ends_with(const std::string& path, std::string_view suffix) {
    if (path.size() < suffix.size()) return false;
    return std::equal(suffix.begin(), suffix.end(), path.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}
bool is_array(const std::string& path) { return path == "-" || ends_with(path, ".npy"); }

void check_words(const arguments& args) {
    if (!is_array(args.output) && !ends_with(args.output, ".svg") && !ends_with(args.output, ".pdf") &&
        !ends_with(args.output, ".png"))
        refuse(fmt::format("-o is {}; drawings are .svg, .pdf or .png, points .npy, e.g. -o dots.svg", args.output));
    if (args.cmyk + args.line + args.mosaic > 1) refuse("give one of --cmyk, --line and --mosaic");
    if (is_array(args.output) && (args.cmyk || args.line || args.mosaic))
        refuse("--cmyk, --line and --mosaic make drawings; give -o an .svg, .pdf or .png");
    if (args.points == 0 || args.points < -1) refuse(fmt::format("--points is {}; give 1 or more", args.points));
    if (args.points > 0 && args.dot_size > 0) refuse("give --points or --dot-size, not both");
    if (!(args.dot_size >= 0 && args.dot_size < 1e6))
        refuse(fmt::format("--dot-size is {}; give a diameter in cells, e.g. --dot-size 4", args.dot_size));
    if (!(args.dot_scale > 0 && args.dot_scale <= 100))
        refuse(fmt::format("--dot-scale is {}; give a number above 0, e.g. --dot-scale 0.8", args.dot_scale));
    if (!(args.paper_width > 0 && args.paper_width <= 100'000))
        refuse(fmt::format("--width is {}; give millimetres, e.g. --width 200", args.paper_width));
    if (args.rounds < -1 || args.rounds > 1'000'000)
        refuse(fmt::format("--rounds is {}; give 0 to 1000000", args.rounds));
    if (args.picture_size != usual_picture_size && (args.picture_size < 16 || args.picture_size > 16384))
        refuse(fmt::format("--picture-size is {}; give 16 to 16384 pixels", args.picture_size));
    if (args.cmyk && !args.frames.empty()) refuse("--frames draws one ink; leave out --cmyk");
    if (!args.frames.empty() && args.rounds == 0) refuse("--frames draws rounds; give --rounds 1 or more");
    if (args.equal_ink && args.mosaic) refuse("--mosaic draws nearest points; leave out --equal-ink");
    if (args.cmyk && args.invert) refuse("--cmyk is ink on white paper; leave out --invert");
    if (!is_array(args.output) && args.output != "-") io::require_place(args.output);
    if (ends_with(args.frames, ".gif")) io::require_place(args.frames);
}

/// An image of 8 bits a channel on white, or with --invert black.
struct photo {
    std::int64_t width = 0, height = 0;
    std::vector<rgb> colour;
    std::vector<std::uint8_t> gray;

    [[nodiscard]] std::vector<std::int64_t> shape() const { return {height, width}; }
};

/// Samples of the file as shares of 255.
std::vector<std::uint8_t> bytes_of(const std::string& path, const io::array& image) {
    if (image.type != dtype::boolean && image.type != dtype::uint8 && image.type != dtype::uint16)
        refuse(fmt::format("{} has values of type {}; stipple takes 8 or 16 bits a channel", path,
                           nearfield::name_of(image.type)));
    const int white = image.type == dtype::boolean ? 1 : image.type == dtype::uint8 ? 255 : 65535;
    std::vector<std::uint8_t> samples(static_cast<std::size_t>(image.cells()));
    with_elements(image.data.get(), image.type, [&](const auto* from) {
        std::transform(from, from + image.cells(), samples.begin(), [&](auto value) {
            return static_cast<std::uint8_t>((static_cast<int>(value) * 255 + white / 2) / white);
        });
    });
    return samples;
}

photo photo_of(const arguments& args, const io::array& image) {
    if (image.grid_rank() != 2)
        refuse(fmt::format("{} has {} axes; stipple draws images of 2", args.input, image.grid_rank()));
    const std::vector<std::uint8_t> samples = bytes_of(args.input, image);
    photo made{image.shape[1], image.shape[0], {}, {}};
    const std::size_t channels = image.color ? static_cast<std::size_t>(image.shape[2]) : 1;
    const std::uint8_t paper = args.invert ? 0 : 255;
    for (std::size_t i = 0; i + channels <= samples.size(); i += channels) {
        const std::uint8_t* const at = samples.data() + i;
        rgb c = channels < 3 ? rgb{at[0], at[0], at[0]} : rgb{at[0], at[1], at[2]};
        if (channels == 4 || channels == 2) c = mix({paper, paper, paper}, c, at[channels - 1] / 255.0);
        made.colour.push_back(c);
        made.gray.push_back(
            static_cast<std::uint8_t>(std::rint((2126 * c.red + 7152 * c.green + 722 * c.blue) / 10000.0)));
    }
    if (made.gray.empty()) refuse(fmt::format("{} has no cells", args.input));
    return made;
}

/// A run of the library for one ink: `light` is 255 where there is none of it.
struct dotted {
    const arguments& args;
    const photo& of;
    computed done{};
    double before = 0, share = 1;  ///< shares of the points: of the inks before this one, of this ink
    double error = 0;              ///< of --equal-ink: by how much of its share the ink of a point differs at most

    [[nodiscard]] stipple_options options(std::int64_t inked) const {
        stipple_options o;
        o.method = args.stipple_method == "lbg" ? stipple_method::lbg : stipple_method::lloyd;
        o.rounds = static_cast<int>(args.rounds), o.seed = args.seed, o.size = args.dot_size;
        const std::int64_t usual = std::clamp<std::int64_t>(inked / cells_a_point, 1, usual_points);
        const auto all = static_cast<double>(args.points > 0 ? args.points : usual);
        if (o.size == 0) o.points = std::llround((before + share) * all) - std::llround(before * all);
        return o;
    }
    stipples points_of(const std::vector<std::uint8_t>& light, const std::function<void(const stipple_state&)>& watch) {
        stipple_options o = options(std::count_if(light.begin(), light.end(), [](auto v) { return v < 255; }));
        if (o.size == 0 && o.points == 0) return {};  // an ink whose share is less than half a point
        o.watch = watch;
        std::vector<std::uint8_t> ink;
        for (const std::uint8_t v : light) ink.push_back(static_cast<std::uint8_t>(255 - v));
        stipples made;
        const any_input<host> both[] = {any_input<host>::contiguous(light.data(), dtype::uint8, of.shape()),
                                        any_input<host>::contiguous(ink.data(), dtype::uint8, of.shape())};
        const auto place = [&](const auto& on, const auto& image, const auto& density) {
            made = stipple(on, image, o);
            if (args.equal_ink) share_ink(on, density, made);
        };
        const computed one =
            compute(args, {[&](const host& on) { place(on, both[0], both[1]); },
                           [&](int ordinal, int warmups, int repeat) {
                               return edge::run_arrays_on_device(
                                   ordinal, both, {}, [&](const device& on, auto in, auto) { place(on, in[0], in[1]); },
                                   warmups, repeat);
                           }});
        if (done.compute_ms.empty()) done = one;
        else done.add(one);
        return made;
    }

private:
    /// Rounds that move points to the centroids of regions with the same ink.
    template <class Place>
    void share_ink(const Place& on, const any_input<Place>& density, stipples& points) {
        const std::int64_t rows[] = {points.count(), points.axes};
        centroidal_options more;
        more.rounds = 10, more.supersample = points.supersample;
        capacity_regions found = capacity_voronoi(
            on, density, any_input<host>::contiguous(points.parts.data(), dtype::int32, rows), {}, more);
        points.parts = std::move(found.sites), points.weights = std::move(found.weights);
        error = std::max(error, found.error);
    }
};

point2 place_of(const stipple_state& from, std::int64_t i) {
    return {from.coordinate(i, 1) + 0.5, from.coordinate(i, 0) + 0.5};
}

/// Dots in the order of a curve, which is short for plotters.
std::vector<dot> dots_of(const arguments& args, const photo& of, const stipples& from) {
    std::vector<point2> points;
    double ink = 0;
    for (std::int64_t i = 0; i < from.count(); ++i) {
        points.push_back(place_of(from, i));
        ink += from.diameter(i) * from.diameter(i);
    }
    const double equal = std::sqrt(ink / std::max(1.0, static_cast<double>(from.count())));
    std::vector<dot> dots;
    for (const std::size_t i : along_curve(points, static_cast<double>(of.width), static_cast<double>(of.height))) {
        const double diameter = args.dots == "equal" ? equal : from.diameter(static_cast<std::int64_t>(i));
        if (diameter > 0) dots.push_back({points[i], args.dot_scale * diameter});
    }
    return dots;
}

class artist {
public:
    artist(const arguments& args, const photo& of) : args_(args), of_(of), run_{args, of} {
        made_.width = static_cast<double>(of.width), made_.height = static_cast<double>(of.height);
        made_.millimetres = args.paper_width;
        if (args.invert) made_.paper = {0, 0, 0};
        ink_ = args.invert ? rgb{255, 255, 255} : rgb{0, 0, 0};
    }

    void draw() {
        std::vector<std::uint8_t> light = of_.gray;
        if (args_.invert)
            for (std::uint8_t& v : light) v = static_cast<std::uint8_t>(255 - v);
        if (args_.cmyk) return draw_inks();
        if (args_.line) return draw_line(light);
        points_ = run_.points_of(light, watcher());
        end_film();
        if (args_.mosaic) make_facets();
        else layer("ink", ink_, {0, 0, 0, 1}, points_);
    }

    [[nodiscard]] const drawing& made() const { return made_; }
    [[nodiscard]] const stipples& points() const { return points_; }
    [[nodiscard]] const computed& done() const { return run_.done; }
    [[nodiscard]] double error_of_ink() const { return run_.error; }
    [[nodiscard]] std::int64_t count() const { return count_ > 0 ? count_ : points_.count(); }
    [[nodiscard]] int pixels() const {
        return static_cast<int>(args_.picture_size == usual_picture_size ? usual_pixels : args_.picture_size);
    }

private:
    void layer(const std::string& name, const rgb& colour, const std::array<double, 4>& cmyk, const stipples& from) {
        made_.layers.push_back({name, colour, cmyk, dots_of(args_, of_, from)});
        count_ += from.count();
    }

    /// Shares c, m, y, k of which overlapping dots give the colour on the mean: its part that is gray is black.
    void draw_inks() {
        static const std::array<std::pair<const char*, rgb>, 4> inks{
            {{"cyan", {0, 174, 239}}, {"magenta", {236, 0, 140}}, {"yellow", {255, 242, 0}}, {"black", {35, 31, 32}}}};
        std::array<std::vector<std::uint8_t>, 4> light;
        std::array<double, 4> sum{};
        for (const rgb& c : of_.colour) {
            const int white = std::max({c.red, c.green, c.blue});
            const int values[] = {c.red, c.green, c.blue, white};
            for (std::size_t k = 0; k < 4; ++k) {
                const int left = k == 3 ? white : white > 0 ? (255 * values[k] + white / 2) / white : 255;
                light[k].push_back(static_cast<std::uint8_t>(left)), sum[k] += 255 - left;
            }
        }
        const double all = std::accumulate(sum.begin(), sum.end(), 0.0);
        if (all == 0) refuse(fmt::format("{} is all white", args_.input));
        double before = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            run_.before = before / all, run_.share = sum[k] / all, before += sum[k];
            std::array<double, 4> cmyk{};
            cmyk[k] = 1;
            if (sum[k] > 0) layer(inks[k].first, inks[k].second, cmyk, run_.points_of(light[k], {}));
        }
    }

    /// The length of a line through points is as the root of their density: ink counts by its square.
    void draw_line(std::vector<std::uint8_t> light) {
        double ink = 0;
        for (std::uint8_t& v : light) {
            const int dark = 255 - v;
            ink += dark / 255.0, v = static_cast<std::uint8_t>(255 - (dark * dark + 127) / 255);
        }
        points_ = run_.points_of(light, watcher());
        end_film();
        std::vector<point2> points;
        for (std::int64_t i = 0; i < points_.count(); ++i) points.push_back(place_of(points_, i));
        double length = 0;
        const std::vector<std::size_t> order = short_tour(points, along_curve(points, made_.width, made_.height));
        for (std::size_t i = 0; i < order.size(); ++i) {
            const point2 &a = points[order[i]], &b = points[order[(i + 1) % order.size()]];
            length += std::hypot(a[0] - b[0], a[1] - b[1]);
            made_.line.push_back(a);
        }
        made_.line_width = args_.dot_scale * (length > 0 ? ink / length : 1), made_.line_colour = ink_;
    }

    void make_facets();

    void add_frame(const picture& frame) {
        if (!ends_with(args_.frames, ".gif"))
            return io::write(fmt::format("{}/round-{:04}.png", args_.frames, ++frame_), to_array(frame));
        if (!film_) film_.emplace(args_.frames, frame.width, frame.height);
        last_frame_.clear();
        for (const rgb& gray : frame.pixels) last_frame_.push_back(gray.red);
        film_->add(last_frame_, 6);
    }
    /// The last picture stays for two seconds.
    void end_film() {
        if (!film_) return;
        film_->add(last_frame_, 200);
        film_->commit();
    }

    /// Draws a frame for each round.
    std::function<void(const stipple_state&)> watcher() {
        if (args_.frames.empty()) return {};
        return [this](const stipple_state& state) {
            drawing frame;
            frame.width = made_.width, frame.height = made_.height, frame.paper = made_.paper;
            const double cells = std::accumulate(of_.gray.begin(), of_.gray.end(), 0.0) / 255;
            const double ink = args_.invert ? cells : static_cast<double>(of_.gray.size()) - cells;
            const double diameter =
                args_.dot_scale * std::sqrt(4 / std::numbers::pi * ink / static_cast<double>(state.count()));
            frame.layers.push_back({"ink", ink_, {}, {}});
            for (std::int64_t i = 0; i < state.count(); ++i)
                frame.layers[0].dots.push_back({place_of(state, i), diameter});
            add_frame(pixels_of(frame, pixels()));
        };
    }

    const arguments& args_;
    const photo& of_;
    dotted run_;
    drawing made_;
    stipples points_;
    rgb ink_{};
    std::int64_t count_ = 0;
    int frame_ = 0;
    std::optional<io::gray_animation> film_;
    std::vector<std::uint8_t> last_frame_;
};

void artist::make_facets() {
    std::vector<std::int32_t> label(of_.gray.size());
    const std::int64_t rows[] = {points_.count(), 2};
    centroidal_options options;
    options.rounds = 0, options.supersample = points_.supersample;
    centroidal_fields<host> out;
    out.sites = any_output<host>::contiguous(points_.parts.data(), dtype::int32, rows);
    out.labels = any_output<host>::contiguous(label.data(), dtype::int32, of_.shape());
    centroidal_voronoi(host{static_cast<int>(args_.threads), {}},
                       any_input<host>::contiguous(of_.gray.data(), dtype::uint8, of_.shape()), out.sites, out,
                       options);
    const auto n = static_cast<std::size_t>(points_.count()), width = static_cast<std::size_t>(of_.width);
    std::vector<std::array<std::int64_t, 4>> sum(n);
    std::set<std::array<std::size_t, 2>> pairs;
    const auto meet = [&](std::int32_t a, std::int32_t b) {
        if (a != b) pairs.insert({static_cast<std::size_t>(std::min(a, b)), static_cast<std::size_t>(std::max(a, b))});
    };
    for (std::size_t i = 0; i < label.size(); ++i) {
        std::array<std::int64_t, 4>& to = sum[static_cast<std::size_t>(label[i])];
        to[0] += of_.colour[i].red, to[1] += of_.colour[i].green, to[2] += of_.colour[i].blue, ++to[3];
        const std::size_t x = i % width;
        if (x + 1 < width) meet(label[i], label[i + 1]);
        if (i + width >= label.size()) continue;
        meet(label[i], label[i + width]);
        if (x + 1 < width) meet(label[i], label[i + width + 1]);
        if (x > 0) meet(label[i], label[i + width - 1]);
    }
    std::vector<point2> points;
    for (std::int64_t i = 0; i < points_.count(); ++i) points.push_back(place_of(points_, i));
    const std::vector<std::vector<point2>> cells =
        cells_around(points, {pairs.begin(), pairs.end()}, made_.width, made_.height);
    for (std::size_t i = 0; i < n; ++i) {
        const auto mean = [&](std::size_t k) {
            return static_cast<std::uint8_t>((sum[i][k] + sum[i][3] / 2) / sum[i][3]);
        };
        if (sum[i][3] > 0 && cells[i].size() > 2) made_.facets.push_back({{mean(0), mean(1), mean(2)}, cells[i]});
    }
}

void save(const arguments& args, const artist& by) {
    if (ends_with(args.output, ".svg")) return write_text(args.output, svg_of(by.made()));
    if (ends_with(args.output, ".pdf")) return write_text(args.output, pdf_of(by.made()));
    if (ends_with(args.output, ".png")) return io::write(args.output, to_array(pixels_of(by.made(), by.pixels())));
    io::array rows = io::make_array(dtype::float64, {by.points().count(), 3});
    auto* to = reinterpret_cast<double*>(rows.data.get());
    for (std::int64_t i = 0; i < by.points().count(); ++i) {
        for (int axis = 0; axis < 2; ++axis) *to++ = by.points().coordinate(i, axis);
        *to++ = by.points().diameter(i);
    }
    io::write(args.output, rows);
}

}  // namespace

int stipple_verb(const arguments& args) {
    check_words(args);
    in_words_of_options([&] {
        const photo of = photo_of(args, load(args.input, args, true).image);
        if (!args.frames.empty() && !ends_with(args.frames, ".gif")) make_folder(args.frames);
        artist by(args, of);
        by.draw();
        if (!by.done().note.empty()) note(args, by.done().note);
        save(args, by);
        json_report said = start_report(args);
        said["input"] = {{"path", args.input}, {"shape", of.shape()}};
        said["points"] = by.count();
        if (args.equal_ink) said["ink_error"] = by.error_of_ink();
        said["outputs"] = json_report::array({{{"path", args.output}}});
        said["run"] = describe(by.done(), of.width * of.height);
        const std::string within = fmt::format(" of the same ink within {:.2g} %", 100 * by.error_of_ink());
        finish(args, said,
               fmt::format("stipple: {}x{}: {} point{}{} in {} on {} ({}){}", of.height, of.width, by.count(),
                           by.count() == 1 ? "" : "s", args.equal_ink ? within : "", text_of_ms(by.done().median_ms()),
                           by.done().device, by.done().name, args.output == "-" ? "" : " -> " + args.output),
               args.output == "-");
    });
    return 0;
}

}  // namespace nearfield::cli
