// Parses the effects of nearfield effect: "glow:radius=24,color=#ff2d95+outline:outer=3".
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "nearfield/effects.hpp"
#include "nearfield/error.hpp"

namespace nearfield::cli {

struct asked_effect {
    std::string name;
    std::variant<effects::effect, effects::pad_options> what;
    effects::colour with{1, 1, 1, 1};
    effects::blend how = effects::blend::over;

    /// True if the effect is painted over the shape; others lie behind it.
    [[nodiscard]] bool in_front() const;
};

/// Throws invalid_argument with the wrong word and the possible ones.
[[nodiscard]] std::vector<asked_effect> parse_effects(const std::string& text);

/// Lists all effects with their words: "outline: inner, outer; glow: ..."
[[nodiscard]] std::string text_of_effects();

}  // namespace nearfield::cli
