// Tables, lists, numbers and contacts of labels on a GPU: runs the host's checks, plain and recorded as a graph.
#include "device_test.hpp"
#include "components/device_runner.hpp"
#include "components/measures_checks.hpp"
#include "nearfield/system.hpp"

namespace nearfield::test {
namespace {

class ComponentsDevice : public device_test {};

constexpr dtype value_types[] = {dtype::uint8,  dtype::float32, dtype::int16,  dtype::float64,
                                 dtype::uint32, dtype::int8,    dtype::uint64, dtype::boolean,
                                 dtype::uint16, dtype::int64,   dtype::int32};

/// Shapes that reach columns which end within a warp or within a lane's 64 rows, several warps above one another, walks
/// along either axis, folded lines, and chunks of more than one step.
std::vector<shape_t> device_shapes() {
    return {{1},         {1030},     {5, 31},     {70, 3}, {130, 40}, {3, 300}, {3, 5, 7},
            {2, 33, 65}, {9, 1, 40}, {70, 3, 33}, {0},     {4, 0},    {0, 3, 3}};
}
std::vector<shape_t> larger_shapes() { return {{70000}, {600, 70}, {20, 41, 43}}; }

/// Runs a check, recorded as a graph for some seeds.
template <class Check>
void check_with(const drawn& d, const Check& check) {
    if (d.seed % 3 == 0) check(graph_runner());
    else check(device_runner());
}

TEST_F(ComponentsDevice, TablesAreTheOracles) {
    for_each_drawn(device_shapes(), [&](const drawn& d) {
        check_with(d, [&](const auto& run) {
            check_tables(run, d, value_types[(d.seed / 3) % std::size(value_types)]);
            if (d.seed % 4 == 0) check_tables(run, d, {});
        });
    });
}

TEST_F(ComponentsDevice, TablesOfUnknownRowsAreTheOracles) {
    std::vector<shape_t> shapes = device_shapes();
    for (const shape_t& each : larger_shapes()) shapes.push_back(each);
    for_each_drawn(shapes, [&](drawn d) {
        d.type = d.seed % 2 == 0 ? dtype::int32 : dtype::uint32;
        check_tables(device_runner(), d, value_types[d.seed % std::size(value_types)], false);
    });
}

TEST_F(ComponentsDevice, TablesOfLargerImages) {
    for_each_drawn(larger_shapes(), [&](const drawn& d) {
        check_with(d, [&](const auto& run) { check_tables(run, d, value_types[d.seed % std::size(value_types)]); });
    });
}

TEST_F(ComponentsDevice, ListsAreTheOracles) {
    std::vector<shape_t> shapes = device_shapes();
    for (const shape_t& each : larger_shapes()) shapes.push_back(each);
    for_each_drawn(shapes, [&](const drawn& d) {
        check_with(d, [&](const auto& run) { check_lists(run, d, d.seed % 2 == 0 ? list_of::cells : list_of::runs); });
    });
}

TEST_F(ComponentsDevice, NumbersFollowTheFirstCells) {
    constexpr dtype to[] = {dtype::int32, dtype::uint16, dtype::uint32, dtype::int64, dtype::uint64};
    std::vector<shape_t> shapes = device_shapes();
    for (const shape_t& each : larger_shapes()) shapes.push_back(each);
    for_each_drawn(shapes, [&](const drawn& d) {
        const dtype label = to[d.seed / 2 % std::size(to)];
        // A graph cannot wait for the number of values, so the type must hold any number of them.
        if (label == dtype::uint16 && cells_of(d.shape) > 65535) check_relabel(device_runner(), d, label);
        else check_with(d, [&](const auto& run) { check_relabel(run, d, label); });
    });
}

TEST_F(ComponentsDevice, ContactsAreTheOracles) {
    for_each_drawn(device_shapes(), [&](const drawn& d) {
        if (d.type == dtype::uint64 && (d.kind == pattern::far_apart || d.kind == pattern::beyond)) return;
        check_contacts(device_runner(), d, 1 + static_cast<int>(d.seed % d.shape.size()));
    });
}

TEST_F(ComponentsDevice, MoreContactsThanPlacesAtFirst) {
    check_contacts(device_runner(), {pattern::each, {200, 300}, dtype::int32, 1}, 1);
    check_contacts(device_runner(), {pattern::each, {200, 300}, dtype::int64, 1}, 1);
}

TEST_F(ComponentsDevice, ShapesAreTheOraclesAndTheHosts) {
    const std::vector<shape_t> shapes{{1, 1},    {5, 31},    {70, 3},     {130, 40},  {3, 300}, {4, 0},
                                      {3, 5, 7}, {2, 4, 65}, {70, 3, 33}, {3, 70, 5}, {0, 3, 3}};
    for_each_drawn(shapes, [&](const drawn& d) { check_measures(device_runner(), d); });
}

/// Everything made of labels, including sums of floats, equals the oracle in each of twenty runs, because results do
/// not depend on the order of threads.
TEST_F(ComponentsDevice, TwentyRunsAreTheOracles) {
    const device_runner run;
    for (const shape_t& shape : {shape_t{130, 70}, shape_t{20, 21, 43}})
        for (int again = 0; again < 21 && !HasFailure(); ++again) {
            const drawn d{pattern::noise, shape, dtype::int32, 4};
            check_tables(run, d, dtype::float32);
            check_lists(run, d, list_of::cells), check_lists(run, d, list_of::runs);
            check_relabel(run, d, dtype::int32);
            check_contacts(run, d, 2);
            check_remove(run, d);
        }
}

/// Checks labels of 1, and of 2 on the last cells, in images of more than 2^31 and more than 2^32 cells.
void check_many_cells(const shape_t& shape) {
    const std::int64_t cells = cells_of(shape), line = shape.back();
    constexpr std::int64_t twos = 1000;
    if (query_system().devices[0].free_bytes < 12 * cells + (std::int64_t{1} << 30))
        GTEST_SKIP() << "too little memory";
    const stream on;
    const device_memory labels(static_cast<std::size_t>(cells)), numbers(sizeof(std::int64_t) * 64);
    expect_cuda(cudaMemsetAsync(labels.data(), 1, static_cast<std::size_t>(cells - twos), on.get()), "ones");
    expect_cuda(cudaMemsetAsync(static_cast<std::uint8_t*>(labels.data()) + cells - twos, 2, twos, on.get()), "twos");
    const auto image = any_input<device>::contiguous(static_cast<const void*>(labels.data()), dtype::uint8, shape);
    auto* const memory = static_cast<std::int64_t*>(numbers.data());
    const auto table = [&](std::int64_t at, const shape_t& sides, dtype type = dtype::int64) {
        return any_output<device>::contiguous(static_cast<void*>(memory + at), type, sides);
    };
    const auto axes = static_cast<std::int64_t>(shape.size());
    component_tables<device> t;
    t.size = table(0, {2}), t.box = table(8, {2, 2, axes}), t.centroid = table(24, {2, axes}, dtype::float64);
    component_statistics(device{on.get()}, image, t);
    label_list_offsets(device{on.get()}, image, table(40, {3}));
    label_list_offsets(device{on.get()}, image, table(48, {3}), list_of::runs);
    label_lists(device{on.get()}, image, table(48, {3}), table(52, {2, 2}), list_of::runs);
    std::int64_t got[64];
    expect_cuda(cudaMemcpyAsync(got, memory, sizeof(got), cudaMemcpyDeviceToHost, on.get()), "download");
    on.wait();
    EXPECT_EQ(got[0], cells - twos);
    EXPECT_EQ(got[1], twos);
    EXPECT_EQ(got[8 + 2 * axes + axes - 1], line - twos);
    EXPECT_EQ(got[8 + 3 * axes + axes - 1], line);
    double centroid[8];
    std::memcpy(centroid, got + 24, sizeof(centroid));
    EXPECT_EQ(centroid[axes + axes - 1], static_cast<double>(line) - (twos + 1) / 2.0);
    EXPECT_EQ(got[42], cells);
    if (axes > 1) return;
    EXPECT_EQ(got[50], 2);
    EXPECT_EQ(got[52 + 2], cells - twos);
    EXPECT_EQ(got[52 + 3], twos);
    // The centroid of the first n cells is (n - 1) / 2.
    EXPECT_EQ(centroid[0], static_cast<double>(cells - twos - 1) / 2);
}

TEST_F(ComponentsDevice, MoreThanTwoToThe31Cells) {
    check_many_cells({(std::int64_t{1} << 31) + 70001});
    check_many_cells({3, (std::int64_t{1} << 30) + 17});
    check_many_cells({(std::int64_t{1} << 32) + 70001});
}

TEST_F(ComponentsDevice, SmallOnesAreRemoved) {
    for_each_drawn({{50}, {9, 31}, {40, 41}, {5, 6, 7}}, [&](const drawn& d) { check_remove(device_runner(), d); });
}

}  // namespace
}  // namespace nearfield::test
