// Uses every public header of an installed nearfield, and checks one result and one error.
#include <nearfield/nearfield.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
    std::vector<std::uint8_t> image(5 * 7, 1);
    image[2 * 7 + 3] = 0;
    std::vector<float> distance(image.size());
    const nearfield::extent shape{5, 7};
    nearfield::distance(nearfield::host{}, nearfield::view<std::uint8_t, 2, nearfield::host>{image.data(), shape},
                        nearfield::view<float, 2, nearfield::host>{distance.data(), shape}, {.spacing = {3.0, 4.0}});
    if (distance[2 * 7 + 3] != 0 || distance[1 * 7 + 2] != 5 || distance[0] != std::sqrt(36.0F + 144.0F)) return 1;
    try {
        nearfield::distance(nearfield::host{}, {}, {});
        return 2;
    } catch (const nearfield::error& problem) {
        if (problem.code() != nearfield::error_code::invalid_argument || std::string(problem.what()).empty()) return 3;
    }
    const nearfield::system_info system = nearfield::query_system();
    std::printf("nearfield %s, %d cores\n", system.version.c_str(), system.cores);
    return system.version.starts_with("0.") ? 0 : 4;
}
