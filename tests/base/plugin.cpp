// A plug-in of a program, which uses the library.
#include <cstdint>
#include <vector>

#include "nearfield/nearfield.hpp"

extern "C" __attribute__((visibility("default"))) int plugin_run() {
    constexpr nearfield::extent shape{600, 700};
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(shape.cells()), 1);
    std::vector<float> out(mask.size());
    mask[0] = 0;
    nearfield::distance(nearfield::host{3}, nearfield::view<const std::uint8_t, 2, nearfield::host>(mask.data(), shape),
                        nearfield::view<float, 2, nearfield::host>(out.data(), shape));
    return out[1] == 1 ? 0 : 1;
}
