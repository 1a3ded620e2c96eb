// Sorts peaks by value, and keeps peaks that are far enough from each other.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "nearfield/watershed.hpp"

namespace nearfield {
namespace {

using coordinates = std::array<std::int64_t, max_rank>;

/// Kept cells in buckets with the least distance as side: only the bucket and its neighbours can hold closer cells.
class kept_cells {
public:
    kept_cells(const std::vector<std::int64_t>& shape, double apart) : shape_(shape), apart_(apart) {}

    /// Keeps a cell and returns true, unless a kept cell is closer than the least distance.
    bool keep(std::int64_t cell) {
        coordinates at{};
        for (std::size_t axis = shape_.size(); axis-- > 0; cell /= shape_[axis]) at[axis] = cell % shape_[axis];
        if (meets(at, 0, 0)) return false;
        std::int64_t bucket = 0;
        for (std::size_t axis = 0; axis < shape_.size(); ++axis) bucket = next(bucket, axis, side(at, axis));
        buckets_[bucket].push_back(at);
        return true;
    }

private:
    [[nodiscard]] std::int64_t side(const coordinates& at, std::size_t axis) const {
        return static_cast<std::int64_t>(static_cast<double>(at[axis]) / apart_);
    }
    /// Extends a bucket's number by the coordinate on one more axis; buckets just outside the grid have numbers, too.
    [[nodiscard]] std::int64_t next(std::int64_t before, std::size_t axis, std::int64_t at) const {
        return before * (static_cast<std::int64_t>(static_cast<double>(shape_[axis]) / apart_) + 3) + at + 1;
    }
    [[nodiscard]] bool meets(const coordinates& at, std::size_t axis, std::int64_t bucket) const {
        if (axis < shape_.size()) {
            const std::int64_t own = side(at, axis);
            return meets(at, axis + 1, next(bucket, axis, own - 1)) || meets(at, axis + 1, next(bucket, axis, own)) ||
                   meets(at, axis + 1, next(bucket, axis, own + 1));
        }
        const auto found = buckets_.find(bucket);
        return found != buckets_.end() && std::ranges::any_of(found->second, [&](const coordinates& other) {
                   double square = 0;
                   for (std::size_t k = 0; k < shape_.size(); ++k) {
                       const auto step = static_cast<double>(at[k] - other[k]);
                       square += step * step;
                   }
                   return square < apart_ * apart_;
               });
    }

    const std::vector<std::int64_t>& shape_;
    double apart_;
    std::unordered_map<std::int64_t, std::vector<coordinates>> buckets_;
};

}  // namespace

std::vector<peak> sorted_peaks(std::vector<peak> found, const std::vector<std::int64_t>& shape, bool maxima,
                               double apart) {
    std::ranges::sort(found, [&](const peak& a, const peak& b) {
        return a.value != b.value ? (a.value > b.value) == maxima : a.cell < b.cell;
    });
    if (!(apart > 1)) return found;
    kept_cells kept(shape, apart);
    std::erase_if(found, [&](const peak& each) { return !kept.keep(each.cell); });
    return found;
}

}  // namespace nearfield
