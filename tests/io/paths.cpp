// Names, folders, pipes, full disks: the choice of the reader, and that a file appears whole or not at all.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "arrays.hpp"

namespace nearfield::io::test {
namespace {

TEST(io_paths, suffixes) {
    EXPECT_EQ(format_of("a/b.PNG"), format::png);
    EXPECT_EQ(format_of("x.nii.gz"), format::nifti);
    EXPECT_EQ(format_of("x.tiff"), format::tiff);
    EXPECT_EQ(format_of("x.nhdr"), format::nrrd);
    EXPECT_CONTAINS(error_of(error_code::io, [] { static_cast<void>(format_of("x.xyz")); }), ".npy .nrrd");
    EXPECT_CONTAINS(error_of(error_code::io, [] { static_cast<void>(format_of("noending")); }), "suffix");
}

TEST(io_paths, content_goes_before_suffix) {
    const folder temporary;
    const array values = random_array(dtype::uint8, {6, 7}, 1);
    for (const char* suffix : {".png", ".pgm", ".tif", ".npy", ".nrrd", ".nii", ".nii.gz"})
        for (const char* wrong : {"wrong.png", "wrong.dat"}) {
            write_bytes(temporary / wrong, encoded(values, suffix));
            expect_same_values(read(temporary / wrong), values);
        }
    write_bytes(temporary / "text.dat", "hello");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary / "text.dat")); }), "suffix");
    write_bytes(temporary / "text.png", "hello");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary / "text.png")); }), "text.png");
}

TEST(io_paths, not_files) {
    const folder temporary;
    write_bytes(temporary / "empty.npy", "");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary / "none.npy")); }), "No such file");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary / "empty.npy")); }), "empty");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { static_cast<void>(read(temporary.path())); }), "folder");
    const array values = random_array(dtype::uint8, {6, 7}, 1);
    EXPECT_CONTAINS(error_of(error_code::io, [&] { write(temporary / "no/such/x.npy", values); }), "cannot be created");
    std::filesystem::create_directory(temporary / "folder.npy");
    EXPECT_CONTAINS(error_of(error_code::io, [&] { write(temporary / "folder.npy", values); }), "folder");
}

TEST(io_paths, full_disk_is_an_error) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
    const array values = random_array(dtype::uint8, {300, 700}, 1);
    const folder temporary;
    for (const char* suffix : {".png", ".pgm", ".tif", ".npy", ".nrrd", ".nii", ".nii.gz"}) {
        const auto link = temporary / (std::string("full") + suffix);
        std::filesystem::create_symlink("/dev/full", link);
        const std::string text = error_of(error_code::io, [&] { write(link, values); });
        EXPECT_CONTAINS(text, "No space left");
        EXPECT_TRUE(std::filesystem::is_symlink(link));
    }
}

TEST(io_paths, a_failed_write_leaves_the_old_file) {
    const array values = random_array(dtype::float32, {300, 700}, 1);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    for (const char* suffix : {".tif", ".npy", ".nrrd", ".nii", ".nii.gz"}) {
        const folder temporary;
        const auto path = temporary / (std::string("x") + suffix);
        write_bytes(path, "old");
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{100000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const std::string text = error_of(error_code::io, [&] { write(path, values); });
        ::setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_CONTAINS(text, "File too large");
        EXPECT_EQ(bytes_of(path), "old");
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temporary.path()), {}), 1)
            << "a temporary file was left";
    }
}

TEST(io_paths, devices_are_not_replaced) {
    const array values = random_array(dtype::uint8, {30, 70}, 1);
    const folder temporary;
    for (const char* suffix : {".png", ".npy", ".tif"}) {
        const auto link = temporary / (std::string("null") + suffix);
        std::filesystem::create_symlink("/dev/null", link);
        write(link, values);
        EXPECT_TRUE(std::filesystem::is_character_file(link));
    }
}

TEST(io_paths, links_stay_links) {
    const folder temporary;
    const array values = random_array(dtype::uint8, {30, 70}, 1);
    std::filesystem::create_symlink("target.npy", temporary / "link.npy");
    write(temporary / "link.npy", values);
    EXPECT_TRUE(std::filesystem::is_symlink(temporary / "link.npy"));
    expect_same_values(read(temporary / "target.npy"), values);
}

TEST(io_paths, pipes) {
    const folder temporary;
    const auto path = temporary / "pipe.npy";
    const array values = random_array(dtype::uint8, {3000, 700}, 1);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { write(path, values); });
    const array got = read(path);
    writer.join();
    expect_same_values(got, values);
}

TEST(io_paths, require_writable_says_the_same_as_write) {
    require_writable("x.npy", dtype::int64, {3, 4});
    require_writable("-", dtype::int64, {3, 4});
    const auto text = error_of(error_code::invalid_argument, [] { require_writable("x.png", dtype::float32, {3, 4}); });
    EXPECT_CONTAINS(text, ".npy, .nrrd, .nii.gz, .tif");
    error_of(error_code::invalid_argument, [] { require_writable("x.npy", dtype::uint8, {3, 4, 5}, true); });
    error_of(error_code::io, [] { require_writable("x.xyz", dtype::uint8, {3, 4}); });
    array odd = random_array(dtype::uint8, {3, 4}, 1);
    odd.spacing = {1, 2, 3};
    EXPECT_CONTAINS(error_of(error_code::invalid_argument, [&] { write("x.npy", odd); }),
                    "spacing has 3 values, expected 2");
}

}  // namespace
}  // namespace nearfield::io::test
