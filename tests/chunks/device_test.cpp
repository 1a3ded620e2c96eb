// Components and windows of chunks on a GPU, against one call on the whole grid on the host.
#include <gtest/gtest.h>

#include "chunks/driver.hpp"
#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

class ChunksDevice : public device_test {};

template <class T>
device_memory there(const std::vector<T>& values, const stream& on) {
    device_memory made(values.size() * sizeof(T) + 1);
    expect_cuda(
        cudaMemcpyAsync(made.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, on.get()), "in");
    on.wait();
    return made;
}
template <class T>
std::vector<T> here(const device_memory& from, std::size_t count, const stream& on) {
    std::vector<T> made(count);
    expect_cuda(cudaMemcpyAsync(made.data(), from.data(), count * sizeof(T), cudaMemcpyDeviceToHost, on.get()), "out");
    on.wait();
    return made;
}

struct device_steps {
    const stream& s;
    dtype type = dtype::int64;

    [[nodiscard]] device on() const { return device(s.get()); }
    [[nodiscard]] std::pair<device_memory, std::int64_t> labelled(const std::vector<std::uint8_t>& image,
                                                                  const lengths& shape,
                                                                  const label_options& how) const {
        const device_memory from = there(image, s), count(8);
        device_memory labels(image.size() * 8 + 1);
        label_fields<device> out;
        out.label = any_output<device>::contiguous(labels.data(), type, shape);
        out.count = any_output<device>::contiguous(count.data(), dtype::int64, lengths{1});
        label(on(), any_input<device>::contiguous(from.data(), dtype::uint8, shape), out, how);
        return {std::move(labels), here<std::int64_t>(count, 1, s)[0]};
    }
    [[nodiscard]] chunk_faces faces(const std::vector<std::uint8_t>& image, const lengths& shape,
                                    const chunk_place& place, const label_options& how) const {
        const auto [labels, count] = labelled(image, shape, how);
        return chunk_faces_of(on(), any_input<device>::contiguous(labels.data(), type, shape), count, place);
    }
    [[nodiscard]] std::vector<std::int64_t> numbers(const std::vector<std::uint8_t>& image, const lengths& shape,
                                                    const label_options& how, const lengths& table) const {
        const auto [labels, count] = labelled(image, shape, how);
        const device_memory made(image.size() * 8 + 1);
        renumber(on(), any_input<device>::contiguous(labels.data(), type, shape), table,
                 any_output<device>::contiguous(made.data(), dtype::int64, shape));
        return here<std::int64_t>(made, image.size(), s);
    }
    [[nodiscard]] std::tuple<std::vector<double>, lengths, bool> window(const std::vector<std::uint8_t>& image,
                                                                        const lengths& shape,
                                                                        const distance_options& options,
                                                                        const lengths& start,
                                                                        const lengths& size) const {
        const device_memory from = there(image, s), squared(image.size() * 8 + 1), index(image.size() * 8 + 1);
        fields<device> out;
        out.squared = any_output<device>::contiguous(squared.data(), dtype::float64, shape);
        out.index = any_output<device>::contiguous(index.data(), dtype::int64, shape);
        distance_transform(on(), any_input<device>::contiguous(from.data(), dtype::uint8, shape), out, options);
        const bool holds = every_cell_has_site(on(), part_of<const void, device>(out.squared, start, size));
        EXPECT_EQ(every_cell_has_site(on(), part_of<const void, device>(out.index, start, size)), holds);
        return {box_of(here<double>(squared, image.size(), s), shape, start, size),
                box_of(here<std::int64_t>(index, image.size(), s), shape, start, size), holds};
    }
};

TEST_F(ChunksDevice, ComponentsAreThoseOfTheWholeGrid) {
    const stream s;
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        SCOPED_TRACE(seed);
        const dtype types[] = {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64};
        expect_components_of_the_whole(device_steps{s, types[seed % 5]}, drawn_grid(seed, 3));
    }
}

TEST_F(ChunksDevice, CertifiedWindowsAreTheWholeGrid) {
    const stream s;
    const std::uint64_t cases = share(0, 200);
    std::uint64_t certified = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        SCOPED_TRACE(seed);
        certified += static_cast<std::uint64_t>(expect_windows_of_the_whole(device_steps{s}, drawn_grid(seed, 3)));
    }
    EXPECT_GT(certified, cases / 40) << "chunks";
}

/// A chunk of many blocks of threads, whose components all touch faces or none.
TEST_F(ChunksDevice, LargeChunksHaveTheFacesOfTheHost) {
    const stream s;
    const lengths shape{40, 60, 90};
    std::mt19937 random(3);
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells_of(shape)));
    for (auto& cell : image) cell = random() % 4 == 0;
    const chunk_place place{{7, 0, 0}, {39, 60, 89}, {90, 60, 90}};
    const auto [labels, count] = device_steps{s, dtype::int32}.labelled(image, shape, {});
    const chunk_faces made = chunk_faces_of(
        device(s.get()), any_input<device>::contiguous(labels.data(), dtype::int32, shape), count, place);
    const auto copy = here<std::int32_t>(labels, image.size(), s);
    const chunk_faces wanted =
        chunk_faces_of(host{1, {}}, any_input<host>::contiguous(copy.data(), dtype::int32, shape), count, place);
    EXPECT_EQ(made.first, wanted.first);
    EXPECT_EQ(made.low, wanted.low);
    EXPECT_EQ(made.high, wanted.high);
    EXPECT_EQ(made.more, (lengths{1, 0, 1}));
}

}  // namespace
}  // namespace nearfield::test
