// Calls on the host that label an image of their own: remove_small() and count_components().
#include <cstring>

#include "base/lines.hpp"
#include "base/scratch.hpp"
#include "components/background.hpp"
#include "components/engine.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

/// Copies the cells that have a label, and writes the background to all others. A cell has `channels`
/// elements.
template <class Bits, class Label>
void copy_labelled(const host& on, const any_input<host>& image, const any_output<host>& out, const Label* label,
                   std::int64_t channels, Bits background) {
    const std::int64_t elements = image.cells();
    workers team(on, elements);
    constexpr std::int64_t at_once = std::int64_t{1} << 16;
    const auto* const from = static_cast<const Bits*>(image.data);
    auto* const to = static_cast<Bits*>(out.data);
    const std::int64_t* const size = image.shape.data();
    const bool dense =
        is_contiguous(size, image.stride.data(), image.rank) && is_contiguous(size, out.stride.data(), image.rank);
    team.for_each(elements, at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t e = first; e < last; ++e) {
            const Bits value = from[dense ? e : offset_of(e, size, image.stride.data(), image.rank)];
            const bool kept = label[channels == 1 ? e : e / channels] != 0;
            to[dense ? e : offset_of(e, size, out.stride.data(), image.rank)] = kept ? value : background;
        }
    });
}

}  // namespace

void keep_labelled(const host& on, const any_input<host>& image, const any_output<host>& out,
                   const label_options& options) {
    const dtype type = label_type(image.shape.data(), image.rank, options);
    const int axes = image.rank - (options.channels ? 1 : 0);
    const std::int64_t channels = options.channels ? image.shape[static_cast<std::size_t>(axes)] : 1;
    const std::span<const std::int64_t> shape(image.shape.data(), static_cast<std::size_t>(axes));
    const host_scratch<std::byte> memory(cells_between(image.shape.data(), 0, axes) * size_of(type));
    const auto labels = any_output<host>::contiguous(memory.get(), type, shape);
    label<host>(on, image, labels, options);
    with_bits_of(image.type, options, [&]<class Bits>(Bits background) {
        if (type == dtype::int32)
            copy_labelled(on, image, out, static_cast<const std::int32_t*>(labels.data), channels, background);
        else copy_labelled(on, image, out, static_cast<const std::int64_t*>(labels.data), channels, background);
    });
}

std::int64_t count_of(const host& on, const any_input<host>& image, const label_options& options) {
    const std::int64_t images = images_of(image, options);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(images));
    label_fields<host> wanted;
    wanted.count =
        any_output<host>::contiguous(counts.data(), dtype::int64, std::initializer_list<std::int64_t>{images});
    label(on, image, wanted, options);
    std::int64_t sum = 0;
    for (const std::int64_t each : counts) sum += each;
    return sum;
}

}  // namespace nearfield::components
