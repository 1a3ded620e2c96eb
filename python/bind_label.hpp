// Shared by the bindings of components: options that own their memory, and tables that Python gives.
#pragma once

#include <vector>

#include "edge/label_run.hpp"
#include "python/bind_call.hpp"

namespace nearfield::python {

struct label_words {
    label_options plain;  ///< without `steps`
    std::vector<std::uint8_t> steps;

    [[nodiscard]] label_options options() const {
        label_options whole = plain;
        whole.steps = steps;
        return whole;
    }
};

/// Translates the options that Python gives in words. Throws invalid_argument for a word that is none of them.
void set_words(label_words& made, int connectivity, const std::string& criterion, scalar tolerance,
               const std::vector<bool>& periodic, const std::string& norm);

/// Eleven arrays or None, in the order of edge::table_members(), and last the intensities to measure. Needs the
/// interpreter's lock; the arrays must stay as long as the tables.
template <class Place>
component_tables<Place> tables_of(const nb::tuple& given) {
    constexpr auto members = edge::table_members<Place>();
    const auto at = [&](std::size_t k) {
        const nb::handle each = given[k];
        return each.is_none() ? nullptr : nb::cast<const array*>(each);
    };
    component_tables<Place> tables;
    for (std::size_t k = 0; k < members.size(); ++k) tables.*members[k] = view_of<void, Place>(at(k));
    tables.intensity = view_of<const void, Place>(at(members.size()));
    return tables;
}

void bind_label(nb::module_& module);
void bind_components(nb::module_& module);

}  // namespace nearfield::python
