// Wrong calls, arrays without cells, and calls that are stopped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nearfield/medial_axis.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// A correct call on a 4x6 grid, which each test makes wrong in one way.
struct attempt {
    std::array<std::uint8_t, 24> image_memory{}, axis_memory{}, rebuilt_memory{};
    std::array<std::int64_t, 24> second_memory{};
    std::array<std::uint32_t, 24> squared_memory{};
    any_input<host> image = view<const std::uint8_t, 2, host>(image_memory.data(), {4, 6});
    medial_axis_fields<host> out;
    medial_axis_options options;
    host on{1, {}};

    attempt() {
        image_memory.fill(1), axis_memory.fill(7);
        image_memory[9] = 0;
        out.axis = view<std::uint8_t, 2, host>(axis_memory.data(), {4, 6});
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    any_output<host> second() { return view<std::int64_t, 2, host>(second_memory.data(), {4, 6}); }
    any_output<host> squared() { return view<std::uint32_t, 2, host>(squared_memory.data(), {4, 6}); }
    void refused(std::initializer_list<const char*> words) {
        expect_refused([&] { medial_axis(on, image, out, options); }, words);
        EXPECT_EQ(std::count(axis_memory.begin(), axis_memory.end(), 7), 24);
    }
    void rebuild_refused(const any_input<host>& squares, const any_output<host>& to,
                         std::initializer_list<const char*> words) {
        expect_refused([&] { reconstruct(on, image, squares, to); }, words);
    }
};

template <class Change>
void refused(const Change& change, std::initializer_list<const char*> words) {
    attempt a;
    change(a);
    a.refused(words);
}

TEST(MedialAxisArguments, Options) {
    refused([](attempt& a) { a.on.threads = -1; }, {"threads"});
    refused([](attempt& a) { a.options.gamma = -1; }, {"gamma", "-1"});
    refused([](attempt& a) { a.options.gamma = NAN; }, {"gamma"});
    refused([](attempt& a) { a.options.prune = pruning::angle, a.options.gamma = 181; }, {"gamma", "180"});
    refused([](attempt& a) { a.options.prune = pruning::linear, a.options.gamma = 1e9; }, {"gamma"});
    refused([](attempt& a) { a.options.prune = static_cast<pruning>(9); }, {"prune", "9"});
    refused([](attempt& a) { a.options.method = static_cast<axis_method>(9); }, {"method", "9"});
    refused([](attempt& a) { a.options.method = axis_method::balls, a.options.gamma = 2; }, {"gamma", "integer"});
    refused([](attempt& a) { a.options.spacing = {1, 1, 1}; }, {"spacing"});
    refused([](attempt& a) { a.options.spacing = -1; }, {"spacing"});
    refused([](attempt& a) { a.options.batch_axes = 2; }, {"batch_axes"});
    refused([](attempt& a) { a.options.sites = static_cast<sites>(7); }, {"sites"});
}

TEST(MedialAxisArguments, BallsNeedACommonLength) {
    for (const axis_method method : {axis_method::balls, axis_method::reduced})
        refused([&](attempt& a) { a.options.method = method, a.options.spacing = {1, 1.3090169943749475}; },
                {"spacing", "multiples"});
}

TEST(MedialAxisArguments, Arrays) {
    refused([](attempt& a) { a.out.axis = {}; }, {"out.axis"});
    refused([](attempt& a) { a.out.axis = a.second(); }, {"out.axis", "int64"});
    refused([](attempt& a) { a.out.axis = view<std::uint8_t, 2, host>(a.axis_memory.data(), {6, 4}); }, {"out.axis"});
    refused([](attempt& a) { a.out.second = a.squared(); }, {"out.second", "uint32"});
    refused([](attempt& a) { a.out.second = a.second(), a.options.method = axis_method::balls; }, {"out.second"});
    refused([](attempt& a) { a.out.axis = view<std::uint8_t, 2, host>(a.image_memory.data(), {4, 6}); },
            {"out.axis", "image"});
    refused([](attempt& a) { a.out.squared = a.second(); }, {"out.squared", "int64"});
    refused([](attempt& a) { a.image = view<const std::uint8_t, 4, host>(a.image_memory.data(), {1, 4, 6, 1}); },
            {"4 axes"});
    std::array<float, 24> real{};
    refused(
        [&](attempt& a) {
            a.image = view<const float, 2, host>(real.data(), {4, 6}), a.options.sites = sites::other_labels;
        },
        {"image", "float32"});
}

TEST(MedialAxisArguments, Reconstruction) {
    attempt a;
    const any_output<host> to = view<std::uint8_t, 2, host>(a.rebuilt_memory.data(), {4, 6});
    a.rebuild_refused({}, to, {"squared"});
    a.rebuild_refused(a.squared(), {}, {"out"});
    a.rebuild_refused(a.squared(), a.second(), {"out", "int64"});
    a.rebuild_refused(view<std::uint32_t, 2, host>(a.squared_memory.data(), {6, 4}), to, {"squared"});
}

TEST(MedialAxisArguments, NoCells) {
    attempt a;
    a.image = view<const std::uint8_t, 3, host>(nullptr, {3, 0, 6});
    a.out.axis = view<std::uint8_t, 3, host>(nullptr, {3, 0, 6});
    for (const axis_method method : {axis_method::integer, axis_method::balls, axis_method::reduced}) {
        a.options.method = method;
        medial_axis(a.on, a.image, a.out, a.options);
    }
    reconstruct(a.on, a.image, view<const std::uint32_t, 3, host>(nullptr, {3, 0, 6}), a.out.axis);
}

TEST(MedialAxisArguments, StopsWhenToldTo) {
    for (const axis_method method : {axis_method::integer, axis_method::balls, axis_method::reduced}) {
        attempt a;
        a.options.method = method;
        double last = 0;
        a.on.progress = [&](double done) {
            EXPECT_GE(done, last);
            last = done;
            return done < 0.7;
        };
        try {
            medial_axis(a.on, a.image, a.out, a.options);
            ADD_FAILURE() << "was not stopped";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::cancelled) << e.what();
        }
    }
}

}  // namespace
}  // namespace nearfield::test
