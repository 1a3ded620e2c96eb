// What a build without CUDA says when the device is asked for.
#include "watershed/problem.hpp"

#include "nearfield/error.hpp"

namespace nearfield::watersheds {
namespace {

[[noreturn]] void refuse(const char* call) {
    throw error(error_code::unsupported, std::string("device: this build has no CUDA backend for ") + call +
                                             "(); build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void run(const device&, const problem&) { refuse("watershed"); }
void reconstruct(const device&, const problem&) { refuse("reconstruct_gray"); }

}  // namespace nearfield::watersheds
