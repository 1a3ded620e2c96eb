// The room's functions for both places. entry.cpp calls them after it has checked all arguments.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unwritten.hpp"
#include "components/core.hpp"

namespace nearfield::components {

void measure(const host& on, const any_input<host>& labels, const component_tables<host>& tables);
void measure(const device& on, const any_input<device>& labels, const component_tables<device>& tables);

/// Does the same; make_tables gets the largest label, of int32 or uint32.
using table_maker = std::function<component_tables<device>(std::int64_t rows)>;
void measure(const device& on, const any_input<device>& labels, const table_maker& make_tables);

void count_lists(const host& on, const any_input<host>& labels, const any_output<host>& offsets, list_of what);
void count_lists(const device& on, const any_input<device>& labels, const any_output<device>& offsets, list_of what);

void fill_lists(const host& on, const any_input<host>& labels, const any_input<host>& offsets,
                const any_output<host>& entries, list_of what);
void fill_lists(const device& on, const any_input<device>& labels, const any_input<device>& offsets,
                const any_output<device>& entries, list_of what);

void renumber(const host& on, const any_input<host>& labels, const any_output<host>& out,
              const any_output<host>& count);
void renumber(const device& on, const any_input<device>& labels, const any_output<device>& out,
              const any_output<device>& count);

/// Labels the image without the cells that `options` drop, then copies the image's labelled cells to `out`.
void keep_labelled(const host& on, const any_input<host>& image, const any_output<host>& out,
                   const label_options& options);
void keep_labelled(const device& on, const any_input<device>& image, const any_output<device>& out,
                   const label_options& options);

std::int64_t count_of(const host& on, const any_input<host>& image, const label_options& options);
std::int64_t count_of(const device& on, const any_input<device>& image, const label_options& options);

/// Makes the list that contacts() returns.
class contact_list {
public:
    /// `areas`: of a cell's faces, by the axis that they are normal to.
    explicit contact_list(const std::array<double, most_axes>& areas) : areas_(areas) {}

    /// Reserves memory for at most so many pairs.
    void expect(std::int64_t pairs) {
        require_memory_for_all(pairs * static_cast<std::int64_t>(sizeof(contact)), "the list of contacts");
        all_.reserve(static_cast<std::size_t>(pairs));
        make_pages(all_.data(), pairs * static_cast<std::int64_t>(sizeof(contact)));
    }
    void add(const touch& t) {
        double area = 0;
        for (std::size_t axis = 0; axis < most_axes; ++axis) area += static_cast<double>(t.faces[axis]) * areas_[axis];
        all_.push_back({t.a, t.b, static_cast<std::int64_t>(t.pairs), area});
    }
    [[nodiscard]] std::vector<contact> take() { return std::move(all_); }

private:
    std::array<double, most_axes> areas_;
    std::vector<contact> all_;
};

/// Adds every pair of touching values, each pair once, a < b, in ascending order.
void find_touching(const host& on, const any_input<host>& labels, const steps3& steps, contact_list& to);
void find_touching(const device& on, const any_input<device>& labels, const steps3& steps, contact_list& to);

/// The largest number that a label type can hold, at most int64's maximum.
constexpr std::int64_t most_of(dtype label) {
    switch (label) {
        case dtype::uint16: return std::numeric_limits<std::uint16_t>::max();
        case dtype::int32: return std::numeric_limits<std::int32_t>::max();
        case dtype::uint32: return std::numeric_limits<std::uint32_t>::max();
        default: return std::numeric_limits<std::int64_t>::max();
    }
}

/// Throws if relabel's `out` cannot hold `values` different numbers.
void check_numbers(dtype out, std::int64_t values);

}  // namespace nearfield::components
