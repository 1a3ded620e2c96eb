// The ladder: the algorithms that solve a window of a problem, from the first that is tried to the last, which never
// declines. Calls are planned, traced, tested and documented (docs/engine.md) by this table. A trace counts the windows
// that each of them solves: for tests, and for users who set NEARFIELD_TRACE.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>

#include "nearfield/grid.hpp"

namespace nearfield::exact::gpu {

enum class rung : std::uint8_t { small, words, few, values, near, strips, shared, windows, again, halving, plain };

struct rung_row {
    rung which;
    const char* name;    ///< name in plans and traces
    const char* method;  ///< description in a plan
    const char* serves;
    const char* declines;  ///< condition under which it declines
};

inline constexpr rung_row ladder[] = {
    {rung::small, "small", "all axes in one kernel, by clusters of blocks",
     "plain calls of small grids in unit spacing", "a side is longer than 512 cells of an image, 64 of a volume"},
    {rung::words, "words", "words of sites", "distances or indices alone in unit spacing",
     "options, other spacings, several fields"},
    {rung::few, "few", "all sites that can win in a box of cells", "any number, key, ends; one site in 900 cells",
     "labels, signs, four axes, other fields, small grids"},
    {rung::values, "values", "near windows of values", "distances alone, whole numbers",
     "a value reaches 2^23 (2^29 if roots are slow), or rows 256"},
    {rung::near, "near", "near windows in one word", "whole numbers and sites in one word", "a value reaches the cap"},
    {rung::strips, "strips", "strips of 32 rows between winners of pivot rows", "any number, key, class, ends",
     "never, given pivots"},
    {rung::shared, "shared", "strips that all warps of a block solve", "the same, by all warps of a block",
     "a strip's winners are less than 512 rows apart, or staged"},
    {rung::windows, "windows", "windows of 256 rows of few lines",
     "the same, if lines leave multiprocessors without a tile", "lines are many, or of 256 rows at most"},
    {rung::again, "again", "lines in double after those in 32 bits", "volumes whose values may need 64 bits",
     "all cells have a site within 32 bits"},
    {rung::halving, "pivots", "pivots by halving", "any number, key, class, ends", "never"},
    {rung::plain, "plain", "all rows of the line", "spacings that fail the guard", "never"},
};
inline constexpr int rungs = static_cast<int>(std::size(ladder));

constexpr const rung_row& row_of(rung which) { return ladder[static_cast<int>(which)]; }

/// When the rung for few sites is tried (lines/few.cu); tests lower these limits.
struct few_limits {
    /// Launches take a quarter of a call of dense masks of this size; power diagrams, which take longer, begin at 2^20.
    std::int64_t least_cells = std::int64_t{1} << 22;
    std::int64_t least_alone = std::int64_t{1} << 23;  ///< of volumes whose distances or indices words serve
    std::int64_t cells_a_site = 900;                   ///< the least number; several times as many where windows serve
};
inline few_limits few_limit;

/// Counts in all calls of its thread on the current device during its lifetime, except in those for lists of images. A
/// counted call waits for the device; nothing is counted while a graph is recorded.
class trace {
public:
    trace();
    ~trace();
    trace(const trace&) = delete;
    trace& operator=(const trace&) = delete;

    /// Windows by rung: for lines 32 rows of 32 lines, for the rungs before them launched blocks or tiles.
    [[nodiscard]] const std::array<std::int64_t, rungs>& solved() const { return solved_; }
    /// Formats the counts: "near 128, strips 3".
    [[nodiscard]] std::string text() const;

    /// Returns the device counters to which kernels add; null without a trace.
    static std::uint32_t* numbers();
    /// Counts the windows of a rung that solves all windows, unless `refused` on the device is not 0. Returns whether
    /// they were counted.
    static bool note(const device& on, rung which, std::int64_t windows, const std::int32_t* refused = nullptr);

private:
    friend class traced_call;
    void take(const device& on);

    std::array<std::int64_t, rungs> solved_{};
    std::uint32_t* numbers_ = nullptr;
    trace* outer_;
};

/// Scope of one call, whose counts are read at its end. With NEARFIELD_TRACE set it prints them to stderr.
class traced_call {
public:
    traced_call(const device& on, const std::int64_t* size, int rank);
    ~traced_call();
    traced_call(const traced_call&) = delete;
    traced_call& operator=(const traced_call&) = delete;

private:
    const device& on_;
    const std::int64_t* size_;
    int rank_;
    trace* own_ = nullptr;
};

}  // namespace nearfield::exact::gpu
