// One input of distance or voronoi: its arrays, and the files they go to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/load.hpp"
#include "cli/outputs.hpp"
#include "edge/work.hpp"

namespace nearfield::cli {

using edge::work;

struct field_run {
    std::string path;  ///< of the input
    loaded input;
    std::vector<slot> slots;
    distance_options options;
    io::array weights;  ///< of a power diagram; no shape otherwise
    io::array part;     ///< not zero for the cells that take part, in bytes; no shape: all do
    io::array values, index, coordinates, label, trusted;
    fields<host> out;    ///< the arrays above that are wanted
    bool empty = false;  ///< no cell of the input is a site

    [[nodiscard]] bool partly() const { return !part.shape.empty(); }
    [[nodiscard]] bool weighted() const { return !weights.shape.empty(); }
    [[nodiscard]] const io::array& array_of(const arguments& args, content what) const;
    /// "distance", "squared", "power", "index", "coordinates", "label", "trusted"
    [[nodiscard]] std::string name_of(const arguments& args, content what) const;
    /// Least and largest of the values that are no infinity; {0, 0} without any.
    [[nodiscard]] std::pair<double, double> extremes() const;
};

/// Reads the input (and the weights) and checks all that needs their shapes. Throws invalid_argument or io.
[[nodiscard]] field_run load_run(const arguments& args, const outputs& wanted, const std::string& path);

/// Fills `run.out`: with arrays in memory, or (for a plan) with views without data.
void allocate(field_run& run, const arguments& args, const outputs& wanted, bool with_memory);

/// The call of the library.
[[nodiscard]] work<host> work_of(const field_run& run);

/// Writes all files of the run.
void save(const field_run& run, const arguments& args);

}  // namespace nearfield::cli
