// Methods written as text and parsed again.
#include <gtest/gtest.h>

#include <string>

#include "nearfield/error.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::test {
namespace {

TEST(MethodText, ThereAndBack) {
    for (const char* text :
         {"exact", "banding", "jump-flood", "plane-sweep", "brushfire", "chamfer", "banding:m1=4,m2=2,m3=8",
          "jump-flood:order=doubling,before=1,after=2,sites=2,runs=3", "jump-flood:randomised=yes,seed=7",
          "plane-sweep:independent=yes,launch=banded", "brushfire:parallel=yes", "chamfer:weights=5/7/11,iterated=yes"})
        EXPECT_EQ(text_of(method_from(text)), text);
}

TEST(MethodText, SwitchesArriveWhereTheyBelong) {
    const auto how = std::get<jump_flood>(method_from("jump-flood:after=2,randomised,seed=9"));
    EXPECT_EQ(how.rounds_after, 2);
    EXPECT_TRUE(how.randomised);
    EXPECT_EQ(how.seed, 9U);
    EXPECT_EQ(std::get<chamfer_method>(method_from("chamfer:weights=3/4")).weights,
              (std::array<std::int32_t, 3>{3, 4, 0}));
    EXPECT_FALSE(std::get<brushfire>(method_from("brushfire:parallel=no")).parallel);
}

TEST(MethodText, WhatIsNoMethodIsRefused) {
    const auto refused = [](const char* text, const char* word) {
        try {
            static_cast<void>(method_from(text));
            ADD_FAILURE() << text;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::invalid_argument);
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        }
    };
    refused("", "jump-flood");
    refused("jumpflood", "jump-flood");
    refused("jump-flood:", "no switch");
    refused("jump-flood:afer=1", "after");
    refused("jump-flood:after", "a number");
    refused("jump-flood:after=1x", "a number");
    refused("jump-flood:order=up", "halving or doubling");
    refused("exact:m1=2", "has none");
    refused("chamfer:weights=3/4/5/6", "3/4/5");
    refused("chamfer:weights=3/", "3/4/5");
    refused("chamfer:weights=0/4", "3/4/5");
    refused("jump-flood:after=1,after=2", "twice");
    refused("jump-flood:after=1,,sites=2", "no switch ''");
    refused("jump-flood:sites=two", "a number");
    refused("jump-flood:seed=-1", "a number");
    refused("jump-flood:randomised=maybe", "yes or no");
    refused("jump-flood:m1=2", "no switch 'm1'");
    refused("banding:m4=2", "m1, m2, m3");
    refused("banding:m1=99999999999", "a number");
    refused("plane-sweep:launch=fast", "automatic or cooperative");
    refused("plane-sweep:independent=1", "yes or no");
    refused("brushfire:queue", "parallel");
    refused("Jump-flood", "jump-flood");
    refused(" jump-flood", "jump-flood");
}

}  // namespace
}  // namespace nearfield::test
