// Steps after the labels of a call exist: filters and tables.
#pragma once

#include <vector>

#include "label/gpu/call.hpp"

namespace nearfield::labelling {

/// Labels on a device in C order. Each image's labels begin at 1; `base` holds the number of components in the images
/// before each (images + 1 numbers).
struct labels_made {
    void* data;
    dtype type;  ///< uint32 or int64
    std::int64_t* base;
};

/// Properties of each component, over all images, that the filters examine.
struct component_tallies {
    state* cells;
    std::uint8_t* border;  ///< 1 if it reaches the end of an axis; null: not needed
};

/// Selects the components that stay. The constructor allocates zeroed tallies. choose() then replaces `cells`:
/// component i (from 0, over all images) gets twice the number of staying components up to and including it, plus 1 if
/// it stays itself.
class component_choice {
public:
    component_choice(const device& on, const problem& p, std::int64_t* base);
    [[nodiscard]] const component_tallies& tallies() const { return of_; }
    void choose();
    /// Number of components that stay in the images before each.
    [[nodiscard]] const std::int64_t* new_base() const { return new_base_; }
    /// Copies new_base() over the call's `base`.
    void replace_base();

private:
    void keep_largest(std::int64_t image);

    const device& on_;
    const problem& p_;
    std::int64_t* base_;
    std::int64_t most_;
    cuda::workspace memory_;
    component_tallies of_{};
    state* states_ = nullptr;
    std::int64_t* new_base_ = nullptr;
    void* selection_ = nullptr;
};

/// Drops the components that the filters reject and renumbers the rest.
void filter_labels(const device& on, const problem& p, const labels_made& labels);

/// Returns the tables that the call wants; waits for the number of components if make_tables is set.
component_tables<device> tables_of(const device& on, const problem& p, const any_input<device>& image,
                                   const label_fields<device>& out, const std::int64_t* base);

/// Fills the tables from labels; waits if there are several images.
void measure_labels(const device& on, const problem& p, const component_tables<device>& to, const labels_made& labels);

/// True if measure_labels() can read labels of up to 31 bits from this view: 32 bits in C order.
bool serves_tables(const any_output<device>& label);

/// Copies labels in C order into the call's own label array, of any type and strides.
void copy_labels(const device& on, const problem& p, const labels_made& labels, const any_output<device>& to);

/// Largest number of components before filters, over all images.
inline std::int64_t most_unfiltered(const problem& p) {
    return p.images * most_components(p.size.data(), p.rank, p.changes, p.options.criterion);
}

}  // namespace nearfield::labelling
