// On the host: finds values, codes, and the cells of each label.
#include <algorithm>
#include <atomic>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "metrics/core.hpp"

namespace nearfield::metrics {
namespace {

constexpr std::int64_t cells_at_once = 1 << 15;

/// Calls body(first element, step, cells, number of the first cell) for runs of cells of an image, from many threads.
template <class T, class Body>
void for_stretches(workers& team, const any_input<host>& image, const Body& body) {
    const bool contiguous = is_contiguous(image.shape.data(), image.stride.data(), image.rank);
    team.for_each(image.cells(), cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for_each_stretch(first, last - first, image.shape.data(), image.stride.data(), image.rank, contiguous,
                         [&](std::int64_t offset, std::int64_t step, std::int64_t cells, std::int64_t done) {
                             body(static_cast<const T*>(image.data) + offset, step, cells, first + done);
                         });
    });
}

template <class T>
void note_values(workers& team, const any_input<host>& image, std::uint8_t* seen) {
    for_stretches<T>(team, image, [&](const T* from, std::int64_t step, std::int64_t cells, std::int64_t) {
        T last = 0;
        for (std::int64_t i = 0; i < cells; ++i) {
            const T value = from[i * step];
            if (value == last) continue;
            last = value;
            if (value != 0) std::atomic_ref(seen[place_of(value)]).store(1, std::memory_order_relaxed);
        }
    });
}

template <class Code, class T>
void encode_values(workers& team, const coding& by, const any_input<host>& image, Code* to) {
    const auto code = [&](T value) {
        return static_cast<Code>(code_of(value, by.value.data(), by.code.data(), static_cast<int>(by.value.size())));
    };
    for_stretches<T>(team, image, [&](const T* from, std::int64_t step, std::int64_t cells, std::int64_t first) {
        T last = 0;
        Code its = code(last);
        for (std::int64_t i = 0; i < cells; ++i) {
            const T value = from[i * step];
            if (value != last) last = value, its = code(value);
            to[first + i] = its;
        }
    });
}

void add_to(std::int64_t& to, std::int64_t by) { std::atomic_ref(to).fetch_add(by, std::memory_order_relaxed); }
/// Replaces `to` by `value` if that is better.
template <class Better>
void improve(std::int64_t& to, std::int64_t value, const Better& better) {
    const std::atomic_ref shared(to);
    for (std::int64_t now = shared.load(std::memory_order_relaxed);
         better(value, now) && !shared.compare_exchange_weak(now, value, std::memory_order_relaxed);) {
    }
}

template <class Code>
class counter {
public:
    counter(const problem& p, const coded& codes, std::vector<tally>& rows) : p_(p), codes_(codes), rows_(rows) {}

    void count_line(std::int64_t line) const {
        const std::int64_t n = p_.size[2], image = line * n / p_.image_cells();
        for (int side = 0; side < 2; ++side) {
            const Code *const mine = codes_.side<Code>(side) + line * n, *const other =
                                                                             codes_.side<Code>(1 - side) + line * n;
            for (std::int64_t first = 0, last = 0; first < n; first = last) {
                const Code code = mine[first];
                last = first + 1;
                while (last < n && mine[last] == code) ++last;
                if (code == 0) continue;
                tally& row = rows_[static_cast<std::size_t>(image * p_.labels + code - 1)];
                add_to(row.cells[side], last - first);
                if (side == 0) add_to(row.common, std::count(other + first, other + last, code));
                const std::int64_t lines = p_.size[1], in_image = line - image * p_.size[0] * lines;
                const std::int64_t low[] = {in_image / lines, in_image % lines, first},
                                   high[] = {low[0], low[1], last - 1};
                for (int axis = 0; axis < most_axes; ++axis)
                    improve(row.low[axis], low[axis], std::less<>{}),
                        improve(row.high[axis], high[axis], std::greater<>{});
            }
        }
    }

private:
    const problem& p_;
    const coded& codes_;
    std::vector<tally>& rows_;
};

/// Calls body(Code{}) with the codes' type.
template <class Body>
void with_code(const problem& p, const Body& body) {
    if (p.wide_codes()) body(std::uint32_t{});
    else body(std::uint8_t{});
}

}  // namespace

std::vector<std::int64_t> values_of(const host& on, const any_input<host>& a, const any_input<host>& b) {
    std::vector<std::uint8_t> seen(most_found + 1);
    workers team(on, 2 * a.cells());
    for (const any_input<host>* image : {&a, &b})
        with_integer(image->type, [&]<class T>(T) { note_values<T>(team, *image, seen.data()); });
    return listed(seen);
}

void encode(const host& on, const problem& p, const coding& by, const any_input<host>& a, const any_input<host>& b,
            void* codes) {
    workers team(on, 2 * p.cells());
    with_code(p, [&]<class Code>(Code) {
        for (int side = 0; side < 2; ++side) {
            const any_input<host>& image = side == 0 ? a : b;
            Code* const to = static_cast<Code*>(codes) + side * p.cells();
            with_integer(image.type, [&]<class T>(T) { encode_values<Code, T>(team, by, image, to); });
        }
    });
}

std::vector<tally> count(const host& on, const problem& p, const coded& codes) {
    std::vector<tally> rows(static_cast<std::size_t>(p.images * p.labels));
    const std::int64_t n = p.size[2];
    workers team(on, p.cells());
    with_code(p, [&]<class Code>(Code) {
        const counter<Code> lines(p, codes, rows);
        team.for_each(p.cells() / n, std::max<std::int64_t>(cells_at_once / n, 1), n,
                      [&](std::int64_t first, std::int64_t last, int) {
                          for (std::int64_t line = first; line < last; ++line) lines.count_line(line);
                      });
    });
    return rows;
}

}  // namespace nearfield::metrics
