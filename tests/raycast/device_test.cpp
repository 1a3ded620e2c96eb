// Rays on a GPU, plain and recorded as a graph.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "raycast/cases.hpp"

namespace nearfield::test {
namespace {

class RaycastDevice : public device_test {};

ray_table on_device(const ray_case& c, ray_skips skips, bool graph) {
    static const stream on;
    ray_table t = table_for(c);
    const std::size_t rays = t.faces.size(), bytes = c.origins.size() * sizeof(double);
    const device_memory mask(c.mask.size() + 1), origins(bytes), directions(bytes), cells(t.cells.size() * 4),
        faces(rays), entry(rays * 8), steps(rays * 4);
    const auto start = [&] {
        const std::array<void*, 4> out{cells.data(), faces.data(), entry.data(), steps.data()};
        raycast_of(device(on.get()), c, static_cast<const void*>(mask.data()), static_cast<const void*>(origins.data()),
                   static_cast<const void*>(directions.data()), out, skips);
    };
    const auto copy = [&](void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
        expect_cuda(cudaMemcpyAsync(to, from, count, kind, on.get()), "copying");
    };
    const auto upload = [&] {
        copy(mask.data(), c.mask.data(), c.mask.size(), cudaMemcpyHostToDevice);
        copy(origins.data(), c.origins.data(), bytes, cudaMemcpyHostToDevice);
        copy(directions.data(), c.directions.data(), bytes, cudaMemcpyHostToDevice);
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay(), work.replay();
    } else {
        upload();
        start();
    }
    copy(t.cells.data(), cells.data(), t.cells.size() * 4, cudaMemcpyDeviceToHost);
    copy(t.faces.data(), faces.data(), rays, cudaMemcpyDeviceToHost);
    copy(t.entry.data(), entry.data(), rays * 8, cudaMemcpyDeviceToHost);
    on.wait();
    return t;
}

TEST_F(RaycastDevice, RandomRays) {
    check_rays([](const ray_case& c) { return on_device(c, ray_skips::cubes, false); }, 500, 0, 60);
    check_rays([](const ray_case& c) { return on_device(c, ray_skips::none, false); }, 500, 60, 80);
}
TEST_F(RaycastDevice, RandomRaysInAGraph) {
    check_rays([](const ray_case& c) { return on_device(c, ray_skips::cubes, true); }, 500, 100, 110);
}

}  // namespace
}  // namespace nearfield::test
