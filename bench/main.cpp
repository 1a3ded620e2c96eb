// One program for all benchmarks: the library with its kernels is linked once, which keeps the bundle small.
#include <cstdio>
#include <string_view>

#include "bench.hpp"
#include "methods.hpp"

namespace {
/// label times host and device by programs of their own.
bool wants_device(int argc, char** argv) {
    for (int i = 2; i + 1 < argc; ++i)
        if (std::string_view(argv[i]) == "--place" && std::string_view(argv[i + 1]) == "device") return true;
    return false;
}
}  // namespace

int main(int argc, char** argv) {
    using namespace nearfield::bench;
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "bands") return bands_main(argc - 1, argv + 1);
    if (verb == "components") return components_main(argc - 1, argv + 1);
    if (verb == "exact") return exact_main(argc - 1, argv + 1);
    if (verb == "label" && wants_device(argc, argv)) return label_device_main(argc - 1, argv + 1);
    if (verb == "label") return label_main(argc - 1, argv + 1);
    if (verb == "methods") return methods_main(argc - 1, argv + 1);
    if (verb == "options") return options_main(argc - 1, argv + 1);
    if (verb == "propagation") return propagation_main(argc - 1, argv + 1);
    if (verb == "targets") return targets_main(argc - 1, argv + 1);
    std::fputs(
        "usage: bench_all bands|components|exact|label|methods|options|propagation|targets [--help] [OPTION...]\n",
        stderr);
    return 2;
}
