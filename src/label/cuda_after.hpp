// What is done with a call's labels once they are there: filters and tables.
#pragma once

#include <vector>

#include "label/cuda_call.hpp"

namespace nearfield::labelling {

/// Labels on a device in C order: every image's from 1 on, and how many there are in the images before each (images + 1 numbers).
struct labels_made {
    void* data;
    dtype type;  ///< uint32 or int64
    std::int64_t* base;
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
