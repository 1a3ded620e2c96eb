// Sphere tracing and pictures on a GPU have the host's bits.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "render/cases.hpp"

namespace nearfield::test {
namespace {

class RenderDevice : public device_test {
protected:
    static const stream& on() {
        static const stream one;
        return one;
    }
    static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, kind, on().get()), "copying");
    }
};

TEST_F(RenderDevice, TracesTheHostsBits) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const trace_case c = drawn_trace(seed, 200);
        trace_table t = traced_on_host(c, 1), found = t;
        found.entry.assign(found.entry.size(), 7), found.normals.assign(found.normals.size(), 7);
        const std::size_t rays = t.entry.size(), bytes = c.origins.size() * 8;
        const device_memory field(c.field.size() * 4), origins(bytes), directions(bytes), entry(rays * 8),
            normals(t.normals.size() * 4), steps(rays * 4);
        copy(field.data(), c.field.data(), c.field.size() * 4, cudaMemcpyHostToDevice);
        copy(origins.data(), c.origins.data(), bytes, cudaMemcpyHostToDevice);
        copy(directions.data(), c.directions.data(), bytes, cudaMemcpyHostToDevice);
        const shape_t table{c.rays(), static_cast<std::int64_t>(c.shape.size())}, flat{c.rays()};
        sphere_trace(device(on().get()), any_input<device>::contiguous(field.data(), dtype::float32, c.shape),
                     any_input<device>::contiguous(origins.data(), dtype::float64, table),
                     any_input<device>::contiguous(directions.data(), dtype::float64, table),
                     {any_output<device>::contiguous(entry.data(), dtype::float64, flat),
                      any_output<device>::contiguous(normals.data(), dtype::float32, table),
                      any_output<device>::contiguous(steps.data(), dtype::int32, flat)},
                     c.options());
        copy(found.entry.data(), entry.data(), rays * 8, cudaMemcpyDeviceToHost);
        copy(found.normals.data(), normals.data(), t.normals.size() * 4, cudaMemcpyDeviceToHost);
        copy(found.steps.data(), steps.data(), rays * 4, cudaMemcpyDeviceToHost);
        on().wait();
        ASSERT_EQ(found, t) << "seed " << seed;
    }
}

TEST_F(RenderDevice, TracesACamerasPicture) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const trace_case c = drawn_trace(seed, 0);
        if (c.shape.size() != 3) continue;
        const camera from = camera_for(c.shape.data(), 3, {c.spacing.data(), 3}, 40, 20, 1.2);
        trace_table t = traced_by_camera(c, from, 1), found = t;
        found.entry.assign(found.entry.size(), 7), found.normals.assign(found.normals.size(), 7);
        const std::size_t rays = t.entry.size();
        const device_memory field(c.field.size() * 4), entry(rays * 8), normals(rays * 12), steps(rays * 4);
        copy(field.data(), c.field.data(), c.field.size() * 4, cudaMemcpyHostToDevice);
        const shape_t flat{picture_height, picture_width}, deep{picture_height, picture_width, 3};
        sphere_trace(device(on().get()), any_input<device>::contiguous(field.data(), dtype::float32, c.shape), from,
                     {any_output<device>::contiguous(entry.data(), dtype::float64, flat),
                      any_output<device>::contiguous(normals.data(), dtype::float32, deep),
                      any_output<device>::contiguous(steps.data(), dtype::int32, flat)},
                     c.options());
        copy(found.entry.data(), entry.data(), rays * 8, cudaMemcpyDeviceToHost);
        copy(found.normals.data(), normals.data(), rays * 12, cudaMemcpyDeviceToHost);
        copy(found.steps.data(), steps.data(), rays * 4, cudaMemcpyDeviceToHost);
        on().wait();
        ASSERT_EQ(found, t) << "seed " << seed;
    }
}

/// Compares pictures of a volume.
void check_pictures(const stream& on, const std::vector<std::uint8_t>& volume, const shape_t& shape, double threshold) {
    for (render_options o : picture_options(shape)) {
        o.threshold = threshold;
        std::vector<std::uint8_t> found(3 * picture_width * picture_height);
        const device_memory in(volume.size()), out(found.size());
        const auto draw = [&] {
            render(device(on.get()), any_input<device>::contiguous(in.data(), dtype::uint8, shape),
                   any_output<device>::contiguous(out.data(), dtype::uint8, shape_t{picture_height, picture_width, 3}),
                   o);
        };
        const recorded work(draw, on);
        expect_cuda(cudaMemcpyAsync(in.data(), volume.data(), volume.size(), cudaMemcpyHostToDevice, on.get()), "in");
        work.replay();
        expect_cuda(cudaMemcpyAsync(found.data(), out.data(), found.size(), cudaMemcpyDeviceToHost, on.get()), "out");
        on.wait();
        EXPECT_EQ(found, drawn_on_host(volume, shape, o, 1)) << testing::PrintToString(shape);
    }
}

/// Gray values, the mask of their inside, and single cells; rows of whole words and of parts of words.
TEST_F(RenderDevice, DrawsTheHostsBytes) {
    for (const shape_t& shape : {shape_t{41, 43, 47}, shape_t{40, 44, 64}, shape_t{9, 30, 16}}) {
        std::vector<std::uint8_t> volume = drawn_object(shape);
        check_pictures(on(), volume, shape, 100);
        for (std::uint8_t& one : volume) one = one < 100 ? 0 : 1;
        check_pictures(on(), volume, shape, 0.5);
        check_pictures(on(), make_random(shape, 0.02, 3), shape, 1);
    }
}

}  // namespace
}  // namespace nearfield::test
