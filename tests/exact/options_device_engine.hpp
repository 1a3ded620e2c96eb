// Calls with options on a GPU: copies arrays there and back, plain and under graph capture.
#pragma once

#include "exact/device_engine.hpp"
#include "exact/options_call.hpp"

namespace nearfield::test {

/// The arrays of one call on the device.
class device_option_call {
public:
    device_option_call(option_call& c, const stream& on);

    void upload();
    void download();
    /// Orders the engine's work on the stream without waiting.
    void start();

private:
    option_call& call_;
    const stream& on_;
    std::vector<device_memory> memory_;  ///< one for each of call_.arrays()
};

option_engine device_options_engine();
/// Records a graph, replays it twice on rewritten arrays, and throws if the two runs leave different bytes. If the call
/// throws, so does this.
option_engine graph_options_engine();

/// Returns "" or the first element that host and device fill differently.
std::string differs(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                    const wanted_fields& wanted);

}  // namespace nearfield::test
