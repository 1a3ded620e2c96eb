// Components and windows of chunks on the host, against one call on the whole grid.
#include <gtest/gtest.h>

#include "chunks/driver.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

struct host_steps {
    host on{2, {}};
    dtype type = dtype::int64;

    [[nodiscard]] std::int64_t labelled(const std::vector<std::uint8_t>& image, const lengths& shape,
                                        const label_options& how, void* to) const {
        std::int64_t count = 0;
        label_fields<host> out;
        out.label = any_output<host>::contiguous(to, type, shape);
        out.count = any_output<host>::contiguous(&count, dtype::int64, lengths{1});
        label(on, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out, how);
        return count;
    }
    [[nodiscard]] chunk_faces faces(const std::vector<std::uint8_t>& image, const lengths& shape,
                                    const chunk_place& place, const label_options& how) const {
        std::vector<std::int64_t> labels(image.size());
        const std::int64_t count = labelled(image, shape, how, labels.data());
        return chunk_faces_of(on, any_input<host>::contiguous(labels.data(), type, shape), count, place);
    }
    [[nodiscard]] std::vector<std::int64_t> numbers(const std::vector<std::uint8_t>& image, const lengths& shape,
                                                    const label_options& how, const lengths& table) const {
        std::vector<std::int64_t> labels(image.size()), made(image.size(), -1);
        static_cast<void>(labelled(image, shape, how, labels.data()));
        renumber(on, any_input<host>::contiguous(labels.data(), type, shape), table,
                 any_output<host>::contiguous(made.data(), dtype::int64, shape));
        return made;
    }
    [[nodiscard]] std::tuple<std::vector<double>, lengths, bool> window(const std::vector<std::uint8_t>& image,
                                                                        const lengths& shape,
                                                                        const distance_options& options,
                                                                        const lengths& start,
                                                                        const lengths& size) const {
        std::vector<double> squared(image.size());
        std::vector<std::int64_t> index(image.size());
        fields<host> out;
        out.squared = any_output<host>::contiguous(squared.data(), dtype::float64, shape);
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
        distance_transform(on, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out, options);
        const bool holds = every_cell_has_site(on, part_of<const void, host>(out.squared, start, size));
        EXPECT_EQ(every_cell_has_site(on, part_of<const void, host>(out.index, start, size)), holds);
        return {box_of(squared, shape, start, size), box_of(index, shape, start, size), holds};
    }
};

TEST(Chunks, ComponentsAreThoseOfTheWholeGrid) {
    for (std::uint64_t seed = 0; seed < share(0, 600); ++seed) {
        SCOPED_TRACE(seed);
        const dtype types[] = {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64};
        expect_components_of_the_whole(host_steps{{1, {}}, types[seed % 5]}, drawn_grid(seed, 4));
    }
}

TEST(Chunks, CertifiedWindowsAreTheWholeGrid) {
    const std::uint64_t cases = share(0, 400);
    std::uint64_t certified = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        SCOPED_TRACE(seed);
        certified += static_cast<std::uint64_t>(expect_windows_of_the_whole(host_steps{}, drawn_grid(seed, 4)));
    }
    EXPECT_GT(certified, cases / 16) << "chunks";
}

template <class T>
void expect_missing_is_seen(T there, T none) {
    for (const std::int64_t missing : {-1, 0, 69999, 70000, 70001, 149999}) {
        const auto field = std::make_unique<T[]>(150000);
        std::fill_n(field.get(), 150000, there);
        if (missing >= 0) field[static_cast<std::size_t>(missing)] = none;
        const auto all = any_input<host>::contiguous(field.get(), dtype_of<T>(), lengths{300, 500});
        EXPECT_EQ(every_cell_has_site(host{2, {}}, all), missing < 0) << name_of(dtype_of<T>()) << missing;
        EXPECT_EQ(every_cell_has_site(host{2, {}}, part_of(all, {1, 1}, {299, 498})),
                  missing < 500 || missing % 500 == 499 || missing % 500 == 0);
    }
}

TEST(Chunks, CellsWithoutASiteAreSeenInEveryType) {
    expect_missing_is_seen<bool>(true, false);
    expect_missing_is_seen<std::uint16_t>(65534, 65535);
    expect_missing_is_seen<std::uint32_t>(0, 0xffffffff);
    expect_missing_is_seen<std::uint64_t>(0xffffffff, ~std::uint64_t{0});
    expect_missing_is_seen<std::int32_t>(0, -1);
    expect_missing_is_seen<std::int64_t>(0xffffffff, -1);
    expect_missing_is_seen<float>(3e38F, -std::numeric_limits<float>::infinity());
    expect_missing_is_seen<double>(0, std::numeric_limits<double>::infinity());
    std::vector<std::uint16_t> half{0x7bff, 0x8000, 0xfbff};
    const auto field = any_input<host>::contiguous(half.data(), dtype::float16, lengths{3});
    EXPECT_TRUE(every_cell_has_site(host{1, {}}, field));
    half[1] = 0xfc00;
    EXPECT_FALSE(every_cell_has_site(host{1, {}}, field));
}

TEST(Chunks, SetsHaveTheirSmallestMember) {
    EXPECT_EQ(joined_sets(6, lengths{5, 3, 1}, lengths{3, 1, 3}), (lengths{0, 1, 2, 1, 4, 1}));
    EXPECT_EQ(joined_sets(0, {}, {}), lengths{});
    expect_refused([] { static_cast<void>(joined_sets(2, lengths{2}, lengths{0})); }, {"items 2 and 0"});
    expect_refused([] { static_cast<void>(joined_sets(2, lengths{1, 0}, lengths{0})); }, {"one length"});
}

TEST(Chunks, NumbersReplaceLabelsInPlaceAndThroughStrides) {
    std::vector<std::int32_t> labels{0, 1, 2, 3, 2, 1};
    const auto view = any_output<host>::contiguous(labels.data(), dtype::int32, lengths{2, 3});
    renumber(host{1, {}}, view, lengths{7, 9}, view);
    EXPECT_EQ(labels, (std::vector<std::int32_t>{0, 7, 9, 0, 9, 7}));
    std::vector<std::uint16_t> turned(6);
    const nearfield::view<std::uint16_t, 2, host> to{turned.data(), {2, 3}, {1, 2}};
    renumber(host{1, {}}, view, lengths{0, 0, 0, 0, 0, 0, 1, 0, 65535}, to);
    EXPECT_EQ(turned, (std::vector<std::uint16_t>{0, 0, 1, 65535, 65535, 1}));
    expect_refused([&] { renumber(host{1, {}}, view, lengths{65536}, to); }, {"numbers has 65536", "uint16"});
    expect_refused([&] { renumber(host{1, {}}, view, lengths{-1}, to); }, {"numbers has -1"});
}

TEST(Chunks, RefuseWhatIsNoChunk) {
    const std::vector<std::int32_t> labels(12, 1);
    const auto window = any_input<host>::contiguous(labels.data(), dtype::int32, lengths{3, 4});
    const auto faces = [&](const chunk_place& place, std::int64_t count = 1) {
        return chunk_faces_of(host{1, {}}, window, count, place);
    };
    expect_refused([&] { static_cast<void>(faces({{0}, {3}, {3}})); }, {"place has 1, 1 and 1 values"});
    expect_refused([&] { static_cast<void>(faces({{0, 0}, {1, 4}, {9, 9}})); }, {"labels has 3 cells", "the chunk 1"});
    expect_refused([&] { static_cast<void>(faces({{7, 0}, {3, 4}, {9, 9}})); }, {"3 cells from cell 7"});
    expect_refused([&] { static_cast<void>(faces({{0, 0}, {3, 4}, {9, 9}}, 2)); }, {"no cell of component 2"});
    expect_refused([&] { static_cast<void>(faces({{0, 0}, {3, 4}, {9, 9}}, 13)); }, {"count is 13"});
    const std::vector<chunk_faces> two(2, faces({{0, 0}, {2, 4}, {4, 4}}));
    EXPECT_EQ(merge(two, lengths{2, 1}).count, 1);
    expect_refused([&] { static_cast<void>(merge(two, lengths{3, 1})); }, {"faces are of 2 chunks"});
    expect_refused([&] { static_cast<void>(merge(two, lengths{2})); }, {"faces of chunk 0"});
    std::vector<chunk_faces> other = two;
    other[1] = faces({{2, 0}, {2, 3}, {4, 4}});
    expect_refused([&] { static_cast<void>(merge(other, lengths{2, 1})); }, {"do not fit"});
    expect_refused([] { static_cast<void>(window_halo(std::numeric_limits<double>::infinity(), {}, 2)); }, {"limit"});
    expect_refused([] { static_cast<void>(window_halo(1, {1, 2, 3}, 2)); }, {"spacing"});
    EXPECT_EQ(window_halo(5, {1, 2.5}, 2), (lengths{6, 3}));
}

}  // namespace
}  // namespace nearfield::test
