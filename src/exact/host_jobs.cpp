// Many calls at once on the host: large grids one after another with all threads, small ones in parallel, one thread
// each.
#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "exact/host.hpp"

namespace nearfield::exact {
namespace {

/// Grids of at least this many cells keep all threads busy alone.
constexpr std::int64_t large_cells = std::int64_t{1} << 20;

}  // namespace

void run(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs) {
    std::vector<std::size_t> small;
    double total = 0, done = 0;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        total += static_cast<double>(plans[k].cells);
        if (plans[k].cells > 0 && plans[k].cells < large_cells) small.push_back(k);
    }
    for (std::size_t k = 0; k < plans.size(); ++k) {
        if (plans[k].cells < large_cells) continue;
        const auto cells = static_cast<double>(plans[k].cells);
        host one{on.threads, {}};
        if (on.progress) one.progress = [&](double share) { return on.progress((done + share * cells) / total); };
        run(one, plans[k], {jobs[k].image, jobs[k].out});
        done += cells;
    }
    host rest{on.threads, {}};
    if (on.progress) rest.progress = [&](double share) { return on.progress((done + share * (total - done)) / total); };
    workers crew(rest, static_cast<std::int64_t>(small.size()));
    crew.for_each(static_cast<std::int64_t>(small.size()), 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::size_t k = small[static_cast<std::size_t>(i)];
            run(host{1, {}}, plans[k], {jobs[k].image, jobs[k].out});
        }
    });
}

call_plan describe(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs) {
    call_plan what;
    what.place = "host";
    what.threads = thread_count(on);
    std::int64_t large = 0, small = 0, of_large = 0, of_small = 0;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        if (plans[k].cells == 0) continue;
        const bool is_large = plans[k].cells >= large_cells;
        const call_plan one = describe(host{is_large ? what.threads : 1, {}}, plans[k], {jobs[k].image, jobs[k].out});
        ++(is_large ? large : small);
        std::int64_t& most = is_large ? of_large : of_small;
        most = std::max(most, one.workspace_bytes);
        // The widest number type of all: "int32" < "int64", and "float64" before both.
        if (what.numbers.empty() ||
            (what.numbers != "float64" && (one.numbers == "float64" || one.numbers > what.numbers)))
            what.numbers = one.numbers;
    }
    what.workspace_bytes = std::max(of_large, of_small * std::min<std::int64_t>(what.threads, small));
    if (large > 0) what.passes.push_back({-1, "large grids one after another, with all threads", large, 1, 1});
    if (small > 0) what.passes.push_back({-1, "small grids side by side, a thread each", small, 1, 1});
    return what;
}

}  // namespace nearfield::exact
