// Ways that serve some calls with options in less time than the engine that stands behind them: tiles for distances, and three for
// nearest sites: words on periodic axes, or sites without these, mended, and words for labels. Each may refuse a call,
// which shows on the device only.
#pragma once

#include "exact/cuda_labelled.hpp"
#include "exact/cuda_options_tiles.hpp"
#include "exact/cuda_seams.hpp"
#include "exact/cuda_wrapped.hpp"

namespace nearfield::exact {

class option_shortcuts {
public:
    explicit option_shortcuts(const option_call& call) : tiles_(call), mended_(call), wrapped_(call), labelled_(call) {}

    [[nodiscard]] bool serve() const { return tiles_.serve() || by_words(); }
    [[nodiscard]] bool may_refuse() const { return by_words() || tiles_.may_refuse(); }
    /// The fields are written; else they are made from the states.
    [[nodiscard]] bool put_fields() const { return by_words() || tiles_.put_fields(); }
    [[nodiscard]] narrow_states states(const std::byte* memory) const { return tiles_.states(memory); }
    [[nodiscard]] std::int64_t bytes() const {
        return mended_.serve()     ? mended_.bytes()
               : wrapped_.serve()  ? wrapped_.bytes()
               : labelled_.serve() ? labelled_.bytes()
                                   : tiles_.bytes();
    }
    /// Of what allocates by itself.
    [[nodiscard]] std::int64_t more_bytes() const { return mended_.serve() ? mended_.more_bytes() : 0; }

    /// Works in `memory`; `refused`, when given, is not 0 afterwards where all must be done again.
    void solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
        if (mended_.serve()) mended_.solve(image, memory, refused);
        else if (wrapped_.serve()) wrapped_.solve(image, memory, refused);
        else if (labelled_.serve()) labelled_.solve(image, memory, refused);
        else tiles_.solve(image, memory, refused);
    }
    void describe(call_plan& to) const {
        if (mended_.serve()) mended_.describe(to);
        else if (wrapped_.serve()) wrapped_.describe(to);
        else if (labelled_.serve()) labelled_.describe(to);
        else tiles_.describe(to);
    }

private:
    [[nodiscard]] bool by_words() const { return mended_.serve() || wrapped_.serve() || labelled_.serve(); }

    option_tiles tiles_;
    mended_sites mended_;
    wrapped_sites wrapped_;
    labelled_sites labelled_;
};

}  // namespace nearfield::exact
