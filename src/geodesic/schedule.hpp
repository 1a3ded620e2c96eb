// Chooses the next tile: the one with the least waiting cost. One thread has a tile at a time; meanwhile other tiles'
// offers to its cells wait in its inbox.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

namespace nearfield::geodesics {

/// An offer of a tile to a cell of another one.
template <class Word>
struct offer {
    std::int64_t tile;
    std::int32_t local;
    std::uint64_t cost;
    Word key;
};

/// A tile's work while a thread has it.
template <class Word>
struct visit {
    std::int64_t tile = 0;
    std::uint64_t least = 0;              ///< cost of the cheapest waiting cell
    std::vector<std::int32_t> waiting{};  ///< cells to relax from; their keys are written
    std::vector<offer<Word>> inbox{};     ///< offers to this tile's cells
    std::vector<offer<Word>> outbox{};    ///< offers to cells of other tiles
    std::uint64_t left = 0;               ///< set by the thread: least cost of `waiting` when it stops
};

template <class Word>
class schedule {
public:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    explicit schedule(std::int64_t tiles) : tile_(static_cast<std::size_t>(tiles)) {}

    /// Adds a cell to relax from, before the work begins. Only one thread may do so for a tile at a time.
    void start(std::int64_t tile, std::int32_t local) { of(tile).waiting.push_back(local); }
    void start_all() {
        for (std::int64_t tile = 0; tile < std::ssize(tile_); ++tile)
            if (!of(tile).waiting.empty()) improve(tile, 0);
    }

    /// Waits for a tile and takes it; false if no work is left.
    bool take(visit<Word>& v) {
        std::unique_lock held(lock_);
        for (;;) {
            if (stopped_) return false;
            if (find(v)) return true;
            if (busy_ == 0) {
                wake_.notify_all();
                return false;
            }
            ++idle_;
            wake_.wait(held);
            --idle_;
        }
    }
    /// Gives a tile back, and delivers its offers to others.
    void give(visit<Word>& v) {
        const std::lock_guard held(lock_);
        --busy_;
        state& own = of(v.tile);
        own.running = false;
        own.waiting.swap(v.waiting);
        v.waiting.clear();
        if (own.least != none) push(v.tile, own.least);
        if (!own.waiting.empty()) improve(v.tile, v.left);
        for (const offer<Word>& each : v.outbox) of(each.tile).inbox.push_back(each), improve(each.tile, each.cost);
        v.outbox.clear();
        if (idle_ > 0 && (heap_.size() > 1 || stopped_)) wake_.notify_one();
    }
    void stop() {
        const std::lock_guard held(lock_);
        stopped_ = true;
        wake_.notify_all();
    }

private:
    struct state {
        std::vector<std::int32_t> waiting;
        std::vector<offer<Word>> inbox;
        std::uint64_t least = none;
        bool running = false;
    };
    using entry = std::pair<std::uint64_t, std::int64_t>;

    state& of(std::int64_t tile) { return tile_[static_cast<std::size_t>(tile)]; }
    void push(std::int64_t tile, std::uint64_t least) { heap_.emplace(least, tile); }
    void improve(std::int64_t tile, std::uint64_t least) {
        state& s = of(tile);
        if (least >= s.least) return;
        s.least = least;
        if (!s.running) push(tile, least);
    }
    bool find(visit<Word>& v) {
        while (!heap_.empty()) {
            const auto [least, tile] = heap_.top();
            heap_.pop();
            state& s = of(tile);
            if (s.running || s.least != least) continue;
            s.running = true, s.least = none, ++busy_;
            v.tile = tile, v.least = least;
            v.waiting.swap(s.waiting), v.inbox.swap(s.inbox);
            return true;
        }
        return false;
    }

    std::mutex lock_;
    std::condition_variable wake_;
    std::vector<state> tile_;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> heap_;
    int busy_ = 0, idle_ = 0;
    bool stopped_ = false;
};

}  // namespace nearfield::geodesics
