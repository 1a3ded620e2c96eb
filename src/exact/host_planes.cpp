#include "exact/host_planes.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "exact/host.hpp"
#include "exact/host_output.hpp"
#include "exact/host_plane.hpp"
#include "exact/host_steps.hpp"
#include "exact/room.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {
namespace {

/// Steps of a slab stay within a core's second-level cache if planes are small enough.
constexpr std::int64_t slab_bytes = 512 * 1024;
/// With fewer planes the steps at the slabs' ends, four bytes a cell of a plane, become a large part of the work:
/// 256^3, 90 % sites, with slabs of 4, 8, 16 and 32 planes: 24, 21, 18 and 23 ms; 512^3, 10 %: 200, 175, 158 and 153.
constexpr std::int64_t least_slab = 16, most_slab = 64;
/// Slabs per thread, so that threads end at the same time.
constexpr std::int64_t slabs_a_thread = 4;
/// If less than one thread in this number has a slab, the general engine, which is that much slower, ends sooner.
constexpr std::int64_t idle_threads = 3;
/// Limits of workspace per cell, and in addition: a thread has planes of its own, and planes may be large and few.
constexpr std::int64_t most_workspace = 8, spare_workspace = std::int64_t{1} << 26;
/// Weights up to this one leave 16 bits for distances of at least 48 cells.
constexpr double most_weight = 28;
/// Shorter lines are left to the general engine.
constexpr std::int64_t least_line = 32;
/// Cells whose ends are noted for all planes of a slab before the next ones; their steps stay in the first-level cache.
constexpr std::int64_t strip = 4096;

/// Steps at the ends of the slabs of one image: `above` for the last row before each slab, `below` for the first row
/// after it.
struct slab_ends {
    host_scratch<std::uint16_t> above, below;
};

/// A thread's buffers besides those of the search.
struct buffers {
    buffers(const plane_shape& s, bool with_sites)
        : steps(s.slab * s.plane()),
          after(s.plane()),
          toward(with_sites ? s.together * s.plane() : 0),
          site(s.length) {}
    host_scratch<std::uint16_t> steps, after;
    host_scratch<std::int16_t> toward;
    host_scratch<std::uint8_t> site;
};

template <bool Sites>
class plane_engine {
public:
    plane_engine(const host& on, const plan& p, const arrays<host>& a, way_taker* to)
        : p_(p),
          image_(a.image),
          shape_(p, thread_count(on)),
          terms_(p),
          writer_(p, a),
          crew_(on, 2 * p.cells),
          ways_(to),
          bytes_(size_of(a.image.type) == 1 && p.image_stride[static_cast<std::size_t>(p.rank - 1)] == 1),
          ends_(shape_.image_a_thread ? static_cast<std::size_t>(crew_.threads()) : 1),
          mine_(static_cast<std::size_t>(crew_.threads())),
          search_(static_cast<std::size_t>(crew_.threads())) {
        const auto first = static_cast<std::size_t>(p.first_axis);
        const std::int64_t* const stride = p.image_stride.data() + first;
        // Contiguous lines of a plane are one long line for the steps.
        const bool joined = bytes_ && (shape_.lines == 1 || stride[1] == shape_.length);
        pieces_ = joined ? 1 : shape_.lines;
        piece_ = shape_.plane() / pieces_;
    }

    /// Returns false if a vector was too long; then not all slabs were searched.
    bool solve() {
        if (shape_.image_a_thread) {
            crew_.for_each(shape_.images, 1, 2 * shape_.rows * shape_.plane(),
                           [&](std::int64_t first, std::int64_t last, int thread) {
                               for (std::int64_t image = first; image < last; ++image)
                                   solve_by_one_thread(image, thread);
                           });
        } else {
            for (std::int64_t image = 0; image < shape_.images; ++image) solve_by_all_threads(image);
        }
        return !far_;
    }

private:
    void solve_by_one_thread(std::int64_t image, int thread) {
        slab_ends& ends = ends_[static_cast<std::size_t>(thread)];
        prepare(ends);
        for (std::int64_t slab = 0; slab < shape_.slabs(); ++slab) note_slab(image, slab, ends, thread);
        carry(ends, 0, shape_.plane());
        for (std::int64_t slab = 0; slab < shape_.slabs(); ++slab) search_slab(image, slab, ends, thread);
    }

    void solve_by_all_threads(std::int64_t image) {
        slab_ends& ends = ends_.front();
        prepare(ends);
        const std::int64_t weight = shape_.slab * shape_.plane();
        crew_.for_each(shape_.slabs(), 1, weight,
                       [&](std::int64_t slab, std::int64_t, int thread) { note_slab(image, slab, ends, thread); });
        crew_.for_each((shape_.plane() + strip - 1) / strip, 1, 0, [&](std::int64_t at, std::int64_t, int) {
            carry(ends, at * strip, std::min((at + 1) * strip, shape_.plane()));
        });
        crew_.for_each(shape_.slabs(), 1, weight,
                       [&](std::int64_t slab, std::int64_t, int thread) { search_slab(image, slab, ends, thread); });
    }

    void prepare(slab_ends& ends) const {
        if (ends.above.get() != nullptr) return;
        ends.above = host_scratch<std::uint16_t>(shape_.end_elements());
        ends.below = host_scratch<std::uint16_t>(shape_.end_elements());
    }

    buffers& buffers_of(int thread) {
        auto& mine = mine_[static_cast<std::size_t>(thread)];
        if (!mine) mine = std::make_unique<buffers>(shape_, Sites);
        return *mine;
    }

    /// Returns cells [from, ...) of piece `piece` of a plane, as bytes.
    site_bytes cells_of(std::int64_t plane, std::int64_t piece, std::int64_t from, std::int64_t count, int thread) {
        const std::int64_t offset = offset_of(plane * pieces_ + piece, p_.size.data(), p_.image_stride.data(),
                                              pieces_ == shape_.lines ? p_.rank - 1 : p_.first_axis + 1);
        const std::int64_t step = p_.image_stride[static_cast<std::size_t>(p_.rank - 1)];
        const auto* const cell =
            static_cast<const std::uint8_t*>(image_.data) + (offset + from * step) * size_of(image_.type);
        if (bytes_) return {cell, p_.rule == sites::zero};
        std::uint8_t* const site = buffers_of(thread).site.get();
        read_sites(cell, image_.type, step, count, p_.rule, site);
        return {site, false};
    }

    /// Computes the steps at a slab's ends from the slab alone.
    void note_slab(std::int64_t image, std::int64_t slab, slab_ends& ends, int thread) {
        const std::int64_t first = image * shape_.rows + slab * shape_.slab;
        const int rows = static_cast<int>(shape_.rows_of(slab));
        for (std::int64_t piece = 0; piece < pieces_; ++piece)
            for (std::int64_t from = 0; from < piece_; from += strip) {
                const std::int64_t count = std::min(strip, piece_ - from), at = piece * piece_ + from;
                std::uint16_t* const to_first = ends.below.get() + slab * shape_.plane() + at;
                std::uint16_t* const from_last = ends.above.get() + (slab + 1) * shape_.plane() + at;
                std::fill_n(to_first, count, no_site16);
                std::fill_n(from_last, count, no_site16);
                for (int row = 0; row < rows; ++row)
                    loops_.note_ends(cells_of(first + row, piece, from, count, thread), count, row, rows, to_first,
                                     from_last);
            }
    }

    /// Carries columns [from, to) of the slabs' ends from slab to slab.
    void carry(slab_ends& ends, std::int64_t from, std::int64_t to) const {
        const std::int64_t slabs = shape_.slabs(), plane = shape_.plane(), count = to - from;
        std::uint16_t *const above = ends.above.get() + from, *const below = ends.below.get() + from;
        std::fill_n(above, count, no_site16);
        std::fill_n(below + slabs * plane, count, no_site16);
        for (std::int64_t k = 0; k < slabs; ++k)
            loops_.carry_ends(above + k * plane, count, static_cast<int>(shape_.rows_of(k)), above + (k + 1) * plane);
        for (std::int64_t k = slabs - 1; k > 0; --k)
            loops_.carry_ends(below + (k + 1) * plane, count, static_cast<int>(shape_.rows_of(k)), below + k * plane);
    }

    void search_slab(std::int64_t image, std::int64_t slab, const slab_ends& ends, int thread) {
        buffers& mine = buffers_of(thread);
        auto& search = search_[static_cast<std::size_t>(thread)];
        if (!search) search = std::make_unique<plane_search<Sites>>(p_, terms_, writer_);
        slab_taker* const to = ways_ != nullptr ? &ways_->of_thread(thread) : nullptr;
        if (to != nullptr && far_.load(std::memory_order_relaxed)) return;
        if (to != nullptr) search->give_ways_to(*to), to->begin(image, slab);
        const std::int64_t plane = shape_.plane(), rows = shape_.rows_of(slab);
        const std::int64_t first = image * shape_.rows + slab * shape_.slab;
        const std::uint16_t* before = ends.above.get() + slab * plane;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::uint16_t* const steps = mine.steps.get() + row * plane;
            for (std::int64_t piece = 0; piece < pieces_; ++piece)
                loops_.count_down(cells_of(first + row, piece, 0, piece_, thread), before + piece * piece_, piece_,
                                  steps + piece * piece_);
            before = steps;
        }
        std::copy_n(ends.below.get() + (slab + 1) * plane, plane, mine.after.get());
        for (std::int64_t row = rows - 1; row >= 0; --row) {
            std::uint16_t* const steps = mine.steps.get() + row * plane;
            const std::int64_t at = row % shape_.together;
            loops_.count_up(mine.after.get(), plane, steps, Sites ? mine.toward.get() + at * plane : nullptr);
            if (at != 0) continue;
            const std::int64_t group = slab * shape_.slab + row, count = std::min(rows - row, shape_.together);
            if (to != nullptr) to->begin_group(group, count);
            search->solve(steps, mine.toward.get(), image * shape_.rows * plane, group, count);
            if (to != nullptr) to->end_group();
        }
        end_copies();
        if (to == nullptr) return;
        to->end();
        if (search->far()) far_ = true;
    }

    const plan& p_;
    const any_input<host>& image_;
    const step_loops& loops_ = loops_of_planes();
    const plane_shape shape_;
    const plane_terms<Sites> terms_;
    const output_writer<std::int32_t, std::int32_t> writer_;
    workers crew_;
    way_taker* const ways_;
    std::atomic<bool> far_{false};         ///< a vector was too long for it
    const bool bytes_;                     ///< the image's own bytes can be read
    std::int64_t pieces_ = 1, piece_ = 1;  ///< pieces of a plane, and cells of a piece
    std::vector<slab_ends> ends_;
    std::vector<std::unique_ptr<buffers>> mine_;
    std::vector<std::unique_ptr<plane_search<Sites>>> search_;
};

}  // namespace

plane_shape::plane_shape(const plan& p, int threads) {
    const auto first = static_cast<std::size_t>(p.first_axis), last = static_cast<std::size_t>(p.rank - 1);
    images = cells_between(p.size.data(), 0, p.first_axis);
    rows = p.size[first];
    lines = last - first == 2 ? p.size[first + 1] : 1;
    length = p.size[last];
    together = plane_layout(p).rows;
    image_a_thread = images >= slabs_a_thread * threads;
    slab = std::clamp(slab_bytes / (2 * plane()), least_slab, most_slab);
    const std::int64_t fair = image_a_thread ? rows : rows / (slabs_a_thread * threads);
    slab = std::clamp<std::int64_t>(slab, 1, std::max<std::int64_t>(threads > 1 ? fair : rows, 1));
    slab = (slab + together - 1) / together * together;
}

std::int64_t plane_shape::workspace_bytes(const plan& p, int threads) const {
    const bool with_sites = p.sites_wanted;
    const std::int64_t of_thread = (slab + 1 + (with_sites ? together : 0)) * plane() * 2 + length +
                                   (with_sites ? plane_search<true>::bytes(p) : plane_search<false>::bytes(p));
    const std::int64_t terms = with_sites ? plane_terms<true>::bytes(p) : plane_terms<false>::bytes(p);
    const std::int64_t busy = std::min<std::int64_t>(threads, images * slabs());
    return terms + end_elements() * 4 * (image_a_thread ? busy : 1) + of_thread * busy;
}

bool suits_planes(const plan& p, int threads) {
    const int axes = p.rank - p.first_axis;
    if (p.numbers != tier::int32 || p.by != classes::none || p.weighted || p.half_cell || axes < 2 || axes > 3 ||
        p.any(border::periodic) || (p.any(border::closed) && !p.sites_wanted) || p.turned ||
        p.size[static_cast<std::size_t>(p.rank - 1)] < least_line)
        return false;
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        if (p.weight[static_cast<std::size_t>(axis)] > most_weight) return false;
    const plane_shape s(p, threads);
    return s.images * s.slabs() * idle_threads >= threads &&
           s.workspace_bytes(p, threads) <= most_workspace * p.cells + spare_workspace;
}

void solve_planes(const host& on, const plan& p, const arrays<host>& a) {
    if (p.sites_wanted) plane_engine<true>(on, p, a, nullptr).solve();
    else plane_engine<false>(on, p, a, nullptr).solve();
}

bool take_ways(const host& on, const any_input<host>& image, const fields<host>& out, const distance_options& options,
               way_taker& to) {
    fields<host> with_sites = out;
    const dtype type = image.cells() <= std::int64_t{1} << 31 ? dtype::int32 : dtype::int64;
    with_sites.index = any_output<host>::contiguous(
        nullptr, type, std::span(image.shape.data(), static_cast<std::size_t>(image.rank)));
    const arrays<host> a{image, with_sites};
    const plan p = make_plan(image, with_sites, {.options = options, .reads_data = false});
    if (p.cells == 0 || !p.plain() ||
        std::any_of(p.weight.begin() + p.first_axis, p.weight.begin() + p.rank,
                    [](double weight) { return weight != 1; }))
        return false;
    const int threads = thread_count(host{threads_that_fit(on, p, a), {}});
    if (!suits_planes(p, threads)) return false;
    const plane_shape s(p, threads);
    if (!to.prepare({s.images, s.rows, s.lines, s.length, s.slab, s.together, threads})) return false;
    rehearsal* const now = rehearsing();
    if (now == nullptr) return plane_engine<true>({threads, on.progress}, p, a, &to).solve();
    now->note_part(describe(on, p, a));
    if (p.largest <= double{most_way} * most_way) return true;
    now->note_step("once more with a field of sites, if one is too far");
    return false;
}

}  // namespace nearfield::exact
