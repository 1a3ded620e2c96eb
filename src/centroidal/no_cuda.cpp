// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "centroidal/room.hpp"

namespace nearfield::centroidal {

void run(const device&, const problem&, const any_input<device>&, const any_input<device>&,
         const centroidal_fields<device>&) {
    refuse_device();
}
std::unique_ptr<engine> engine_of(const device&, const std::uint16_t*, std::int64_t) { refuse_device(); }
inks inks_of(const device&, const any_input<device>&, std::span<const std::uint16_t>, bool) { refuse_device(); }
void with_image(const device&, const any_input<device>&, const std::function<void(const any_input<host>&)>&) {
    refuse_device();
}

}  // namespace nearfield::centroidal
