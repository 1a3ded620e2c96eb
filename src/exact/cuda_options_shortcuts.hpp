// Ways that serve some calls with options in less time than the engine that stands behind them: tiles for distances, words for
// nearest sites on periodic axes. Either may refuse a call, which shows on the device only.
#pragma once

#include "exact/cuda_options_tiles.hpp"
#include "exact/cuda_wrapped.hpp"

namespace nearfield::exact {

class option_shortcuts {
public:
    explicit option_shortcuts(const option_call& call) : tiles_(call), wrapped_(call) {}

    [[nodiscard]] bool serve() const { return tiles_.serve() || wrapped_.serve(); }
    [[nodiscard]] bool may_refuse() const { return wrapped_.serve() || tiles_.may_refuse(); }
    /// The fields are written; else they are made from the states.
    [[nodiscard]] bool put_fields() const { return wrapped_.serve() || tiles_.put_fields(); }
    [[nodiscard]] narrow_states states(const std::byte* memory) const { return tiles_.states(memory); }
    [[nodiscard]] std::int64_t bytes() const { return wrapped_.serve() ? wrapped_.bytes() : tiles_.bytes(); }

    /// Works in `memory`; `refused`, when given, is not 0 afterwards where all must be done again.
    void solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
        if (wrapped_.serve()) wrapped_.solve(image, memory, refused);
        else tiles_.solve(image, memory, refused);
    }
    void describe(call_plan& to) const {
        if (wrapped_.serve()) wrapped_.describe(to);
        else tiles_.describe(to);
    }

private:
    option_tiles tiles_;
    wrapped_sites wrapped_;
};

}  // namespace nearfield::exact
