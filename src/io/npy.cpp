// NPY: numpy.lib.format, versions 1 to 3. The header is a Python dictionary; only the form that NumPy defines is
// accepted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

constexpr bool little_host = std::endian::native == std::endian::little;

struct npy_header {
    dtype type = dtype::uint8;
    bool swapped = false;
    bool fortran = false;
    std::vector<std::int64_t> shape;
};

struct npy_code {
    std::string_view code;  ///< NumPy's kind and size
    dtype type;
};
constexpr std::array codes{
    npy_code{"b1", dtype::boolean}, npy_code{"i1", dtype::int8},    npy_code{"u1", dtype::uint8},
    npy_code{"i2", dtype::int16},   npy_code{"u2", dtype::uint16},  npy_code{"i4", dtype::int32},
    npy_code{"u4", dtype::uint32},  npy_code{"i8", dtype::int64},   npy_code{"u8", dtype::uint64},
    npy_code{"f2", dtype::float16}, npy_code{"f4", dtype::float32}, npy_code{"f8", dtype::float64}};

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, with keys in any order, each exactly once.
class header_parser {
public:
    header_parser(std::string_view name, std::string_view text) : name_(name), rest_(text) {}

    npy_header parse() {
        expect('{');
        while (!accept('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr" && !seen(0)) parse_descr(quoted());
            else if (key == "fortran_order" && !seen(1)) header_.fortran = boolean();
            else if (key == "shape" && !seen(2)) parse_shape();
            else fail(fmt::format("the key '{}' is unknown or doubled", printable(key)));
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (!rest_.empty()) fail("something follows the dictionary");
        if (seen_ != 7) fail("one of descr, fortran_order, shape is missing");
        return header_;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw bad_file(name_, fmt::format("bad NPY header: {}", what));
    }

    static std::string printable(std::string_view text) { return io::printable(text.substr(0, 40)); }
    bool seen(int key) {
        const bool before = (seen_ & (1 << key)) != 0;
        seen_ |= 1 << key;
        return before;
    }
    void skip_space() {
        const auto n = rest_.find_first_not_of(" \t\n\r");
        rest_.remove_prefix(n == std::string_view::npos ? rest_.size() : n);
    }
    bool accept(char c) {
        skip_space();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(fmt::format("expected '{}' before '{}'", c, printable(rest_)));
    }
    std::string_view quoted() {
        skip_space();
        if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"'))
            fail(fmt::format("expected a string before '{}' (structured types are not supported)", printable(rest_)));
        const auto end = rest_.find(rest_[0], 1);
        if (end == std::string_view::npos) fail("a string does not end");
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
    }
    bool boolean() {
        skip_space();
        for (const std::string_view word : {"True", "False"})
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(word.size());
                return word == "True";
            }
        fail("fortran_order is neither True nor False");
    }
    void parse_descr(std::string_view descr) {
        const char order = descr.empty() ? ' ' : descr[0];
        for (const auto& [code, type] : codes) {
            if (descr.empty() || descr.substr(1) != code) continue;
            if (order == '|' && size_of(type) > 1) break;
            if (order != '|' && order != '<' && order != '>' && order != '=') break;
            header_.type = type;
            header_.swapped = size_of(type) > 1 && (order == (little_host ? '>' : '<'));
            return;
        }
        fail(fmt::format(
            "the type '{}' is not supported; expected bool, an integer or a float of up to 8 bytes (convert with "
            "array.astype(...) before saving)",
            printable(descr)));
    }
    void parse_shape() {
        expect('(');
        while (!accept(')')) {
            skip_space();
            std::int64_t n = 0;
            const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
            if (code != std::errc{} || n < 0) fail(fmt::format("expected a size before '{}'", printable(rest_)));
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            header_.shape.push_back(n);
            if (header_.shape.size() > max_rank + 1) fail(fmt::format("more than {} axes", max_rank + 1));
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        if (header_.shape.empty()) fail("the shape is (), a single number; expected 1 axis or more");
    }

    std::string_view name_, rest_;
    npy_header header_;
    int seen_ = 0;
};

npy_header read_header(stream& from) {
    unsigned char prefix[8];
    from.exact(prefix, sizeof prefix, "the NPY header");
    if (std::memcmp(prefix, "\x93NUMPY", 6) != 0)
        throw bad_file(from.name(), "is not an NPY file: it does not start with \\x93NUMPY");
    const int version = prefix[6];
    if (version < 1 || version > 3 || prefix[7] != 0)
        throw bad_file(from.name(), fmt::format("NPY version {}.{}, expected 1.0, 2.0 or 3.0", version, prefix[7]));
    unsigned char length[4] = {};
    from.exact(length, version == 1 ? 2 : 4, "the NPY header");
    const std::size_t n = length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24;
    // NumPy itself refuses headers of more than 10000 bytes.
    if (n > 10000) throw bad_file(from.name(), fmt::format("NPY header of {} bytes, expected at most 10000", n));
    std::string text(n, '\0');
    from.exact(text.data(), n, "the NPY header");
    return header_parser(from.name(), text).parse();
}

/// Converts Fortran order to C order: `from` has the shape reversed. It works on square tiles of first and last axis,
/// so that both sides use whole cache lines.
template <class T>
void reverse_axes(const std::byte* from, std::byte* to, std::span<const std::int64_t> shape) {
    const std::size_t rank = shape.size();
    const std::int64_t rows = shape[0], columns = shape[rank - 1];
    std::int64_t between = 1;
    for (std::size_t a = 1; a + 1 < rank; ++a) between *= shape[a];
    constexpr std::int64_t tile = 32;
    std::vector<std::int64_t> index(rank, 0);
    for (std::int64_t m = 0; m < between; ++m) {
        std::int64_t in_base = 0, in_step = rows;
        for (std::size_t a = 1; a + 1 < rank; ++a) in_base += index[a] * in_step, in_step *= shape[a];
        const std::int64_t out_base = m * columns, out_step = between * columns;
        for (std::int64_t r0 = 0; r0 < rows; r0 += tile)
            for (std::int64_t c0 = 0; c0 < columns; c0 += tile)
                for (std::int64_t r = r0; r < std::min(r0 + tile, rows); ++r)
                    for (std::int64_t c = c0; c < std::min(c0 + tile, columns); ++c)
                        std::memcpy(to + (r * out_step + out_base + c) * static_cast<std::int64_t>(sizeof(T)),
                                    from + (c * in_step + in_base + r) * static_cast<std::int64_t>(sizeof(T)),
                                    sizeof(T));
        for (std::size_t a = rank - 1; a-- > 1;) {
            if (++index[a] < shape[a]) break;
            index[a] = 0;
        }
    }
}

array to_c_order(array fortran) {
    std::vector<std::int64_t> shape(fortran.shape.rbegin(), fortran.shape.rend());
    if (shape.size() == 1 || fortran.cells() == 0) {
        fortran.shape = std::move(shape);
        return fortran;
    }
    array made = make_array(fortran.type, shape);
    const std::byte* in = fortran.data.get();
    switch (size_of(made.type)) {
        case 1: reverse_axes<std::uint8_t>(in, made.data.get(), shape); break;
        case 2: reverse_axes<std::uint16_t>(in, made.data.get(), shape); break;
        case 4: reverse_axes<std::uint32_t>(in, made.data.get(), shape); break;
        default: reverse_axes<std::uint64_t>(in, made.data.get(), shape); break;
    }
    return made;
}

}  // namespace

array read_npy(stream& from, const read_limits& limits) {
    npy_header header = read_header(from);
    if (header.fortran) std::ranges::reverse(header.shape);
    array values = read_array(from, header.type, std::move(header.shape), limits);
    if (header.swapped) swap_bytes(values.data.get(), values.cells(), size_of(values.type));
    normalise_booleans(values);
    return header.fortran ? to_c_order(std::move(values)) : std::move(values);
}

std::string refuse_npy(const outline&) { return {}; }

void write_npy(output& to, const array& values) {
    const auto code = std::ranges::find(codes, values.type, &npy_code::type);
    const char order = size_of(values.type) == 1 ? '|' : little_host ? '<' : '>';
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, code->code,
                                   shape_text(values.shape));
    // Prefix and header together are a multiple of 64 bytes, so that the data can be mapped aligned.
    constexpr std::size_t prefix = 10;
    text.append(63 - (prefix + text.size()) % 64, ' ');
    text += '\n';
    const char length[2] = {static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    to.write(std::string_view("\x93NUMPY\x01\x00", 8));
    to.write(length, 2);
    to.write(text);
    to.write(values.data.get(), static_cast<std::size_t>(values.bytes()));
}

}  // namespace nearfield::io
