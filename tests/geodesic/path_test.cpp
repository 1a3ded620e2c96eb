// Paths with clearance: steps, costs and widths against Dijkstra's and Kruskal's algorithms on brute-force distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geodesic/dijkstra.hpp"
#include "geodesic/world.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

std::vector<path> planned(const world& w, int threads) {
    return plan_path(host{threads, {}}, any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape),
                     w.starts, w.goals, w.options);
}

/// Largest squared clearance at which the start connects to a goal, by Kruskal; -1 if none.
double widest(const world& w, const std::vector<double>& squares, std::int64_t start) {
    std::vector<std::int64_t> order(squares.size()), root(squares.size(), -1);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return squares[static_cast<std::size_t>(a)] > squares[static_cast<std::size_t>(b)];
    });
    const auto find = [&](std::int64_t i) {
        while (root[static_cast<std::size_t>(i)] != i) i = root[static_cast<std::size_t>(i)];
        return i;
    };
    for (const std::int64_t i : order) {
        const double square = squares[static_cast<std::size_t>(i)];
        if (!(square > w.options.radius * w.options.radius)) break;
        root[static_cast<std::size_t>(i)] = i;
        for (std::size_t k = 0; k < w.rank(); ++k)
            for (const int by : {-1, 1}) {
                auto x = w.at(i);
                x[k] += by;
                const std::int64_t j = w.index(x.data());
                if (j >= 0 && root[static_cast<std::size_t>(j)] >= 0) root[static_cast<std::size_t>(find(i))] = find(j);
            }
        for (std::size_t g = 0; g < w.goals.size(); g += w.rank()) {
            const std::int64_t goal = w.index(&w.goals[g]);
            if (root[static_cast<std::size_t>(start)] >= 0 && root[static_cast<std::size_t>(goal)] >= 0 &&
                find(start) == find(goal))
                return square;
        }
    }
    return -1;
}

/// Calls use() with the coordinates of every cell that the line from a to b touches, including both ends; tests all
/// cells within the line's box.
template <class Use>
void for_touched(const std::int64_t* a, const std::int64_t* b, std::size_t rank, const Use& use) {
    std::vector<int> v(rank), c(rank, 0);
    for (std::size_t k = 0; k < rank; ++k) v[k] = static_cast<int>(b[k] - a[k]);
    if (std::any_of(v.begin(), v.end(), [](int by) { return std::abs(by) > 7; })) return;  // limit of line_meets()
    for (std::size_t k = 0; k < rank;) {
        std::vector<std::int64_t> at(a, a + rank);
        for (std::size_t axis = 0; axis < rank; ++axis) at[axis] += c[axis];
        if (line_meets(v, c, true)) use(at.data());
        for (k = 0; k < rank && c[k] == v[k]; ++k) c[k] = 0;
        if (k < rank) c[k] += v[k] > 0 ? 1 : -1;
    }
}

/// Checks that every cell which a line of the path touches is free, and that the reported clearance is the least.
void check_lines(const world& w, const std::vector<double>& squares, const path& p, std::uint64_t seed) {
    double least = INFINITY, length = 0;
    const std::size_t rank = w.rank();
    for (std::size_t i = 0; i + rank <= p.cells.size(); i += rank) {
        least = std::min(least, squares[static_cast<std::size_t>(w.index(&p.cells[i]))]);
        if (i == 0) continue;
        double square = 0;
        for (std::size_t k = 0; k < rank; ++k)
            square += std::pow(w.length(k) * static_cast<double>(p.cells[i + k] - p.cells[i + k - rank]), 2);
        length += std::sqrt(square);
        for_touched(&p.cells[i - rank], &p.cells[i], rank, [&](const std::int64_t* at) {
            const double square_here = squares[static_cast<std::size_t>(w.index(at))];
            EXPECT_GT(square_here, w.options.radius * w.options.radius) << "seed " << seed;
            if (w.options.smooth) least = std::min(least, square_here);
        });
    }
    EXPECT_NEAR(p.length, length, 1e-9 * length);
    EXPECT_LE(p.clearance, std::sqrt(least)) << "seed " << seed;
}

/// Checks that each step explains the costs, and that it is the one to the cell with the smallest coordinates.
void check_steps(const world& w, const geodesic_case& c, const std::vector<std::int64_t>& cost, const path& p) {
    const std::size_t rank = w.rank();
    for (std::size_t i = 0; i + rank < p.cells.size(); i += rank) {
        const std::int64_t* const from = &p.cells[i];
        const std::int64_t here = w.index(from);
        std::vector<std::int64_t> best;
        for (const priced_step& each : c.steps) {
            std::vector<std::int64_t> to(from, from + rank);
            for (std::size_t k = 0; k < rank; ++k) to[k] += each.by[k];
            const std::int64_t there = w.index(to.data());
            if (there < 0 || cost[static_cast<std::size_t>(there)] < 0) continue;
            const std::int64_t times =
                c.cost.empty() ? 1 : c.cost[static_cast<std::size_t>(here)] + c.cost[static_cast<std::size_t>(there)];
            bool good =
                cost[static_cast<std::size_t>(there)] + each.price * times == cost[static_cast<std::size_t>(here)];
            for_touched(from, to.data(), rank, [&](const std::int64_t* at) {
                good = good && c.mask[static_cast<std::size_t>(w.index(at))] != 0;
            });
            std::vector<std::int64_t> cell = w.at(there);
            std::reverse(cell.begin(), cell.end());
            if (good && (best.empty() || cell < best)) best = cell;
        }
        std::reverse(best.begin(), best.end());
        ASSERT_EQ(best, w.at(w.index(from + rank)));
    }
}

void check(std::uint64_t seed) {
    const world w = drawn_world(seed);
    const std::vector<double> squares = w.squares();
    const std::vector<path> found = planned(w, 1 + static_cast<int>(seed % 2));
    ASSERT_EQ(found.size(), w.starts.size() / w.rank());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::int64_t start = w.index(&w.starts[i * w.rank()]);
        const double level = w.options.objective == path_objective::widest ? widest(w, squares, start) : -1;
        const geodesic_case c = planner_case(w, squares, level);
        const std::vector<std::int64_t> cost = expected(c).cost;
        const std::int64_t wanted = cost[static_cast<std::size_t>(start)];
        const path& p = found[i];
        ASSERT_EQ(p.reason == path_reason::found, wanted >= 0) << "seed " << seed << ": " << p.text();
        if (wanted < 0) {
            EXPECT_TRUE(p.cells.empty()) << "seed " << seed;
            continue;
        }
        ASSERT_EQ(static_cast<std::int64_t>(p.cost), wanted) << "seed " << seed;
        ASSERT_TRUE(std::equal(&w.starts[i * w.rank()], &w.starts[i * w.rank()] + w.rank(), p.cells.begin()));
        ASSERT_EQ(w.index(&p.cells[p.cells.size() - w.rank()]),
                  w.index(&w.goals[static_cast<std::size_t>(p.goal) * w.rank()]));
        // A cell beside a diagonal step may be the narrowest.
        ASSERT_TRUE(level < 0 || p.clearance >= std::sqrt(level)) << "seed " << seed;
        ASSERT_NO_FATAL_FAILURE(check_lines(w, squares, p, seed));
        if (w.options.smooth) continue;
        ASSERT_NO_FATAL_FAILURE(check_steps(w, c, cost, p)) << "seed " << seed;
    }
}

TEST(Path, IsTheBestOne) {
    for (std::uint64_t seed = 0; seed < share(0, 3000); ++seed) ASSERT_NO_FATAL_FAILURE(check(seed));
}

/// Walls with two gaps: the shortest path passes the narrow gap, the widest and the safe one do not.
world two_gaps() {
    world w;
    w.shape = {41, 61}, w.obstacles.assign(41 * 61, 0);
    for (std::int64_t y = 0; y < 41; ++y)
        if ((y < 19 || y > 21) && (y < 2 || y > 12)) w.obstacles[static_cast<std::size_t>(y * 61 + 30)] = 1;
    w.starts = {20, 5}, w.goals = {20, 55};
    return w;
}

TEST(Path, ObjectivesDiffer) {
    world w = two_gaps();
    const path near = planned(w, 1)[0];
    EXPECT_EQ(near.length, 50);
    EXPECT_EQ(near.clearance, 2);
    w.options.objective = path_objective::widest;
    const path wide = planned(w, 1)[0];
    EXPECT_EQ(wide.clearance, 6);
    EXPECT_GT(wide.length, near.length);
    w.options.objective = path_objective::safe, w.options.clearance_weight = 20, w.options.clearance_decay = 4;
    EXPECT_GT(planned(w, 1)[0].clearance, 2);
    w.options = {.radius = 2};
    EXPECT_GT(planned(w, 1)[0].length, 50);  // the narrow gap is closed, because its clearance is only 2
    w.options.smooth = true;
    const path straight = planned(w, 1)[0];
    EXPECT_LT(straight.cells.size(), 20U);
    EXPECT_GT(straight.clearance, 2);
}

/// A straight line keeps the least clearance of the cells that it replaces, not that of the first one.
TEST(Path, StraightLinesEnterNarrowerPlaces) {
    world w;
    w.shape = {11, 30}, w.obstacles.assign(11 * 30, 0);
    for (std::int64_t i = 0; i < 11 * 30; ++i)
        if (const std::int64_t wall = i % 30 < 15 ? 0 : 2, y = i / 30; y <= wall || y >= 10 - wall)
            w.obstacles[static_cast<std::size_t>(i)] = 1;
    w.starts = {5, 2}, w.goals = {5, 27}, w.options.smooth = true;
    for (const path_objective each : {path_objective::safe, path_objective::widest}) {
        w.options.objective = each;
        EXPECT_EQ(planned(w, 1)[0].cells, (std::vector<std::int64_t>{5, 2, 5, 27}));
    }
}

/// Prices need not fall with the clearance. Without an entry for it a cell costs 1.
TEST(Path, CostsByATable) {
    world w = two_gaps();
    w.set_costs({{2, 100}});  // the narrow gap's clearance is 2
    EXPECT_GT(planned(w, 1)[0].clearance, 2);
    w.set_costs({{3, 0.25}, {INFINITY, 8}}), w.starts = {23, 25}, w.goals = {40, 25};
    EXPECT_EQ(planned(w, 1)[0].clearance, 3) << "cheap beside the wall";
    w.set_costs({{7, 2}});
    w.starts = {30, 0}, w.goals = {30, 28};  // 30 to 2 cells from the wall: 23 cells cost 1, 6 cost 2
    EXPECT_EQ(planned(w, 1)[0].cost, 4096U * 16 * (22 * 2 + 3 + 5 * 4));
}

TEST(Path, SaysWhyThereIsNone) {
    world w = two_gaps();
    w.options.radius = 6;
    const path apart = planned(w, 1)[0];
    EXPECT_EQ(apart.reason, path_reason::not_connected);
    EXPECT_EQ(apart.start_component, 1);
    EXPECT_EQ(apart.goal_components, (std::vector<std::int64_t>{2}));
    EXPECT_NE(apart.text().find("component 1"), std::string::npos) << apart.text();
    w.starts = {30, 30};
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::start_blocked);
    w.starts = {20, 5}, w.goals = {30, 30};
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::goals_blocked);
}

/// A robot as wide as a corridor does not fit, whichever way products of real lengths are rounded.
TEST(Path, RadiiOfWholeCells) {
    world w;
    w.shape = {9, 12}, w.obstacles.assign(108, 0), w.starts = {4, 1}, w.goals = {4, 10};
    std::fill_n(w.obstacles.begin(), 12, 1), std::fill_n(w.obstacles.end() - 12, 12, 1);
    for (const double length : {1.0, 0.05, 0.1, 0.3, 0.7, 1e-3, 1 / 3.0}) {
        w.spacing = {length, length}, w.options.spacing = {w.spacing.data(), 2};
        w.options.radius = 3 * length;
        EXPECT_EQ(planned(w, 1)[0].reason, path_reason::found) << length;
        w.options.radius = 4 * length;
        EXPECT_EQ(planned(w, 1)[0].reason, path_reason::start_blocked) << length;
    }
    w.spacing = {0.05, 0.05}, w.options.spacing = {w.spacing.data(), 2}, w.options.radius = 0.15, w.obstacles[52] = 1;
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::start_blocked) << "0.15 is less than 3 * 0.05 in doubles";
    w = {}, w.shape = {5, 6}, w.obstacles.assign(30, 0), w.obstacles[0] = 1, w.starts = w.goals = {4, 5};
    w.options.radius = 6.4031242374328485;
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::found) << "a product that is rounded to 41 is less than 41";
}

TEST(Path, CutsNoCorner) {
    world w;
    w.shape = {2, 2}, w.obstacles = {0, 1, 1, 0}, w.starts = {0, 0}, w.goals = {1, 1};
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::not_connected);
    w.obstacles = {0, 1, 0, 0};
    EXPECT_EQ(planned(w, 1)[0].cells, (std::vector<std::int64_t>{0, 0, 1, 0, 1, 1}));
}

TEST(Path, ThreadsDoNotShow) {
    world w;
    w.shape = {300, 400};
    for (std::int64_t i = 0; i < w.cells(); ++i)
        w.obstacles.push_back(i > 400 && i < 119000 && mix(static_cast<std::uint64_t>(i)) % 100 < 20 ? 1 : 0);
    w.starts = {0, 0}, w.goals = {299, 399};
    for (const auto objective : {path_objective::shortest, path_objective::safe, path_objective::widest}) {
        w.options.objective = objective;
        const path one = planned(w, 1)[0], three = planned(w, 3)[0];
        EXPECT_EQ(one.cells, three.cells);
        EXPECT_EQ(one.reason, path_reason::found) << one.text();
    }
}

/// Around a ring the path across the periodic end is shorter, and its coordinates continue beyond the end.
TEST(Path, GoesOnAtTheOtherEnd) {
    world w;
    w.shape = {3, 20}, w.obstacles.assign(60, 0), w.starts = {1, 2}, w.goals = {1, 17};
    w.set_ends({border::open, border::periodic});
    for (const bool smooth : {false, true}) {
        w.options.smooth = smooth;
        const path p = planned(w, 1)[0];
        EXPECT_EQ(p.length, 5);
        EXPECT_EQ((std::vector<std::int64_t>{p.cells.end() - 2, p.cells.end()}), (std::vector<std::int64_t>{1, -3}));
    }
    w.set_ends({border::closed, border::open});
    expect_refused([&] { planned(w, 1); }, {"border", "closed"});
}

/// A start in an obstacle ends the call before costs are computed: the steps before them hear a stop too.
TEST(Path, StopsBeforeCosts) {
    world w;
    w.shape = {200, 300}, w.obstacles.assign(60000, 1), w.starts = {0, 0}, w.goals = {9, 9};
    EXPECT_EQ(planned(w, 1)[0].reason, path_reason::start_blocked);
    try {
        (void)plan_path(host{2, [](double share) { return share > 0; }},
                        any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape), w.starts, w.goals,
                        w.options);
        ADD_FAILURE() << "went on";
    } catch (const error& stopped) {
        EXPECT_EQ(stopped.code(), error_code::cancelled);
    }
}

TEST(Path, RefusesWhatItCannotDo) {
    world w = two_gaps();
    w.goals = {};
    expect_refused([&] { planned(w, 1); }, {"goals"});
    w.goals = {20, 61};
    expect_refused([&] { planned(w, 1); }, {"goals", "61"});
    w.goals = {20, 5, 3};
    expect_refused([&] { planned(w, 1); }, {"goals", "coordinates"});
    w.goals = {20, 55}, w.options.radius = -1;
    expect_refused([&] { planned(w, 1); }, {"radius"});
    w.options = {.clearance_weight = NAN};
    expect_refused([&] { planned(w, 1); }, {"clearance_weight"});
    w.options = {};
    const std::vector<std::vector<clearance_cost>> wrong{{{-1, 2}}, {{NAN, 2}},  {{1, 2}, {1, 3}}, {{2, 2}, {1, 3}},
                                                         {{1, 0}},  {{1, 1025}}, {{1, NAN}},       {{1, -2}}};
    for (const auto& costs : wrong) {
        w.set_costs(costs);
        expect_refused([&] { planned(w, 1); }, {"clearance_costs"});
    }
    w.set_costs({{1, 2}}), w.options.objective = path_objective::shortest;
    expect_refused([&] { planned(w, 1); }, {"clearance_costs", "safe"});
}

}  // namespace
}  // namespace nearfield::test
