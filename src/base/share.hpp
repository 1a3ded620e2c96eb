// Progress of calls that consist of other calls.
#pragma once

#include "nearfield/grid.hpp"

namespace nearfield {

/// Returns a host for a part of a call, whose progress is reported as the share [from, from + share) of the caller's.
inline host part_of(const host& on, double from, double share) {
    host some{on.threads, {}};
    if (on.progress) some.progress = [&on, from, share](double done) { return on.progress(from + share * done); };
    return some;
}
inline device part_of(const device& on, double, double) { return on; }

}  // namespace nearfield
