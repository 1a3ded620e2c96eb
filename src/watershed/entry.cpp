// The public calls: they check their arguments, then call the backend of the place.
#include <fmt/format.h>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "label/core.hpp"
#include "watershed/host_room.hpp"

namespace nearfield {
namespace watersheds {
namespace {

constexpr auto integers = {dtype::boolean, dtype::int8,   dtype::uint8, dtype::int16, dtype::uint16,
                           dtype::int32,   dtype::uint32, dtype::int64, dtype::uint64};

void check_place(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
void check_place(const device&) {}

void check_on(const host&, const problem&) {}
void check_on(const device&, const problem& p) {
    if (p.where.axes > 4) fail(fmt::format("image has {} axes longer than 1; a device takes 1 to 4", p.where.axes));
    if (p.where.axes > 3 && p.where.any_wraps)
        fail("border is periodic along an axis, and the image has 4; a device takes that of up to 3 axes");
    // Values and seeds of 8 bytes share ranks of 31 bits.
    if (size_of(p.image.type) == 8 && p.seed.data != nullptr && p.where.places >= std::int64_t{1} << 30)
        fail(
            fmt::format("image has element type {} and 2^30 cells or more, with seeds; a device takes fewer: convert "
                        "it to a type of 4 bytes, or use host{{}}",
                        name_of(p.image.type)));
}

/// Tells a plan of the memory that depends on values. The host's lists grow by doubling, and are then joined.
void tell_memory(const host&, dtype type) {
    rehearse_step(size_of(type) == 8
                      ? "basins merge, cells flood; 48 bytes for each basin and pair, 12 for cells of plateaus"
                      : "basins merge, cells flood; 36 bytes for each basin and pair, 12 for cells of plateaus");
}
void tell_memory(const device&, dtype) { rehearse_step("basins merge, cells flood"); }

height height_of(double h, bool roots, bool maxima) {
    if (!(h >= 0)) fail(fmt::format("h is {}; give a height of at least 0", h));
    constexpr double most = 0x1p30;  // bound on roots of accepted values
    return {h, static_cast<std::uint64_t>(std::llround(std::ldexp(std::min(h, most), height_bits))), roots, maxima};
}

void check_roots(const height& least, dtype type) {
    if (least.roots && (type == dtype::int8 || type == dtype::int16 || type == dtype::int32 || type == dtype::int64))
        fail(
            fmt::format("image has element type {}, and squared lengths are not negative; give unsigned integers or "
                        "floating point, or leave roots out",
                        name_of(type)));
}

void check_attribute(attribute by, bool roots) {
    if (roots && by != attribute::height) fail("roots is true, and areas and volumes have none; give it with heights");
}

/// Builds the part of a problem that all calls share: the image, its neighbours, the mask.
template <class Place>
problem problem_of(const any_input<Place>& image, const watershed_options& o, const any_input<Place>& mask) {
    check_image<Place>("image", image, std::int64_t{1} << 31);
    if (image.type == dtype::float16) fail("image has element type float16; give integers, float32 or float64");
    const auto ends = checked_borders(o.border, image.shape.data(), image.rank);
    for (const border each : ends)
        if (each == border::closed) fail("border is closed along an axis; give open or periodic");
    const int changes = labelling::changes_of(o.connectivity, image.rank);
    if (changes == 0)
        fail(
            fmt::format("connectivity is {} for an image of {} axes; give 1 to {}, the number of coordinates that a "
                        "step to a neighbour may change",
                        o.connectivity, image.rank, image.rank));
    problem p;
    p.where = frame_of(image.shape.data(), ends.data(), image.rank);
    if (p.where.places >= std::int64_t{1} << 31)
        fail(fmt::format("image has {} cells; with a frame of one cell fewer than 2147483648 are possible",
                         image.cells()));
    p.steps = steps_of(p.where, changes);
    p.maxima = o.maxima, p.image = array_of(image);
    p.least = height_of(o.h, o.roots, o.maxima);
    check_roots(p.least, image.type);
    if (!mask.wanted()) return p;
    check_same_shape<Place>("mask", mask, image);
    check_type("mask", mask.type, {dtype::boolean, dtype::uint8});
    p.mask = array_of(mask);
    return p;
}

/// Checks and adds outputs and markers for an image of this shape.
template <class Place>
void take(problem& p, const any_input<Place>& image, const watershed_fields<Place>& out, const watershed_options& o,
          const any_input<Place>& markers) {
    if (!out.label.wanted() && !out.passes.wanted() && !out.extrema.wanted())
        fail("out is empty; give label, passes or extrema");
    if (markers.wanted()) {
        check_same_shape<Place>("markers", markers, image);
        check_type("markers", markers.type, integers);
        if (o.h != 0) fail("h goes without markers; leave out one of them");
        p.markers = array_of(markers);
    }
    if (out.label.wanted()) {
        check_same_shape<Place>("out.label", out.label, image);
        check_type("out.label", out.label.type, {markers.wanted() ? markers.type : dtype::int32});
        p.label = array_of(out.label);
    }
    if (out.passes.wanted()) {
        check_same_shape<Place>("out.passes", out.passes, image);
        check_type("out.passes", out.passes.type, {image.type});
        p.passes = array_of(out.passes);
    }
    if (out.extrema.wanted()) {
        if (markers.wanted()) fail("out.extrema goes without markers; leave out one of them");
        check_same_shape<Place>("out.extrema", out.extrema, image);
        check_type("out.extrema", out.extrema.type, {dtype::boolean, dtype::uint8});
        p.extrema = array_of(out.extrema);
    }
    p.lines = o.lines, p.least = height_of(o.h, o.roots, p.maxima);
    check_roots(p.least, image.type);
}

template <class Place>
void check_memory(const any_input<Place>& image, const watershed_fields<Place>& out, const any_input<Place>& markers,
                  const any_input<Place>& mask) {
    const named_view<Place> all[] = {
        {"image", image},         {"markers", markers},       {"mask", mask},
        {"out.label", out.label}, {"out.passes", out.passes}, {"out.extrema", out.extrema}};
    check_data<Place>(all);
    check_apart<Place>(all, 3);
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const watershed_fields<Place>& out,
           const watershed_options& o, const any_input<Place>& markers, const any_input<Place>& mask) {
    check_place(on);
    problem p = problem_of(image, o, mask);
    take(p, image, out, o, markers);
    check_memory(image, out, markers, mask);
    check_on(on, p);
    const expected_outputs written = {out.label, out.passes, out.extrema};
    tell_memory(on, image.type);
    if (image.cells() > 0) run(on, p);
}

template <class Place>
std::vector<peak> solve_peaks(const Place& on, const any_input<Place>& image, const watershed_options& o,
                              const any_input<Place>& mask, const any_input<Place>& labels) {
    check_place(on);
    problem p = problem_of(image, o, mask);
    if (labels.wanted()) {
        check_same_shape<Place>("labels", labels, image);
        check_type("labels", labels.type, integers);
        p.parts = array_of(labels);
    }
    const named_view<Place> all[] = {{"image", image}, {"mask", mask}, {"labels", labels}};
    check_data<Place>(all);
    check_on(on, p);
    tell_memory(on, image.type);
    return image.cells() > 0 ? find_peaks(on, p) : std::vector<peak>{};
}

template <class Place>
void solve_reconstruction(const Place& on, const any_input<Place>& seed, const any_input<Place>& image,
                          const any_output<Place>& out, const watershed_options& o) {
    check_place(on);
    problem p = problem_of<Place>(image, o, {});
    if (!seed.wanted()) fail("seed has no axes; give an array of the image's shape");
    check_same_shape<Place>("seed", seed, image);
    check_type("seed", seed.type, {image.type});
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape");
    check_same_shape<Place>("out", out, image);
    check_type("out", out.type, {image.type});
    const named_view<Place> all[] = {{"seed", seed}, {"image", image}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all, 2);
    p.seed = array_of(seed), p.passes = array_of(out);
    check_on(on, p);
    const expected_outputs written = {out};
    tell_memory(on, image.type);
    if (image.cells() > 0) reconstruct(on, p);
}

}  // namespace

void fail_wide_label() {
    fail("labels has a value that is negative or 2^32 or more; number labels anew with relabel, or give 32 bits");
}

}  // namespace watersheds

using namespace watersheds;

void watershed(const host& on, const any_input<host>& image, const watershed_fields<host>& out,
               const watershed_options& options, const any_input<host>& markers, const any_input<host>& mask) {
    in_call([&] { solve(on, image, out, options, markers, mask); });
}
void watershed(const device& on, const any_input<device>& image, const watershed_fields<device>& out,
               const watershed_options& options, const any_input<device>& markers, const any_input<device>& mask) {
    in_call([&] { solve(on, image, out, options, markers, mask); });
}

std::vector<peak> peaks(const host& on, const any_input<host>& image, const watershed_options& options,
                        const any_input<host>& mask, const any_input<host>& labels) {
    return in_call([&] { return solve_peaks(on, image, options, mask, labels); });
}
std::vector<peak> peaks(const device& on, const any_input<device>& image, const watershed_options& options,
                        const any_input<device>& mask, const any_input<device>& labels) {
    return in_call([&] { return solve_peaks(on, image, options, mask, labels); });
}

void reconstruct_gray(const host& on, const any_input<host>& seed, const any_input<host>& image,
                      const any_output<host>& out, const watershed_options& options) {
    in_call([&] { solve_reconstruction(on, seed, image, out, options); });
}
void reconstruct_gray(const device& on, const any_input<device>& seed, const any_input<device>& image,
                      const any_output<device>& out, const watershed_options& options) {
    in_call([&] { solve_reconstruction(on, seed, image, out, options); });
}

// ---- basins ---------------------------------------------------------------------------------------------------------

struct basins::room {
    any_input<host> like;  ///< the image's shape and type, without data
    problem asked;
    std::unique_ptr<graph<host>> here;  ///< null if the image has no cells, or the basins are on a device
    std::unique_ptr<graph<device>> there;
    bool on_device = false;

    void build(const host& on) { here = graph_of(on, asked, asked::often); }
    void build(const device& on) { on_device = true, there = graph_of(on, asked); }
    /// Calls use(graph) on the place of the cells, unless there are none.
    template <class Use>
    void with(const Use& use) const {
        if (here != nullptr) use(*here);
        if (there != nullptr) use(*there);
    }
    graph<host>* at(const host&) const {
        if (on_device) fail("on is the host, and the basins are on a device; give the device");
        return here.get();
    }
    graph<device>* at(const device&) const {
        if (!on_device) fail("on is a device, and the basins are on the host; give the host");
        return there.get();
    }
    /// The shape and type of the image, on a place.
    template <class Place>
    any_input<Place> like_on() const {
        any_input<Place> made;
        made.type = like.type, made.rank = like.rank, made.shape = like.shape, made.stride = like.stride;
        return made;
    }
    [[nodiscard]] height checked(double h, bool roots) const {
        const height least = height_of(h, roots, asked.maxima);
        check_roots(least, like.type);
        return least;
    }
    template <class Place>
    void mark(const Place& on, double h, bool roots, const any_output<Place>& out) const {
        check_place(on);
        graph<Place>* const found = at(on);
        const height least = checked(h, roots);
        check_same_shape<Place>("out", out, like_on<Place>());
        check_type("out", out.type, {dtype::boolean, dtype::uint8});
        check_memory<Place>({}, {out, {}}, {}, {});
        if (found != nullptr) found->mark(on, least, array_of(out));
    }
    template <class Place>
    void flood(const Place& on, const watershed_fields<Place>& out, const watershed_options& options,
               const any_input<Place>& markers) const {
        check_place(on);
        graph<Place>* const found = at(on);
        problem p = asked;
        take(p, like_on<Place>(), out, options, markers);
        check_memory<Place>({}, out, markers, {});
        if (found != nullptr) found->flood(on, p);
    }
    template <class Place>
    void cut(const Place& on, const any_output<Place>& out, const cut_options& options) const {
        check_place(on);
        graph<Place>* const found = at(on);
        check_attribute(options.by, options.roots);
        if (!(options.least >= 0)) fail(fmt::format("least is {}; give an amount of at least 0", options.least));
        if (options.regions < 0) fail(fmt::format("regions is {}; give a number of regions", options.regions));
        const height least = checked(options.least, options.roots);
        check_same_shape<Place>("out", out, like_on<Place>());
        check_type("out", out.type, {dtype::int32});
        check_memory<Place>({}, {out, {}}, {}, {});
        if (found != nullptr) found->cut(on, options, least, array_of(out));
    }
};

namespace watersheds {
namespace {

template <class Place>
std::unique_ptr<basins::room> room_of(const Place& on, const any_input<Place>& image, const watershed_options& options,
                                      const any_input<Place>& mask) {
    check_place(on);
    auto made = std::make_unique<basins::room>();
    made->asked = problem_of(image, options, mask);
    made->like.type = image.type, made->like.rank = image.rank;
    made->like.shape = image.shape, made->like.stride = image.stride;
    const named_view<Place> all[] = {{"image", image}, {"mask", mask}};
    check_data<Place>(all);
    check_on(on, made->asked);
    if constexpr (std::is_same_v<Place, device>)
        if (made->asked.where.axes > 3) fail("image has 4 axes longer than 1; basins on a device take 1 to 3");
    if (image.cells() > 0) made->build(on);
    return made;
}

}  // namespace
}  // namespace watersheds

basins::basins(const host& on, const any_input<host>& image, const watershed_options& options,
               const any_input<host>& mask)
    : room_(in_call([&] { return room_of(on, image, options, mask); })) {}
basins::basins(const device& on, const any_input<device>& image, const watershed_options& options,
               const any_input<device>& mask)
    : room_(in_call([&] { return room_of(on, image, options, mask); })) {}
basins::basins(basins&&) noexcept = default;
basins& basins::operator=(basins&&) noexcept = default;
basins::~basins() = default;

std::vector<extremum> basins::extrema(double h, bool roots) const {
    return in_call([&] {
        std::vector<extremum> found;
        const height least = room_->checked(h, roots);
        room_->with([&](const auto& graph) { found = graph.extrema(least); });
        return found;
    });
}

std::vector<peak> basins::peaks(double h, bool roots) const {
    return in_call([&] {
        std::vector<peak> found;
        const height least = room_->checked(h, roots);
        room_->with([&](const auto& graph) { found = graph.peaks(least); });
        return found;
    });
}

void basins::mark(const host& on, double h, bool roots, const any_output<host>& out) const {
    in_call([&] { room_->mark(on, h, roots, out); });
}
void basins::mark(const device& on, double h, bool roots, const any_output<device>& out) const {
    in_call([&] { room_->mark(on, h, roots, out); });
}

void basins::watershed(const host& on, const watershed_fields<host>& out, const watershed_options& options,
                       const any_input<host>& markers) const {
    in_call([&] { room_->flood(on, out, options, markers); });
}
void basins::watershed(const device& on, const watershed_fields<device>& out, const watershed_options& options,
                       const any_input<device>& markers) const {
    in_call([&] { room_->flood(on, out, options, markers); });
}

std::vector<extinction> basins::extinctions(attribute by, bool roots) const {
    return in_call([&] {
        std::vector<extinction> found;
        check_attribute(by, roots);
        static_cast<void>(room_->checked(0, roots));
        room_->with([&](const auto& graph) { found = graph.extinctions(by, roots); });
        return found;
    });
}

void basins::cut(const host& on, const any_output<host>& out, const cut_options& options) const {
    in_call([&] { room_->cut(on, out, options); });
}
void basins::cut(const device& on, const any_output<device>& out, const cut_options& options) const {
    in_call([&] { room_->cut(on, out, options); });
}

std::vector<double> basins::passes(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) const {
    return in_call([&] {
        if (a.size() != b.size()) fail(fmt::format("a has {} cells and b {}; give pairs", a.size(), b.size()));
        for (const auto* const list : {&a, &b})
            for (const std::int64_t cell : *list)
                if (cell < 0 || cell >= room_->like.cells())
                    fail(fmt::format("cell is {}; give 0 to {}", cell, room_->like.cells() - 1));
        std::vector<double> found;
        room_->with([&](const auto& graph) { found = graph.passes(a, b); });
        return found;
    });
}

}  // namespace nearfield
