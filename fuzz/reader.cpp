// A fuzz target for one reader, NEARFIELD_FUZZ_FORMAT: any bytes must give an array or an error(io).
#include <zlib.h>

#include <cstdlib>
#include <cstring>

#include "checked.hpp"

namespace {

using nearfield::io::format;
constexpr format as = format::NEARFIELD_FUZZ_FORMAT;

/// PNG guards each chunk with a checksum that mutations break; put right, so that they reach the chunks' content.
void repair_checksums(std::vector<std::byte>& png) {
    const auto big_endian = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(png[at + i]);
        return value;
    };
    for (std::size_t at = 8; at + 12 <= png.size();) {
        const std::size_t length = big_endian(at);
        if (length > png.size() - at - 12) return;
        const auto sum = crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), static_cast<uInt>(length + 4));
        for (std::size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size > 0) std::memcpy(bytes.data(), data, size);
    if constexpr (as == format::png) repair_checksums(bytes);
    try {
        check(nearfield::io::read(bytes, as, {.max_bytes = std::int64_t{1} << 24}));
    } catch (const nearfield::error& e) {
        if (e.code() != nearfield::error_code::io) std::abort();
    }
    return 0;
}
