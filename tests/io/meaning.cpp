// The meaning of particular files: orders, polarities, spacings. Most files are written out by hand here.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "arrays.hpp"
#include "io/bytes.hpp"

namespace nearfield::io::test {
namespace {

template <class T>
std::vector<T> values_of(const array& a) {
    const T* at = reinterpret_cast<const T*>(a.data.get());
    return {at, at + a.cells()};
}
using bytes8 = std::vector<std::uint8_t>;

std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string length(version == 1 ? 2 : 4, '\0');
    length[0] = static_cast<char>(header.size());
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + length + header + data;
}

TEST(io_meaning, npy_orders_and_versions) {
    for (const int version : {1, 2, 3}) {
        const array c = decoded(
            npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", "\1\2\3\4\5\6", version), format::npy);
        EXPECT_EQ(values_of<std::uint8_t>(c), (bytes8{1, 2, 3, 4, 5, 6}));
        const array f =
            decoded(npy("{'shape':(2,3),'fortran_order':True,'descr':\"|u1\"}", "\1\4\2\5\3\6", version), format::npy);
        EXPECT_EQ(f.shape, (std::vector<std::int64_t>{2, 3}));
        EXPECT_EQ(values_of<std::uint8_t>(f), (bytes8{1, 2, 3, 4, 5, 6}));
    }
    const array big = decoded(
        npy("{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", std::string("\1\2\3\4", 4)), format::npy);
    EXPECT_EQ(values_of<std::uint16_t>(big), (std::vector<std::uint16_t>{0x102, 0x304}));
    const array little = decoded(
        npy("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", std::string("\1\2\3\4", 4)), format::npy);
    EXPECT_EQ(values_of<std::uint16_t>(little), (std::vector<std::uint16_t>{0x201, 0x403}));
    const array truth = decoded(
        npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\x80", 3)), format::npy);
    EXPECT_EQ(values_of<std::uint8_t>(truth), (bytes8{0, 1, 1}));
}

TEST(io_meaning, npy_fortran_order_in_four_axes) {
    const std::vector<std::int64_t> shape{3, 40, 2, 37};
    std::string data;
    for (int d = 0; d < 37; ++d)
        for (int c = 0; c < 2; ++c)
            for (int b = 0; b < 40; ++b)
                for (int a = 0; a < 3; ++a) {
                    const auto v = static_cast<std::int16_t>(((a * 40 + b) * 2 + c) * 37 + d);
                    data.append(reinterpret_cast<const char*>(&v), 2);
                }
    const array got =
        decoded(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (3, 40, 2, 37), }", data), format::npy);
    ASSERT_EQ(got.shape, shape);
    const auto values = values_of<std::int16_t>(got);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<std::int16_t>(i));
}

TEST(io_meaning, pnm_plain_and_raw_say_the_same) {
    const bytes8 bits{1, 0, 1, 0, 1, 1};  // white is true; a 1 in the file is black
    EXPECT_EQ(values_of<std::uint8_t>(decoded("P1\n# a comment\n3 2\n010100", format::pnm)), bits);
    EXPECT_EQ(values_of<std::uint8_t>(decoded("P1 3 2 0 1 0\n1 0 # tail\n 0", format::pnm)), bits);
    EXPECT_EQ(values_of<std::uint8_t>(decoded("P4 3 2\n\x5f\x9f", format::pnm)), bits);
    EXPECT_EQ(values_of<std::uint8_t>(decoded("P2\n2#width\n2\n#max\n9 0 9\n3\t4", format::pnm)), (bytes8{0, 9, 3, 4}));
    EXPECT_EQ(values_of<std::uint8_t>(decoded(std::string("P5 2 2 255\n\0\11\3\4", 15), format::pnm)),
              (bytes8{0, 9, 3, 4}));
    EXPECT_EQ(values_of<std::uint16_t>(decoded(std::string("P5 2 1 300\n\1\2\0\4", 15), format::pnm)),
              (std::vector<std::uint16_t>{258, 4}));
    const array color = decoded("P3 1 2 255 1 2 3 4 5 6", format::pnm);
    EXPECT_TRUE(color.color);
    EXPECT_EQ(color.shape, (std::vector<std::int64_t>{2, 1, 3}));
    EXPECT_EQ(values_of<std::uint8_t>(color), (bytes8{1, 2, 3, 4, 5, 6}));
}

TEST(io_meaning, nrrd_headers) {
    const std::string base =
        "NRRD0005\r\n# comment\r\nkey:=a: value\r\ncontent: x\r\ntype: unsigned short\r\ndimension: 2\r\nsizes: 3 "
        "2\r\n";
    const std::string data("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
    const array big = decoded(
        base + "endian: big\r\nencoding: raw\r\nspace directions: (3,4) (0,2)\r\nspace units: \"mm\" \"mm\"\r\n\r\n" +
            data,
        format::nrrd);
    EXPECT_EQ(big.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(values_of<std::uint16_t>(big), (std::vector<std::uint16_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(big.spacing, (std::vector<double>{2, 5}));
    EXPECT_EQ(big.unit, "mm");
    const array skipped =
        decoded(base + "endian: big\nencoding: raw\nline skip: 1\nbyte skip: 2\nspacings: nan 0.5\n\nline\nxx" + data,
                format::nrrd);
    EXPECT_EQ(values_of<std::uint16_t>(skipped), values_of<std::uint16_t>(big));
    EXPECT_EQ(skipped.spacing, (std::vector<double>{0.5, 1}));
    const array from_end = decoded(base + "endian: big\nencoding: raw\nbyte skip: -1\n\nany junk" + data, format::nrrd);
    EXPECT_EQ(values_of<std::uint16_t>(from_end), values_of<std::uint16_t>(big));
    EXPECT_TRUE(from_end.spacing.empty());
}

TEST(io_meaning, nrrd_detached_header) {
    const folder temporary;
    write_bytes(temporary / "a.nhdr",
                "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 3 2\nencoding: raw\ndata file: a.raw\n");
    write_bytes(temporary / "a.raw", "\1\2\3\4\5\6");
    EXPECT_EQ(values_of<std::uint8_t>(read(temporary / "a.nhdr")), (bytes8{1, 2, 3, 4, 5, 6}));
    write_bytes(temporary / "a.raw", "\1\2\3\4\5");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary / "a.nhdr")); }), "a.raw");
}

TEST(io_meaning, nrrd_kinds) {
    const auto kinds_of = [](const std::string& fields) {
        return decoded("NRRD0005\ntype: uchar\ndimension: 3\nsizes: 2 3 2\nencoding: raw\n" + fields + "\n" +
                           std::string("\0\1\2\3\4\5\6\7\10\11\12\13", 12),
                       format::nrrd);
    };
    using enum axis_kind;
    using kinds = std::vector<axis_kind>;
    EXPECT_TRUE(kinds_of("").axes.empty());
    EXPECT_TRUE(kinds_of("kinds: none ??? none\n").axes.empty());
    EXPECT_TRUE(kinds_of("kinds: domain space domain\n").axes.empty());
    EXPECT_EQ(kinds_of("kinds: domain domain time\n").axes, (kinds{time, space, space}));
    EXPECT_EQ(kinds_of("kinds: domain domain none\n").axes, (kinds{unknown, space, space}));
    EXPECT_EQ(kinds_of("space directions: (1,0) (0,1) none\n").axes, (kinds{unknown, space, space}));
    EXPECT_EQ(kinds_of("kinds: domain domain list\nspace directions: (2,0) (0,1) none\n").axes,
              (kinds{list, space, space}));
    // A cell's components are adjacent in the file; the array gets a plane for each.
    const array vectors = kinds_of("kinds: vector domain domain\nspacings: nan 2 3\n");
    EXPECT_EQ(vectors.axes, (kinds{vector, space, space}));
    EXPECT_EQ(vectors.shape, (std::vector<std::int64_t>{2, 2, 3}));
    EXPECT_EQ(vectors.spacing, (std::vector<double>{1, 3, 2}));
    EXPECT_EQ(values_of<std::uint8_t>(vectors), (bytes8{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(io_meaning, texts_of_strangers_are_printable) {
    EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a b c?[2J?");
    EXPECT_EQ(printable("\u00b5m \u56f3 \U0001F600"), "\u00b5m \u56f3 \U0001F600");
    EXPECT_EQ(printable("\xc2\x9b"), "??");              // the one-character form of ESC [
    EXPECT_EQ(printable("\xff\xc2 \xc0\xaf"), "?? ??");  // invalid UTF-8, and an overlong form
    EXPECT_EQ(printable("\u202e"), "???");               // would show the following text backwards
    EXPECT_EQ(canonical_unit("m\x1b"), "");
    EXPECT_EQ(canonical_unit("parsec"), "parsec");
}

TEST(io_meaning, nifti_series_of_one_volume_and_strange_steps) {
    std::string bytes = encoded(random_array(dtype::uint8, {2, 3, 4}, 1), ".nii");
    bytes[40] = 5;  // axes: x y z t u with t = u = 1
    const float steps[] = {-0.7f, 0.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f};
    std::memcpy(bytes.data() + 80, steps, sizeof steps);
    const array got = decoded(bytes, format::nifti);
    EXPECT_EQ(got.shape, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(got.spacing, (std::vector<double>{1, 1, 0.7}));
}

TEST(io_meaning, nifti_of_the_other_byte_order) {
    const array values = random_array(dtype::int16, {3, 4}, 1);
    std::string bytes = encoded(values, ".nii");
    const auto swap = [&](std::size_t at, std::size_t size, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at + i * size),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + (i + 1) * size));
    };
    swap(0, 4, 1), swap(40, 2, 8), swap(70, 2, 2), swap(76, 4, 8), swap(108, 4, 1), swap(112, 4, 2), swap(352, 2, 12);
    expect_same_values(decoded(bytes, format::nifti), values);
}

TEST(io_meaning, brain_atlas) {
    const std::filesystem::path path = "/usr/share/mricron/templates/aal.nii.gz";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the Debian package mricron-data";
    const array atlas = read(path);
    EXPECT_EQ(atlas.shape, (std::vector<std::int64_t>{181, 217, 181}));
    EXPECT_EQ(atlas.spacing, (std::vector<double>{1, 1, 1}));
    const auto values = values_of<std::uint8_t>(atlas);
    EXPECT_EQ(atlas.type, dtype::uint8);
    EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), 117u);  // 116 regions and the background
}

TEST(io_meaning, arrays_become_views) {
    array a = random_array(dtype::int32, {4, 5, 6}, 1);
    const auto in = a.in();
    EXPECT_EQ(in.rank, 3);
    EXPECT_EQ(in.stride[0], 30);
    EXPECT_EQ(a.out().data, a.data.get());
    a.shape.assign(10, 1);
    EXPECT_CONTAINS(error_of(error_code::invalid_argument, [&] { static_cast<void>(a.in()); }), "10 axes");
}

TEST(io_meaning, arrays_that_cannot_be) {
    EXPECT_CONTAINS(
        error_of(error_code::invalid_argument, [] { static_cast<void>(make_array(dtype::uint8, {3, -1})); }),
        "(3, -1)");
    EXPECT_CONTAINS(error_of(error_code::invalid_argument,
                             [] { static_cast<void>(make_array(dtype::float64, {1LL << 31, 1LL << 31})); }),
                    "2^62");
    const auto text = error_of(error_code::out_of_memory,
                               [] { static_cast<void>(make_array(dtype::float64, {1LL << 20, 1LL << 30})); });
    EXPECT_CONTAINS(text, "needs");
    EXPECT_CONTAINS(text, "GiB");
}

}  // namespace
}  // namespace nearfield::io::test
