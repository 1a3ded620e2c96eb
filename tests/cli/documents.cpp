#include "cli/documents.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/parse.hpp"

namespace nearfield::cli {
namespace {

TEST(Documents, CliMdIsUpToDate) {
    std::ifstream file(NEARFIELD_CLI_MD, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), markdown()) << "run: nearfield man --markdown > docs/cli.md";
}

TEST(Documents, EveryOptionIsEverywhere) {
    const std::string page = markdown(), all = overview();
    const std::string bash = completion_for("bash"), zsh = completion_for("zsh"), fish = completion_for("fish");
    for (const verb& each : verbs()) {
        EXPECT_NE(all.find(each.name), std::string::npos);
        const std::string help = help_of(each);
        for (const option& row : each.options) {
            EXPECT_NE(help.find(row.long_name()), std::string::npos) << each.name << row.names;
            EXPECT_NE(page.find(row.long_name()), std::string::npos);
            if (row.positional()) continue;
            EXPECT_NE(bash.find(row.long_name()), std::string::npos);
            EXPECT_NE(zsh.find(row.long_name()), std::string::npos);
            EXPECT_NE(fish.find("-l " + row.long_name().substr(2)), std::string::npos);
        }
    }
}

TEST(Documents, HelpFitsATerminal) {
    for (const verb& each : verbs())
        for (const std::string& line : split(help_of(each), '\n'))
            if (!line.starts_with("  nearfield")) {
                EXPECT_LE(line.size(), 100U) << line;
            }
}

TEST(Documents, EveryVerbHasAnExampleOfItself) {
    for (const verb& each : verbs())
        EXPECT_NE(each.example.find("nearfield " + each.name), std::string::npos) << each.name;
}

}  // namespace
}  // namespace nearfield::cli
