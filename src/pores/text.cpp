// Writes the table of a pore network with OpenPNM's names.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "nearfield/pores.hpp"

namespace nearfield {
namespace {

constexpr const char* sides[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};

void add_coordinates(std::string& to, const std::array<double, 3>& at) {
    fmt::format_to(std::back_inserter(to), ",{},{},{}", at[0], at[1], at[2]);
}
std::string names_of(const char* name) { return fmt::format(",{0}[0],{0}[1],{0}[2]", name); }

void add_pore(std::string& to, const pore& p, int axes, bool boundaries) {
    add_coordinates(to, p.centre), add_coordinates(to, p.centroid);
    fmt::format_to(std::back_inserter(to), ",{},{},{},{}", p.region, p.inscribed_diameter, p.volume,
                   p.equivalent_diameter);
    if (!boundaries) return;
    to += p.side < 0 ? ",False" : ",True";
    for (int side = 0; side < 2 * axes; ++side) to += p.side == side ? ",True" : ",False";
}

}  // namespace

std::string csv_of(const pore_network& network) {
    const int axes = network.axes;
    const bool boundaries = !network.pores.empty() && network.pores.back().side >= 0;
    std::string text = "throat.conns[0],throat.conns[1]" + names_of("throat.global_peak") +
                       ",throat.inscribed_diameter,throat.cross_sectional_area,throat.equivalent_diameter,throat.total_"
                       "length,throat.direct_length" +
                       names_of("pore.coords") + names_of("pore.geometric_centroid") +
                       ",pore.region_label,pore.inscribed_diameter,pore.volume,pore.equivalent_diameter";
    std::size_t pore_columns = 10;
    if (boundaries) {
        text += ",pore.boundary";
        for (int side = 0; side < 2 * axes; ++side) text += fmt::format(",pore.{}", sides[side]);
        pore_columns += 1 + 2 * static_cast<std::size_t>(axes);
    }
    text += '\n';
    for (std::size_t i = 0; i < std::max(network.pores.size(), network.throats.size()); ++i) {
        if (i < network.throats.size()) {
            const throat& t = network.throats[i];
            fmt::format_to(std::back_inserter(text), "{},{}", t.a, t.b);
            add_coordinates(text, t.centre);
            fmt::format_to(std::back_inserter(text), ",{},{},{},{},{}", t.inscribed_diameter, t.area,
                           t.equivalent_diameter, t.total_length, t.direct_length);
        } else text.append(9, ',');
        if (i < network.pores.size()) add_pore(text, network.pores[i], axes, boundaries);
        else text.append(pore_columns, ',');
        text += '\n';
    }
    return text;
}

}  // namespace nearfield
