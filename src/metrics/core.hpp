// Shared by host and device for surface distances: points of surfaces, sums that ignore order, and ranks.
//
// Labels become codes of 1 or 4 bytes (0: not asked for); those of bytes are their own codes, which nothing writes.
// Each label of an image with cells in either input is a job.
// It has a box around its cells, in the box a mask of each surface's points, and for each side a list of the squared
// distances to the other side's points. Each point looks for the other side's points near it, and the exact engine
// serves jobs with many points that find none. Sums and ranks of the lists ignore their order.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/annotate.hpp"
#include "base/wide.hpp"
#include "base/with_integer.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/metrics.hpp"

namespace nearfield::metrics {

inline constexpr int most_axes = 3, most_asked = 16, most_ranks = 2 * most_asked;
inline constexpr std::int64_t cells_step = 64;    ///< squared distances of a job start at multiples of this many
inline constexpr std::int64_t points_step = 256;  ///< points of a job start at multiples of this many bytes or words

/// An exact sum of doubles: words that hold 32 bits each and have 32 more for carries.
struct parts {
    std::uint64_t part[3] = {};

    NF_HD void add(const parts& more) {
        for (int i = 0; i < 3; ++i) part[i] += more.part[i];
    }
};
/// Rounds x >= 0 to a multiple of a power of two, whose inverse is given; requires x * inverse_unit < 2^95.
NF_HD inline parts parts_of(double x, double inverse_unit) {
    constexpr double two32 = 4294967296.0, two64 = two32 * two32;
    double rest = x * inverse_unit;
    const double high = std::floor(rest / two64);
    rest -= high * two64;
    const double middle = std::floor(rest / two32);
    rest -= middle * two32;
    return {{static_cast<std::uint64_t>(std::rint(rest)), static_cast<std::uint64_t>(middle),
             static_cast<std::uint64_t>(high)}};
}

/// The weights of a surface's points, indexed by the mask value that marks them.
struct weights {
    double area[256] = {};
    parts area_parts[256] = {};
    std::uint64_t rank[256] = {};  ///< area as an integer, at least 1
};

struct problem {
    int axes = 0, percentiles = 0, tolerances = 0;
    int labels = 0;  ///< codes are 1 to this number
    std::int64_t images = 1, size[3] = {1, 1, 1};
    bool elements = false;
    dtype squared = dtype::uint32;
    double tolerance[most_asked] = {}, percentile[most_asked] = {};
    double per_area = 1, per_moment = 1;  ///< inverse units of sums of areas, and of areas times distances

    NF_HD constexpr std::int64_t image_cells() const { return size[0] * size[1] * size[2]; }
    NF_HD constexpr std::int64_t cells() const { return images * image_cells(); }
    NF_HD constexpr bool wide_codes() const { return labels > 255; }
    /// True if images have this axis; images with fewer than three axes lack those in front.
    NF_HD constexpr bool has(int axis) const { return axis >= most_axes - axes; }
    /// Number of ranks that a side of a job needs.
    NF_HD constexpr int ranks() const { return elements ? percentiles : 2 * percentiles; }
};

/// Counts of a label's cells in either mask and in both, and the box around all.
struct tally {
    std::int64_t cells[2] = {0, 0}, common = 0;
    std::int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {-1, -1, -1};
};

struct job {
    std::int64_t row = 0;            ///< image * labels + code - 1
    std::int64_t first[3], size[3];  ///< its box, in points; point i of an axis is cell i, or the corner before it
    std::int64_t base = 0;           ///< start of its points: a byte for each on the host, on a device words of bits
    std::int64_t far = 0;            ///< start of its mask and of its squared distances, if the engine measures them
    std::int64_t points[2] = {0, 0}, start[2] = {0, 0};  ///< lengths and starts of its lists
    std::uint64_t weight[2] = {0, 0};                    ///< sum of the points' ranks
    double square[3] = {1, 1, 1}, unit2 = 1;             ///< squares of its cells' lengths, in units of unit2

    NF_HD constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    /// Words of bits for a row of the box; the image's cells 32 k to 32 k + 31 share one.
    NF_HD constexpr std::int64_t row_words() const { return (first[2] % 32 + size[2] + 31) / 32; }
    NF_HD constexpr std::int64_t words() const { return size[0] * size[1] * row_words(); }
};

/// Jobs that are processed together, and the addresses of their arrays.
struct group {
    std::vector<job> jobs;
    std::int64_t cells = 0;      ///< of the masks and squared distances of its jobs
    std::int64_t room = 0;       ///< size of one side's points
    std::uint8_t* mask[2] = {};  ///< on the host the points, 0 or the index of their weight; on a device for the engine
    std::uint32_t* bits[2] = {};  ///< on a device the points
    void* squared = nullptr;
    std::uint64_t* key = nullptr;  ///< the points' squared distances, as integers in the same order
    std::uint8_t* code = nullptr;  ///< the points' mask values
};

/// Sums and ranks of one side's list.
struct side_sums {
    parts area, moment, within[most_asked];
    std::uint64_t largest = 0;               ///< as a key
    std::uint64_t at_rank[most_ranks] = {};  ///< as keys; during the search, their leading digits
};
/// The ranks that a side of a job needs, as sums of weights to be reached.
struct wanted_ranks {
    std::uint64_t of[most_ranks] = {};
};

inline constexpr std::int64_t most_found = 65535;  ///< largest value that is found without being named by the caller
/// Index of the flag for a value that occurs: the value itself, or 0 if it has no flag.
template <class T>
NF_HD constexpr std::int64_t place_of(T value) {
    if constexpr (sizeof(T) == 8 && T(-1) > T(0))
        if (value > T(most_found)) return 0;
    const auto wide = static_cast<std::int64_t>(value);
    return wide < 0 || wide > most_found ? 0 : wide;
}
/// The code of a value, or 0 if it has none; `values` are ascending.
template <class T>
NF_HD std::uint32_t code_of(T value, const std::int64_t* values, const std::uint32_t* codes, int count) {
    const auto wide = static_cast<std::int64_t>(value);
    if (sizeof(T) == 8 && T(-1) > T(0) && wide < 0) return 0;
    int first = 0;
    for (int left = count; left > 0;) {
        const int half = left / 2;
        if (values[first + half] < wide) first += half + 1, left -= half + 1;
        else left = half;
    }
    return first < count && values[first] == wide ? codes[first] : 0;
}

/// Converts a squared distance to an integer of the same order, and back.
NF_HD inline std::uint64_t key_of(double squared) { return __builtin_bit_cast(std::uint64_t, squared); }
NF_HD inline std::uint64_t key_of(std::uint64_t squared) { return squared; }
NF_HD inline double distance_of(std::uint64_t key, bool doubles) {
    return std::sqrt(doubles ? __builtin_bit_cast(double, key) : static_cast<double>(key));
}

// ---- ranks: a search for the wanted key, digit by digit from the highest --------------------------------------------

inline constexpr int digit_bits = 8, digits = 1 << digit_bits;

NF_HD constexpr bool begins_with(std::uint64_t key, int shift, std::uint64_t leading) {
    return key >> shift >> digit_bits == leading;
}
/// Selects the wanted key's next digit; `counts` are the weights, by next digit, of the keys with its leading digits.
NF_HD constexpr void take_digit(const std::uint64_t* counts, std::uint64_t& wanted, std::uint64_t& leading) {
    unsigned digit = 0;
    for (; digit < digits - 1 && counts[digit] < wanted; ++digit) wanted -= counts[digit];
    leading = leading << digit_bits | digit;
}

// ---- functions of each place ----------------------------------------------------------------------------------------

/// The values with a flag, ascending; the last one is -1 if a value without a flag occurs.
std::vector<std::int64_t> listed(const std::vector<std::uint8_t>& seen);
/// The values other than 0 that occur in either image, as listed() returns them.
std::vector<std::int64_t> values_of(const host& on, const any_input<host>& a, const any_input<host>& b);
std::vector<std::int64_t> values_of(const device& on, const any_input<device>& a, const any_input<device>& b);

/// The codes of both images.
struct coded {
    const void* of[2];

    template <class Code>
    NF_HD const Code* side(int which) const {
        return static_cast<const Code*>(of[which]);
    }
};
/// Writes codes of both images, one after the other: code[i] replaces value[i]; values are ascending.
struct coding {
    std::vector<std::int64_t> value;
    std::vector<std::uint32_t> code;
};
void encode(const host& on, const problem& p, const coding& by, const any_input<host>& a, const any_input<host>& b,
            void* codes);
void encode(const device& on, const problem& p, const coding& by, const any_input<device>& a,
            const any_input<device>& b, void* codes);

/// Computes a tally for each image and code.
std::vector<tally> count(const host& on, const problem& p, const coded& codes);
std::vector<tally> count(const device& on, const problem& p, const coded& codes);

/// Marks the points of a group, and sets their numbers and the sums of their weights in its jobs.
void mark(const host& on, const problem& p, const weights& w, const coded& codes, group& g);
void mark(const device& on, const problem& p, const weights& w, const coded& codes, group& g);

/// A key with this bit is the number of a point among those of its job. The point's distance is not known yet.
inline constexpr std::uint64_t far_bit = std::uint64_t{1} << 63;
/// Lists the keys and codes of both sides' points; keys are 0 if the other side has no points. Returns which jobs have
/// keys with `far_bit`.
std::vector<std::uint8_t> list_near(const host& on, const problem& p, const coded& codes, const group& g);
std::vector<std::uint8_t> list_near(const device& on, const problem& p, const coded& codes, const group& g);
/// Fills the masks of one side from its bits.
void fill_mask(const device& on, const group& g, int side);
/// Replaces the keys with `far_bit` of one side by those of squared distances.
void look_up(const host& on, dtype squared, const group& g, int side);
void look_up(const device& on, dtype squared, const group& g, int side);

/// Computes the sums of both sides of each job.
std::vector<side_sums> sum(const host& on, const problem& p, const weights& w, const group& g,
                           const std::vector<wanted_ranks>& wanted);
std::vector<side_sums> sum(const device& on, const problem& p, const weights& w, const group& g,
                           const std::vector<wanted_ranks>& wanted);

/// Sets all results but counts and areas if one side or both have no cells.
void set_empty(const problem& p, surface_distances& row);
/// Sets the results of a job from the sums of its sides.
void set_measured(const problem& p, const job& j, const tally& of, const side_sums* side, surface_distances& row);

/// Sets the areas of the polygons within 2x2x2 cells of these lengths, indexed by the cells that belong to a mask: bit
/// 4 x + 2 z + y is the cell behind the corner along the axes whose letter is 1.
void set_areas(const double (&length)[3], weights& w);

}  // namespace nearfield::metrics
