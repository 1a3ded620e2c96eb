// Progress of calls that make other calls.
#pragma once

#include "nearfield/grid.hpp"

namespace nearfield {

/// One call whose progress is the share [from, from + share) of the caller's.
inline host part_of(const host& on, double from, double share) {
    host some{on.threads, {}};
    if (on.progress) some.progress = [&on, from, share](double done) { return on.progress(from + share * done); };
    return some;
}
inline device part_of(const device& on, double, double) { return on; }

}  // namespace nearfield
