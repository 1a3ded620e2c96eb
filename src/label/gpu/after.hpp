// What is done with a call's labels once they are there: filters and tables.
#pragma once

#include <vector>

#include "label/gpu/call.hpp"

namespace nearfield::labelling {

/// Labels on a device in C order: every image's from 1 on, and how many there are in the images before each (images + 1
/// numbers).
struct labels_made {
    void* data;
    dtype type;  ///< uint32 or int64
    std::int64_t* base;
};

/// What is known of each component, over all images, for the filters.
struct component_tallies {
    state* cells;
    std::uint8_t* border;  ///< whether it reaches the end of an axis; null: not asked for
};

/// Which components stay. Made with room for what is known of them, all zeros; choose() then turns `cells` into
/// numbers: of component i (from 0, over all images) the components that stay, up to it, twice, and 1 more where it
/// stays itself.
class component_choice {
public:
    component_choice(const device& on, const problem& p, std::int64_t* base);
    [[nodiscard]] const component_tallies& tallies() const { return of_; }
    void choose();
    /// Components that stay in the images before each.
    [[nodiscard]] const std::int64_t* new_base() const { return new_base_; }
    /// Makes that the call's `base`.
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

/// Drops what the options' filters drop and numbers the rest anew.
void filter_labels(const device& on, const problem& p, const labels_made& labels);

/// The tables that the call wants; waits for the number of components where that is asked for them.
component_tables<device> tables_of(const device& on, const problem& p, const any_input<device>& image,
                                   const label_fields<device>& out, const std::int64_t* base);

/// Fills the tables from labels; waits where there are several images.
void measure_labels(const device& on, const problem& p, const component_tables<device>& to, const labels_made& labels);

/// Whether labels of up to 31 bits, written here, are what measure_labels() reads: 32 bits in C order.
bool serves_tables(const any_output<device>& label);

/// The call's own label array, whatever its type and strides, from labels in C order.
void copy_labels(const device& on, const problem& p, const labels_made& labels, const any_output<device>& to);

/// Largest number of components before filters, over all images.
inline std::int64_t most_unfiltered(const problem& p) {
    return p.images * most_components(p.size.data(), p.rank, p.changes, p.options.criterion);
}

}  // namespace nearfield::labelling
