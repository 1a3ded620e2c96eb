#include "exact/host_classes.hpp"

#include <algorithm>

#include "base/lines.hpp"
#include "exact/host_fold.hpp"
#include "exact/host_scan.hpp"

namespace nearfield::exact {
namespace {

bool usable_as_it_is(const plan& p) { return is_contiguous(p.size.data(), p.image_stride.data(), p.rank); }

template <class T>
void copy_line(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) {
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < count; ++i) target[i] = source[i * stride];
}

// Positions of cells round the ends of a periodic line lie outside it until the last step.
constexpr std::int64_t none_behind = -(std::int64_t{1} << 40), none_ahead = std::int64_t{1} << 40;

/// The last cell, going back from the line's start round its end, that has another class than the first.
template <class T>
std::int64_t other_behind(const T* label, std::int64_t count) {
    for (std::int64_t x = count - 1; x > 0; --x)
        if (label[x] != label[0]) return x - count;
    return none_behind;
}
template <class T>
std::int64_t other_ahead(const T* label, std::int64_t count) {
    for (std::int64_t x = 0; x + 1 < count; ++x)
        if (label[x] != label[count - 1]) return x + count;
    return none_ahead;
}

template <class T>
void nearest_other(const T* label, std::int64_t count, bool background, bool periodic, const std::function<void()>& ask,
                   std::int32_t* nearest) {
    const auto inside = [count](std::int64_t x) { return x < 0 ? x + count : x >= count ? x - count : x; };
    std::int64_t left = periodic ? other_behind(label, count) : none_behind;
    for_each_piece(count, ask, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t x = first; x < last; ++x) {
            if (x > 0 && label[x] != label[x - 1]) left = x - 1;
            nearest[x] = static_cast<std::int32_t>(left == none_behind ? 0 : x - left);  // steps; 0 for none
        }
    });
    std::int64_t right = periodic ? other_ahead(label, count) : none_ahead;
    for_each_piece(count, ask, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t x = count - 1 - first; x >= count - last; --x) {
            if (x + 1 < count && label[x] != label[x + 1]) right = x + 1;
            const std::int64_t behind = nearest[x] == 0 ? none_ahead : nearest[x];
            const std::int64_t ahead = right == none_ahead ? none_ahead : right - x;
            std::int64_t site = -1;
            if (background && label[x] == 0) site = x;
            else if (behind < ahead) site = inside(x - behind);
            else if (ahead < behind) site = inside(x + ahead);
            else if (ahead != none_ahead) site = std::min(inside(x - behind), inside(x + ahead));
            nearest[x] = static_cast<std::int32_t>(site);
        }
    });
}

}  // namespace

class_field::class_field(const plan& p, const any_input<host>& image) : p_(p), image_(image) {
    if (p.by == classes::none) return;
    bytes_ = static_cast<int>(size_of(image.type));
    if (usable_as_it_is(p)) {
        data_ = static_cast<const std::byte*>(image.data);
    } else {
        own_ = host_scratch<std::byte>(workspace_bytes(p, image));
        data_ = own_.get();
    }
}

std::int64_t class_field::workspace_bytes(const plan& p, const any_input<host>& image) {
    if (p.by == classes::none || usable_as_it_is(p)) return 0;
    return p.cells * size_of(image.type);
}

void class_field::read_lines(std::int64_t first, std::int64_t last) {
    if (own_.get() == nullptr) return;
    const std::int64_t count = p_.size[static_cast<std::size_t>(p_.rank - 1)];
    const std::int64_t stride = p_.image_stride[static_cast<std::size_t>(p_.rank - 1)];
    for (std::int64_t line = first; line < last; ++line) {
        const std::int64_t offset =
            p_.rank == 1 ? 0 : offset_of(line, p_.size.data(), p_.image_stride.data(), p_.rank - 1);
        const std::byte* from = static_cast<const std::byte*>(image_.data) + offset * size_of(image_.type);
        std::byte* to = own_.get() + line * count * bytes_;
        switch (bytes_) {
            case 1: copy_line<std::uint8_t>(from, stride, count, to); break;
            case 2: copy_line<std::uint16_t>(from, stride, count, to); break;
            case 4: copy_line<std::uint32_t>(from, stride, count, to); break;
            default: copy_line<std::uint64_t>(from, stride, count, to);
        }
    }
}

template <class Use>
auto class_field::with_elements(const Use& use) const {
    switch (bytes_) {
        case 1: return use(reinterpret_cast<const std::uint8_t*>(data_));
        case 2: return use(reinterpret_cast<const std::uint16_t*>(data_));
        case 4: return use(reinterpret_cast<const std::uint32_t*>(data_));
        default: return use(reinterpret_cast<const std::uint64_t*>(data_));
    }
}

void class_field::signs(std::int64_t first, std::int64_t count, std::int8_t* sign) const {
    const auto of_zero = static_cast<std::int8_t>(p_.inside_is_nonzero ? p_.outside_sign : p_.inside_sign);
    const auto of_others = static_cast<std::int8_t>(-of_zero);
    with_elements([&](const auto* label) {
        for (std::int64_t i = 0; i < count; ++i) sign[i] = label[first + i] == 0 ? of_zero : of_others;
    });
}

bool class_field::same(std::int64_t a, std::int64_t b) const {
    return with_elements([&](const auto* label) { return label[a] == label[b]; });
}

void class_field::nearest_in_line(std::int64_t line, std::int64_t count, const std::function<void()>& ask,
                                  std::int32_t* nearest) const {
    const bool periodic = p_.borders[static_cast<std::size_t>(p_.rank - 1)] == border::periodic;
    with_elements(
        [&](const auto* label) { nearest_other(label + line * count, count, p_.background, periodic, ask, nearest); });
}

void class_field::count_steps(std::int64_t here, std::int64_t there, std::int64_t count, const std::uint32_t* next,
                              std::uint32_t* steps) const {
    with_elements([&](const auto* label) { exact::count_steps(label + here, label + there, count, next, steps); });
}

}  // namespace nearfield::exact
