// Files that are cut, changed or lie: an error(io) or a whole array, at once, and never a crash. Run under sanitizers
// too.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "arrays.hpp"

namespace nearfield::io::test {
namespace {

struct sample {
    std::string name;
    format as;
    std::string bytes;
};

sample make_sample(dtype type, std::vector<std::int64_t> shape, const std::string& suffix, compression wanted,
                   bool color = false) {
    array values = random_array(type, std::move(shape), 3);
    values.color = color;
    values.spacing.assign(static_cast<std::size_t>(values.grid_rank()), 0.5);
    values.unit = "mm";
    return {suffix + "/" + name_of(type) + (wanted == compression::deflate ? "/deflate" : ""), format_of("x" + suffix),
            encoded(values, suffix, wanted)};
}

/// Of formats that are read but not written.
sample from_corpus(const std::string& name) {
    return {name, format_of(name), bytes_of(std::filesystem::path(NEARFIELD_CORPUS) / name)};
}

sample with_place() {
    array values = random_array(dtype::uint8, {7, 5}, 1);
    values.place = {{30, 20, 0}, {0, 0, 0, 1, 2, 0}, {}, {1}, {1, 1, 0, 1, 1024, 0, 1, 1}, "a|", "0"};
    return {".tif/place", format::tiff, encoded(values, ".tif", compression::none)};
}

std::vector<sample> samples() {
    using enum compression;
    return {from_corpus("jpeg/gray.jpg"),
            from_corpus("jpeg/progressive.jpg"),
            from_corpus("bmp/rgb.bmp"),
            from_corpus("bmp/palette.bmp"),
            from_corpus("bmp/bits.bmp"),
            from_corpus("gif/gray.gif"),
            from_corpus("gif/palette.gif"),
            from_corpus("meta_image/raw.mha"),
            from_corpus("meta_image/packed.mha"),
            make_sample(dtype::uint8, {7, 5}, ".png", none),
            make_sample(dtype::boolean, {7, 5}, ".png", none),
            make_sample(dtype::uint16, {7, 5, 4}, ".png", none, true),
            make_sample(dtype::uint8, {7, 5}, ".pgm", none),
            make_sample(dtype::boolean, {7, 9}, ".pbm", none),
            make_sample(dtype::uint16, {7, 5, 3}, ".ppm", none, true),
            {"plain pgm", format::pnm, "P2 # comment\n3 2\n15\n0 1 2\n# more\n13 14 15\n"},
            {"plain pbm", format::pnm, "P1\n3 2\n010\n1 0 1\n"},
            make_sample(dtype::float32, {3, 7, 5}, ".tif", none),
            with_place(),
            make_sample(dtype::uint8, {7, 5}, ".tif", deflate),
            make_sample(dtype::boolean, {2, 7, 5}, ".tif", none),
            make_sample(dtype::uint16, {7, 5, 3}, ".tif", deflate, true),
            make_sample(dtype::int32, {3, 7}, ".npy", none),
            make_sample(dtype::boolean, {3, 7}, ".npy", none),
            make_sample(dtype::int16, {3, 4, 5}, ".nrrd", none),
            make_sample(dtype::int16, {3, 4, 5}, ".nrrd", deflate),
            make_sample(dtype::float64, {3, 4, 5}, ".nii", none),
            make_sample(dtype::uint8, {3, 4, 5}, ".nii.gz", none)};
}

/// Reads and touches every value; nothing but error(io) may come out, or error(out_of_memory) for a lie that fits the
/// limit.
bool survives(const sample& s, std::string_view bytes, std::string& what) {
    try {
        const array values = decoded(bytes, s.as, {.max_bytes = std::int64_t{1} << 24});
        const unsigned sum = std::accumulate(values.data.get(), values.data.get() + values.bytes(), 0u,
                                             [](unsigned a, std::byte b) { return a + static_cast<unsigned>(b); });
        what = std::to_string(sum);
        for (double d : values.spacing)
            if (!(d > 0)) return false;
        return values.type != dtype::boolean || sum <= values.cells();
    } catch (const error& e) {
        what = e.what();
        return e.code() == error_code::io && !what.empty();
    } catch (const std::exception& e) {
        what = e.what();
        return false;
    }
}

TEST(io_hostile, cut_at_every_byte) {
    for (const sample& s : samples())
        for (std::size_t n = 0; n < s.bytes.size(); ++n) {
            std::string what;
            ASSERT_TRUE(survives(s, std::string_view(s.bytes).substr(0, n), what))
                << s.name << " cut at " << n << ": " << what;
        }
}

TEST(io_hostile, every_byte_changed) {
    for (const sample& s : samples()) {
        const std::size_t header = std::min<std::size_t>(s.bytes.size(), 1200);
        for (std::size_t at = 0; at < header; ++at)
            for (const int value : {0, 1, 0x7f, 0x80, 0xff, s.bytes[at] ^ 1, s.bytes[at] ^ 0x40}) {
                std::string bytes = s.bytes, what;
                bytes[at] = static_cast<char>(value);
                ASSERT_TRUE(survives(s, bytes, what)) << s.name << " byte " << at << " = " << value << ": " << what;
            }
    }
}

TEST(io_hostile, many_bytes_changed) {
    std::mt19937 chance(7);
    for (const sample& s : samples())
        for (int round = 0; round < 400; ++round) {
            std::string bytes = s.bytes, what;
            for (auto changes = 1 + chance() % 6; changes > 0; --changes)
                bytes[chance() % bytes.size()] = static_cast<char>(chance());
            if (chance() % 4 == 0) bytes.erase(chance() % bytes.size(), 1 + chance() % 9);
            if (chance() % 4 == 0)
                bytes.insert(chance() % bytes.size(), std::string(1 + chance() % 9, static_cast<char>(chance())));
            ASSERT_TRUE(survives(s, bytes, what)) << s.name << " round " << round << ": " << what;
        }
}

TEST(io_hostile, nonsense_for_every_format) {
    std::mt19937 chance(8);
    for (const format as : {format::png, format::pnm, format::tiff, format::npy, format::nrrd, format::nifti,
                            format::meta_image, format::jpeg, format::bmp, format::gif})
        for (int round = 0; round < 200; ++round) {
            std::string bytes(chance() % 600, '\0'), what;
            for (char& c : bytes) c = static_cast<char>(chance());
            const sample s{"nonsense", as, bytes};
            ASSERT_TRUE(survives(s, bytes, what)) << what;
        }
}

std::string npy(const std::string& header) {
    const char length[] = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + header;
}
std::string npy_shape(const std::string& shape) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n") + std::string(64, 'x');
}

void expect_refused(format as, const std::string& bytes, const std::string& part) {
    const std::string text = error_of(error_code::io, [&] { static_cast<void>(decoded(bytes, as)); });
    EXPECT_CONTAINS(text, part);
}

TEST(io_hostile, npy_headers) {
    const char* const shapes[] = {"(1000000000000,)",
                                  "(4611686018427387904, 4)",
                                  "(3037000500, 3037000500)",
                                  "(9223372036854775807, 0)",
                                  "(99999999999999999999,)",
                                  "(-1,)",
                                  "(4, -4)",
                                  "(1,2,3,4,5,6,7,8,9,10)",
                                  "()",
                                  "(1 2)",
                                  "(,)",
                                  "4",
                                  "(1,2",
                                  "(0x10,)",
                                  "(1.5,)",
                                  "('a',)",
                                  "(+1,)"};
    for (const char* shape : shapes) expect_refused(format::npy, npy_shape(shape), "");
    const auto with = [](const std::string& text) { return npy(text + "\n") + std::string(64, 'x'); };
    for (const char* descr : {"<c8", "|O", "<U4", "<M8[s]", ">f16", "f4", "", "<", "|f4", "<f4x", "!f4", "<i3"})
        expect_refused(format::npy,
                       with(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }"),
                       "type");
    expect_refused(format::npy, with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
                   "structured");
    expect_refused(format::npy, with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
                   "doubled");
    expect_refused(format::npy, with("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }"), "fortran_order");
    expect_refused(format::npy, with("{'descr': '<f4', 'shape': (2,), }"), "missing");
    expect_refused(format::npy, with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}"), "unknown");
    expect_refused(format::npy, with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } + 1"), "follows");
    expect_refused(format::npy, std::string("\x93NUMPY\x04\x00\x10\x00", 10), "version");
    expect_refused(format::npy, std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "at most 10000");
}

TEST(io_hostile, sizes_that_the_file_cannot_hold) {
    expect_refused(format::pnm, "P5 100000 100000 255\nabc", "claims");
    expect_refused(format::pnm, "P4 4000000000 4000000000\nabc", "claims");
    expect_refused(format::pnm, "P2 100000 100000 255\n1 2 3", "claims");
    expect_refused(format::pnm, "P1 100000 100000\n101", "claims");
    expect_refused(format::pnm, "P6 99999999999999999999 1 255\nabc", "absurdly");
    expect_refused(format::pnm, "P5 2 0 255\nabc", "width 2, height 0");
    expect_refused(format::pnm, "P5 2 2 70000\nabcd", "maximum");
    expect_refused(format::pnm, "P2 2 1 7\n3 8\n", "more than the maximum 7");
    expect_refused(format::pnm, "P5 2 1 7\nab", "more than the maximum 7");
    expect_refused(format::pnm, "P2 2 1 7\n3 x\n", "not part of a number");
    const std::string nrrd = "NRRD0004\ntype: float\ndimension: 3\nendian: little\n";
    expect_refused(format::nrrd, nrrd + "sizes: 100000 100000 100000\nencoding: raw\n\nabc", "claims");
    expect_refused(format::nrrd, nrrd + "sizes: 4000000000 4000000000 4000000000\nencoding: raw\n\nabc",
                   "no array can have");
    expect_refused(format::nrrd, nrrd + "sizes: 100000 100000 100000\nencoding: gzip\n\nabc", "claims");
    expect_refused(format::nrrd, nrrd + "sizes: 2 2\nencoding: raw\n\nabc", "2 values for 3 axes");
    expect_refused(format::nrrd, nrrd + "sizes: 2 2 -2\nencoding: raw\n\nabc", "no array can have");
    expect_refused(format::nrrd, nrrd + "sizes: 2 2 2\nencoding: hex\n\nabc", "raw or gzip");
    expect_refused(format::nrrd, nrrd + "sizes: 2 2 2\nencoding: raw\ndata file: /etc/passwd\n\n", "on disk");
    std::string nifti = encoded(random_array(dtype::float32, {3, 4, 5}, 1), ".nii");
    for (const int axis : {1, 2, 3})
        nifti[static_cast<std::size_t>(40 + 2 * axis)] = '\xff',
                                                nifti[static_cast<std::size_t>(41 + 2 * axis)] = '\x7f';
    expect_refused(format::nifti, nifti, "claims");
}

TEST(io_hostile, png_that_claims_2_to_the_62_pixels) {
    std::string png = encoded(random_array(dtype::uint8, {3, 4}, 1), ".png");
    // Width, height and the CRC of that IHDR chunk (8-bit gray).
    const unsigned char claim[] = {0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff};
    std::memcpy(png.data() + 16, claim, sizeof claim);
    expect_refused(format::png, png, "");
}

TEST(io_hostile, limits_hold) {
    const std::string bytes = encoded(random_array(dtype::float32, {100, 100}, 1), ".npy");
    EXPECT_CONTAINS(
        error_of(error_code::io, [&] { static_cast<void>(decoded(bytes, format::npy, {.max_bytes = 39999})); }),
        "limit");
    EXPECT_EQ(decoded(bytes, format::npy, {.max_bytes = 40000}).cells(), 10000);
}

}  // namespace
}  // namespace nearfield::io::test
