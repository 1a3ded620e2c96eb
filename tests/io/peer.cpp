// peer IN OUT [SPACING UNIT]: reads, writes, and prints the contents as one line of JSON, for comparison with Python.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "io/io.hpp"

namespace {

/// The first letters of the axes' kinds.
std::string letters_of(const nearfield::io::array& values) {
    std::string letters;
    for (const auto kind : values.axes) letters += "stclvu"[static_cast<int>(kind)];
    return letters;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::fputs("usage: peer IN OUT [SPACING UNIT]\n", stderr);
        return 2;
    }
    try {
        auto values = nearfield::io::read(arguments[1]);
        std::FILE* report = std::string_view(arguments[2]) == "-" ? stderr : stdout;
        fmt::print(report,
                   "{{\"type\": \"{}\", \"shape\": [{}], \"spacing\": [{}], \"unit\": \"{}\", \"color\": {}, "
                   "\"axes\": \"{}\"}}\n",
                   name_of(values.type), fmt::join(values.shape, ", "), fmt::join(values.spacing, ", "), values.unit,
                   values.color, letters_of(values));
        if (count > 4) {
            values.spacing.clear();
            for (char *at = arguments[3], *end = at; *at; at = *end == ',' ? end + 1 : end)
                values.spacing.push_back(std::strtod(at, &end));
            values.unit = arguments[4];
        }
        nearfield::io::write(arguments[2], values);
        return 0;
    } catch (const nearfield::error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 1;
    }
}
