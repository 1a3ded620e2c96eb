// Distance fields for robots on a GPU have the host's bits, plain and recorded as a graph.
#include <gtest/gtest.h>

#include <optional>

#include "geodesic/on_device.hpp"
#include "geodesic/scene.hpp"

namespace nearfield::test {
namespace {

class EsdfDevice : public testing::Test {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
        stream_.emplace();
    }
    std::optional<stream> stream_;
};

/// Copies of a scene's arrays on a device.
struct there {
    const scene& of;
    sent<std::uint8_t> occupancy;
    sent<float> distance, gradient;
    sent<std::int32_t> site;

    there(const scene& s, const stream& on)
        : of(s),
          occupancy(s.occupancy, on),
          distance(std::vector<float>(s.occupancy.size()), on),
          gradient(std::vector<float>(s.occupancy.size() * s.shape.size()), on),
          site(std::vector<std::int32_t>(s.occupancy.size() * s.shape.size()), on) {}
    [[nodiscard]] any_input<device> in() const { return occupancy.in(dtype::uint8, of.shape); }
    [[nodiscard]] esdf_fields<device> out() const {
        const shape_t more = of.vectors();
        return {distance.out(dtype::float32, of.shape), site.out(dtype::int32, more),
                gradient.out(dtype::float32, more)};
    }
    [[nodiscard]] field_of answer() const { return {distance.fetched(), gradient.fetched(), site.fetched()}; }
};

TEST_F(EsdfDevice, BitsOfTheHost) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const scene s(seed);
        const there here(s, *stream_);
        esdf(device(stream_->get()), here.in(), here.out(), s.options);
        ASSERT_EQ(here.answer(), s.solved(1)) << "seed " << seed;
        esdf_fields<device> slopes;  // gradients alone
        const there other(s, *stream_);
        slopes.gradient = other.out().gradient;
        esdf(device(stream_->get()), here.in(), slopes, s.options);
        ASSERT_EQ(other.gradient.fetched(), here.gradient.fetched()) << "seed " << seed;
    }
}

TEST_F(EsdfDevice, UpdatesOfABoxAreTheWhole) {
    for (std::uint64_t seed = 1000; seed < 1030; ++seed) {
        scene s(seed);
        there here(s, *stream_);
        esdf(device(stream_->get()), here.in(), here.out(), s.options);
        shape_t first, end;
        s.change(seed, first, end);
        here.occupancy.send(s.occupancy);
        update_esdf(device(stream_->get()), here.in(), first, end, here.out(), s.options);
        ASSERT_EQ(here.answer(), s.solved(2)) << "seed " << seed;
    }
}

TEST_F(EsdfDevice, AGraphOfAFrame) {
    scene s(17);
    there here(s, *stream_);
    const recorded frame([&] { esdf(device(stream_->get()), here.in(), here.out(), s.options); }, *stream_);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        shape_t first, end;
        s.change(seed, first, end);
        here.occupancy.send(s.occupancy);
        frame.replay();
        ASSERT_EQ(here.answer(), s.solved(1));
    }
}

TEST_F(EsdfDevice, CostmapsOfTheHost) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        std::uint64_t state = seed << 20;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        const shape_t shape{1 + static_cast<std::int64_t>(draw(70)), 1 + static_cast<std::int64_t>(draw(70))};
        std::vector<std::uint8_t> map, wanted(static_cast<std::size_t>(cells_of(shape)));
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            constexpr std::uint8_t bytes[] = {0, 0, 0, 0, 0, 0, 40, 253, 254, 255};
            map.push_back(draw(4) == 0 ? bytes[draw(10)] : 0);
        }
        const inflation_options o{
            0.05,        0.05 * static_cast<double>(draw(4)), 0.05 * static_cast<double>(draw(30)), 3, draw(2) == 0,
            draw(2) == 0};
        inflate_costmap(host{1, {}}, any_input<host>::contiguous(map.data(), dtype::uint8, shape),
                        any_output<host>::contiguous(wanted.data(), dtype::uint8, shape), o);
        // Some arrays are parts of larger ones, and some of these begin at an odd address.
        const shape_t around{shape[0], shape[1] + (seed % 3 < 2 ? 3 : 0)};
        const auto inner = [&](std::size_t i) {
            const auto columns = static_cast<std::size_t>(shape[1]), row = i / columns;
            return row * static_cast<std::size_t>(around[1]) + i - row * columns + (seed % 3 == 0 ? 1 : 0);
        };
        const auto part_of = [&](auto view) {
            view.shape[1] = shape[1];
            auto* const bytes = const_cast<char*>(static_cast<const char*>(view.data));
            view.data = bytes + (seed % 3 == 0 ? 1 : 0);
            return view;
        };
        std::vector<std::uint8_t> larger(static_cast<std::size_t>(cells_of(around)), 7), untouched = larger;
        for (std::size_t i = 0; i < map.size(); ++i) larger[inner(i)] = map[i], untouched[inner(i)] = wanted[i];
        const sent<std::uint8_t> in(larger, *stream_), out(std::vector<std::uint8_t>(larger.size(), 7), *stream_);
        const auto start = [&] {
            inflate_costmap(device(stream_->get()), part_of(in.in(dtype::uint8, around)),
                            part_of(out.out(dtype::uint8, around)), o);
        };
        if (seed % 2 == 0) start();
        else recorded(start, *stream_).replay();
        ASSERT_EQ(out.fetched(), untouched) << "seed " << seed;
    }
}

}  // namespace
}  // namespace nearfield::test
