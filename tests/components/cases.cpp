#include "components/cases.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace nearfield::test {
namespace {

/// Calls body(T{}) with the type of the numbers.
template <class Body>
void with_type(dtype type, const Body& body) {
    switch (type) {
        case dtype::boolean: return body(bool{});
        case dtype::int8: return body(std::int8_t{});
        case dtype::uint8: return body(std::uint8_t{});
        case dtype::int16: return body(std::int16_t{});
        case dtype::uint16: return body(std::uint16_t{});
        case dtype::int32: return body(std::int32_t{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::int64: return body(std::int64_t{});
        case dtype::uint64: return body(std::uint64_t{});
        case dtype::float32: return body(float{});
        default: return body(double{});
    }
}

/// Converts a number to the type as a cast does: keeps the low bits.
std::int64_t as_type(std::int64_t value, dtype type) {
    std::int64_t made = 0;
    with_type(type, [&]<class T>(T) {
        if constexpr (std::is_same_v<T, bool>) made = value != 0 ? 1 : 0;
        else if constexpr (std::is_integral_v<T>) made = static_cast<std::int64_t>(static_cast<T>(value));
    });
    return made;
}

}  // namespace

std::string name_of(pattern kind) {
    constexpr const char* names[] = {"none",  "one",   "blocks", "noise",     "each",
                                     "lines", "giant", "beyond", "far_apart", "checkerboard"};
    return names[static_cast<std::size_t>(kind)];
}

oracle::label_image make_labels(pattern kind, const shape_t& shape, dtype type, std::uint64_t seed) {
    oracle::label_image image{shape, std::vector<std::int64_t>(static_cast<std::size_t>(cells_of(shape)))};
    const auto random = [&](std::int64_t k) {
        return static_cast<std::int64_t>(mix(seed * 1000003 + static_cast<std::uint64_t>(k)) >> 1);
    };
    const std::int64_t line = shape.back();
    const auto value = [&](std::int64_t cell) -> std::int64_t {
        switch (kind) {
            case pattern::none: return 0;
            case pattern::one: return 1;
            case pattern::blocks: {
                std::int64_t block = 0;
                for (const std::int64_t at : image.place_of(cell)) block = block * 37 + at / 5;
                return random(block) % 4 == 0 ? 0 : 1 + block % 100;
            }
            case pattern::noise: return random(cell) % 4;
            case pattern::each: return cell + 1;
            case pattern::lines: return 1 + cell / line % 50;
            case pattern::giant: return random(cell) % 50 == 0 ? 2 + random(cell) / 64 % 60 : 1;
            case pattern::beyond: return random(cell / 3) % 120 - 20;
            case pattern::far_apart:
                return static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(random(cell / 4) % 9)));
            default: {
                std::int64_t sum = 0;
                for (const std::int64_t at : image.place_of(cell)) sum += at;
                return 1 + sum % 2;
            }
        }
    };
    for (std::int64_t cell = 0; cell < image.cells(); ++cell)
        image.label[static_cast<std::size_t>(cell)] = as_type(value(cell), type);
    return image;
}

std::vector<double> make_values(const shape_t& shape, dtype type, std::uint64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(cells_of(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = static_cast<std::int64_t>(mix(seed * 7 + i));
        with_type(type, [&]<class T>(T) {
            // 53 random bits, which a double holds exactly.
            if constexpr (std::is_same_v<T, bool>) values[i] = bits % 2 != 0 ? 1 : 0;
            else if constexpr (std::is_same_v<T, std::uint64_t>)
                values[i] = static_cast<double>(static_cast<std::uint64_t>(bits) >> 11 << 10);
            else if constexpr (std::is_same_v<T, std::int64_t>) values[i] = static_cast<double>(bits >> 11);
            else if constexpr (std::is_integral_v<T>) values[i] = static_cast<double>(static_cast<T>(bits));
            else if constexpr (std::is_same_v<T, float>)
                values[i] = static_cast<double>(static_cast<float>(bits % 20000003) / 4096);
            else values[i] = static_cast<double>(bits % 2000000000003) / 4096;
        });
    }
    return values;
}

std::vector<shape_t> label_image_shapes() {
    return {{1},     {7},       {33},        {1000},       {5, 31},    {17, 64},    {1, 1025},
            {70, 3}, {3, 5, 7}, {2, 33, 65}, {9, 1, 40},   {1, 70000}, {2, 131073}, {140000},
            {0},     {4, 0},    {0, 3, 3},   {20, 21, 23}, {70, 5, 9}, {3, 80, 5},  {40001, 2}};
}

void write_integers(guarded& to, const std::vector<std::int64_t>& values) {
    with_type(to.type(), [&]<class T>(T) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const T value = static_cast<T>(values[i]);
            std::memcpy(to.element(static_cast<std::int64_t>(i)), &value, sizeof(T));
        }
    });
}

void write_reals(guarded& to, const std::vector<double>& values) {
    with_type(to.type(), [&]<class T>(T) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const T value = static_cast<T>(values[i]);
            std::memcpy(to.element(static_cast<std::int64_t>(i)), &value, sizeof(T));
        }
    });
}

std::int64_t read_integer(const guarded& from, std::int64_t i) {
    std::int64_t value = 0;
    with_type(from.type(), [&]<class T>(T) { value = static_cast<std::int64_t>(from.get<T>(i)); });
    return value;
}

double read_real(const guarded& from, std::int64_t i) {
    double value = 0;
    with_type(from.type(), [&]<class T>(T) { value = static_cast<double>(from.get<T>(i)); });
    return value;
}

}  // namespace nearfield::test
