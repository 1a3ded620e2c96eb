// Joins the components of chunks, by sets of disjoint members.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "nearfield/chunks.hpp"

namespace nearfield {
namespace {

/// Sets of items, each with its smallest member as root. Tarjan, "Efficiency of a good but not linear set union
/// algorithm", JACM 22(2), 1975; paths are halved.
class sets {
public:
    explicit sets(std::int64_t count) : above_(static_cast<std::size_t>(count)) {
        std::iota(above_.begin(), above_.end(), std::int64_t{0});
    }
    std::int64_t root(std::int64_t item) {
        auto at = static_cast<std::size_t>(item);
        while (above_[at] != static_cast<std::int64_t>(at)) {
            above_[at] = above_[static_cast<std::size_t>(above_[at])];
            at = static_cast<std::size_t>(above_[at]);
        }
        return static_cast<std::int64_t>(at);
    }
    void join(std::int64_t a, std::int64_t b) {
        const std::int64_t one = root(a), other = root(b);
        above_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
    }
    std::vector<std::int64_t> roots() && {
        for (std::int64_t& up : above_) up = above_[static_cast<std::size_t>(up)];  // which come before
        return std::move(above_);
    }

private:
    std::vector<std::int64_t> above_;
};

std::int64_t cells_of(const chunk_faces& of, unsigned corner) {
    std::int64_t cells = 1;
    for (std::size_t k = 0; k < of.size.size(); ++k)
        if ((corner >> k & 1) == 0) cells *= of.size[k];
    return cells;
}
bool has_beyond(const chunk_faces& of, unsigned corner) {
    for (std::size_t k = 0; k < of.more.size(); ++k)
        if ((corner >> k & 1) != 0 && of.more[k] == 0) return false;
    return true;
}
/// Returns where the box of a corner begins among all boxes before it, high or low ones.
std::size_t begin_of(const chunk_faces& of, unsigned corner, bool high) {
    std::int64_t begin = 0;
    for (unsigned c = 1; c < corner; ++c)
        if (!high || has_beyond(of, c)) begin += cells_of(of, c);
    return static_cast<std::size_t>(begin);
}

void check_faces(const chunk_faces& of, std::size_t axes, std::size_t number) {
    const auto all = 1U << axes;
    if (of.size.size() != axes || of.more.size() != axes || of.low.size() != begin_of(of, all, false) ||
        of.high.size() != begin_of(of, all, true))
        fail(fmt::format("faces of chunk {} do not belong to one chunk of {} axes; give what chunk_faces_of returned",
                         number, axes));
}

/// Returns the number of the chunk that lies beyond a corner of another one, also round the ends of periodic axes.
std::size_t beyond(std::size_t chunk, unsigned corner, std::span<const std::int64_t> chunks) {
    std::size_t made = 0, step = 1;
    for (std::size_t k = chunks.size(); k-- > 0;) {
        const auto along = static_cast<std::size_t>(chunks[k]);
        const std::size_t at = chunk % along;
        made += (at + (corner >> k & 1)) % along * step;
        chunk /= along, step *= along;
    }
    return made;
}

/// Joins labels of the same cells in two chunks, whose components begin at items `a` and `b`.
void join_boxes(sets& all, const chunk_faces& one, std::int64_t a, const chunk_faces& other, std::int64_t b,
                unsigned corner) {
    const std::size_t high = begin_of(one, corner, true), low = begin_of(other, corner, false);
    const std::int64_t cells = cells_of(one, corner);
    const auto most = [](const chunk_faces& of) { return static_cast<std::int64_t>(of.first.size()); };
    bool fits = true;
    for (std::size_t k = 0; k < one.size.size(); ++k)
        fits = fits && ((corner >> k & 1) != 0 || one.size[k] == other.size[k]);
    for (std::int64_t i = 0; fits && i < cells; ++i) {
        const std::int64_t mine = one.high[high + static_cast<std::size_t>(i)],
                           theirs = other.low[low + static_cast<std::size_t>(i)];
        if (mine <= 0 || theirs <= 0) continue;
        fits = mine <= most(one) && theirs <= most(other);
        if (fits) all.join(a + mine - 1, b + theirs - 1);
    }
    if (!fits) fail("faces of two neighbouring chunks do not fit; give those of all chunks, in C order of positions");
}

/// Numbers the roots by the smallest first cell of their members; returns the number of each item's root.
std::pair<std::vector<std::int64_t>, std::int64_t> numbered(const std::vector<std::int64_t>& root,
                                                            std::span<const chunk_faces> faces) {
    std::vector<std::int64_t> least(root.size(), std::numeric_limits<std::int64_t>::max()), heads;
    std::size_t item = 0;
    for (const chunk_faces& each : faces)
        for (const std::int64_t first : each.first) {
            std::int64_t& so_far = least[static_cast<std::size_t>(root[item])];
            so_far = std::min(so_far, first);
            if (root[item] == static_cast<std::int64_t>(item)) heads.push_back(root[item]);
            ++item;
        }
    std::sort(heads.begin(), heads.end(), [&](std::int64_t a, std::int64_t b) {
        return least[static_cast<std::size_t>(a)] < least[static_cast<std::size_t>(b)];
    });
    for (std::size_t k = 0; k < heads.size(); ++k)
        least[static_cast<std::size_t>(heads[k])] = static_cast<std::int64_t>(k) + 1;
    return {std::move(least), static_cast<std::int64_t>(heads.size())};
}

merged_chunks merged(std::span<const chunk_faces> faces, std::span<const std::int64_t> chunks) {
    std::vector<std::int64_t> begin{0};
    for (std::size_t k = 0; k < faces.size(); ++k) {
        check_faces(faces[k], chunks.size(), k);
        begin.push_back(begin[k] + static_cast<std::int64_t>(faces[k].first.size()));
    }
    sets all(begin.back());
    for (std::size_t k = 0; k < faces.size(); ++k)
        for (unsigned corner = 1; corner < 1U << chunks.size(); ++corner) {
            if (!has_beyond(faces[k], corner)) continue;
            const std::size_t other = beyond(k, corner, chunks);
            join_boxes(all, faces[k], begin[k], faces[other], begin[other], corner);
        }
    const std::vector<std::int64_t> root = std::move(all).roots();
    const auto [number, count] = numbered(root, faces);
    merged_chunks made{{}, count};
    for (std::size_t k = 0; k < faces.size(); ++k) {
        auto& of = made.numbers.emplace_back(faces[k].first.size());
        for (std::size_t i = 0; i < of.size(); ++i)
            of[i] = number[static_cast<std::size_t>(root[static_cast<std::size_t>(begin[k]) + i])];
    }
    return made;
}

}  // namespace

merged_chunks merge(std::span<const chunk_faces> faces, std::span<const std::int64_t> chunks) {
    return in_call([&] {
        if (chunks.empty() || chunks.size() > max_rank)
            fail(fmt::format("chunks has {} axes; give the number of chunks along 1 to {} axes", chunks.size(),
                             max_rank));
        std::int64_t wanted = 1;
        for (const std::int64_t each : chunks) {
            if (each < 0) fail(fmt::format("chunks has {} along an axis; give 0 or more", each));
            wanted = each == 0 || wanted <= (std::int64_t{1} << 40) / each ? wanted * each : -1;
            if (wanted < 0) break;
        }
        if (wanted != static_cast<std::int64_t>(faces.size()))
            fail(fmt::format("faces are of {} chunks and the grid has {}; give those of all chunks", faces.size(),
                             wanted));
        return merged(faces, chunks);
    });
}

std::vector<std::int64_t> joined_sets(std::int64_t count, std::span<const std::int64_t> a,
                                      std::span<const std::int64_t> b) {
    return in_call([&] {
        if (count < 0 || a.size() != b.size())
            fail(fmt::format("count is {}, and a and b have {} and {} items; give lists of one length", count, a.size(),
                             b.size()));
        sets all(count);
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (std::min(a[i], b[i]) < 0 || std::max(a[i], b[i]) >= count)
                fail(fmt::format("items {} and {} are joined; give items of 0 to {}", a[i], b[i], count - 1));
            all.join(a[i], b[i]);
        }
        return std::move(all).roots();
    });
}

}  // namespace nearfield
