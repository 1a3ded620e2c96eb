// Calls of label() on a GPU, for the tests: arrays travel there and back on a stream of their own.
#pragma once

#include "exact/device_engine.hpp"
#include "label/call.hpp"

namespace nearfield::test {

label_engine label_on_device();
/// Records a graph, replays it twice on freshly written arrays, and throws when the two runs left different bytes.
label_engine label_by_graph();
/// Throws when one of `times` runs leaves other bytes than the first.
label_engine label_many_times(int times);

}  // namespace nearfield::test
