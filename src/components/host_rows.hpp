// A table of sums that many threads add to. A thread collects what it finds in a small cache of rows, so that the cells
// of one giant label do not make all threads wait for one row; what leaves the cache is added to the table atomically.
// Sums of integers do not depend on their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "label/statistics.hpp"

namespace nearfield::components {

inline std::uint64_t add_shared(std::uint64_t& to, std::uint64_t by) {
    return by == 0 ? 0 : std::atomic_ref<std::uint64_t>(to).fetch_add(by, std::memory_order_relaxed);
}
template <class T, class Better>
void put_shared(T& to, T by, Better better) {
    const std::atomic_ref<T> word(to);
    T now = word.load(std::memory_order_relaxed);
    while (better(by, now) && !word.compare_exchange_weak(now, by, std::memory_order_relaxed)) {
    }
}
/// Adds a number of `Words` words, the lowest first.
template <int Words>
void add_wide_shared(std::uint64_t (&to)[Words], const std::uint64_t (&by)[Words]) {
    std::uint64_t carry = 0;
    for (int i = 0; i < Words; ++i) {
        const std::uint64_t more = by[i] + carry;
        const bool wrapped = more < carry;  // then nothing is left to add to this word
        const std::uint64_t before = add_shared(to[i], more);
        carry = wrapped || (more != 0 && before + more < more) ? 1 : 0;
    }
}

struct shape_row {
    statistics::shape_sums<3> shape;
    std::uint64_t faces = 0;

    void add_shared_to(shape_row& to) const {
        add_shared(to.shape.size, shape.size);
        add_shared(to.faces, faces);
        for (int axis = 0; axis < 3; ++axis) {
            add_shared(to.shape.sum[axis], shape.sum[axis]);
            put_shared(to.shape.first[axis], shape.first[axis], std::less<>());
            put_shared(to.shape.end[axis], shape.end[axis], std::greater<>());
        }
        if (shape.border) std::atomic_ref<bool>(to.shape.border).store(true, std::memory_order_relaxed);
    }
};

struct range_row {
    statistics::value_range range;

    void add_shared_to(range_row& to) const {
        put_shared(to.range.lowest, range.lowest, std::less<>());
        put_shared(to.range.highest, range.highest, std::greater<>());
    }
};

struct sums_row {
    statistics::value_sums sums;

    void add_shared_to(sums_row& to) const {
        add_wide_shared(to.sums.sum, sums.sum);
        add_wide_shared(to.sums.square, sums.square);
    }
};

template <class Row>
class row_table {
public:
    row_table() = default;
    row_table(std::int64_t rows, workers& team)
        : rows_(rows),
          table_(rows),
          caches_(static_cast<std::size_t>(team.threads() > 1 && rows > 0 ? team.threads() : 0)) {
        constexpr std::int64_t at_once = 1 << 14;
        team.for_each(rows, at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::uninitialized_default_construct(table_.get() + first, table_.get() + last);
        });
    }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] const Row& operator[](std::int64_t row) const { return table_.get()[row]; }

    /// Where the thread may add to a row until it asks for another one.
    Row& at(std::int64_t row, int thread) {
        if (caches_.empty()) return table_.get()[row];
        std::vector<place>& cache = caches_[static_cast<std::size_t>(thread)];
        if (cache.empty()) cache.resize(places);
        place& p = cache[static_cast<std::size_t>(row % places)];
        if (p.row != row) {
            if (p.row >= 0) p.sums.add_shared_to(table_.get()[p.row]);
            p = {row, Row{}};
        }
        return p.sums;
    }
    /// Adds what is left in the caches.
    void collect() {
        for (std::vector<place>& cache : caches_) {
            for (const place& p : cache)
                if (p.row >= 0) p.sums.add_shared_to(table_.get()[p.row]);
            cache = {};
        }
    }

private:
    static constexpr std::int64_t places = 4096;
    struct place {
        std::int64_t row = -1;
        Row sums{};
    };
    std::int64_t rows_ = 0;
    host_scratch<Row> table_;
    std::vector<std::vector<place>> caches_;
};

}  // namespace nearfield::components
