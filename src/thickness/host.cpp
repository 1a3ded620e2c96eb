// Local thickness on the host: computes squared distances, paints crescents, writes the outputs.
#include <algorithm>
#include <cstring>

#include "base/lines.hpp"
#include "base/scratch.hpp"
#include "thickness/host.hpp"
#include "thickness/host_tiles.hpp"
#include "thickness/walk.hpp"

namespace nearfield::thickness {
namespace {

constexpr std::int64_t cells_at_once = 1 << 14;
constexpr double share_of_distances = 0.1;  // share of a call's time

/// Calls body(T{}) with the element type of an output.
template <class Body>
void with_element(dtype type, const Body& body) {
    switch (type) {
        case dtype::float32: return body(float{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::uint64: return body(std::uint64_t{});
        default: return body(double{});
    }
}

/// Calls body(T{}) with the element type of given squared radii.
template <class Body>
void with_radii(dtype type, const Body& body) {
    switch (type) {
        case dtype::uint8: return body(std::uint8_t{});
        case dtype::int16: return body(std::int16_t{});
        case dtype::uint16: return body(std::uint16_t{});
        case dtype::int32: return body(std::int32_t{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::int64: return body(std::int64_t{});
        default: return body(std::uint64_t{});
    }
}

/// The general path: paints one centre.
template <class N>
class painter {
public:
    painter(const grid3& g, const metric<N>& m, N* painted, bool shared)
        : g_(g), m_(m), painted_(painted), shared_(shared) {}

    void paint(const centre<N>& c) {
        if (c.r2 <= 0 || is_endless(c.r2) || is_contained(c, g_, m_)) return;
        for (int k = 0; k < 27; ++k)
            cover_[k] = k == 13 ? never<N>() : cover_at(c, g_, m_, k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
        const box b =
            box_of<3>(c.r2, m_, [&](int z, int y, int x) { return cover_[(z + 1) * 9 + (y + 1) * 3 + x + 1]; });
        const frame f = frame_of<3>(b, c.at, g_);
        const auto w = turned_to<false>(m_, f.axis);
        for (std::int32_t s = -f.first; s <= f.last; ++s) {
            slice<N> t = slice_at(cover_, c.r2, w, f.axis, s);
            if (!narrow(t, w, f.below, f.above)) continue;
            for (std::int32_t b2 = -t.below; b2 <= t.above; ++b2) paint_row(c, t, w, f.axis, s, b2);
        }
    }

private:
    void paint_row(const centre<N>& c, const slice<N>& t, const turned<N, false>& w, int axis, std::int32_t s,
                   std::int32_t b) {
        const std::int32_t half = half_of_row(t, w, m_, c.r2, axis, s, b);
        if (half < 0) return;
        const leftover row = row_of(t, w, b, half);
        const std::int64_t start = row_start(c, g_, axis, s, b);
        paint_cells(c, axis, start, -std::int64_t{row.half}, -std::int64_t{row.left});
        paint_cells(c, axis, start, row.right, row.half);
    }
    void paint_cells(const centre<N>& c, int axis, std::int64_t start, std::int64_t first, std::int64_t last) {
        const int along = row_axis(axis);
        const std::int64_t size = g_.size[along], step = g_.step(along);
        const stretch cells = stretch_of(first, last, c.at[along], size, g_.wraps[along]);
        std::int64_t place = wrapped(c.at[along] + cells.first, size);
        for (std::int64_t k = 0; k < cells.count; ++k) {
            raise(painted_[start + place * step], c.r2, shared_);
            if (++place == size) place = 0;
        }
    }

    const grid3& g_;
    const metric<N>& m_;
    N* painted_;
    bool shared_;
    N cover_[27];
};

/// The fast path: paints all images, except for centres at ends of periodic axes.
void paint_tiled(workers& team, const grid3& g, const metric<std::int32_t>& m, const std::int32_t* field,
                 std::int32_t* painted) {
    plain_call call{g, m, field, painted};
    call.shared = team.threads() > 1;
    // A copied tile of about 64 Ki cells per plane stays in the second-level cache together with its neighbours.
    constexpr std::int32_t plane_cells = 1 << 15, most_rows = 64;
    call.rows = std::clamp(plane_cells / std::max(g.size[2], 1), 1, most_rows);
    call.planes = g.size[0] == 1 ? 1 : g.size[2] <= plane_cells ? 8 : 2;
    paint_lone(team, call);
    paint_crescents(team, call);
}

template <class N>
class solver {
public:
    solver(const host& on, const problem& p, const any_input<host>& image, const any_input<host>& inlets,
           const thickness_fields<host>& out)
        : on_(on), p_(p), image_(image), inlets_(inlets), out_(out), cells_(p.grid.cells()) {
        for (const double r2 : p.least_radius2) least_radius2_.push_back(static_cast<N>(r2));
        field_ = host_scratch<N>(cells_);
        painted_ = lent();
        if (painted_ == nullptr) memory_ = host_scratch<N>(cells_), painted_ = memory_.get();
    }

    void solve() {
        fill_field();
        host rest = on_;
        if (on_.progress)
            rest.progress = [this](double share) {
                return on_.progress(share_of_distances + (1 - share_of_distances) * share);
            };
        workers team(rest, 3 * cells_);
        prepare(team);
        paint(team);
        team.for_each(cells_, cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            if (out_.squared.wanted()) write(out_.squared, first, last, false);
            if (out_.thickness.wanted() && !write_roots(first, last)) write(out_.thickness, first, last, true);
        });
    }

private:
    /// Returns an output that can hold T2, or null: it has the same element size and is contiguous. The last step reads
    /// each cell before it writes it, and writes the squared output first.
    N* lent() const {
        const any_output<host>& last = out_.thickness.wanted() ? out_.thickness : out_.squared;
        const bool fits = size_of(last.type) == sizeof(N) &&
                          is_contiguous(last.shape.data(), last.stride.data(), last.rank) &&
                          reinterpret_cast<std::uintptr_t>(last.data) % sizeof(N) == 0;
        return fits ? static_cast<N*>(last.data) : nullptr;
    }

    void fill_field() {
        if (p_.radii_given) return;
        host first = on_;
        if (on_.progress) first.progress = [this](double share) { return on_.progress(share_of_distances * share); };
        const auto array_of = [&](N* cells) {
            return any_output<host>::contiguous(cells, p_.field,
                                                std::span(image_.shape.data(), static_cast<std::size_t>(image_.rank)));
        };
        // If ways are searched, the memory of T2 holds the distances.
        fields<host> wanted;
        wanted.squared = array_of(inlets_.wanted() ? painted_ : field_.get());
        distance_transform(first, image_, wanted, p_.distances);
        if (inlets_.wanted()) watershed(first, wanted.squared, {{}, array_of(field_.get())}, p_.moves, inlets_);
    }

    /// Reads given radii, rounds radii down to sizes, and starts T2 with every centre's own ball.
    void prepare(workers& team) {
        const cell_offsets at(image_.shape.data(), image_.stride.data(), image_.rank);
        team.for_each(cells_, cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            N* const to = field_.get();
            if (p_.radii_given)
                with_radii(image_.type, [&]<class T>(T) {
                    const T* from = static_cast<const T*>(image_.data);
                    for (std::int64_t i = first; i < last; ++i) to[i] = given<N>(from[at.of(i)]);
                });
            if (p_.has_sizes || inlets_.wanted())
                for (std::int64_t i = first; i < last; ++i)
                    to[i] = rounded_down(to[i], least_radius2_.data(), p_.size_count());
            std::copy(to + first, to + last, painted_ + first);
        });
        if (p_.repeats(inlets_.wanted())) drop_surrounded(team);
    }
    /// Leaves the centres that are surrounded out of the field; T2 has their own balls already.
    void drop_surrounded(workers& team) {
        const grid3& g = p_.grid;
        const std::int64_t width = g.size[2], lines = cells_ / width, in_image = g.image_cells() / width;
        const std::int64_t at_once = std::max<std::int64_t>(1, cells_at_once / width);
        team.for_each(lines, at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t line = first; line < last; ++line) {
                const std::int64_t image = line / in_image * g.image_cells();
                centre<N> c = centre_of<N>(field_.get() + image, g, line * width - image);
                for (; c.at[2] < width; ++c.at[2], ++c.index) {
                    c.r2 = c.field[c.index];
                    painted_[image + c.index] = is_surrounded(c, g) ? N{0} : c.r2;
                }
            }
        });
        team.for_each(cells_, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::swap_ranges(field_.get() + first, field_.get() + last, painted_ + first);
        });
    }

    void paint(workers& team) {
        const metric<N> m = metric_of<N>(p_.weight);
        if constexpr (std::is_same_v<N, std::int32_t>) {
            paint_tiled(team, p_.grid, m, field_.get(), painted_);
            if (!p_.wraps()) return;
        }
        const std::int64_t width = p_.grid.size[2], lines = cells_ / width;
        const std::int64_t at_once = std::max<std::int64_t>(1, 1024 / width);
        team.for_each(lines, at_once, width, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t line = first; line < last; ++line) paint_line(m, line, team.threads() > 1);
        });
    }
    /// Paints the centres of a line: after tiles, those at ends of periodic axes.
    void paint_line(const metric<N>& m, std::int64_t line, bool shared) {
        const grid3& g = p_.grid;
        const std::int64_t image_lines = std::int64_t{g.size[0]} * g.size[1], image = line / image_lines;
        const bool all = !std::is_same_v<N, std::int32_t> || g.at_end(0, line / g.size[1] % g.size[0]) ||
                         g.at_end(1, line % g.size[1]);
        if (!all && !g.wraps[2]) return;
        painter<N> one(g, m, painted_ + image * g.image_cells(), shared);
        const N* const field = field_.get() + image * g.image_cells();
        const std::int64_t start = (line - image * image_lines) * g.size[2];
        for (std::int64_t x = 0; x < g.size[2]; x += all ? 1 : std::max(g.size[2] - 1, 1))
            one.paint(centre_of(field, g, start + x));
    }

    /// Writes diameters in vectors: contiguous floats.
    bool write_roots(std::int64_t first, std::int64_t last) const {
        if constexpr (std::is_same_v<N, std::int32_t>) {
            const any_output<host>& to = out_.thickness;
            if (p_.has_sizes || p_.unit2 != 1 || to.type != dtype::float32 ||
                !is_contiguous(to.shape.data(), to.stride.data(), to.rank))
                return false;
            constexpr std::int64_t some = 1024;
            for (std::int64_t i = first; i < last; i += some) {
                const std::int64_t count = std::min(some, last - i);
                float made[some];  // T2 may lie in the output itself
                if (!make_diameters(painted_ + i, made, count)) write(to, i, i + count, true);
                else
                    std::memcpy(static_cast<float*>(to.data) + i, made,
                                sizeof(float) * static_cast<std::size_t>(count));
            }
            return true;
        }
        return false;
    }

    void write(const any_output<host>& to, std::int64_t first, std::int64_t last, bool root) const {
        const cell_offsets at(to.shape.data(), to.stride.data(), to.rank);
        const writer<N> made{p_.unit2, p_.has_sizes ? least_radius2_.data() : nullptr,
                             p_.has_sizes ? p_.sizes.data() : nullptr, p_.size_count()};
        with_element(to.type, [&]<class T>(T) {
            T* const cells = static_cast<T*>(to.data);
            for (std::int64_t i = first; i < last; ++i) {
                N r2;  // T2 may lie in the output itself, as another type
                std::memcpy(&r2, painted_ + i, sizeof(N));
                const bool endless = !p_.radii_given && is_endless(field_.get()[i]);
                const T value =
                    root ? static_cast<T>(made.thickness(r2, endless)) : made.template squared<T>(r2, endless);
                std::memcpy(cells + at.of(i), &value, sizeof(T));
            }
        });
    }

    const host& on_;
    const problem& p_;
    const any_input<host>&image_, &inlets_;
    const thickness_fields<host>& out_;
    std::int64_t cells_;
    std::vector<N> least_radius2_;
    host_scratch<N> field_, memory_;
    N* painted_ = nullptr;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& image, const any_input<host>& inlets,
         const thickness_fields<host>& out) {
    switch (p.numbers) {
        case number::int32: return solver<std::int32_t>(on, p, image, inlets, out).solve();
        case number::int64: return solver<std::int64_t>(on, p, image, inlets, out).solve();
        default: return solver<double>(on, p, image, inlets, out).solve();
    }
}

}  // namespace nearfield::thickness
