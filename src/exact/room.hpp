// Functions of the exact engine for other rooms.
#pragma once

#include <array>
#include <cstdint>

#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Throws unless a field of this type holds every distance of such a call: none becomes inf, and none above 0 rounds to
/// 0.
void check_distance_type(const std::int64_t* shape, int rank, const distance_options& options, dtype type);

/// Unit of the squared distances of such a call: they are the sum of (length * cells)^2 over the axes, times unit2.
struct counting {
    std::array<double, max_rank> length{};  ///< whole numbers if the call counts in a unit, else the spacing
    double unit2 = 1;
};
counting counting_of(const std::int64_t* shape, int rank, const distance_options& options);

/// Vectors from a line's cells to their nearest sites, in cells along the first, the middle and the last axis, and the
/// low 16 bits of their squared lengths. All are 0 for sites, and if there is no site.
struct site_ways {
    std::int16_t* along[3]{};
    std::int16_t* squared = nullptr;
};
/// Longest vector that a way_taker gets, in cells.
inline constexpr std::int32_t most_way = 8191;

/// The work of a thread on the vectors of a slab of planes. They come in groups of consecutive planes, the last group
/// first; the lines of a group come in order.
class slab_taker {
public:
    virtual ~slab_taker() = default;
    virtual void begin(std::int64_t image, std::int64_t slab) = 0;
    virtual void begin_group(std::int64_t first, std::int64_t count) = 0;
    /// Returns memory for the vectors of the next line.
    virtual site_ways next() = 0;
    /// Tells that it has been written.
    virtual void take(std::int64_t plane, std::int64_t line) = 0;
    virtual void end_group() = 0;
    virtual void end() = 0;
};

/// Takes the vectors of all cells of a call, whose slabs come in any order and from several threads.
class way_taker {
public:
    /// How the grid is divided: an image has `planes` planes of `lines` lines along the first axis; a slab has `slab`
    /// planes, and a group at most `together`.
    struct parts {
        std::int64_t images = 1, planes = 1, lines = 1, length = 1, slab = 1, together = 1;
        int threads = 1;
        [[nodiscard]] std::int64_t slabs() const { return (planes + slab - 1) / slab; }
    };
    virtual ~way_taker() = default;
    /// Prepares for a call; returns false if it is not worth it.
    virtual bool prepare(const parts& of) = 0;
    virtual slab_taker& of_thread(int thread) = 0;
};

/// Finds the sites of plain masks in unit spacing, and hands the vectors to them over instead of writing them; other
/// fields than those of sites are written. Returns false if the host's engine of planes does not serve the call, or if
/// a vector is longer than most_way; then not all vectors were taken.
bool take_ways(const host& on, const any_input<host>& image, const fields<host>& out, const distance_options& options,
               way_taker& to);

}  // namespace nearfield::exact
