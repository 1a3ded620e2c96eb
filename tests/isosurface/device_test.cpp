// Surfaces on a GPU: the mesh equals the host's, number by number.
#include <cmath>

#include "isosurface/fields.hpp"
#include "mesh/on_device.hpp"
#include "nearfield/isosurface.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

using IsosurfaceDevice = MeshOnDevice;

template <class T>
mesh on_device(const std::vector<T>& field, const shape_t& shape, double level, const isosurface_options& o,
               std::int64_t step = 1) {
    static const stream on;
    const device_memory memory(field.size() * sizeof(T) + 1);
    expect_cuda(
        cudaMemcpyAsync(memory.data(), field.data(), field.size() * sizeof(T), cudaMemcpyHostToDevice, on.get()),
        "copying");
    any_input<device> in = any_input<device>::contiguous(memory.data(), dtype_of<T>(), shape);
    for (std::int64_t& stride : in.stride) stride *= step;
    return isosurface(device(on.get()), in, level, o);
}
template <class T>
mesh on_host(const std::vector<T>& field, const shape_t& shape, double level, const isosurface_options& o) {
    return isosurface(host{2, {}}, any_input<host>::contiguous(field.data(), dtype_of<T>(), shape), level, o);
}

TEST_F(IsosurfaceDevice, RandomFields) {
    for (std::uint64_t seed = 0; seed < share(0, 90); ++seed) {
        const std::int64_t last[] = {1, 7, 31, 32, 33, 70};
        const shape_t shape = {1 + static_cast<std::int64_t>(mix(seed) % 5), 1 + static_cast<std::int64_t>(seed % 4),
                               last[seed % 6]};
        std::vector<float> field = random_field(shape, seed, 2 + static_cast<int>(seed % 4));
        if (seed % 3 == 0) field[field.size() / 2] = INFINITY, field[0] = NAN;
        isosurface_options o{{0.3, -7, 2}, {1, 0.3, 2.5}, seed % 4 == 1, seed % 2 == 0, {}};
        const double level = seed % 2 == 0 ? 0.5 : 1;
        for (const auto method : {isosurface_method::marching_cubes, isosurface_method::dual_contouring}) {
            o.method = method;
            ASSERT_EQ(on_device(field, shape, level, o), on_host(field, shape, level, o)) << seed;
        }
    }
}
/// Noise has faces with two segments, which get vertices of their own.
TEST_F(IsosurfaceDevice, DoubledSegments) {
    const shape_t shape = {12, 13, 70};
    const std::vector<float> field = random_field(shape, 77, 2);
    isosurface_options o;
    o.closed = true;
    const mesh plain = on_host(field, shape, 0.5, o);
    o.method = isosurface_method::dual_contouring;
    const mesh found = on_device(field, shape, 0.5, o);
    EXPECT_EQ(found, on_host(field, shape, 0.5, o));
    EXPECT_TRUE(measure_mesh(found).closed);
    EXPECT_EQ(measure_mesh(found).euler, measure_mesh(plain).euler);
}
TEST_F(IsosurfaceDevice, TypesStridesAndNothing) {
    const shape_t shape = {9, 8, 37};
    const std::vector<float> field = random_field(shape, 5, 9);
    const mesh wanted = on_host(field, shape, 4.5, {});
    std::vector<std::int16_t> spread(field.size() * 2, 99);
    for (std::size_t i = 0; i < field.size(); ++i) spread[2 * i] = static_cast<std::int16_t>(field[i]);
    EXPECT_EQ(on_device(spread, shape, 4.5, {}, 2), wanted);
    const std::vector<double> wide(field.begin(), field.end());
    EXPECT_EQ(on_device(wide, shape, 4.5, {}), wanted);
    const std::vector<std::uint64_t> counts(field.begin(), field.end());
    EXPECT_EQ(on_device(counts, shape, 4.5, {}), wanted);
    EXPECT_TRUE(on_device(field, shape, 100, {}).faces.empty());
    EXPECT_TRUE(on_device(std::vector<float>{}, {0, 5, 5}, 1, {}).vertices.empty());
    expect_refused([&] { static_cast<void>(on_device(field, shape, NAN, {})); }, {"level"});
}
TEST_F(IsosurfaceDevice, LargerLikeTheHost) {
    const shape_t shape = {190, 131, 217};
    std::vector<float> field;
    for (int i = 0; i < 190; ++i)
        for (int j = 0; j < 131; ++j)
            for (int k = 0; k < 217; ++k)
                field.push_back(std::sin(0.21F * static_cast<float>(i)) * std::sin(0.17F * static_cast<float>(j)) +
                                std::cos(0.13F * static_cast<float>(k)));
    isosurface_options o{{}, {1, 1, 1}, true, true, {}};
    ASSERT_EQ(on_device(field, shape, 0.1, o), on_host(field, shape, 0.1, o));
    o.method = isosurface_method::dual_contouring;
    ASSERT_EQ(on_device(field, shape, 0.1, o), on_host(field, shape, 0.1, o));
}

}  // namespace
}  // namespace nearfield::test
