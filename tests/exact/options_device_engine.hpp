// Calls with options on a GPU: the arrays travel there and back, plain and under graph capture.
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
    /// Orders the engine's work on the stream; does not wait.
    void start();

private:
    option_call& call_;
    const stream& on_;
    std::vector<device_memory> memory_;  ///< one for each of call_.arrays()
};

option_engine device_options_engine();
/// Records, replays twice on freshly written arrays, and throws when the two runs left different bytes. Where the call
/// is an error, so is this.
option_engine graph_options_engine();

/// The first element that host and device fill differently; empty when there is none.
std::string differs(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                    const wanted_fields& wanted);

}  // namespace nearfield::test
