// The traps of connected components, on the host.
#include <gtest/gtest.h>

#include "label/traps.hpp"

namespace nearfield::test {
namespace {

class LabelTraps : public testing::TestWithParam<trap> {};

TEST_P(LabelTraps, AreAvoided) { GetParam().check(label_on_host); }

INSTANTIATE_TEST_SUITE_P(Host, LabelTraps, testing::ValuesIn(traps()), name_of_trap);

}  // namespace
}  // namespace nearfield::test
