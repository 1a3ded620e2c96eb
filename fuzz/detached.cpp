// A detached NRRD header and its data file: one input holds both, the header up to its first empty line. Whatever the
// header names, only files in its own folder may be read: the one beside that folder holds bytes that must not come
// out.
#include <cstring>
#include <fstream>

#include "checked.hpp"

namespace {

void save(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

constexpr std::string_view secret = "\x5a\xc3\x96\x69\x5a\xc3\x96\x69\x5a\xc3\x96\x69\x5a\xc3\x96\x69";

std::filesystem::path make_folder() {
    const std::filesystem::path inside = fuzz_folder() / "in";
    std::filesystem::create_directories(inside / "deeper");
    save(fuzz_folder() / "s", secret);
    std::filesystem::create_symlink("../s", inside / "l");
    return inside;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::filesystem::path folder = make_folder();
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(input.find("\n\n"), size);
    const std::string_view own = input.substr(std::min(end + 2, size));
    save(folder / "x.nhdr", std::string("NRRD0004\n").append(input.substr(0, end)).append("\n\n"));
    save(folder / "d", own);
    try {
        const nearfield::io::array values = nearfield::io::read(folder / "x.nhdr", {.max_bytes = 1 << 20});
        check(values);
        const std::string_view came(reinterpret_cast<const char*>(values.data.get()),
                                    static_cast<std::size_t>(values.bytes()));
        if (own.find(secret.substr(0, 8)) == std::string_view::npos && came.find(secret.substr(0, 8)) != came.npos)
            std::abort();
    } catch (const nearfield::error& e) {
        if (e.code() != nearfield::error_code::io) std::abort();
    }
    return 0;
}
