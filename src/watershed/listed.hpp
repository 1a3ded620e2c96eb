// How many cells of a call on a device were searched for their parents, and in how many turns small fronts were walked;
// for tests.
#pragma once

#include <cstdint>

namespace nearfield::watersheds {

/// While one exists, calls on a device by its thread add up the cells whose parents are not known without a search, and
/// wait for the device. Calls that a graph records must not meet one.
class listed_cells {
public:
    listed_cells() : outer_(innermost) { innermost = this; }
    ~listed_cells() { innermost = outer_; }
    listed_cells(const listed_cells&) = delete;
    listed_cells& operator=(const listed_cells&) = delete;

    static inline thread_local listed_cells* innermost = nullptr;
    std::int64_t count = 0, turns = 0;

private:
    listed_cells* outer_;
};

}  // namespace nearfield::watersheds
