#include "exact/host_classes.hpp"

#include <cstring>

#include "base/lines.hpp"

namespace nearfield::exact {
namespace {

bool usable_as_it_is(const plan& p) { return is_contiguous(p.size.data(), p.image_stride.data(), p.rank); }

template <class T>
void copy_line(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) {
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < count; ++i) target[i] = source[i * stride];
}

}  // namespace

class_field::class_field(const plan& p, const any_input<host>& image) : p_(p), image_(image) {
    if (p.by != classes::values) return;
    bytes_ = static_cast<int>(size_of(image.type));
    if (usable_as_it_is(p)) {
        data_ = static_cast<const std::byte*>(image.data);
    } else {
        own_ = host_scratch<std::byte>(workspace_bytes(p, image));
        data_ = own_.get();
    }
}

std::int64_t class_field::workspace_bytes(const plan& p, const any_input<host>& image) {
    if (p.by != classes::values || usable_as_it_is(p)) return 0;
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

bool class_field::same(std::int64_t a, std::int64_t b) const {
    return std::memcmp(elements(a), elements(b), static_cast<std::size_t>(bytes_)) == 0;
}

}  // namespace nearfield::exact
