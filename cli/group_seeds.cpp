// Which sites belong together.
#include <algorithm>
#include <bit>
#include <memory>
#include <set>

#include "cli/picture.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

/// Sites that touch, by corners too, have one root.
class forest {
public:
    explicit forest(std::int64_t count) : parent_(static_cast<std::size_t>(count), -1) {}
    std::int64_t root(std::int64_t i) {
        while (parent_[static_cast<std::size_t>(i)] != i) {
            auto& up = parent_[static_cast<std::size_t>(i)];
            up = parent_[static_cast<std::size_t>(up)];
            i = up;
        }
        return i;
    }
    void plant(std::int64_t i) { parent_[static_cast<std::size_t>(i)] = i; }
    [[nodiscard]] bool planted(std::int64_t i) const { return parent_[static_cast<std::size_t>(i)] >= 0; }
    void join(std::int64_t a, std::int64_t b) {
        a = root(a), b = root(b);
        parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }

private:
    std::vector<std::int64_t> parent_;
};

/// Steps to those of the 3^axes - 1 neighbours in the same image that come earlier in raster order.
std::vector<std::vector<int>> earlier_steps(std::size_t axes, std::size_t batch_axes) {
    std::vector<std::vector<int>> steps;
    std::vector<int> step(axes, -1);
    std::fill_n(step.begin(), batch_axes, 0);
    while (std::any_of(step.begin(), step.end(), [](int s) { return s != 0; })) {
        steps.push_back(step);
        for (std::size_t axis = axes; axis-- > batch_axes;) {
            if (++step[axis] <= 1) break;
            step[axis] = -1;
        }
    }
    return steps;
}

template <class IsSite>
std::shared_ptr<forest> connect(const std::vector<std::int64_t>& shape, int batch_axes, std::int64_t count,
                                const IsSite& is_site) {
    auto sites = std::make_shared<forest>(count);
    const auto steps = earlier_steps(shape.size(), static_cast<std::size_t>(batch_axes));
    std::vector<std::int64_t> at(shape.size(), 0);
    for (std::int64_t cell = 0; cell < count; ++cell) {
        if (is_site(cell)) {
            sites->plant(cell);
            for (const auto& step : steps) {
                std::int64_t other = 0;
                bool inside = true;
                for (std::size_t axis = 0; axis < shape.size(); ++axis) {
                    const std::int64_t there = at[axis] + step[axis];
                    inside = inside && there >= 0 && there < shape[axis];
                    other = other * shape[axis] + there;
                }
                if (inside && sites->planted(other)) sites->join(cell, other);
            }
        }
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            if (++at[axis] < shape[axis]) break;
            at[axis] = 0;
        }
    }
    return sites;
}

/// Whole-numbered labels: more than one value besides zero, but few of them.
bool carries_labels(const io::array& seeds) {
    if (is_floating(seeds.type) || seeds.type == dtype::boolean) return false;
    return with_elements(seeds.data.get(), seeds.type, [&](const auto* cells) {
        std::set<std::int64_t> values;
        for (std::int64_t i = 0, n = seeds.cells(); i < n && values.size() <= 65536; ++i) {
            // int8 labels are numbers, no characters. NOLINTNEXTLINE(bugprone-signed-char-misuse)
            const auto value = static_cast<std::int64_t>(cells[i]);
            if (value != 0 && (i == 0 || cells[i] != cells[i - 1])) values.insert(value);
        }
        return values.size() >= 2 && values.size() <= 65536;
    });
}

}  // namespace

std::function<std::int64_t(std::int64_t)> group_by_value(const io::array& seeds) {
    const std::byte* data = seeds.data.get();
    return [data, type = seeds.type](std::int64_t site) {
        return with_elements(data, type, [&]<class T>(const T* cells) {
            if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(cells[site]);
            else return std::bit_cast<std::int64_t>(static_cast<double>(cells[site]));
        });
    };
}

std::function<std::int64_t(std::int64_t)> group_seeds(const io::array& seeds, bool zero_is_site, int batch_axes) {
    if (!zero_is_site && carries_labels(seeds)) return group_by_value(seeds);
    const auto sites = with_elements(seeds.data.get(), seeds.type, [&](const auto* cells) {
        return connect(seeds.shape, batch_axes, seeds.cells(),
                       [&](std::int64_t i) { return (static_cast<double>(cells[i]) == 0) == zero_is_site; });
    });
    return [sites](std::int64_t site) { return sites->root(site); };
}

}  // namespace nearfield::cli
