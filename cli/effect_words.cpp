#include "cli/effect_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/parse.hpp"
#include "nearfield/error.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A member of an effect, named by its word.
struct member_word {
    std::string name;
    std::variant<double*, int*, bool*, effects::side*> into;
};
using members = std::vector<member_word>;

members members_of(effects::outline& e) { return {{"inner", &e.inner}, {"outer", &e.outer}}; }
members members_of(effects::glow& e) { return {{"radius", &e.radius}, {"side", &e.side}, {"power", &e.power}}; }
members members_of(effects::shadow& e) {
    return {{"down", &e.down}, {"right", &e.right}, {"blur", &e.blur}, {"spread", &e.spread}};
}
members members_of(effects::bevel& e) {
    return {{"width", &e.width}, {"azimuth", &e.azimuth}, {"elevation", &e.elevation}, {"round", &e.round}};
}
members members_of(effects::contour& e) { return {{"every", &e.every}, {"width", &e.width}, {"side", &e.side}}; }
members members_of(effects::trail& e) { return {{"down", &e.down}, {"right", &e.right}}; }
members members_of(effects::light& e) {
    return {{"row", &e.row}, {"column", &e.column}, {"radius", &e.radius}, {"reach", &e.reach}};
}
members members_of(effects::halftone& e) { return {{"pitch", &e.pitch}, {"angle", &e.angle}}; }
members members_of(effects::pad_options& e) { return {{"radius", &e.radius}, {"least", &e.least}}; }
members members_of(effects::effect& e) {
    return std::visit([](auto& each) { return members_of(each); }, e);
}

/// Every effect with its default values.
std::vector<asked_effect> usual_effects() {
    const auto black = effects::colour{0, 0, 0, 1};
    return {{"outline", effects::outline{}, black},
            {"glow", effects::glow{}},
            {"shadow", effects::shadow{}, {0, 0, 0, 0.6F}},
            {"bevel", effects::bevel{}},
            {"contour", effects::contour{}},
            {"trail", effects::trail{}},
            {"light", effects::light{}, {1, 1, 1, 1}, effects::blend::add},
            {"halftone", effects::halftone{}, black},
            {"pad", effects::pad_options{}}};
}

void set(const std::string& key, const member_word& to, const std::string& value) {
    const auto number = [&] { return parse_number(key, value, key + "=4"); };
    if (auto* const d = std::get_if<double*>(&to.into)) **d = number();
    if (auto* const n = std::get_if<int*>(&to.into)) **n = static_cast<int>(parse_integer(key, value, key + "=2"));
    if (auto* const flag = std::get_if<bool*>(&to.into)) **flag = number() != 0;
    if (auto* const side = std::get_if<effects::side*>(&to.into)) {
        if (value != "inside" && value != "outside")
            refuse(fmt::format("{} is {}; give inside or outside", key, value));
        **side = value == "inside" ? effects::side::inside : effects::side::outside;
    }
}

effects::blend blend_of(const std::string& value) {
    if (value == "over") return effects::blend::over;
    if (value == "under") return effects::blend::under;
    if (value == "add") return effects::blend::add;
    refuse(fmt::format("blend is {}; give over, under or add", value));
}

void apply(asked_effect& e, const std::string& word) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) refuse(fmt::format("{} has \"{}\"; give KEY=VALUE", e.name, word));
    const std::string key = word.substr(0, at), value = word.substr(at + 1);
    const bool paints = std::holds_alternative<effects::effect>(e.what);
    if (paints && key == "color") return void(e.with = effects::colour_of(value));
    if (paints && key == "blend") return void(e.how = blend_of(value));
    std::vector<std::string> known;
    for (const member_word& each : std::visit([](auto& what) { return members_of(what); }, e.what)) {
        if (each.name == key) return set(key, each, value);
        known.push_back(each.name);
    }
    refuse(fmt::format("{} has no \"{}\"; it has {}{}", e.name, key, fmt::join(known, ", "),
                       paints ? ", color, blend" : ""));
}

asked_effect parse_one(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::vector<std::string> known;
    for (asked_effect& each : usual_effects()) {
        known.push_back(each.name);
        if (name != each.name && name != each.name + "s") continue;
        if (colon == std::string::npos) return each;
        for (const std::string& word : split(text.substr(colon + 1), ',')) apply(each, word);
        return each;
    }
    refuse(fmt::format("there is no effect \"{}\"; give one or more of {}, joined by +", name, fmt::join(known, ", ")));
}

}  // namespace

bool asked_effect::in_front() const {
    const auto* const e = std::get_if<effects::effect>(&what);
    if (e == nullptr) return false;
    if (const auto* const line = std::get_if<effects::outline>(e)) return line->inner > 0;
    if (const auto* const shine = std::get_if<effects::glow>(e)) return shine->side == effects::side::inside;
    if (const auto* const lines = std::get_if<effects::contour>(e)) return lines->side == effects::side::inside;
    return std::holds_alternative<effects::bevel>(*e);
}

std::vector<asked_effect> parse_effects(const std::string& text) {
    std::vector<asked_effect> made;
    for (const std::string& each : split(text, '+')) made.push_back(parse_one(each));
    for (const asked_effect& each : made)
        if (made.size() > 1 && (each.name == "pad" || each.name == "halftone"))
            refuse(fmt::format("{} makes a picture of its own; call it by itself", each.name));
    return made;
}

std::string text_of_effects() {
    std::string text;
    for (asked_effect& each : usual_effects()) {
        std::vector<std::string> known;
        for (const member_word& word : std::visit([](auto& what) { return members_of(what); }, each.what))
            known.push_back(word.name);
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", each.name, fmt::join(known, ", "));
    }
    return text;
}

}  // namespace nearfield::cli
