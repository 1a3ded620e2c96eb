#include "nearfield/system.hpp"

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/simd.hpp"
#include "base/system_cuda.hpp"

namespace nearfield {

system_info query_system() {
    system_info info;
    info.version = NEARFIELD_VERSION;
#if defined(__clang__)
    info.compiler = fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    info.compiler = fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    info.compiler = "unknown";
#endif
    info.simd = simd_name();
    info.cores = thread_count(host{});
#ifdef NEARFIELD_HAS_CUDA
    info.cuda_built = true;
#endif
    query_cuda(info);
    return info;
}

}  // namespace nearfield
