#include "base/cores.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/control_groups.hpp"
#include "os/process.hpp"

namespace nearfield {
namespace {

/// Processors covered by the smallest CPU quota, rounded up: any more threads would only be throttled earlier.
int paid_cores() {
    std::int64_t least = INT32_MAX;
    for (const control_group& group : control_groups("cpu")) {
        std::int64_t quota = -1, period = 0;
        if (group.unified) {
            std::ifstream both(group.folder + "/cpu.max");
            if (!(both >> quota >> period)) continue;
        } else {
            quota = number_in(group.folder + "/cpu.cfs_quota_us").value_or(-1);
            period = number_in(group.folder + "/cpu.cfs_period_us").value_or(0);
        }
        if (quota > 0 && period > 0) least = std::min(least, (quota + period - 1) / period);
    }
    return static_cast<int>(least);
}

}  // namespace

int usable_cores() {
    static const int paid = paid_cores();  // cached: computing it takes longer than small calls
    const int allowed = os::processors().count();
    const int cores = allowed > 0 ? allowed : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(1, std::min(cores, paid));
}

}  // namespace nearfield
