// The order of a call's steps on both places. Backends provide memory and passes; see host.cpp and cuda.cu.
#pragma once

#include <span>

#include "medial_axis/problem.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::medial_axes {

/// Returns the place with the progress share of step `step` of `steps`.
inline host part_of(const host& on, int step, int steps) {
    if (!on.progress) return on;
    return {on.threads, [&on, step, steps](double done) { return on.progress((step + done) / steps); }};
}
inline device part_of(const device& on, int, int) { return on; }

inline dtype index_type(const problem& p) {
    return p.where.cells() <= std::int64_t{1} << 31 ? dtype::int32 : dtype::int64;
}

/// Runs a call. A Backend has make(bytes), whose memory it owns until it is destroyed, and the functions used below.
template <class Place, class Backend>
class steps {
public:
    steps(const Place& on, const problem& p, Backend& backend) : on_(on), p_(p), backend_(backend) {}

    void axis(const any_input<Place>& image, const medial_axis_fields<Place>& out) {
        if (p_.method == axis_method::integer) return by_sites(image, out);
        by_balls(image, out);
    }

    void rebuild(const any_input<Place>& axis, const any_input<Place>& squared, const any_output<Place>& out) {
        const any_output<Place> power = make(axis, dtype::float64);
        any_input<Place> weights = squared;
        if (p_.counted && (squared.type >= dtype::float16 || p_.unit2 != 1)) {
            const any_output<Place> whole = make(axis, dtype::int64);
            backend_.count_radii(part_of(on_, 0, 3), p_, array_of(squared, p_.where.batch),
                                 array_of(whole, p_.where.batch));
            weights = whole;
        }
        fields<Place> wanted;
        wanted.squared = power, wanted.label = out;
        power_diagram(part_of(on_, 1, 3), axis, weights, wanted, options_of_balls());
        backend_.cut(part_of(on_, 2, 3), p_, static_cast<const double*>(power.data), array_of(out, p_.where.batch));
    }

private:
    any_output<Place> make(const any_input<Place>& like, dtype type) {
        const std::span<const std::int64_t> shape(like.shape.data(), static_cast<std::size_t>(like.rank));
        return any_output<Place>::contiguous(backend_.make(like.cells() * size_of(type)), type, shape);
    }

    void by_sites(const any_input<Place>& image, const medial_axis_fields<Place>& out) {
        const any_output<Place> index = out.index.wanted() ? out.index : make(image, index_type(p_));
        fields<Place> wanted;
        wanted.distance = out.distance, wanted.squared = out.squared, wanted.index = index;
        distance_transform(part_of(on_, 0, 2), image, wanted, p_.options);
        const int batch = p_.where.batch;
        pass over{array_of(image, batch), array_of(any_input<Place>(index), batch), array_of(out.axis, batch), {}};
        if (out.second.wanted()) over.second = array_of(out.second, batch);
        const bool dense = is_contiguous(index.shape.data(), index.stride.data(), index.rank) &&
                           is_contiguous(out.axis.shape.data(), out.axis.stride.data(), out.axis.rank);
        backend_.mark(part_of(on_, 1, 2), p_, over, dense);
    }

    void by_balls(const any_input<Place>& image, const medial_axis_fields<Place>& out) {
        const bool reduced = p_.method == axis_method::reduced;
        const int count = reduced ? 4 : 2;
        const any_output<Place> squared = squared_distances(image, out, count);
        const int batch = p_.where.batch;
        const any_output<Place> kept = reduced ? make(image, dtype::uint8) : out.axis;
        backend_.keep_balls(part_of(on_, 1, count), p_, squared.data, squared.type, array_of(kept, batch));
        if (!reduced) return;
        fields<Place> wanted;
        wanted.index = make(image, index_type(p_));
        power_diagram(part_of(on_, 2, count), kept, squared, wanted, options_of_balls());
        backend_.keep_owners(part_of(on_, 3, count), p_, squared.data, squared.type, wanted.index.data,
                             wanted.index.type, array_of(out.axis, batch));
    }

    /// Computes contiguous squared distances, uint32 or uint64, in the rule's unit; uses the caller's array if it
    /// qualifies. If one unit serves both, the same call fills the caller's other fields.
    any_output<Place> squared_distances(const any_input<Place>& image, const medial_axis_fields<Place>& out,
                                        int count) {
        const any_output<Place>& own = out.squared;
        const bool serves = own.wanted() && p_.unit2 == 1 && (own.type == dtype::uint32 || own.type == dtype::uint64) &&
                            is_contiguous(own.shape.data(), own.stride.data(), own.rank);
        const any_output<Place> squared =
            serves ? own : make(image, squared_distance_type(image.shape.data(), image.rank, p_.in_units()));
        fields<Place> wanted;
        wanted.distance = out.distance, wanted.index = out.index, wanted.squared = squared;
        const bool together = p_.unit2 == 1 && (serves || !own.wanted());
        if (together) {
            distance_transform(part_of(on_, 0, count), image, wanted, p_.in_units());
            return squared;
        }
        wanted.squared = own;
        if (out.distance.wanted() || out.index.wanted() || own.wanted())
            distance_transform(part_of(on_, 0, 2 * count), image, wanted, p_.options);
        wanted = {}, wanted.squared = squared;
        distance_transform(part_of(on_, 1, 2 * count), image, wanted, p_.in_units());
        return squared;
    }

    /// Options for the balls. Balls end before a closed border, so they treat it as open.
    [[nodiscard]] distance_options options_of_balls() const {
        distance_options o;
        o.spacing = {p_.length, static_cast<std::size_t>(p_.rank)};
        o.batch_axes = p_.options.batch_axes;
        border ends[max_rank]{};
        for (int axis = 0; axis < p_.rank; ++axis)
            ends[axis] = p_.options.border[axis] == border::periodic ? border::periodic : border::open;
        o.border = {ends, static_cast<std::size_t>(p_.rank)};
        return o;
    }

    const Place& on_;
    const problem& p_;
    Backend& backend_;
};

}  // namespace nearfield::medial_axes
