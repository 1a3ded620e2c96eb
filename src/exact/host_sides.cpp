// A cell's distance to the other class is its distance in the plain field whose sites are that class, and 0 in the
// other one. So two plain fields replace a signed one if the engine of planes serves them, or if no engine can search
// both classes at once.
#include "exact/host_sides.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/with_bytes.hpp"
#include "exact/host.hpp"
#include "exact/host/layout.hpp"
#include "exact/host_planes.hpp"

namespace nearfield::exact {
namespace {

/// True if every element is zero or `other`; if `other` is still 0 it becomes the first element that is not zero.
template <class T>
bool has_one_value(const T* first, std::int64_t stride, std::int64_t count, std::uint64_t& other) {
    for (std::int64_t i = 0; i < count && other == 0; ++i) other = first[i * stride];
    const T value = static_cast<T>(other);
    T strange = 0;
    const auto look = [&](auto step) {
        for (std::int64_t i = 0; i < count; ++i)
            strange |= static_cast<T>((first[i * step] != 0) & (first[i * step] != value));
    };
    if (stride == 1) look(std::integral_constant<std::int64_t, 1>{});
    else look(stride);
    return strange == 0;
}

bool is_mask(const host& on, const plan& p, const any_input<host>& image) {
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const cell_offsets offsets(p.size.data(), p.image_stride.data(), p.rank);
    const std::int64_t length = p.size[last];
    workers crew(on, 2 * p.cells);
    std::vector<std::uint64_t> others(static_cast<std::size_t>(crew.threads()), 0);
    std::atomic<bool> many{false};
    crew.for_each(
        p.cells / length, std::max<std::int64_t>(1, (1 << 16) / length), 0,
        [&](std::int64_t line, std::int64_t end, int thread) {
            with_bytes(size_of(image.type), [&]<class T>(T) {
                for (; line < end && !many.load(std::memory_order_relaxed); ++line)
                    if (!has_one_value(static_cast<const T*>(image.data) + offsets.of(line * length),
                                       p.image_stride[last], length, others[static_cast<std::size_t>(thread)]))
                        many = true;
            });
        });
    std::uint64_t value = 0;
    for (const std::uint64_t other : others) {
        if (value != 0 && other != 0 && other != value) many = true;
        value = value != 0 ? value : other;
    }
    return !many;
}

/// True if no step along an axis is lost in the sum with another one. Otherwise sites of a cell's own class could seem
/// as near as those of the other class can be.
bool keeps_steps(const plan& p) {
    return std::all_of(p.rows_ordered.begin(), p.rows_ordered.begin() + p.rank, [](bool ordered) { return ordered; });
}

/// Limits: lines so short that scanning them one by one is inefficient, axes long enough to replace them, and the
/// largest distance between the cells of such an axis.
constexpr std::int64_t short_line = 32, long_line = 64, most_apart = 1024;

/// If the last axis is short, the nearest long axis becomes the last: lines of two cells took 70 times as long as a
/// square with as many cells. The axes behind it become the first, in reverse order, so that the last pass writes cells
/// that are neighbours in memory: coordinates of (100, 1000, 20) took three times as long with the first axis in front.
/// Packed sites keep their bits, so that ties do not change. Sums of three rounded terms depend on their order, but not
/// on which of the last two axes comes first.
plan with_long_lines(plan p) {
    const int last = p.rank - 1;
    const auto size_of_axis = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    if (!(p.any_order() || keeps_steps(p)) || p.weighted || size_of_axis(last) >= short_line) return p;
    int from = last;
    for (std::int64_t apart = 1; from >= p.first_axis && size_of_axis(from) < long_line; --from) {
        apart *= size_of_axis(from);
        if (apart > most_apart) return p;
    }
    if (from < (p.any_order() ? p.first_axis : std::max(p.first_axis, last - 1))) return p;
    std::array<std::size_t, max_rank> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::reverse(order.begin() + from, order.begin() + last + 1);
    if (p.any_order()) std::rotate(order.begin() + p.first_axis, order.begin() + from, order.begin() + last);
    p.put_axes(order);
    p.turned = true;
    return p;
}

}  // namespace

std::vector<plan> sides_of(const plan& p, int threads) {
    if (p.by != classes::zero) return {with_long_lines(p)};
    const bool nonzero_is_negative = (p.inside_is_nonzero ? p.inside_sign : p.outside_sign) < 0;
    plan positive = p;
    positive.by = classes::none;
    positive.inside_sign = positive.outside_sign = 1;
    positive.rule = nonzero_is_negative ? sites::nonzero : sites::zero;
    positive = with_long_lines(positive);
    const plan both = with_long_lines(p);
    if (keeps_steps(both) && !suits_planes(positive, threads)) return {both};
    plan negative = positive;
    negative.rule = nonzero_is_negative ? sites::zero : sites::nonzero;
    negative.negative_side = true;
    return {positive, negative};
}

void recognise_mask(const host& on, const any_input<host>& image, plan& p) {
    if (p.by == classes::values && is_mask(on, p, image)) p.take_as_mask();
}

void run(const host& on, const plan& p, const arrays<host>& a) {
    plan one = p;
    recognise_mask(on, a.image, one);
    const int threads = threads_that_fit(on, one, a);
    const std::vector<plan> sides = sides_of(one, threads);
    const auto share = 1.0 / static_cast<double>(sides.size());
    for (std::size_t k = 0; k < sides.size(); ++k) {
        host part{threads, {}};
        if (on.progress)
            part.progress = [&](double done) { return on.progress((static_cast<double>(k) + done) * share); };
        run_engine(part, sides[k], a);
    }
}

}  // namespace nearfield::exact
