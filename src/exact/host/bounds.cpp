#include "exact/bounds.hpp"

#include <algorithm>
#include <memory>

#include "base/parallel.hpp"
#include "exact/host.hpp"
#include "nearfield/system.hpp"

namespace nearfield::exact {

void run_bounded(const host& on, const any_input<host>& image, const any_input<host>& bounds, const fields<host>& out,
                 const distance_options& options) {
    fields<host> searched = out;
    searched.distance = found_distances(image, out);
    std::unique_ptr<double[]> own;
    if (searched.distance.data == nullptr) {
        require_memory(image.cells() * static_cast<std::int64_t>(sizeof(double)),
                       "distances that bounds are compared with");
        own = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(image.cells()));
        searched.distance.data = own.get();
    }
    run(on, make_plan(image, searched, {options}), {image, searched});
    const bounded_cells cells = bounded_cells_of(image, bounds, out, searched.distance);
    constexpr std::int64_t together = 1 << 14;  // approximate cells of a block of lines
    const host quiet{on.threads, {}};           // the search has reported its progress
    workers all(quiet, cells.lines);
    all.for_each(cells.lines, std::max<std::int64_t>(together / cells.length(), 1), 1,
                 [&](std::int64_t first, std::int64_t last, int) {
                     for (std::int64_t line = first; line < last; ++line) cells.run(line, 0, cells.length());
                 });
}

}  // namespace nearfield::exact
