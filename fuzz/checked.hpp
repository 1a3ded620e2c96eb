// What holds of every array that a reader gives back; aborts where it does not.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "io/io.hpp"

inline void check(const nearfield::io::array& values) {
    for (double d : values.spacing)
        if (!(d > 0)) std::abort();
    if (!values.spacing.empty() && static_cast<int>(values.spacing.size()) != values.grid_rank()) std::abort();
    const unsigned most = values.type == nearfield::dtype::boolean ? 1 : 255;
    for (std::int64_t i = 0; i < values.bytes(); ++i)
        if (std::to_integer<unsigned>(values.data[static_cast<std::size_t>(i)]) > most) std::abort();
    const auto leading = values.axes.begin() + values.leading_axes();
    if (!values.axes.empty() && (static_cast<int>(values.axes.size()) != values.grid_rank() ||
                                 std::find(values.axes.begin(), leading, nearfield::io::axis_kind::space) != leading))
        std::abort();
}

/// A folder that goes with the process, in memory where the system has such folders.
inline const std::filesystem::path& fuzz_folder() {
    static const struct folder {
        folder() {
            std::error_code ignored;
            const bool memory = std::filesystem::is_directory("/dev/shm", ignored);
            std::string name = memory ? "/dev/shm/nearfield_fuzz_XXXXXX" : "/tmp/nearfield_fuzz_XXXXXX";
            if (::mkdtemp(name.data()) == nullptr) std::abort();
            path = name;
        }
        ~folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
        std::filesystem::path path;
    } made;
    return made.path;
}
