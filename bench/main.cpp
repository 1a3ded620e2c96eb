// One program for all benchmarks: the library with its kernels is linked once, which keeps the bundle small.
#include <cstdio>
#include <string_view>

#include "bench.hpp"

int main(int argc, char** argv) {
    using namespace nearfield::bench;
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "exact") return exact_main(argc - 1, argv + 1);
    if (verb == "options") return options_main(argc - 1, argv + 1);
    if (verb == "targets") return targets_main(argc - 1, argv + 1);
    std::fputs("usage: bench_all exact|options|targets [--help] [OPTION...]\n", stderr);
    return 2;
}
