// The watershed on a device: descents, passes, Boruvka's algorithm, levels, steps, parents.
#include "watershed/cuda_fold.cuh"
#include "watershed/cuda_graph.cuh"

namespace nearfield::watersheds {

void run(const device& on, const problem& p) {
    if (p.where.axes <= most_axes) return call(on, p).run();
    const folded image(on, p);
    call(on, image.line()).run();
    image.finish();
}
std::vector<peak> find_peaks(const device& on, const problem& p) {
    if (p.where.axes <= most_axes) return call(on, p).peaks();
    std::vector<peak> found = call(on, folded(on, p).line()).peaks();
    for (peak& each : found) each.cell = number_in_image(p.where, each.cell);
    return found;
}
void reconstruct(const device& on, const problem& p) { run(on, p); }

std::unique_ptr<graph<device>> graph_of(const device& on, const problem& p) {
    return std::make_unique<kept_basins>(on, p);
}

}  // namespace nearfield::watersheds
