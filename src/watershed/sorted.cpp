// Sorts peaks by value, and keeps peaks that are far enough from each other.
#include <algorithm>
#include <array>
#include <bit>

#include "base/call.hpp"
#include "watershed/host_sort.hpp"
#include "watershed/sorted.hpp"

namespace nearfield {
namespace {

using coordinates = std::array<std::int64_t, max_rank>;

/// Kept cells in buckets with the least distance as side: only the bucket and its neighbours can hold closer cells.
/// Buckets share the chains of a hash table; cells of other buckets in a chain are too far to matter.
class kept_cells {
public:
    kept_cells(const std::vector<std::int64_t>& shape, double apart, std::size_t most)
        : shape_(shape), apart_(apart), around_{0}, newest_(std::bit_ceil(2 * most + run), -1) {
        at_.reserve(most * shape.size()), before_.reserve(most);
        std::int64_t pitch = 1;
        for (std::size_t axis = shape.size(); axis-- > 0; pitch *= side(shape[axis]) + 3) {
            pitch_[axis] = pitch;
            const std::vector<std::int64_t> along = around_;
            for (const std::int64_t way : {-pitch, pitch})
                for (const std::int64_t each : along) around_.push_back(each + way);
        }
    }

    /// Keeps a cell and returns true, unless a kept cell is closer than the least distance.
    bool keep(std::int64_t cell) {
        coordinates at{};
        std::int64_t bucket = 0;
        for (std::size_t axis = shape_.size(); axis-- > 0; cell /= shape_[axis])
            at[axis] = cell % shape_[axis], bucket += side(at[axis]) * pitch_[axis];
        if (std::ranges::any_of(around_, [&](std::int64_t by) { return meets(at, bucket + by); })) return false;
        std::int32_t& newest = newest_[slot(bucket)];
        at_.insert(at_.end(), at.begin(), at.begin() + static_cast<std::ptrdiff_t>(shape_.size()));
        before_.push_back(newest), newest = static_cast<std::int32_t>(before_.size() - 1);
        return true;
    }

private:
    static constexpr std::size_t run = 16;  ///< buckets that follow each other have chains that do so

    [[nodiscard]] std::size_t slot(std::int64_t bucket) const {
        const auto number = static_cast<std::uint64_t>(bucket);
        const std::uint64_t mixed = number / run * 0x9e3779b97f4a7c15U;
        return static_cast<std::size_t>((mixed >> 32) * run + number % run) & (newest_.size() - 1);
    }
    [[nodiscard]] std::int64_t side(std::int64_t at) const { return watersheds::side_of(at, apart_); }
    [[nodiscard]] bool meets(const coordinates& at, std::int64_t bucket) const {
        for (std::int32_t i = newest_[slot(bucket)]; i >= 0; i = before_[static_cast<std::size_t>(i)])
            if (is_close(at, static_cast<std::size_t>(i))) return true;
        return false;
    }
    [[nodiscard]] bool is_close(const coordinates& at, std::size_t kept) const {
        double square = 0;
        for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
            const auto step = static_cast<double>(at[axis] - at_[kept * shape_.size() + axis]);
            square += step * step;
        }
        return square < apart_ * apart_;
    }

    const std::vector<std::int64_t>& shape_;
    double apart_;
    coordinates pitch_{};               ///< of the buckets' numbers
    std::vector<std::int64_t> around_;  ///< from a bucket's number to its own and its neighbours'
    std::vector<std::int64_t> at_;      ///< coordinates of the kept cells
    std::vector<std::int32_t> before_;  ///< per kept cell: the one kept before in the same chain, or -1
    std::vector<std::int32_t> newest_;  ///< the last cell kept in each chain, or -1
};

void sort_by_cell(std::vector<peak>& found) {
    if (!std::ranges::is_sorted(found, {}, &peak::cell)) std::ranges::sort(found, {}, &peak::cell);
}

}  // namespace

std::vector<peak> sorted_peaks(std::vector<peak> found, const std::vector<std::int64_t>& shape, bool maxima,
                               double apart) {
    sort_by_cell(found);
    watersheds::sort_by(
        found, [&](const peak& p) { return watersheds::turned(watersheds::ordered<std::int64_t>(p.value), maxima); });
    if (!(apart > 1)) return found;
    kept_cells kept(shape, apart, found.size());
    std::erase_if(found, [&](const peak& each) { return !kept.keep(each.cell); });
    return found;
}

std::vector<peak> sorted_peaks(const device& on, std::vector<peak> found, const std::vector<std::int64_t>& shape,
                               bool maxima, double apart) {
    constexpr std::size_t few = 2048;  // the host sorts and thins these before a device begins
    return in_call([&] {
        std::vector<std::int64_t> sizes;
        for (const std::int64_t n : shape)
            if (n != 1) sizes.push_back(n);
        if (found.size() < few || sizes.size() > watersheds::most_thinned_axes)
            return sorted_peaks(std::move(found), shape, maxima, apart);
        sort_by_cell(found);
        return watersheds::sort_peaks(on, found, sizes, maxima, apart);
    });
}

}  // namespace nearfield
