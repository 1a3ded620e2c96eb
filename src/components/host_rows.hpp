// A table of sums to which many threads add. A thread collects sums in a small cache of rows, so that the cells of one
// giant label do not make all threads wait for one row. Sums that leave the cache are added to the table under the
// row's lock. They are sums of integers, so their order does not matter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "label/statistics.hpp"

namespace nearfield::components {

struct shape_row {
    statistics::shape_sums<3> shape;
    std::uint64_t faces = 0;

    void add(const shape_row& other) { shape.add(other.shape, 3), faces += other.faces; }
};

/// Table of sums, one for each row. `Row` has add(const Row&).
template <class Row>
class row_table {
    static constexpr std::int64_t places = 4096;
    struct place {
        std::int64_t row = -1;
        Row sums{};
    };
    struct shared_row {
        Row sums{};
        std::atomic<bool> taken{false};
    };
    template <class Body>
    static void with_lock(shared_row& row, const Body& body) {
        while (row.taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
        body(row.sums);
        row.taken.store(false, std::memory_order_release);
    }
    static void give(const place& p, shared_row* table) {
        if (p.row >= 0) with_lock(table[p.row], [&](Row& sums) { sums.add(p.sums); });
    }

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
    [[nodiscard]] const Row& operator[](std::int64_t row) const { return table_.get()[row].sums; }

    /// Adds for one thread. The caller keeps it in a local variable, so that its members stay in registers.
    class adder {
    public:
        /// Calls body(sums), which adds to the sums of the row. If another row has the cache's place, most calls lock
        /// the row in the table and add there; every 16th call takes the place. So rare rows bypass the cache, and
        /// frequent ones get into it.
        template <class Body>
        void add(std::int64_t row, const Body& body) {
            if (cache_ == nullptr) return body(table_[row].sums);
            place& p = cache_[row & (places - 1)];
            if (p.row != row) {
                constexpr unsigned few = 16;
                if (p.row >= 0 && ++turned_away_ % few != 0) return with_lock(table_[row], body);
                give(p, table_);
                p = {row, Row{}};
            }
            body(p.sums);
        }
        /// Prefetches the memory to which add() will write.
        [[gnu::always_inline]] void expect(std::int64_t row) const {
            if (!many_) return;
            if (cache_ == nullptr || cache_[row & (places - 1)].row != row) fetch(table_ + row);
        }

    private:
        friend class row_table;
        adder(shared_row* table, place* cache, bool many) : table_(table), cache_(cache), many_(many) {}
        [[gnu::always_inline]] static void fetch(const shared_row* row) {
            __builtin_prefetch(row, 1), __builtin_prefetch(reinterpret_cast<const char*>(row + 1) - 1, 1);
        }
        shared_row* table_;
        place* cache_;
        bool many_;  ///< true if there are more rows than places
        unsigned turned_away_ = 0;
    };
    adder of(int thread) {
        if (caches_.empty()) return {table_.get(), nullptr, rows_ > places};
        std::vector<place>& cache = caches_[static_cast<std::size_t>(thread)];
        if (cache.empty()) cache.resize(places);
        return {table_.get(), cache.data(), rows_ > places};
    }
    /// Adds the sums that are still in the caches to the table.
    void collect() {
        for (std::vector<place>& cache : caches_) {
            for (const place& p : cache) give(p, table_.get());
            cache = {};
        }
    }

private:
    std::int64_t rows_ = 0;
    host_scratch<shared_row> table_;
    std::vector<std::vector<place>> caches_;
};

}  // namespace nearfield::components
