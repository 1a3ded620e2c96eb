// Parsing of words into arguments, and the messages for wrong words.
#include <gtest/gtest.h>

#include "cli/command_line.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {
namespace {

arguments parsed(std::vector<const char*> words) {
    words.insert(words.begin(), "nearfield");
    return parse_arguments(static_cast<int>(words.size()), words.data());
}

std::string refusal(std::vector<const char*> words) {
    try {
        static_cast<void>(parsed(std::move(words)));
    } catch (const error& problem) {
        EXPECT_EQ(problem.code(), error_code::invalid_argument);
        return problem.what();
    }
    return "accepted";
}

TEST(CommandLine, ReadsEveryKindOfValue) {
    const arguments args =
        parsed({"distance", "in.png", "-o", "-", "--squared", "--threads=3", "--threshold", "-2.5", "-q"});
    EXPECT_EQ(args.inputs, std::vector<std::string>{"in.png"});
    EXPECT_EQ(args.output, "-");
    EXPECT_TRUE(args.squared);
    EXPECT_TRUE(args.quiet);
    EXPECT_EQ(args.threads, 3);
    EXPECT_EQ(args.threshold, "-2.5");
    EXPECT_EQ(parsed({"distance", "-", "-o", "x.npy"}).inputs, std::vector<std::string>{"-"});
    EXPECT_EQ(parsed({"distance", "a", "-o", "d", "b"}).inputs, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(parsed({"distance", "a", "--border", "closed,open"}).border, "closed,open");
    EXPECT_EQ(parsed({"sample", "one", "-o", "x.npy", "--seed", "18446744073709551615"}).seed, 18446744073709551615U);
    EXPECT_EQ(parsed({"bench", "--density", "0.5"}).density, 0.5);
    EXPECT_EQ(parsed({"distance", "a", "--device", "cuda:1"}).device, "cuda:1");
}

TEST(CommandLine, RefusalsSayWhatToDo) {
    EXPECT_EQ(refusal({"distanse", "a"}),
              "there is no verb 'distanse'; did you mean distance?; expected one of distance, voronoi, label, "
              "morphology, thickness, medial-axis, skeleton, split, watershed, peaks, geodesic, path, roadmap, esdf, "
              "pores, porosimetry, fill, slices, sdf, effect, stipple, render, raycast, metrics, voxelize, isosurface, "
              "offset, info, "
              "sample, convert, bench, compare, demo, help, completion, man");
    EXPECT_EQ(refusal({"distance", "a", "--square"}),
              "there is no option --square; did you mean --squared?; see `nearfield help distance`");
    EXPECT_EQ(refusal({"bench", "a", "b"}), "'b' is one argument too many; see `nearfield help bench`");
    EXPECT_EQ(refusal({"distance", "a", "--border", "open,shut"}),
              "--border is 'open,shut'; expected one of open, closed, periodic, or several joined by commas");
    EXPECT_EQ(
        refusal({"distance", "a", "--border", "perodic"}),
        "--border is 'perodic'; expected one of open, closed, periodic, or several joined by commas; did you mean "
        "periodic?");
    EXPECT_EQ(refusal({"distance", "a", "--signed", "in"}), "--signed is 'in'; expected one of inside, outside");
    EXPECT_EQ(refusal({"distance", "a", "--device", "gpu"}),
              "--device is 'gpu'; expected one of auto, cpu, cuda; did you mean cpu?");
    EXPECT_EQ(refusal({"distance", "a", "--threads", "many"}),
              "--threads is 'many'; expected a whole number, e.g. --threads 4");
    EXPECT_EQ(refusal({"distance", "a", "--threads", "4x"}),
              "--threads is '4x'; expected a whole number, e.g. --threads 4");
    EXPECT_EQ(refusal({"distance", "a", "--spacing", "1", "--spacing", "2"}), "--spacing is given more than once");
    EXPECT_NE(refusal({"distance"}).find("INPUT is missing"), std::string::npos);
    EXPECT_NE(refusal({"sample", "one"}).find("--output is missing"), std::string::npos);
    EXPECT_NE(refusal({"distance", "a", "-o"}), "accepted");
    EXPECT_NE(refusal({}), "accepted");
}

std::string spacing_refusal(const std::string& text, const std::vector<std::int64_t>& shape) {
    try {
        static_cast<void>(parse_spacing(text, {}, shape));
    } catch (const error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(Spacing, ComesFromTheOptionThenTheFileThenOnes) {
    const std::vector<std::int64_t> shape{64, 512, 512};
    EXPECT_EQ(parse_spacing("5,0.4,0.4", {1, 2, 3}, shape), (std::vector<double>{5, 0.4, 0.4}));
    EXPECT_EQ(parse_spacing("0.5", {}, shape), (std::vector<double>{0.5, 0.5, 0.5}));
    EXPECT_EQ(parse_spacing("", {1, 2, 3}, shape), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(parse_spacing("", {}, shape), (std::vector<double>{1, 1, 1}));
}

TEST(Spacing, BatchAxesHaveNone) {
    const std::vector<std::int64_t> shape{10, 64, 512};
    EXPECT_EQ(parse_spacing("5,0.4", {}, shape, 1), (std::vector<double>{1, 5, 0.4}));
    EXPECT_EQ(parse_spacing("9,5,0.4", {}, shape, 1), (std::vector<double>{1, 5, 0.4}));
    EXPECT_EQ(parse_spacing("0.5", {}, shape, 1), (std::vector<double>{1, 0.5, 0.5}));
    EXPECT_EQ(parse_spacing("", {7, 2, 3}, shape, 1), (std::vector<double>{1, 2, 3}));
    EXPECT_THROW(static_cast<void>(parse_spacing("1,2,3,4", {}, shape, 1)), error);
}

TEST(Spacing, WrongOnesAreExplained) {
    EXPECT_EQ(spacing_refusal("5,0.4", {64, 512, 512}),
              "spacing has 2 values for a 3-D array (shape 64x512x512); give one per axis in array order, e.g. "
              "--spacing 5,0.4,0.4");
    for (const char* bad : {"0", "-1", "nan", "inf", "1,,2", "a", "1,2,", " 1"})
        EXPECT_NE(spacing_refusal(bad, {4, 4, 4}), "accepted") << bad;
}

TEST(Size, IsReadWithoutToleranceForRubbish) {
    EXPECT_EQ(parse_size("64x512x3"), (std::vector<std::int64_t>{64, 512, 3}));
    for (const char* bad : {"", "x", "64x", "64X64", "1e3", "64*64", "99999999999999999999"})
        EXPECT_THROW(static_cast<void>(parse_size(bad)), error) << bad;
}

TEST(Destination, IsCheckedBeforeAnyWork) {
    EXPECT_NO_THROW(check_destination("-"));
    EXPECT_NO_THROW(check_destination("x.npy"));
    EXPECT_THROW(check_destination("x.unknown"), error);
    EXPECT_THROW(check_destination("/no/such/folder/x.npy"), error);
    EXPECT_THROW(static_cast<void>(one_stdout({"-", "-"})), error);
    EXPECT_FALSE(one_stdout({"a.npy", ""}));
}

TEST(Text, TimesHaveNoExponent) {
    EXPECT_EQ(text_of_ms(0.01234), "0.0123 ms");
    EXPECT_EQ(text_of_ms(999.7), "1000 ms");
    EXPECT_EQ(text_of_ms(1962.4), "1962 ms");
}

}  // namespace
}  // namespace nearfield::cli
