// Labels components on a GPU for arrays in host memory. Includes no CUDA header and no fmt.
#pragma once

#include <array>

#include "edge/device_run.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

/// Pointers to the tables' members, for loops over all of them.
template <class Place>
constexpr std::array<any_output<Place> component_tables<Place>::*, 10> table_members() {
    using tables = component_tables<Place>;
    return {&tables::size,   &tables::box,     &tables::centroid, &tables::border, &tables::faces,
            &tables::lowest, &tables::highest, &tables::sum,      &tables::mean,   &tables::variance};
}

/// Runs label() on device `ordinal`: copies the image there, labels it, copies the wanted outputs back and waits. All
/// arrays are contiguous. Throws what run_on_device does.
device_timing label_on_device(int ordinal, const any_input<host>& image, const label_fields<host>& out,
                              const label_options& options);

/// Runs label_by_propagation() in the same way.
device_timing propagate_on_device(int ordinal, const any_input<host>& image, const any_output<host>& out,
                                  const label_options& options, const propagation_options& propagation,
                                  propagation_report& report);

}  // namespace edge
}  // namespace nearfield
