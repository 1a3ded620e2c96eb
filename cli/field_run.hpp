// One input of distance or voronoi: its arrays, and the files that receive them.
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
    std::string path;  ///< the input's path
    loaded input;
    std::vector<slot> slots;
    distance_options options;
    io::array weights;  ///< of a power diagram; without a shape if there are none
    io::array part;     ///< bytes, not zero for cells that are computed; without a shape: all cells are
    io::array values, index, coordinates, label, trusted;
    fields<host> out;    ///< views of the wanted arrays
    bool empty = false;  ///< true if no cell of the input is a site

    [[nodiscard]] bool partly() const { return !part.shape.empty(); }
    [[nodiscard]] bool weighted() const { return !weights.shape.empty(); }
    [[nodiscard]] const io::array& array_of(const arguments& args, content what) const;
    /// Name of an output: "distance", "squared", "power", "index", "coordinates", "label" or "trusted".
    [[nodiscard]] std::string name_of(const arguments& args, content what) const;
    /// The least and largest finite value; {0, 0} if there is none.
    [[nodiscard]] std::pair<double, double> extremes() const;
};

/// Reads the input (and the weights) and checks everything that depends on their shapes. Throws invalid_argument or io.
[[nodiscard]] field_run load_run(const arguments& args, const outputs& wanted, const std::string& path);

/// Fills `run.out`: with arrays in memory, or for a plan with views without data.
void allocate(field_run& run, const arguments& args, const outputs& wanted, bool with_memory);

/// The library call for a run.
[[nodiscard]] work<host> work_of(const field_run& run);

/// Writes all files of the run.
void save(const field_run& run, const arguments& args);

}  // namespace nearfield::cli
