// The tree in which basins merge as water rises, and the hierarchy of their regions; on the host, whatever place the
// cells are on.
#pragma once

#include <functional>
#include <mutex>

#include "base/divide.hpp"
#include "base/scratch.hpp"
#include "base/unwritten.hpp"
#include "base/wide.hpp"
#include "watershed/problem.hpp"

namespace nearfield::watersheds {

template <class T>
using list = std::vector<T, asking_allocator<T>>;

/// A lake is a connected set of cells below a level. A basin that is the lowest of its lake owns a sequence of lakes:
/// the next one begins at the pass where others join it. Lakes are numbered basin by basin.
struct lakes_of_tree {
    list<std::int32_t> first;      ///< per basin: its first lake; with one more element at the end
    list<std::int32_t> joins;      ///< per basin: the lake that begins where the basin's last one ends
    list<std::int32_t> begun;      ///< the lakes that begin in this way, sorted by pass
    list<std::int64_t> cells;      ///< per lake: number of cells whose first lake it is
    list<std::int64_t> low, high;  ///< per lake: sums of these cells' values, by their lower 32 bits and the others
};

/// The tree of regions of minima: where one region ends, another one continues.
struct region_tree {
    list<std::int32_t> into, order;  ///< like those of the basins
    list<uint128> amount;            ///< the measure that compares regions; heights are stored as the bits of a double
    bool heights = false;
    double factor = 1;  ///< scale of volumes

    [[nodiscard]] double amount_of(std::size_t basin) const;
    [[nodiscard]] bool reaches(std::size_t basin, double least) const;
};

inline constexpr int fraction_bits = 62;  ///< bits for the largest value of a floating-point image in a volume

/// Converts a value to an integer for sums. Floating-point values are multiplied by `factor`, a power of two.
template <class Value, class Key>
NF_HD std::int64_t summand_of(Key key, bool maxima, double factor) {
    if constexpr (std::is_floating_point_v<Value>) {
        constexpr double most = 1LL << fraction_bits;
        const double v = static_cast<double>(value_of<Value>(turned(key, maxima))) * factor;
        const double within = v < -most ? -most : v > most ? most : v;
        return std::llround(maxima ? -within : within);
    } else {
        return static_cast<std::int64_t>(key);  // keys of integers differ as the integers do
    }
}
/// Returns the power of two that scales all finite values below 2^fraction_bits, given the largest one.
inline double factor_for(double most) {
    return most > 0 ? std::ldexp(1.0, std::min(fraction_bits - 1 - std::ilogb(most), 1000)) : 1;
}

/// Heights that questions look at. The first question finds them.
struct kept_heights {
    std::once_flag sorted, measured[2];
    list<std::int32_t> basins;  ///< the lowest first; equal ones in raster order
    std::vector<peak> peaks;    ///< of these basins
    list<double> apart[2];      ///< per basin: how far its pass lies above it, in values or in roots; rounded
};

/// The tree of regions that was asked for last.
class kept_regions {
public:
    template <class Make>
    std::shared_ptr<const region_tree> get(attribute by, bool roots, const Make& make) {
        const std::scoped_lock held(lock_);
        if (tree_ == nullptr || by != by_ || roots != roots_)
            tree_ = nullptr, tree_ = std::make_shared<const region_tree>(make()), by_ = by, roots_ = roots;
        return tree_;
    }

private:
    std::mutex lock_;
    std::shared_ptr<const region_tree> tree_;
    attribute by_ = attribute::height;
    bool roots_ = false;
};

/// A pass between two basins.
template <class Key>
struct edge {
    std::int32_t a, b;
    Key pass;
};

/// At `pass` a basin becomes part of `into`, the lowest basin of those that connect at this pass.
template <class Key>
struct merge_tree {
    dtype type = dtype::uint8;  ///< of the image
    bool maxima = false;
    list<std::int32_t> cell;  ///< of every basin: the place of its lowest cell; in raster order
    list<Key> low;            ///< its key
    list<std::int32_t> into;  ///< -1: the basin stays
    list<Key> pass;
    list<std::int32_t> order;  ///< the basins that merge, sorted by pass

    void connect(list<edge<Key>>& edges);

    [[nodiscard]] bool stays(std::size_t basin, const height& least) const;
    /// Returns the same for all basins. It keeps what it measures for further heights.
    [[nodiscard]] list<std::uint8_t> staying(const height& least) const;
    /// Returns the minima of a height, as the public call does.
    [[nodiscard]] std::vector<extremum> extrema(const frame& where, const height& least) const;
    /// Returns the same minima without what becomes of them, the lowest first; equal ones in raster order.
    [[nodiscard]] std::vector<peak> peaks(const frame& where, const height& least) const;
    /// Returns for each basin whether its lowest cells belong to a minimum of a height.
    [[nodiscard]] list<std::uint8_t> marked(const height& least) const;
    /// Finds the lowest passes from basins that have a level of their own; `reached` tells which basins they reach.
    void spread(list<Key>& level, list<std::uint8_t>& reached) const;
    /// Returns the lowest pass between cells of two basins, given the larger of their keys.
    [[nodiscard]] double pass_between(std::int64_t a, std::int64_t b, Key higher) const;
    [[nodiscard]] double no_pass() const;

    /// Numbers the lakes, and fills `end` with the pass at which each one ends.
    [[nodiscard]] lakes_of_tree number_lakes(list<Key>& end) const;
    /// Fills the sums of lakes and returns the factor by which it multiplied values.
    using fill = std::function<double(lakes_of_tree& lakes, bool volumes)>;
    [[nodiscard]] region_tree regions(attribute by, bool roots, const fill& lakes) const;
    [[nodiscard]] std::vector<extinction> extinctions(const frame& where, const region_tree& tree) const;
    /// Returns for each label of the watershed from all minima, and for 0, its label in a cut of the hierarchy.
    [[nodiscard]] list<std::int32_t> labels_of_cut(const region_tree& tree, const cut_options& cut,
                                                   const height& least) const;

private:
    [[nodiscard]] bool precedes(std::int32_t a, std::int32_t b) const;
    [[nodiscard]] list<std::uint8_t> kept(const region_tree& tree, const cut_options& cut, const height& least) const;
    template <class Value>
    void join_lakes(const lakes_of_tree& lakes, attribute by, region_tree& tree) const;

    mutable kept_heights kept_;
};

extern template struct merge_tree<std::int32_t>;
extern template struct merge_tree<std::int64_t>;

/// Linear index of a place in the image, and the place of an index.
inline std::int64_t number_in_image(const frame& f, std::int64_t place) {
    std::int64_t at[max_rank]{}, number = 0;
    f.locate(place, at);
    for (int axis = 0; axis < f.axes; ++axis) number = number * f.size[axis] + at[axis];
    return number;
}
/// Numbers places of 31 bits as number_in_image() does; many of them take a fifth of its time.
class numbering {
public:
    explicit numbering(const frame& f) : f_(f) {
        std::int64_t cells = 1;
        for (int axis = f.axes - 1; axis >= 0; cells *= f.size[axis--])
            by_[axis] = divisor(f.pitch[axis]), cells_[axis] = cells;
    }
    std::int64_t operator()(std::int32_t place) const {
        auto rest = static_cast<std::uint32_t>(place - f_.base);
        std::int64_t number = 0;
        for (int axis = 0; axis < f_.axes; ++axis) {
            const std::uint32_t at = by_[axis].quotient(rest);
            rest -= at * static_cast<std::uint32_t>(f_.pitch[axis]), number += at * cells_[axis];
        }
        return number;
    }

private:
    const frame& f_;
    divisor by_[max_rank];
    std::int64_t cells_[max_rank]{};
};
inline std::int64_t place_in_frame(const frame& f, std::int64_t number) {
    std::int64_t sum = f.base;
    for (int axis = f.axes - 1; axis >= 0; number /= f.size[axis--]) sum += number % f.size[axis] * f.pitch[axis];
    return sum;
}

}  // namespace nearfield::watersheds
