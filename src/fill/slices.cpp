// interpolate_slices(): sorts positions by the slices around them, finds the labels of these, and offers each label.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/scratch.hpp"
#include "base/share.hpp"
#include "base/unwritten.hpp"
#include "exact/room.hpp"
#include "fill/core.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/fill.hpp"

namespace nearfield {
namespace fill {
namespace {

constexpr int most_axes = 3;  // axes of a slice
constexpr std::int64_t most_exact = std::int64_t{1} << 60;

/// The cells of a label in a slice: their number, and the sum of their coordinates.
struct moment {
    std::int64_t count = 0, sum[3] = {0, 0, 0};
};
using moments = std::map<std::int64_t, moment>;

/// A position strictly between two drawn slices: t = upper / (lower + upper).
struct between {
    std::int64_t position, lower, upper;
};

std::int64_t rounded(int128 numerator, int128 denominator) {
    const int128 n = 2 * numerator + denominator, d = 2 * denominator;
    return static_cast<std::int64_t>(n / d - (n % d < 0 ? 1 : 0));
}

template <class Place>
class interpolation {
public:
    interpolation(const Place& on, const any_input<Place>& labels, int axis, std::span<const slice_position> positions,
                  const any_output<Place>& out, const slice_options& options)
        : on_(on), labels_(labels), out_(out), axis_(static_cast<std::size_t>(axis)), options_(options) {
        check(positions);
        slice_ = slice_of(labels_, 0);
        both_.insert(both_.end(), slice_.shape.begin(), slice_.shape.begin() + slice_.rank);
        std::copy_n(slice_.shape.begin(), slice_.rank, std::end(offer_.size) - slice_.rank);
        offer_.cells = slice_.cells(), offer_.align = options.align;
        set_lengths();
        sort(positions);
    }

    void solve() {
        if (out_.cells() == 0) return;
        const expected_outputs outputs{out_};
        for (const std::int64_t position : outside_) copy({}, position);
        std::size_t most = 0;
        for (const auto& group : groups_) most = std::max(most, group.size());
        const auto at_once = std::min<std::int64_t>(most_positions, static_cast<std::int64_t>(most));
        with_bytes(on_, offer_.cells * (2 * 9 + at_once * 16), [&](void* memory) {
            squared_ = static_cast<double*>(memory);
            offer_.squared = squared_, offer_.best = reinterpret_cast<best_so_far*>(squared_ + 2 * offer_.cells);
            marks_ = reinterpret_cast<std::uint8_t*>(offer_.best + at_once * offer_.cells);
            for (std::size_t k = 0; k < groups_.size(); ++k) {
                done_ = static_cast<double>(k) / static_cast<double>(groups_.size());
                work_between(drawn_[k], k + 1 < drawn_.size() ? drawn_[k + 1] : drawn_[k], groups_[k]);
            }
        });
    }

private:
    template <class Element>
    [[nodiscard]] any_view<Element, Place> slice_of(const any_view<Element, Place>& of, std::int64_t number) const {
        using byte = std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>;
        any_view<Element, Place> made;
        made.data = static_cast<byte*>(of.data) + number * of.stride[axis_] * size_of(of.type);
        if (of.data == nullptr) made.data = nullptr;
        made.type = of.type;
        for (std::size_t k = 0; k < static_cast<std::size_t>(of.rank); ++k) {
            if (k == axis_) continue;
            const auto to = static_cast<std::size_t>(made.rank++);
            made.shape[to] = of.shape[k], made.stride[to] = of.stride[k];
        }
        return made;
    }

    void check(std::span<const slice_position> positions) const {
        check_image<Place>("labels", labels_, std::int64_t{1} << 31);
        if (labels_.rank < 2 || labels_.rank > most_axes + 1)
            fail(fmt::format("labels has {} axes; give 2 to {}: slices, and the one across them", labels_.rank,
                             most_axes + 1));
        if (labels_.type >= dtype::float16)
            fail(fmt::format("labels has element type {}; give bool or integers", name_of(labels_.type)));
        if (axis_ >= static_cast<std::size_t>(labels_.rank))
            fail(fmt::format("axis is {} for {} axes; give 0 to {}", static_cast<std::int64_t>(axis_), labels_.rank,
                             labels_.rank - 1));
        any_input<Place> like = labels_;
        like.shape[axis_] = static_cast<std::int64_t>(positions.size());
        if (!out_.wanted()) fail("out has no axes; give an array with a slice for each position");
        check_type("out", out_.type, {labels_.type});
        check_same_shape<Place>("out", out_, like);
        const named_view<Place> all[] = {{"labels", labels_}, {"out", out_}};
        check_data<Place>(all);
        check_apart<Place>(all);
        const std::int64_t slices = labels_.shape[axis_];
        if (slices == 0 && !positions.empty())
            fail(fmt::format("labels has no slices along axis {} to interpolate between", axis_));
        for (const slice_position& at : positions)
            if (at.denominator < 1 || at.numerator < 0 || at.denominator > (1 << 20) ||
                at.numerator > static_cast<int128>(at.denominator) * (slices - 1))
                fail(fmt::format("positions has {}/{} for {} slices; give 0 to {}, with denominators up to 2^20",
                                 at.numerator, at.denominator, slices, slices - 1));
        std::int64_t before = -1;
        for (const std::int64_t each : options_.drawn) {
            if (each <= before || each >= slices)
                fail(fmt::format("drawn has {} after {}; give ascending numbers of slices below {}", each, before,
                                 slices));
            before = each;
        }
    }

    /// Sets the lengths of a slice's cells: integers if the spacing is a multiple of one length.
    void set_lengths() {
        const auto given = checked_spacing(options_.spacing, labels_.shape.data(), labels_.rank);
        std::size_t to = 0;
        std::array<double, max_rank> own{};
        for (std::size_t k = 0; k < static_cast<std::size_t>(labels_.rank); ++k)
            if (k != axis_) own[to++] = given[k];
        distance_options alone;
        alone.spacing = spacing(own.data(), to);
        const exact::counting units = exact::counting_of(slice_.shape.data(), slice_.rank, alone);
        std::array<double, max_rank> lengths{1};
        for (std::size_t k = 0; k < to; ++k) {
            const double one = units.length[k], across = one * static_cast<double>(slice_.shape[k]);
            offer_.exact = offer_.exact && one >= 1 && one == std::floor(one);
            lengths[k + 1] = one, reach2_ += across * across;
        }
        if (!offer_.exact) std::copy_n(own.begin(), to, lengths.begin() + 1);
        how_.spacing = spacing(lengths.data(), to + 1), how_.batch_axes = 1, how_.sign = sign::inside_negative;
    }

    /// Sorts positions: on a drawn slice, outside of all, or between two, which it groups by the slice below.
    void sort(std::span<const slice_position> positions) {
        drawn_.assign(options_.drawn.begin(), options_.drawn.end());
        if (drawn_.empty()) {
            drawn_.resize(static_cast<std::size_t>(labels_.shape[axis_]));
            std::iota(drawn_.begin(), drawn_.end(), std::int64_t{0});
        }
        groups_.resize(drawn_.size());
        for (std::size_t k = 0; k < positions.size(); ++k) {
            const auto [numerator, denominator] = positions[k];
            const std::int64_t whole = numerator / denominator;
            const auto above = std::upper_bound(drawn_.begin(), drawn_.end(), whole);
            const auto at = static_cast<std::int64_t>(k);
            if (above == drawn_.begin() || (above == drawn_.end() && numerator != whole * denominator)) {
                outside_.push_back(at);
                continue;
            }
            const std::int64_t below = *(above - 1), span = (above == drawn_.end() ? below + 1 : *above) - below;
            const std::int64_t p = numerator - below * denominator, q = span * denominator, common = std::gcd(p, q);
            if (above == drawn_.end() && p > 0) outside_.push_back(at);
            else
                groups_[static_cast<std::size_t>(above - drawn_.begin() - 1)].push_back(
                    {at, (q - p) / common, p / common});
            const auto finest = static_cast<double>(q / common);
            if (offer_.exact && finest * finest * reach2_ >= static_cast<double>(most_exact))
                fail(
                    fmt::format("positions has {}/{}, too fine for exact answers in slices of {}; give denominators "
                                "up to {:.0f}, of t between neighbouring drawn slices",
                                numerator, denominator, shape_text(slice_.shape.data(), slice_.rank),
                                std::floor(std::sqrt(static_cast<double>(most_exact) / reach2_))));
        }
    }

    /// Copies a slice to a position; writes zeros if the slice is empty.
    void copy(const any_input<Place>& from, std::int64_t position) const {
        gathering g{cells_at::of(from), cells_at::of(slice_of(out_, position))};
        g.cells = offer_.cells;
        gather(on_, g);
    }

    void work_between(std::int64_t a, std::int64_t b, const std::vector<between>& all) {
        std::vector<between> inside;
        for (const between& each : all)
            if (each.upper == 0) copy(slice_of(labels_, a), each.position);
            else inside.push_back(each);
        if (inside.empty()) return;
        const moments of_a = measured(a), of_b = measured(b);
        for (std::size_t first = 0; first < inside.size(); first += most_positions) {
            const auto count = std::min<std::size_t>(most_positions, inside.size() - first);
            set_positions(std::span(inside).subspan(first, count));
            for (const auto& [label, here] : of_a) {
                const auto there = of_b.find(label);
                if (there == of_b.end() || (label == 0 && options_.align)) continue;
                set_shifts(here, there->second);
                make(a, b, label);
            }
            for (std::size_t k = first; k < first + count && offer_.first; ++k) copy({}, inside[k].position);
        }
    }

    void set_positions(std::span<const between> some) {
        offer_.first = true, offer_.positions = static_cast<int>(some.size());
        offer_.out = cells_at::of(slice_of(out_, 0));
        for (std::size_t k = 0; k < some.size(); ++k) {
            offer_.start[k] = some[k].position * out_.stride[axis_];
            offer_.lower[k] = some[k].lower, offer_.upper[k] = some[k].upper;
        }
    }
    void set_shifts(const moment& here, const moment& there) {
        if (!options_.align) return;
        for (int axis = 0; axis < 3; ++axis) {
            const int128 apart =
                static_cast<int128>(there.sum[axis]) * here.count - static_cast<int128>(here.sum[axis]) * there.count;
            offer_.across[axis] = rounded(apart, static_cast<int128>(here.count) * there.count);
            for (int k = 0; k < offer_.positions; ++k)
                offer_.shift[k][axis] = rounded(static_cast<int128>(offer_.across[axis]) * offer_.upper[k],
                                                offer_.lower[k] + offer_.upper[k]);
        }
    }

    void make(std::int64_t a, std::int64_t b, std::int64_t label) {
        offer_.label = label;
        mark(on_,
             {cells_at::of(slice_of(labels_, a)), cells_at::of(slice_of(labels_, b)), label, offer_.cells, marks_});
        fields<Place> wanted;
        wanted.squared = any_output<Place>::contiguous(squared_, dtype::float64, both_);
        distance_transform(part_of(on_, done_, 0), any_input<Place>::contiguous(marks_, dtype::uint8, both_), wanted,
                           how_);
        run(on_, offer_);
        offer_.first = false;
    }

    /// The labels of a slice. Keeps the last result, because two groups in a row ask for the same slice.
    moments measured(std::int64_t number) {
        if (kept_ && kept_->first == number) return kept_->second;
        const host_scratch<std::int64_t> cells(offer_.cells);
        read(on_, cells_at::of(slice_of(labels_, number)), offer_.cells, cells.get());
        moments found;
        moment* own = nullptr;
        for (std::int64_t i = 0; i < offer_.cells; ++i) {
            const std::int64_t label = cells.get()[i];
            if (i == 0 || label != cells.get()[i - 1]) own = &found[label];
            ++own->count;
            own->sum[2] += i % offer_.size[2], own->sum[1] += i / offer_.size[2] % offer_.size[1];
            own->sum[0] += i / offer_.size[2] / offer_.size[1];
        }
        if (labels_.type == dtype::uint64 && found.begin()->first < 0)
            fail("labels has a value of 2^63 or more; give smaller labels");
        kept_.emplace(number, found);
        return found;
    }

    const Place& on_;
    const any_input<Place>& labels_;
    const any_output<Place>& out_;
    std::size_t axis_;
    const slice_options& options_;
    any_input<Place> slice_;
    distance_options how_;
    double done_ = 0;    ///< share of the work that is done
    double reach2_ = 0;  ///< exceeds every squared distance
    offer offer_;
    double* squared_ = nullptr;
    std::uint8_t* marks_ = nullptr;
    std::vector<std::int64_t> both_{2};  ///< shape of two slices, one after the other
    std::vector<std::int64_t> drawn_, outside_;
    std::vector<std::vector<between>> groups_;  ///< for each drawn slice, the positions from it to the next
    std::optional<std::pair<std::int64_t, moments>> kept_;
};

template <class Place>
void interpolate(const Place& on, const any_input<Place>& labels, int axis, std::span<const slice_position> positions,
                 const any_output<Place>& out, const slice_options& options) {
    in_call([&] { interpolation<Place>(on, labels, axis, positions, out, options).solve(); });
}

}  // namespace
}  // namespace fill

void interpolate_slices(const host& on, const any_input<host>& labels, int axis,
                        std::span<const slice_position> positions, const any_output<host>& out,
                        const slice_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    fill::interpolate(on, labels, axis, positions, out, options);
}
void interpolate_slices(const device& on, const any_input<device>& labels, int axis,
                        std::span<const slice_position> positions, const any_output<device>& out,
                        const slice_options& options) {
    fill::interpolate(on, labels, axis, positions, out, options);
}

}  // namespace nearfield
