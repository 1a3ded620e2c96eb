// The inflation layer of ROS nav2 as its documentation describes it, for bench/paths.py to time: cells are taken in
// bins of equal distance, lethal ones first; each gets its cost by the lethal cell that it was reached from, from a
// table, and hands that cell on to its four neighbours.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

namespace {

struct reached {
    int y, x, from_y, from_x;
};

}  // namespace

extern "C" void inflate(const std::uint8_t* costs, std::uint8_t* out, int rows, int columns, double resolution,
                        double inscribed, double inflation, double factor) {
    const int reach = static_cast<int>(std::ceil(inflation / resolution)), side = reach + 2;
    std::map<int, std::size_t> bin_of_square;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) bin_of_square[y * y + x * x] = 0;
    std::size_t count = 0;
    for (auto& [square, bin] : bin_of_square) bin = count++;
    std::vector<std::size_t> bin_at(static_cast<std::size_t>(side * side));
    std::vector<std::uint8_t> cost_at(bin_at.size());
    for (int i = 0; i < side * side; ++i) {
        const double away = std::hypot(i / side, i % side) * resolution;
        bin_at[i] = bin_of_square[(i / side) * (i / side) + (i % side) * (i % side)];
        cost_at[i] = i == 0              ? 254
                     : away <= inscribed ? 253
                                         : static_cast<std::uint8_t>(252 * std::exp(-factor * (away - inscribed)));
    }
    std::vector<std::vector<reached>> bins(count);
    std::vector<bool> seen(static_cast<std::size_t>(rows) * columns);
    std::copy_n(costs, seen.size(), out);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            if (costs[std::size_t(y) * columns + x] == 254) bins[0].push_back({y, x, y, x});
    const auto place = [&](const reached& r) { return std::abs(r.y - r.from_y) * side + std::abs(r.x - r.from_x); };
    const auto reach_on = [&](reached r) {
        if (r.y < 0 || r.x < 0 || r.y >= rows || r.x >= columns || seen[std::size_t(r.y) * columns + r.x]) return;
        const int dy = r.y - r.from_y, dx = r.x - r.from_x;
        if (dy * dy + dx * dx <= reach * reach) bins[bin_at[place(r)]].push_back(r);
    };
    for (auto& bin : bins)
        for (std::size_t i = 0; i < bin.size(); ++i) {
            const reached r = bin[i];
            const std::size_t cell = std::size_t(r.y) * columns + r.x;
            if (seen[cell]) continue;
            seen[cell] = true;
            const std::uint8_t cost = cost_at[place(r)];
            if (costs[cell] != 255 || cost >= 253) out[cell] = std::max(costs[cell] == 255 ? cost : costs[cell], cost);
            for (const int by : {-1, 1})
                reach_on({r.y + by, r.x, r.from_y, r.from_x}), reach_on({r.y, r.x + by, r.from_y, r.from_x});
        }
}
