// The watershed on a device: descents, passes, Boruvka's algorithm, levels, steps, parents.
#include "watershed/cuda_call.cuh"
#include "watershed/cuda_graph.cuh"

namespace nearfield::watersheds {

void run(const device& on, const problem& p) { call(on, p).run(); }
std::vector<peak> find_peaks(const device& on, const problem& p) { return call(on, p).peaks(); }
void reconstruct(const device& on, const problem& p) { call(on, p).run(); }

std::unique_ptr<graph<device>> graph_of(const device& on, const problem& p) {
    return std::make_unique<kept_basins>(on, p);
}

}  // namespace nearfield::watersheds
