// One call on the device, as the files that are compiled for each kind of numbers pass it on.
#pragma once

#include "exact/plan.hpp"

namespace nearfield::exact {

struct device_call {
    const device& on;
    const plan& p;
    const any_input<device>& image;
    const fields<device>& out;
    sites rule;
    bool measure_only;  ///< return the bytes of workspace, start nothing
};

std::int64_t call_int32(const device_call& call);

}  // namespace nearfield::exact
