// The watershed on a GPU: the host's checks, plain and recorded as a graph; large images against the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "refused.hpp"
#include "watershed/cases.hpp"
#include "watershed/listed.hpp"
#include "watershed/split_cases.hpp"

namespace nearfield::test {
namespace {

/// The arrays of a call on the device, which runs plain or as a replayed graph.
class device_arrays {
public:
    device_arrays(const watershed_case& c, bool reconstructs) : c_(c) {
        image_ = bytes_of(c.value, c.type);
        given_ = reconstructs ? bytes_of(c.seed, c.type)
                              : bytes_of(std::vector<double>(c.marker.begin(), c.marker.end()), c.label_type());
        if (given_.empty()) given_.resize(image_.size());
        mask_.resize(c.mask.size() + 1);
        std::memcpy(mask_.data(), c.mask.data(), c.mask.size());
        options_ = c.options;
        if (!c.ends.empty()) options_.border = {c_.ends.data(), c_.ends.size()};
        if (reconstructs) options_.h = 0, options_.roots = false;
    }
    watershed_result run(bool graph, bool reconstructs) const {
        static const stream on;
        const std::size_t label_bytes = c_.value.size() * static_cast<std::size_t>(size_of(c_.label_type()));
        const device_memory image(image_.size() + 1), given(given_.size() + 1), mask(mask_.size()),
            label(label_bytes + 1), passes(image_.size() + 1), extrema(c_.value.size() + 1);
        const auto start = [&] { call(device(on.get()), image, given, mask, label, passes, extrema, reconstructs); };
        const auto begin = [&] {
            upload(on, image, image_), upload(on, given, given_), upload(on, mask, mask_);
            expect_cuda(cudaMemsetAsync(label.data(), 0x5a, label.bytes(), on.get()), "memset");
        };
        if (graph) {
            const recorded work(start, on);
            begin();
            work.replay();
        } else {
            begin();
            start();
        }
        std::vector<std::byte> labels(label_bytes), levels(image_.size());
        std::vector<std::byte> marks(c_.marker.empty() && !reconstructs ? c_.value.size() : 0);
        download(on, labels, label), download(on, levels, passes), download(on, marks, extrema);
        on.wait();
        watershed_result result{{}, values_of(levels, c_.type)};
        for (const std::byte each : marks) result.extrema.push_back(static_cast<std::uint8_t>(each));
        for (const double each : values_of(labels, c_.label_type()))
            result.label.push_back(static_cast<std::int64_t>(each));
        return result;
    }

    std::vector<peak> peaks_by_label() const {
        static const stream on;
        const device_memory image(image_.size() + 1), given(given_.size() + 1), mask(mask_.size());
        upload(on, image, image_), upload(on, given, given_), upload(on, mask, mask_);
        return peaks(device(on.get()), any_input<device>::contiguous(image.data(), c_.type, c_.shape), options_,
                     mask_in(mask), markers_in(given));
    }

private:
    static void upload(const stream& on, const device_memory& to, const std::vector<std::byte>& bytes) {
        expect_cuda(cudaMemcpyAsync(to.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, on.get()), "upload");
    }
    static void download(const stream& on, std::vector<std::byte>& bytes, const device_memory& from) {
        expect_cuda(cudaMemcpyAsync(bytes.data(), from.data(), bytes.size(), cudaMemcpyDeviceToHost, on.get()),
                    "download");
    }
    void call(const device& on, const device_memory& image, const device_memory& given, const device_memory& mask,
              const device_memory& label, const device_memory& passes, const device_memory& extrema,
              bool reconstructs) const {
        const auto in = any_input<device>::contiguous(image.data(), c_.type, c_.shape);
        const auto to = any_output<device>::contiguous(passes.data(), c_.type, c_.shape);
        if (reconstructs)
            return reconstruct_gray(on, any_input<device>::contiguous(given.data(), c_.type, c_.shape), in, to,
                                    options_);
        const auto marks = any_output<device>::contiguous(extrema.data(), dtype::uint8, c_.shape);
        watershed(on, in,
                  {any_output<device>::contiguous(label.data(), c_.label_type(), c_.shape), to,
                   c_.marker.empty() ? marks : any_output<device>{}},
                  options_, markers_in(given), mask_in(mask));
    }
    any_input<device> markers_in(const device_memory& given) const {
        return c_.marker.empty() ? any_input<device>{}
                                 : any_input<device>::contiguous(given.data(), c_.marker_type, c_.shape);
    }
    any_input<device> mask_in(const device_memory& mask) const {
        return c_.mask.empty() ? any_input<device>{}
                               : any_input<device>::contiguous(mask.data(), dtype::uint8, c_.shape);
    }

    const watershed_case& c_;
    std::vector<std::byte> image_, given_, mask_;
    watershed_options options_;
};

class WatershedDevice : public device_test {};

watershed_result on_device(const watershed_case& c) {
    return device_arrays(c, false).run(c.value.size() % 5 == 0, false);
}

TEST_F(WatershedDevice, IsDijkstras) { check_watersheds(on_device, 40000, 43000, 3); }

/// Four long axes, whose padded array is a line.
TEST_F(WatershedDevice, FourAxesAreDijkstras) {
    std::uint64_t checked = 0;
    for (std::uint64_t seed = 70000; checked < share(0, 300) && !HasFailure(); ++seed) {
        watershed_case c = drawn_case(seed, 4);
        if (std::ranges::count_if(c.shape, [](std::int64_t n) { return n > 1; }) != 4) continue;
        c.ends.clear(), ++checked;
        const watershed_result want = expected(c), got = on_device(c);
        EXPECT_EQ(got.label, want.label) << c.text();
        EXPECT_EQ(got.extrema, want.extrema) << c.text();
        EXPECT_EQ(got, on_host(c, 1)) << c.text();
        EXPECT_EQ(device_arrays(c, false).peaks_by_label(), peaks_on_host(c, 1)) << c.text();
        if (std::ranges::any_of(c.value, [](double v) { return std::isnan(v); })) continue;
        EXPECT_EQ(device_arrays(c, true).run(false, true).passes, expected_reconstruction(c)) << c.text();
    }
}

TEST_F(WatershedDevice, PeaksOfLabelsAreThoseOfEachAlone) {
    check_peaks([](const watershed_case& c) { return device_arrays(c, false).peaks_by_label(); }, 80000, 80500, 3);
}

TEST_F(WatershedDevice, ReconstructionIsDijkstras) {
    check_reconstructions(
        [](const watershed_case& c) { return device_arrays(c, true).run(c.value.size() % 5 == 0, true).passes; }, 50000,
        50500, 3);
}

split_result split_on_device(const split_case& c) {
    static const stream on;
    const shape_t one{1};
    const device_memory mask(c.mask.size() + 1), label(4 * c.mask.size() + 1), count(8);
    expect_cuda(cudaMemcpyAsync(mask.data(), c.mask.data(), c.mask.size(), cudaMemcpyHostToDevice, on.get()), "upload");
    split(device(on.get()), any_input<device>::contiguous(mask.data(), dtype::uint8, c.shape),
          any_output<device>::contiguous(label.data(), dtype::int32, c.shape), c.asked(),
          any_output<device>::contiguous(count.data(), dtype::int64, one));
    split_result result;
    result.label.resize(c.mask.size());
    expect_cuda(cudaMemcpyAsync(result.label.data(), label.data(), 4 * c.mask.size(), cudaMemcpyDeviceToHost, on.get()),
                "download");
    expect_cuda(cudaMemcpyAsync(&result.count, count.data(), 8, cudaMemcpyDeviceToHost, on.get()), "download");
    on.wait();
    return result;
}

TEST_F(WatershedDevice, SplitsAreByDefinition) {
    check_splits(split_on_device, 1000, 1600,
                 {split_method::watershed, split_method::geodesic, split_method::lecture, split_method::voronoi});
}

/// Squares are float64 then, whose ranks the watershed takes.
TEST_F(WatershedDevice, SplitsOfRealSpacingAreTheHosts) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        split_case c;
        c.shape = {23, 31, 17}, c.lengths = {0.3, 0.11, 0.11};
        for (std::int64_t i = 0; i < 23 * 31 * 17; ++i)
            c.mask.push_back(mix(seed + static_cast<std::uint64_t>(i)) % 40 == 0 ? 0 : 1);
        c.options.method = static_cast<split_method>(seed % 4);
        if (seed > 5) c.options.h = 0.2;
        EXPECT_EQ(split_on_device(c), split_on_host(c)) << c.text();
    }
}

/// Several tiles, blocks and fronts; noise, which has more passes than the list can hold.
TEST_F(WatershedDevice, LargerImagesAreTheHosts) {
    for (const shape_t& shape : {shape_t{300, 500}, shape_t{30, 70, 80}, shape_t{40000}})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            watershed_case c = landscape(shape, seed, seed == 1 ? dtype::uint16 : dtype::uint8);
            c.options.connectivity = seed % 2 == 0 ? 1 : static_cast<int>(shape.size());
            c.options.lines = seed == 2;
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text();
            c.marker.clear(), c.options.h = static_cast<double>(5 * seed);
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text();
            for (std::size_t i = 0; i < c.value.size(); ++i) c.value[i] = static_cast<double>(mix(i + seed) % 250);
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text() << ", noise";
            for (std::size_t i = 0; i < c.value.size(); ++i)
                c.marker.push_back(i % 97 == 0 ? static_cast<int>(i) + 1 : 0);
            c.options.h = 0;
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text() << ", noise with markers";
        }
}

/// Rows that are longer than a warp's, and tiles that the image fills in part.
TEST_F(WatershedDevice, RowsBeyondAWarpAreTheHosts) {
    for (const shape_t& shape : {shape_t{5, 9, 70}, shape_t{3, 4, 33}, shape_t{4, 8, 64}, shape_t{9, 70}})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            watershed_case c = landscape(shape, seed, dtype::uint8);
            c.options.connectivity = static_cast<int>(shape.size());
            for (std::size_t i = 0; i < c.value.size(); ++i)
                c.value[i] = static_cast<double>(mix(i + 7 * seed) % (seed < 3 ? 250 : 3));
            EXPECT_EQ(on_device(c), on_host(c, 1)) << c.text();
            c.ends.assign(shape.size(), border::periodic);
            c.ends[seed % shape.size()] = seed % 2 == 0 ? border::open : border::periodic;
            EXPECT_EQ(on_device(c), on_host(c, 1)) << c.text();
            c.options.connectivity = 1, c.options.lines = seed == 1;
            EXPECT_EQ(on_device(c), on_host(c, 1)) << c.text();
            c.marker.clear();
            EXPECT_EQ(on_device(c), on_host(c, 1)) << c.text();
        }
}

/// A long corridor, in which each front has one cell.
TEST_F(WatershedDevice, ACorridorIsWalkedToItsEnd) {
    watershed_case c;
    c.shape = {40, 60};
    for (std::int64_t y = 0; y < 40; ++y)
        for (std::int64_t x = 0; x < 60; ++x) c.value.push_back(y % 2 == 0 || x == (y % 4 == 1 ? 59 : 0) ? 1 : 9);
    c.marker.assign(c.value.size(), 0);
    c.marker.front() = 3, c.marker.back() = 4;
    EXPECT_EQ(on_device(c), expected(c));
}

/// Corridors that are straight for longer than a block has threads, along every axis, with and without niches; plateaus
/// on which a front grows beyond what a block keeps, and shrinks again.
TEST_F(WatershedDevice, CorridorsAndPlateausAreTheHosts) {
    for (const shape_t& shape : {shape_t{9, 700}, shape_t{700, 9}, shape_t{700, 3, 5}, shape_t{3, 700, 5},
                                 shape_t{3, 5, 700}, shape_t{1000, 900}, shape_t{70, 90, 80}})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            watershed_case c;
            c.shape = shape;
            const auto axes = static_cast<std::int64_t>(shape.size());
            c.options.connectivity = seed % 2 == 0 ? 1 : static_cast<int>(axes);
            const bool plateau = cells_of(shape) > 100000;
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                const std::int64_t x = i % shape.back(), y = i / shape.back() % shape[shape.size() - 2];
                const bool wall = plateau ? x % 100 == 50 && y % 64 != 7 : (shape.back() > 9 ? y : x) % 2 == 1;
                const bool niche = !plateau && seed > 1 && mix(static_cast<std::uint64_t>(i) + seed) % 50 == 0;
                c.value.push_back(wall && !niche ? 9 : 4);
            }
            c.marker.assign(c.value.size(), 0);
            c.marker.front() = 3;
            if (seed > 0) c.marker[c.marker.size() / 2] = 4;
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text();
        }
}

/// Compares a case with the host and returns how many cells it searched.
std::int64_t searched(const watershed_case& c) {
    const watersheds::listed_cells listed;
    EXPECT_EQ(device_arrays(c, false).run(false, false), on_host(c, 2)) << c.text();
    return listed.count;
}

/// Few fronts walk along corridors many cells a turn, also where two of them come towards each other.
TEST_F(WatershedDevice, FewFrontsWalkCorridorsAtOnce) {
    for (const shape_t& shape :
         {shape_t{6000}, shape_t{1, 6000}, shape_t{9, 700}, shape_t{700, 9}, shape_t{5, 3, 700}, shape_t{3, 2, 2, 600}})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            watershed_case c;
            c.shape = shape, c.options.connectivity = seed % 2 == 0 ? 1 : static_cast<int>(shape.size());
            const bool line = shape.size() < 3 && shape.back() == 6000;
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                const std::int64_t y = i / shape.back(), x = i % shape.back();
                c.value.push_back(!line && (shape.back() > 9 ? y : x) % 2 == 1 ? 9 : 4);
            }
            if (seed > 7 && shape.size() < 4) c.ends.assign(shape.size(), border::periodic);
            c.marker.assign(c.value.size(), 0);
            for (std::uint64_t k = 0; k < 2 + seed / 2; ++k)
                c.marker[mix(50 * seed + k) % c.marker.size()] = static_cast<int>(k) + 1;
            const watersheds::listed_cells listed;
            EXPECT_EQ(device_arrays(c, false).run(false, false), on_host(c, 2)) << c.text();
            if (line && seed < 2) {
                EXPECT_LT(listed.turns, 600) << c.text();
            }
        }
}

/// Markers of one label, and a single minimum: all cells that water reaches get this label, without a search.
TEST_F(WatershedDevice, OneLabelIsTheHosts) {
    for (const shape_t& shape : {shape_t{90, 130}, shape_t{9, 40, 70}, shape_t{3000}, shape_t{2, 3, 40, 5}})
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            watershed_case c;
            c.shape = shape, c.options.lines = seed == 7, c.marker_type = dtype::int64;
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                const bool hole = seed % 4 == 3 && i % shape.back() == shape.back() / 2;
                c.value.push_back(seed % 2 == 0 ? 3 : static_cast<double>(mix(static_cast<std::uint64_t>(i)) % 9));
                c.mask.push_back(hole ? 0 : 1);
            }
            const std::int64_t of_minima = searched(c);
            if (seed % 2 == 0) {
                EXPECT_EQ(of_minima, 0) << c.text() << ", one minimum";
            }
            c.marker.assign(c.value.size(), 0);
            EXPECT_EQ(searched(c), 0) << "no marker";
            c.marker[1] = c.marker[seed < 4 ? 1 : c.marker.size() - 2] = std::int64_t{7} << 33;
            EXPECT_EQ(searched(c) == 0, !c.options.lines) << c.text() << ", one label";
            c.marker[c.marker.size() / 3] = 7;  // the same in its lower 32 bits
            EXPECT_GT(searched(c), 0) << "two labels";
        }
}

/// Two of four basins that meet in a block connect there alone, between cells at its corners and not too high to count.
TEST_F(WatershedDevice, PassesOfBlocksWithManyBasinsCount) {
    watershed_case c;
    c.shape = {4, 4}, c.options.connectivity = 2;
    c.value = {0, 9, 9, 0,   //
               9, 5, 1, 9,   //
               9, 1, 5, 9,   //
               0, 9, 9, 0};  //
    for (const double h : {1.0, 2.0, 6.0}) {
        c.options.h = h;
        const watershed_result found = on_device(c);
        EXPECT_EQ(found, on_host(c, 2)) << c.text();
        EXPECT_EQ(*std::max_element(found.label.begin(), found.label.end()), h == 1 ? 4 : h == 2 ? 3 : 1);
    }
}

/// All runs have the same bits, on a stream other than the default one.
TEST_F(WatershedDevice, TwentyRunsAreOne) {
    const watershed_case c = landscape({1500, 1700}, 0, dtype::uint8);
    const watershed_result once = on_host(c, 0);
    for (std::uint64_t run = 0; run < share(0, 20); ++run) ASSERT_EQ(on_device(c), once);
}

/// Lists long enough for the device, with many equal values; in chains, each peak decides about the next one.
TEST_F(WatershedDevice, SortsAndThinsPeaksAsTheHost) {
    static const stream on;
    for (const shape_t& shape : {shape_t{1500, 1000}, shape_t{60, 1, 70, 80}, shape_t{1, 40000}})
        for (const double apart : {0.0, 1.5, 7.0, 40.5})
            for (const bool maxima : {false, true}) {
                std::vector<peak> list;
                const std::int64_t cells = shape[0] * shape[1] * (shape.size() > 2 ? shape[2] * shape[3] : 1);
                for (std::int64_t cell = 3; cell < cells; cell += 1 + cells / 9000) {
                    const auto random = static_cast<double>(mix(static_cast<std::uint64_t>(cell)) % 40);
                    list.push_back(
                        {cell, shape.size() == 2 && shape[0] == 1 ? static_cast<double>(cell) : random - 20});
                }
                const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
                EXPECT_EQ(sorted_peaks(device(on.get()), list, sizes, maxima, apart),
                          sorted_peaks(list, sizes, maxima, apart))
                    << apart;
            }
}

TEST_F(WatershedDevice, ManyAxesAreRefused) {
    const shape_t shape{2, 2, 2, 2, 2};
    const device_memory memory(512);
    const auto out = any_output<device>::contiguous(memory.data(), dtype::int32, shape);
    expect_refused(
        [&] {
            watershed(device(nullptr),
                      any_input<device>::contiguous(static_cast<std::byte*>(memory.data()) + 128, dtype::uint8, shape),
                      {out, {}});
        },
        {"5 axes"});
}

TEST_F(WatershedDevice, RanksOfValuesAndSeedsFitTheirKeys) {
    const shape_t shape{1 << 15, 1 << 15};
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address << 40); };
    expect_refused(
        [&] {
            reconstruct_gray(device(nullptr), any_input<device>::contiguous(at(1), dtype::float64, shape),
                             any_input<device>::contiguous(at(2), dtype::float64, shape),
                             any_output<device>::contiguous(at(3), dtype::float64, shape), {});
        },
        {"2^30"});
}

/// Ranks of more values than a block counts, with gaps and with many equal ones.
TEST_F(WatershedDevice, LargerImagesOfWideTypesAreTheHosts) {
    for (const dtype type : {dtype::float64, dtype::int64, dtype::uint64})
        for (const std::int64_t every : {1, 1000}) {
            watershed_case c = landscape({150, 170}, 3, type);
            for (std::size_t i = 0; i < c.value.size(); ++i)
                c.value[i] += static_cast<double>(mix(i) % 40000 / static_cast<std::uint64_t>(every));
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text();
            c.marker.clear(), c.options.h = 7;
            EXPECT_EQ(on_device(c), on_host(c, 2)) << c.text();
        }
}

}  // namespace
}  // namespace nearfield::test
