// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "watershed/host_room.hpp"
#include "watershed/sorted.hpp"

namespace nearfield::watersheds {

void run(const device&, const problem&) { refuse_device(); }
std::vector<peak> find_peaks(const device&, const problem&) { refuse_device(); }
void reconstruct(const device&, const problem&) { refuse_device(); }
std::vector<peak> sort_peaks(const device&, const std::vector<peak>&, const std::vector<std::int64_t>&, bool, double) {
    refuse_device();
}
std::unique_ptr<graph<device>> graph_of(const device&, const problem&) { refuse_device(); }

}  // namespace nearfield::watersheds
