// Otsu's threshold.
#include <fmt/format.h>

#include "base/call.hpp"
#include "base/check.hpp"
#include "nearfield/split.hpp"
#include "split/gray_values.hpp"

namespace nearfield {

double splitting::histogram::otsu() const {
    double total = 0, total_moment = 0, below = 0, moment = 0, best = -1;
    for (std::size_t bin = 0; bin < count.size(); ++bin)
        total += count[bin], total_moment += count[bin] * static_cast<double>(bin);
    if (count.empty()) return largest;
    std::size_t cut = 0;
    for (std::size_t bin = 0; bin + 1 < count.size(); ++bin) {
        below += count[bin], moment += count[bin] * static_cast<double>(bin);
        if (below == 0 || below == total) continue;
        const double apart = moment / below - (total_moment - moment) / (total - below);
        const double between = below * (total - below) * apart * apart;
        if (between > best) best = between, cut = bin;
    }
    return least + width * static_cast<double>(cut + 1);
}

double threshold_otsu(const host& on, const any_input<host>& image) {
    return in_call([&] {
        check_image<host>("image", image, std::int64_t{1} << 62);
        const named_view<host> all[] = {{"image", image}};
        check_data<host>(all);
        if (on.threads < 0)
            fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        const splitting::histogram found([&](const auto& use) { splitting::each_value(image, use); },
                                         image.type < dtype::float16);
        if (!(found.least <= found.largest))
            fail("image has no finite value; give an image of which some cells have one");
        const double edge = found.otsu();
        // An integer that divides the cells in the same way is easier to read.
        return image.type >= dtype::float16 || found.width == 0 ? edge : std::ceil(edge) - 1;
    });
}

}  // namespace nearfield
