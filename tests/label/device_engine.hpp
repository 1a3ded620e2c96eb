// Calls of label() on a GPU for tests: copies arrays there and back, on a stream of its own.
#pragma once

#include "exact/device_engine.hpp"
#include "label/call.hpp"

namespace nearfield::test {

label_engine label_on_device();
/// Records a graph, replays it twice on rewritten arrays, and throws if the two runs leave different bytes.
label_engine label_by_graph();
/// Throws if one of `times` runs leaves other bytes than the first.
label_engine label_many_times(int times);

}  // namespace nearfield::test
