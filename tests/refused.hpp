// Expects that a call is refused because of a wrong argument.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "nearfield/error.hpp"

namespace nearfield::test {

/// Expects invalid_argument with all of `words` in the message.
template <class Call>
void expect_refused(const Call& call, std::initializer_list<const char*> words) {
    try {
        call();
        ADD_FAILURE() << "was accepted; expected an error about " << *words.begin();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::invalid_argument) << e.what();
        for (const char* word : words)
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos)
                << '"' << e.what() << "\" does not mention \"" << word << '"';
        EXPECT_GT(std::string(e.what()).size(), 20U);
        EXPECT_NE(e.where().line(), 0U);
    }
}

}  // namespace nearfield::test
