// Fields of two classes on the host: the calls that are solved as two plain fields equal these fields, combined by
// hand. (options_property_test.cpp checks the values.)
#include "exact/host_sides.hpp"

#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_fields.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

using exact::classes;

std::vector<std::string> methods_of(dtype type, const distance_options& options) {
    const shape_t shape{300, 400};
    fields<host> out;
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, shape);
    std::vector<std::string> methods;
    for (const pass_plan& pass :
         plan(host{2, {}}, any_input<host>::contiguous(nullptr, type, shape), out, options).passes)
        methods.push_back(pass.method);
    return methods;
}

TEST(HostSides, MasksTakeThePathOfPlainFields) {
    const auto plain = methods_of(dtype::boolean, {});
    auto both = plain;
    both.insert(both.end(), plain.begin(), plain.end());
    EXPECT_EQ(methods_of(dtype::boolean, {.sites = sites::other_labels}), plain);
    for (const dtype type : {dtype::boolean, dtype::uint8, dtype::float64})
        for (const sites rule : {sites::zero, sites::nonzero})
            EXPECT_EQ(methods_of(type, {.sites = rule, .sign = sign::inside_negative}), both) << name_of(type);
    EXPECT_EQ(methods_of(dtype::boolean, {.sites = sites::other_labels, .sign = sign::outside_negative}), both);
    EXPECT_EQ(methods_of(dtype::uint8, {.sites = sites::other_labels}).front(),
              "rows, steps of 16 bits by doubling in SIMD");
}

/// The classes of an integer image after its values are known.
template <class T>
classes classes_of(const std::vector<T>& image, const shape_t& shape, const distance_options& options,
                   int threads = 2) {
    std::vector<float> distance(image.size());
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    const auto input = input_of(image, shape);
    exact::plan p = exact::make_plan(input, out, {.options = options});
    exact::recognise_mask(host{threads, {}}, input, p);
    return p.by;
}

template <class T>
void check_recognition() {
    const distance_options labels{.sites = sites::other_labels};
    const distance_options sides{.sites = sites::other_labels, .sign = sign::inside_negative};
    for (const shape_t& shape : {shape_t{70000}, shape_t{5, 30000}, shape_t{300, 7, 50}}) {
        auto image = random_labels<T>(shape, 1, 0.5, 7);
        for (T& value : image) value = static_cast<T>(value * T(-3));
        EXPECT_EQ(classes_of(image, shape, labels), classes::none);
        EXPECT_EQ(classes_of(image, shape, sides), classes::zero);
        EXPECT_EQ(classes_of(std::vector<T>(image.size(), T{0}), shape, labels), classes::none);
        for (const std::size_t at : {std::size_t{0}, image.size() / 2, image.size() - 1}) {
            auto three = image;
            three[at] = 1;
            for (const int threads : {1, 2, 5}) EXPECT_EQ(classes_of(three, shape, labels, threads), classes::values);
        }
    }
}

TEST(HostSides, ImagesOfZeroAndOneOtherValueAreMasks) {
    check_recognition<std::int8_t>();
    check_recognition<std::uint16_t>();
    check_recognition<std::int32_t>();
    check_recognition<std::uint64_t>();
}

/// Computes the plain fields of both sides and combines them by hand.
all_fields<std::uint8_t> by_hand(const std::vector<std::uint8_t>& image, const shape_t& shape,
                                 distance_options options) {
    const bool inside_is_nonzero = options.sites != sites::nonzero;
    const double of_nonzero = (options.sign == sign::inside_negative) == inside_is_nonzero ? -1 : 1;
    options.sign = sign::none;
    options.sites = sites::zero;
    auto all = transform(image, shape, options);
    options.sites = sites::nonzero;
    const auto zeros = transform(image, shape, options);
    const std::size_t n = image.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double sign = image[i] != 0 ? of_nonzero : -of_nonzero;
        const auto& from = image[i] != 0 ? all : zeros;
        all.squared[i] = sign * from.squared[i], all.distance[i] = sign * from.distance[i];
        all.index[i] = from.index[i], all.label[i] = from.label[i], all.trusted[i] = from.trusted[i];
        for (std::size_t at = i; at < all.coordinates.size(); at += n) all.coordinates[at] = from.coordinates[at];
    }
    return all;
}

TEST(HostSides, SignedFieldsAreThoseOfBothSidesTogether) {
    std::uint64_t seed = 60;
    for (const shape_t& shape : {shape_t{90, 130}, shape_t{20, 30, 40}, shape_t{5000}, shape_t{40000, 3}})
        for (const named_options& each : some_options())
            for (const sign side : {sign::inside_negative, sign::outside_negative}) {
                if (each.options.sites == sites::other_labels) continue;
                SCOPED_TRACE(text_of(shape) + ' ' + each.name);
                auto image = random_labels<std::uint8_t>(shape, 3, 0.5, ++seed);
                if (seed % 3 == 0) std::fill(image.begin(), image.end() - 7, std::uint8_t{2});
                distance_options options = each.options;
                options.sign = side;
                EXPECT_EQ(transform(image, shape, options).differs(by_hand(image, shape, options)), "");
                options.spacing = {};
                if (shape.size() == 2) options.spacing = {0.7, 0.31};
                EXPECT_EQ(transform(image, shape, options).differs(by_hand(image, shape, options)), "");
            }
}

/// One field at a time, because distances and linear indices alone are written by separate paths.
template <class T>
void check_one_field(const shape_t& shape, any_output<host> fields<host>::*field, std::uint64_t seed) {
    const auto image = random_labels<std::uint8_t>(shape, 1, seed % 2 == 0 ? 0.5 : 0.001, seed);
    const auto of = [&](const distance_options& options) {
        std::vector<T> got(image.size());
        fields<host> out;
        out.*field = any_output<host>::contiguous(got.data(), dtype_of<T>(), shape);
        distance_transform(host{2, {}}, input_of(image, shape), out, options);
        return got;
    };
    const auto nonzero = of({}), zero = of({.sites = sites::nonzero});
    const auto got = of({.sign = sign::inside_negative});
    for (std::size_t i = 0; i < image.size(); ++i) {
        const T sign = field == &fields<host>::distance ? T(-1) : T(1);
        ASSERT_EQ(got[i], image[i] != 0 ? static_cast<T>(sign * nonzero[i]) : zero[i]) << "cell " << i;
    }
}

TEST(HostSides, OneFieldAlone) {
    std::uint64_t seed = 80;
    for (const shape_t& shape : {shape_t{300, 700}, shape_t{40, 50, 60}, shape_t{9000}, shape_t{2, 3, 4, 50}})
        for (int turn = 0; turn < 2; ++turn, ++seed) {
            check_one_field<float>(shape, &fields<host>::distance, seed);
            check_one_field<double>(shape, &fields<host>::distance, seed);
            check_one_field<std::int64_t>(shape, &fields<host>::index, seed);
            check_one_field<std::int32_t>(shape, &fields<host>::index, seed);
        }
}

TEST(HostSides, ProgressRisesOverBothSidesAndStopsEither) {
    const shape_t shape{400, 500};
    const auto image = random_labels<std::uint8_t>(shape, 1, 0.5, 90);
    for (const double most : {0.2, 0.7, 2.0}) {
        std::vector<float> distance(image.size());
        fields<host> out;
        out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
        double last = 0;
        const auto call = [&] {
            distance_transform(host{1,
                                    [&](double share) {
                                        EXPECT_GE(share, last);
                                        last = share;
                                        return share < most;
                                    }},
                               input_of(image, shape), out, {.sign = sign::inside_negative});
        };
        if (most > 1) call();
        else EXPECT_THROW(call(), error);
        EXPECT_GE(last, std::min(most, 1.0));
    }
}

}  // namespace
}  // namespace nearfield::test
