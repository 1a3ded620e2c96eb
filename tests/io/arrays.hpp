// Arrays, files and comparisons for the tests of src/io.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "folder.hpp"
#include "io/io.hpp"

namespace nearfield::io::test {

inline constexpr dtype every_type[] = {dtype::boolean, dtype::int8,    dtype::uint8,   dtype::int16,
                                       dtype::uint16,  dtype::int32,   dtype::uint32,  dtype::int64,
                                       dtype::uint64,  dtype::float16, dtype::float32, dtype::float64};

/// Random bytes, with NaN, infinities and negative zero among floats, since files must keep bits, not only values.
inline array random_array(dtype type, std::vector<std::int64_t> shape, unsigned seed) {
    array made = make_array(type, std::move(shape));
    std::mt19937 chance(seed);
    for (std::int64_t i = 0; i < made.bytes(); ++i)
        made.data[static_cast<std::size_t>(i)] =
            static_cast<std::byte>(type == dtype::boolean ? chance() & 1 : chance() & 0xff);
    return made;
}

inline void expect_same_values(const array& got, const array& wanted) {
    ASSERT_EQ(got.type, wanted.type);
    ASSERT_EQ(got.shape, wanted.shape);
    EXPECT_EQ(got.color, wanted.color);
    EXPECT_EQ(std::memcmp(got.data.get(), wanted.data.get(), static_cast<std::size_t>(wanted.bytes())), 0);
}

using nearfield::test::folder;

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// The bytes of the file that write() makes.
inline std::string encoded(const array& values, const std::string& suffix,
                           compression wanted = compression::automatic) {
    const folder temporary;
    write(temporary / ("array" + suffix), values, {.compression = wanted});
    return bytes_of(temporary / ("array" + suffix));
}

inline array decoded(std::string_view bytes, format as, const read_limits& limits = {}) {
    // Copies to a buffer of exactly this size, so that AddressSanitizer detects a read past the end.
    const std::vector<std::byte> exact(reinterpret_cast<const std::byte*>(bytes.data()),
                                       reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
    return read(exact, as, limits);
}

/// Message and code of the error that `call` throws; fails the test if it throws nothing or something else.
template <class Call>
std::string error_of(error_code expected, const Call& call) {
    try {
        call();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), expected) << e.what();
        return e.what();
    } catch (const std::exception& e) {
        ADD_FAILURE() << "threw another exception: " << e.what();
        return {};
    }
    ADD_FAILURE() << "threw nothing";
    return {};
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace nearfield::io::test
