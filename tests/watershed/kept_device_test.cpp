// Basins that are kept on a GPU: every question has the host's answer, which other tests compare with the oracle.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "refused.hpp"
#include "scale.hpp"
#include "watershed/cases.hpp"

namespace nearfield::test {
namespace {

constexpr attribute attributes[] = {attribute::height, attribute::area, attribute::volume};

/// Basins of a case's image on one of two streams; questions come from the other one.
class on_device {
public:
    explicit on_device(const watershed_case& c)
        : c_(c), options_(c.options), image_(up(bytes_of(c.value, c.type))), mask_(up(as_bytes(c.mask))) {
        if (!c.ends.empty()) options_.border = {c_.ends.data(), c_.ends.size()};
        const auto mask =
            c.mask.empty() ? any_input<device>{} : any_input<device>::contiguous(mask_.data(), dtype::uint8, c.shape);
        const stream building;
        kept_ = std::make_unique<basins>(device(building.get()),
                                         any_input<device>::contiguous(image_.data(), c.type, c.shape), options_, mask);
    }
    basins& kept() { return *kept_; }

    watershed_result flooded(const watershed_options& options) {
        const device_memory markers = up(bytes_of({c_.marker.begin(), c_.marker.end()}, c_.label_type()));
        const std::size_t cells = c_.value.size();
        const auto width = static_cast<std::size_t>(size_of(c_.label_type()));
        const device_memory label(cells * width + 1), passes(cells * 8 + 1), marks(cells + 1);
        watershed_fields<device> out{any_output<device>::contiguous(label.data(), c_.label_type(), c_.shape),
                                     any_output<device>::contiguous(passes.data(), c_.type, c_.shape)};
        if (c_.marker.empty()) out.extrema = any_output<device>::contiguous(marks.data(), dtype::uint8, c_.shape);
        kept_->watershed(device(asking_.get()), out, options,
                         c_.marker.empty() ? any_input<device>{}
                                           : any_input<device>::contiguous(markers.data(), c_.marker_type, c_.shape));
        watershed_result result{{},
                                values_of(down(passes, cells * static_cast<std::size_t>(size_of(c_.type))), c_.type)};
        for (const double each : values_of(down(label, cells * width), c_.label_type()))
            result.label.push_back(static_cast<std::int64_t>(each));
        if (c_.marker.empty()) result.extrema = numbers<std::uint8_t>(down(marks, cells));
        return result;
    }
    std::vector<std::int32_t> cut(const cut_options& options) {
        const device_memory label(4 * c_.value.size() + 1);
        kept_->cut(device(asking_.get()), any_output<device>::contiguous(label.data(), dtype::int32, c_.shape),
                   options);
        return numbers<std::int32_t>(down(label, 4 * c_.value.size()));
    }
    std::vector<std::uint8_t> marks(double h, bool roots) {
        const device_memory out(c_.value.size() + 1);
        kept_->mark(device(asking_.get()), h, roots,
                    any_output<device>::contiguous(out.data(), dtype::uint8, c_.shape));
        return numbers<std::uint8_t>(down(out, c_.value.size()));
    }

private:
    static std::vector<std::byte> as_bytes(const std::vector<std::uint8_t>& from) {
        std::vector<std::byte> bytes;
        for (const std::uint8_t each : from) bytes.push_back(static_cast<std::byte>(each));
        return bytes;
    }
    template <class T>
    static std::vector<T> numbers(const std::vector<std::byte>& bytes) {
        std::vector<T> found(bytes.size() / sizeof(T));
        std::memcpy(found.data(), bytes.data(), bytes.size());
        return found;
    }
    static device_memory up(const std::vector<std::byte>& bytes) {
        device_memory made(bytes.size() + 1);
        const stream on;
        expect_cuda(cudaMemcpyAsync(made.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, on.get()),
                    "upload");
        on.wait();
        return made;
    }
    static std::vector<std::byte> down(const device_memory& from, std::size_t bytes) {
        std::vector<std::byte> made(bytes);
        const stream on;
        expect_cuda(cudaMemcpyAsync(made.data(), from.data(), bytes, cudaMemcpyDeviceToHost, on.get()), "download");
        on.wait();
        return made;
    }

    const watershed_case& c_;
    watershed_options options_;
    device_memory image_, mask_;
    const stream asking_;
    std::unique_ptr<basins> kept_;
};

std::vector<std::int32_t> cut_on_host(const basins& kept, const watershed_case& c, const cut_options& options) {
    std::vector<std::int32_t> label(c.value.size());
    kept.cut(host{1, {}}, any_output<host>::contiguous(label.data(), dtype::int32, c.shape), options);
    return label;
}

void compare(const watershed_case& c) {
    const basins want = basins_of(c);
    on_device got(c);
    for (const double h : {0.0, c.options.h, 2.0}) {
        ASSERT_EQ(got.kept().extrema(h, c.options.roots), want.extrema(h, c.options.roots)) << c.text();
        ASSERT_EQ(got.kept().peaks(h, c.options.roots), want.peaks(h, c.options.roots)) << c.text();
    }
    std::vector<std::uint8_t> marks(c.value.size());
    want.mark(host{1, {}}, c.options.h, c.options.roots,
              any_output<host>::contiguous(marks.data(), dtype::uint8, c.shape));
    ASSERT_EQ(got.marks(c.options.h, c.options.roots), marks) << c.text();
    for (const attribute by : attributes) {
        const auto ends = want.extinctions(by);
        ASSERT_EQ(got.kept().extinctions(by), ends) << c.text();
        const double some = ends.empty() || !(ends[ends.size() / 2].amount < 1e300) ? 1 : ends[ends.size() / 2].amount;
        for (const cut_options& cut : {cut_options{by, some, 0, false}, cut_options{by, 0, 3, false}})
            ASSERT_EQ(got.cut(cut), cut_on_host(want, c, cut)) << c.text();
    }
    const watershed_result whole = on_host(c, 1);
    for (int time = 0; time < 2; ++time) ASSERT_EQ(got.flooded(c.options), whole) << c.text() << ", call " << time;
    std::vector<std::int64_t> a, b;
    for (std::size_t i = 0; i < c.value.size(); i += 3)
        a.push_back(static_cast<std::int64_t>(i)), b.push_back(static_cast<std::int64_t>(mix(i) % c.value.size()));
    ASSERT_EQ(got.kept().passes(a, b), want.passes(a, b)) << c.text();
}

class KeptBasins : public device_test {};

TEST_F(KeptBasins, AnswersAreTheHosts) {
    for (std::uint64_t seed = 90000; seed < share(90000, 91200) && !HasFailure(); ++seed) compare(drawn_case(seed, 3));
}

/// Several tiles; noise, which has more passes than the list holds; types whose keys are ranks.
TEST_F(KeptBasins, AnswersOfLargerImagesAreTheHosts) {
    for (const dtype type : {dtype::uint8, dtype::float32, dtype::uint64, dtype::float64})
        for (const shape_t& shape : {shape_t{150, 210}, shape_t{17, 40, 50}}) {
            watershed_case c = landscape(shape, 4, type);
            c.options.connectivity = static_cast<int>(shape.size());
            compare(c);
            c.marker.clear(), c.options.h = 3;
            for (std::size_t i = 0; i < c.value.size(); ++i) c.value[i] = static_cast<double>(mix(i) % 250);
            compare(c);
        }
}

TEST_F(KeptBasins, TheOtherPlaceIsRefused) {
    watershed_case c = landscape({5, 6}, 1, dtype::uint8);
    on_device made(c);
    std::vector<std::int32_t> label(30);
    const auto out = any_output<host>::contiguous(label.data(), dtype::int32, c.shape);
    expect_refused([&] { made.kept().cut(host{}, out); }, {"on is the host", "device"});
    const basins here = basins_of(c);
    const device_memory memory(120);
    expect_refused(
        [&] { here.cut(device(nullptr), any_output<device>::contiguous(memory.data(), dtype::int32, c.shape)); },
        {"on is a device", "host"});
}

}  // namespace
}  // namespace nearfield::test
