// Every way to call it wrongly, what an array without cells gives, and how a call is stopped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nearfield/medial_axis.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// A correct call on a 4x6 grid that each test makes wrong in one way.
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

TEST(MedialAxisArguments, Options) {
    {
        attempt a;
        a.on.threads = -1;
        a.refused({"threads"});
    }
    {
        attempt a;
        a.options.gamma = -1;
        a.refused({"gamma", "-1"});
    }
    {
        attempt a;
        a.options.gamma = NAN;
        a.refused({"gamma"});
    }
    {
        attempt a;
        a.options.prune = pruning::angle;
        a.options.gamma = 181;
        a.refused({"gamma", "180"});
    }
    {
        attempt a;
        a.options.prune = pruning::linear;
        a.options.gamma = 1e9;
        a.refused({"gamma"});
    }
    {
        attempt a;
        a.options.prune = static_cast<pruning>(9);
        a.refused({"prune", "9"});
    }
    {
        attempt a;
        a.options.method = static_cast<axis_method>(9);
        a.refused({"method", "9"});
    }
    {
        attempt a;
        a.options.method = axis_method::balls;
        a.options.gamma = 2;
        a.refused({"gamma", "integer"});
    }
    {
        attempt a;
        a.options.method = axis_method::reduced;
        a.options.spacing = {1, 1.3090169943749475};
        a.refused({"spacing", "multiples"});
    }
    {
        attempt a;
        a.options.spacing = {1, 1, 1};
        a.refused({"spacing"});
    }
    {
        attempt a;
        a.options.spacing = -1;
        a.refused({"spacing"});
    }
    {
        attempt a;
        a.options.batch_axes = 2;
        a.refused({"batch_axes"});
    }
    {
        attempt a;
        a.options.sites = static_cast<sites>(7);
        a.refused({"sites"});
    }
}

TEST(MedialAxisArguments, Arrays) {
    {
        attempt a;
        a.out.axis = {};
        a.refused({"out.axis"});
    }
    {
        attempt a;
        a.out.axis = a.second();
        a.refused({"out.axis", "int64"});
    }
    {
        attempt a;
        a.out.axis = view<std::uint8_t, 2, host>(a.axis_memory.data(), {6, 4});
        a.refused({"out.axis"});
    }
    {
        attempt a;
        a.out.second = a.squared();
        a.refused({"out.second", "uint32"});
    }
    {
        attempt a;
        a.out.second = a.second();
        a.options.method = axis_method::balls;
        a.refused({"out.second"});
    }
    {
        attempt a;
        a.out.axis = view<std::uint8_t, 2, host>(a.image_memory.data(), {4, 6});
        a.refused({"out.axis", "image"});
    }
    {
        attempt a;
        a.out.squared = a.second();
        a.refused({"out.squared", "int64"});
    }
    {
        attempt a;
        a.image = view<const std::uint8_t, 4, host>(a.image_memory.data(), {1, 4, 6, 1});
        a.refused({"4 axes"});
    }
    {
        attempt a;
        std::array<float, 24> real{};
        a.image = view<const float, 2, host>(real.data(), {4, 6}), a.options.sites = sites::other_labels;
        a.refused({"image", "float32"});
    }
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
