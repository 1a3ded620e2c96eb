#include "exact/host/solve.hpp"

#include "exact/host/engine.hpp"

namespace nearfield::exact {
namespace {

/// Share of the progress for the pass with numbers that may be too small.
constexpr double share_of_trial = 0.75;

/// Returns a place that reports a share of a call's progress.
host part(const host& on, double from, double share) {
    host some{on.threads, {}};
    if (on.progress) some.progress = [&on, from, share](double done) { return on.progress(from + share * done); };
    return some;
}

template <class T, class V>
void solve_all(const host& on, const plan& p, const arrays<host>& a) {
    line_engine<T, V>(on, p, a).solve(nullptr, 0, nullptr);
}

/// Solves with numbers T first, then solves the unresolved tiles with numbers U.
template <class T, class U, class V>
void solve_twice(const host& on, const plan& p, const arrays<host>& a) {
    unresolved_tiles left;
    line_engine<T, V>(part(on, 0, share_of_trial), p, a).solve(nullptr, 0, &left);
    if (left.count > 0)
        line_engine<U, V>(part(on, share_of_trial, 1 - share_of_trial), p, a).solve(&left, number<T>::columns, nullptr);
    else workers(on, 1).go_on(1);
}

/// Solves a power diagram. The weights minus the least of them decide whether sites pack.
template <class V>
void solve_powers(const host& on, const plan& p, const arrays<host>& a) {
    const double share = 1.0 / (p.rank - p.first_axis + 1);
    const host reading = part(on, 0, share), rest = part(on, share, 1 - share);
    std::optional<workers> crew(std::in_place, reading, p.cells);
    const weight_field<V> initial(p, a, *crew);
    crew.reset();
    if constexpr (std::is_same_v<V, std::int64_t>)
        if (packs(p, p.largest + 2 * initial.magnitude()))
            return line_engine<packed_site, V>(rest, p, a, &initial).solve(nullptr, 0, nullptr);
    line_engine<wide_site<V>, V>(rest, p, a, &initial).solve(nullptr, 0, nullptr);
}

}  // namespace

void solve_by_lines(const host& on, const plan& p, const arrays<host>& a) {
    if (p.weighted && p.numbers == tier::float64) return solve_powers<double>(on, p, a);
    if (p.weighted) return solve_powers<std::int64_t>(on, p, a);
    const bool long_values = p.numbers == tier::int64;
    switch (numbers_of(p)) {
        case host_numbers::narrow: return solve_twice<std::uint16_t, std::int32_t, std::int32_t>(on, p, a);
        case host_numbers::int32: return solve_all<std::int32_t, std::int32_t>(on, p, a);
        case host_numbers::int32_real: return solve_twice<std::int32_t, double, std::int64_t>(on, p, a);
        case host_numbers::real:
            if (long_values) return solve_all<double, std::int64_t>(on, p, a);
            return solve_all<double, double>(on, p, a);
        case host_numbers::packed:
            if (long_values) return solve_all<packed_site, std::int64_t>(on, p, a);
            return solve_all<packed_site, std::int32_t>(on, p, a);
        case host_numbers::packed_wide:
            if (long_values) return solve_twice<packed_site, wide_site<std::int64_t>, std::int64_t>(on, p, a);
            return solve_twice<packed_site, wide_site<std::int64_t>, std::int32_t>(on, p, a);
        case host_numbers::wide_whole:
            if (long_values) return solve_all<wide_site<std::int64_t>, std::int64_t>(on, p, a);
            return solve_all<wide_site<std::int64_t>, std::int32_t>(on, p, a);
        case host_numbers::wide_real: return solve_all<wide_site<double>, double>(on, p, a);
    }
}

}  // namespace nearfield::exact
