// Marching cubes: counts the vertices and faces of every line of cells, then writes them at their places. Nodes are
// bits, so that lines without a crossing edge cost a few operations a word.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/rehearsal.hpp"
#include "base/with_integer.hpp"
#include "isosurface/core.hpp"
#include "isosurface/planes.hpp"

namespace nearfield::isosurfaces {
namespace {

using word = std::uint64_t;
constexpr std::int64_t word_bits = 64;

/// Calls body(k) for each set bit of a word whose first bit is number `first`.
template <class Body>
void for_bits(word bits, std::int64_t first, const Body& body) {
    for (; bits != 0; bits &= bits - 1) body(first + std::countr_zero(bits));
}

/// One bit for each node: whether it is inside. A word without nodes follows each line.
class inside_bits {
public:
    explicit inside_bits(const problem<host>& p)
        : p_(p),
          words_((p.nodes[2] - 1) / word_bits + 2),
          bits_(static_cast<std::size_t>(p.nodes[0] * p.nodes[1] * words_)) {}

    [[nodiscard]] std::int64_t words() const { return words_ - 1; }
    [[nodiscard]] const word* line(std::int64_t i, std::int64_t j) const {
        return bits_.data() + (i * p_.nodes[1] + j) * words_;
    }

    /// Reads plane i. Nodes of the rim stay outside.
    void read(std::int64_t i) {
        const std::int64_t rim = p_.rim;
        if (i < rim || i >= p_.nodes[0] - rim) return;
        const auto read_lines = [&]<class T>(T) {
            for (std::int64_t j = rim; j < p_.nodes[1] - rim; ++j) {
                const T* const from = static_cast<const T*>(p_.field.data) + (i - rim) * p_.field.stride[0] +
                                      (j - rim) * p_.field.stride[1];
                word* const to = bits_.data() + (i * p_.nodes[1] + j) * words_;
                if (p_.how.inside_below) read_line<true>(from, to);
                else read_line<false>(from, to);
            }
        };
        with_number(p_.field.type, read_lines);
    }

private:
    template <bool Below, class T>
    void read_line(const T* from, word* to) const {
        const std::int64_t rim = p_.rim, n = p_.nodes[2] - 2 * rim, step = p_.field.stride[2];
        const double level = p_.level;
        for (std::int64_t first = 0; first < n; first += word_bits) {
            const std::int64_t count = std::min(word_bits, n - first);
            std::uint8_t flag[word_bits]{};  // the compiler vectorizes what fills it
            const T* const at = from + first * step;
            const auto test = [&](T value) {
                const auto v = static_cast<double>(value);
                return static_cast<std::uint8_t>((Below ? v < level : v > level) ? 1 : 0);
            };
            if (step == 1 && count == word_bits)
                for (std::int64_t k = 0; k < word_bits; ++k) flag[k] = test(at[k]);
            else
                for (std::int64_t k = 0; k < count; ++k) flag[k] = test(at[k * step]);
            const word bits = packed(flag);
            const std::int64_t k = first + rim;
            to[k / word_bits] |= bits << k % word_bits;
            if (k % word_bits != 0) to[k / word_bits + 1] |= bits >> (word_bits - k % word_bits);
        }
    }
    /// Returns the lowest bits of 64 bytes.
    static word packed(const std::uint8_t* flag) {
        constexpr word gather = 0x0102040810204080;
        word bits = 0;
        for (int k = 0; k < 8; ++k) {
            word eight = 0;
            std::memcpy(&eight, flag + 8 * k, sizeof eight);
            bits |= (eight * gather >> 56) << 8 * k;
        }
        return bits;
    }

    const problem<host>& p_;
    std::int64_t words_;
    std::vector<word> bits_;
};

/// Edges of a line's nodes that cross the level: one word for each axis.
struct crossings {
    word of[3];
    [[nodiscard]] word any() const { return of[0] | of[1] | of[2]; }
    [[nodiscard]] int at(std::int64_t k) const {
        return static_cast<int>((of[0] >> k & 1) | (of[1] >> k & 1) << 1 | (of[2] >> k & 1) << 2);
    }
};

/// The four lines of nodes around a line of cells. Those behind an end repeat the line before it.
struct four_lines {
    const word* of[4];
    bool cells;  ///< the line has cells

    four_lines(const problem<host>& p, const inside_bits& bits, std::int64_t i, std::int64_t j)
        : cells(i + 1 < p.nodes[0] && j + 1 < p.nodes[1]), last_(p.nodes[2] - 1) {
        for (int c = 0; c < 4; ++c)
            of[c] = bits.line(std::min(i + (c >> 1), p.nodes[0] - 1), std::min(j + (c & 1), p.nodes[1] - 1));
    }
    [[nodiscard]] crossings cross(std::int64_t w) const {
        return {{of[0][w] ^ of[2][w], of[0][w] ^ of[1][w], (of[0][w] ^ after(0, w)) & before_last(w)}};
    }
    /// Calls body(k, inside corners) for the cells of word w that the surface crosses.
    template <class Body>
    void for_each_cell(std::int64_t w, const Body& body) const {
        if (!cells) return;
        word corner[8], some = 0, all = ~word{0};
        for (int c = 0; c < 4; ++c) {
            corner[2 * c] = of[c][w], corner[2 * c + 1] = after(c, w);
            some |= corner[2 * c] | corner[2 * c + 1], all &= corner[2 * c] & corner[2 * c + 1];
        }
        for_bits(some & ~all & before_last(w), 0, [&](std::int64_t k) {
            int cell = 0;
            for (int c = 0; c < 8; ++c) cell |= static_cast<int>(corner[c] >> k & 1) << c;
            body(w * word_bits + k, cell);
        });
    }

private:
    /// Returns the word of the nodes after those of word w.
    [[nodiscard]] word after(int c, std::int64_t w) const { return of[c][w] >> 1 | of[c][w + 1] << (word_bits - 1); }
    /// Returns the nodes of word w before the line's last.
    [[nodiscard]] word before_last(std::int64_t w) const {
        const std::int64_t left = last_ - w * word_bits;
        return left >= word_bits ? ~word{0} : (word{1} << left) - 1;
    }
    std::int64_t last_;
};

/// Counts of each line (i, j), then their sums over the lines before it.
struct totals {
    std::vector<std::int64_t> vertices, faces;
};

void count_plane(const problem<host>& p, const inside_bits& bits, std::int64_t i, totals& of) {
    for (std::int64_t j = 0; j < p.nodes[1]; ++j) {
        const four_lines lines(p, bits, i, j);
        std::int64_t vertices = 0, faces = 0;
        for (std::int64_t w = 0; w < bits.words(); ++w) {
            for (const word each : lines.cross(w).of) vertices += std::popcount(each);
            lines.for_each_cell(
                w, [&](std::int64_t, int cell) { faces += table[static_cast<std::size_t>(cell)].triangles; });
        }
        const auto line = static_cast<std::size_t>(i * p.nodes[1] + j);
        of.vertices[line] = vertices, of.faces[line] = faces;
    }
}

/// Writes the vertices and faces of some planes.
class writer {
public:
    writer(const problem<host>& p, const inside_bits& bits, const totals& of, mesh& to)
        : p_(p), bits_(bits), of_(of), to_(to), here_(p), above_(p) {
        with_number(p.field.type, [&]<class T>(T) { read_ = &read<T>; });
    }

    void write(std::int64_t first, std::int64_t last) {
        number(first, true, here_);
        for (std::int64_t i = first; i < last && i + 1 < p_.nodes[0]; ++i, std::swap(here_, above_)) {
            number(i + 1, i + 1 < last, above_);
            for (std::int64_t j = 0; j + 1 < p_.nodes[1]; ++j) write_faces(i, j);
        }
    }

private:
    /// The numbers of vertices of a plane's nodes. Only nodes with a crossing edge have entries.
    struct numbered {
        std::vector<std::uint8_t> crossed;  ///< bit `axis`: the node's edge along that axis crosses the level
        std::vector<std::int32_t> first;    ///< number of the node's first vertex
        explicit numbered(const problem<host>& p)
            : crossed(static_cast<std::size_t>(p.plane_nodes())), first(crossed.size()) {}
    };

    void number(std::int64_t i, bool write, numbered& to) {
        for (std::int64_t j = 0; j < p_.nodes[1]; ++j) {
            const four_lines lines(p_, bits_, i, j);
            auto next = static_cast<std::int32_t>(of_.vertices[static_cast<std::size_t>(i * p_.nodes[1] + j)]);
            for (std::int64_t w = 0; w < bits_.words(); ++w) {
                const crossings crossed = lines.cross(w);
                for_bits(crossed.any(), 0, [&](std::int64_t bit) {
                    const std::int64_t k = w * word_bits + bit;
                    const auto c = static_cast<std::size_t>(j * p_.nodes[2] + k);
                    const int edges = crossed.at(bit);
                    to.crossed[c] = static_cast<std::uint8_t>(edges), to.first[c] = next;
                    if (write) write_vertices(i, j, k, edges, next);
                    next += std::popcount(static_cast<unsigned>(edges));
                });
            }
        }
    }

    void write_vertices(std::int64_t i, std::int64_t j, std::int64_t k, int edges, std::int32_t vertex) {
        const double here = value(i, j, k);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if ((edges >> axis & 1) == 0) continue;
            const double there = value(i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0), k + (axis == 2 ? 1 : 0));
            double at[] = {static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
            at[axis] += place_between(here, there, p_.level);
            to_.vertices[static_cast<std::size_t>(vertex++)] = {p_.coordinate(0, at[0]), p_.coordinate(1, at[1]),
                                                                p_.coordinate(2, at[2])};
        }
    }
    /// Returns a node's value; outside of the field NaN, which is outside.
    [[nodiscard]] double value(std::int64_t i, std::int64_t j, std::int64_t k) const {
        const std::int64_t at[] = {i - p_.rim, j - p_.rim, k - p_.rim};
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (at[axis] < 0 || at[axis] >= p_.field.shape[axis]) return std::numeric_limits<double>::quiet_NaN();
            offset += at[axis] * p_.field.stride[axis];
        }
        return read_(p_.field.data, offset);
    }
    template <class T>
    static double read(const void* data, std::int64_t at) {
        return static_cast<double>(static_cast<const T*>(data)[at]);
    }

    void write_faces(std::int64_t i, std::int64_t j) {
        auto face = static_cast<std::size_t>(of_.faces[static_cast<std::size_t>(i * p_.nodes[1] + j)]);
        const four_lines lines(p_, bits_, i, j);
        for (std::int64_t w = 0; w < bits_.words(); ++w)
            lines.for_each_cell(w, [&](std::int64_t k, int cell) {
                const polygons& p = table[static_cast<std::size_t>(cell)];
                for (int t = 0; t < p.triangles; ++t, ++face)
                    for (std::size_t corner = 0; corner < 3; ++corner)
                        to_.faces[face][corner] = vertex_of(j, k, p.corners[static_cast<std::size_t>(3 * t) + corner]);
            });
    }
    [[nodiscard]] std::int32_t vertex_of(std::int64_t j, std::int64_t k, int edge) const {
        const int axis = edge / 8, corner = edge % 8;
        const numbered& of = (corner & 4) != 0 ? above_ : here_;
        const auto c = static_cast<std::size_t>((j + (corner >> 1 & 1)) * p_.nodes[2] + k + (corner & 1));
        return of.first[c] + std::popcount(static_cast<unsigned>(of.crossed[c] & ((1 << axis) - 1)));
    }

    const problem<host>& p_;
    const inside_bits& bits_;
    const totals& of_;
    mesh& to_;
    numbered here_, above_;
    double (*read_)(const void*, std::int64_t) = nullptr;
};

}  // namespace

mesh marching_cubes(const host& on, const problem<host>& p) {
    const std::int64_t planes = p.nodes[0], lines = planes * p.nodes[1];
    rehearse_step("cells counted, then written; 24 bytes a vertex and 12 a face");
    workers team(on, 3 * planes);
    inside_bits bits(p);
    totals of{std::vector<std::int64_t>(static_cast<std::size_t>(lines)),
              std::vector<std::int64_t>(static_cast<std::size_t>(lines))};
    const auto for_planes = [&](std::int64_t block, const auto& body) {
        team.for_each(planes, block, 1, [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
    };
    const auto each = [](const auto& body) {
        return [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) body(i);
        };
    };
    constexpr std::int64_t few = 2;
    for_planes(few, each([&](std::int64_t i) { bits.read(i); }));
    for_planes(few, each([&](std::int64_t i) { count_plane(p, bits, i, of); }));
    const std::int64_t vertices = sum_up(of.vertices), faces = sum_up(of.faces);
    check_counts(vertices, faces);
    mesh made;
    made.vertices.resize(static_cast<std::size_t>(vertices)), made.faces.resize(static_cast<std::size_t>(faces));
    // A block numbers the first plane of the next block too.
    for_planes(std::max<std::int64_t>(8, planes / (4 * team.threads()) + 1),
               [&](std::int64_t first, std::int64_t last) { writer(p, bits, of, made).write(first, last); });
    return made;
}

}  // namespace nearfield::isosurfaces
