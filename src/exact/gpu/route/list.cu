#include "exact/gpu/route/calls.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/route/route.hpp"

namespace nearfield::exact {
namespace {

// Larger images are solved alone: they keep a GPU busy, and padding only costs time. Without options a call is two
// or three launches, which a list hardly beats (H200, 2026-11-21: 23 us for 1024^2, as much as its share of a
// list).
constexpr std::int64_t large_image = std::int64_t{1} << 22;
constexpr std::int64_t large_plain_image = std::int64_t{1} << 19;
// Padded cells that are solved at a time: enough to keep a GPU busy, 1.2 to 4 GB of workspace.
constexpr std::int64_t batch_cells = std::int64_t{1} << 27;

target target_for(const plan& p, const any_output<device>& out, int leading_axes) {
    target t;
    if (!out.wanted()) return t;
    t.data = static_cast<std::byte*>(out.data);
    for (int axis = 0; axis < p.rank; ++axis)
        t.step[axis] =
            out.stride[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)] + leading_axes)];
    return t;
}

/// Class of sizes that share a batch: equal along periodic axes, else within a factor of the square root of two.
std::int64_t size_class(std::int64_t size, border beyond) {
    if (beyond == border::periodic) return size;
    return std::bit_width(static_cast<std::uint64_t>(size * size - 1));
}

std::int64_t images_of(const plan& p) { return cells_between(p.size.data(), 0, p.first_axis); }

/// Returns the kind of a call; calls of one kind are solved together.
std::vector<std::int64_t> kind_of(const plan& p) {
    std::vector<std::int64_t> kind{p.numbers == tier::float64, p.rank - p.first_axis,
                                   std::bit_cast<std::int64_t>(p.unit2)};
    for (auto axis = static_cast<std::size_t>(p.first_axis); axis < static_cast<std::size_t>(p.rank); ++axis) {
        kind.push_back(p.source_axis[axis]);
        kind.push_back(size_class(p.size[axis], p.borders[axis]));
    }
    return kind;
}

/// Makes the problem whose images have the largest sizes of all. Returns false if its numbers would not be exact.
bool pad(std::span<const plan* const> plans, plan& padded) {
    const plan& first = *plans[0];
    padded = first;
    padded.rank = first.rank - first.first_axis + 1;
    padded.first_axis = 1;
    padded.size[0] = 0;
    double largest = 0;
    for (double beside : {first.closed_beside, first.open_beside})
        if (beside < std::numeric_limits<double>::infinity()) largest += beside;
    for (const plan* p : plans) padded.size[0] += images_of(*p);
    padded.cells = padded.size[0];
    for (std::size_t axis = 1; axis < static_cast<std::size_t>(padded.rank); ++axis) {
        const std::size_t own = axis - 1 + static_cast<std::size_t>(first.first_axis);
        padded.weight[axis] = first.weight[own];
        padded.borders[axis] = first.borders[own];
        padded.source_axis[axis] = first.source_axis[own];
        padded.size[axis] = 0;
        for (const plan* p : plans)
            padded.size[axis] =
                std::max(padded.size[axis], p->size[axis - 1 + static_cast<std::size_t>(p->first_axis)]);
        const std::int64_t n = padded.size[axis];
        const auto far = static_cast<double>(reach(
            padded.borders[axis] == border::periodic ? n / 2 : std::max<std::int64_t>(n - 1, 1), first.half_cell));
        largest += padded.weight[axis] * (far * far);
        padded.cells *= n;
    }
    padded.largest = largest;
    padded.keys = layout_for(padded.size.data(), padded.rank, 1);
    if (padded.keys.total() > wide_key_bits) return false;
    constexpr double rounding = 1.0 + 1e-15;
    if (first.numbers != tier::float64) {
        const bool wide = padded.sites_wanted && padded.keys.total() > narrow_key_bits;
        const bool small = largest * rounding < static_cast<double>(no_site<std::int32_t>()) && !wide;
        if (largest * rounding >= static_cast<double>(no_site<std::int64_t>())) return false;
        padded.numbers = small ? tier::int32 : tier::int64;
    }
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(padded.rank); ++axis)
        padded.rows_ordered[axis] = padded.numbers != tier::float64 || rows_ordered(largest, padded.weight[axis]);
    return true;
}

/// Solves a list, or only describes how.
class list_run {
public:
    list_run(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs, call_plan* say = nullptr)
        : on_(on), plans_(plans), jobs_(jobs), say_(say) {}

    void solve() {
        std::map<std::vector<std::int64_t>, std::vector<std::size_t>> kinds;
        for (std::size_t k = 0; k < plans_.size(); ++k) {
            if (plans_[k].cells == 0) continue;
            if (plans_[k].cells > (plans_[k].plain() ? large_plain_image : large_image)) solve_one(k);
            else kinds[kind_of(plans_[k])].push_back(k);
        }
        for (const auto& [kind, members] : kinds) split(members);
    }

private:
    void solve_one(std::size_t k) {
        const arrays<device> a{jobs_[k].image, jobs_[k].out};
        if (say_ == nullptr) return run(on_, plans_[k], a);
        say("an image alone", describe(on_, plans_[k], a).workspace_bytes, plans_[k], 1);
    }

    void say(const char* method, std::int64_t bytes, const plan& p, std::int64_t images) {
        say_->workspace_bytes = std::max(say_->workspace_bytes, bytes);
        const char* const numbers = p.numbers == tier::int32 ? "int32" : p.numbers == tier::int64 ? "int64" : "float64";
        if (say_->numbers.empty() || numbers[0] == 'f' || (say_->numbers[0] != 'f' && say_->numbers < numbers))
            say_->numbers = numbers;
        const auto last = static_cast<std::size_t>(p.rank - 1);
        say_->passes.push_back({-1, method, images, p.cells / images / p.size[last], p.size[last]});
    }

    /// Splits a class into batches of bounded size.
    void split(const std::vector<std::size_t>& members) {
        std::vector<std::size_t> batch;
        std::int64_t cells = 0;
        for (std::size_t k : members) {
            batch.push_back(k);
            cells += plans_[k].cells;
            if (cells < batch_cells / 2) continue;
            solve_padded(batch);
            batch.clear(), cells = 0;
        }
        solve_padded(batch);
    }

    void solve_padded(const std::vector<std::size_t>& batch) {
        std::vector<const plan*> plans;
        for (std::size_t k : batch) plans.push_back(&plans_[k]);
        plan padded;
        if (batch.size() < 2 || !pad(plans, padded)) {
            for (std::size_t k : batch) solve_one(k);
            return;
        }
        std::vector<item> list;
        std::int64_t images = 0;
        for (std::size_t k : batch) {
            list.push_back(item_for(plans_[k], jobs_[k].image, jobs_[k].out));
            list.back().first_image = images;
            images += images_of(plans_[k]);
        }
        if (say_ != nullptr) {
            call_plan passes;
            const option_call call{on_, padded, jobs_[batch[0]].image, jobs_[batch[0]].out, nullptr, list, &passes};
            return say("images padded to one size", with_options(call), padded, images);
        }
        try {
            static_cast<void>(with_options({on_, padded, jobs_[batch[0]].image, jobs_[batch[0]].out, nullptr, list}));
        } catch (const error& problem) {
            // Nothing was started. Parts may fit if the whole does not; a call alone reports what would fit.
            if (problem.code() != error_code::out_of_memory) throw;
            const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
            solve_padded({batch.begin(), middle});
            solve_padded({middle, batch.end()});
        }
    }

    const device& on_;
    std::span<const plan> plans_;
    std::span<const job<device>> jobs_;
    call_plan* say_;
};

}  // namespace

item item_for(const plan& p, const any_input<device>& image, const fields<device>& out) {
    item it;
    it.rank = p.rank, it.first_axis = p.first_axis;
    std::copy_n(p.size.begin(), p.rank, it.size);
    // The image is never written.
    it.image.data = static_cast<std::byte*>(const_cast<void*>(image.data));
    std::copy_n(p.image_stride.begin(), p.rank, it.image.step);
    it.distance = target_for(p, out.distance, 0);
    it.squared = target_for(p, out.squared, 0);
    it.index = target_for(p, out.index, 0);
    it.coordinates = target_for(p, out.coordinates, 1);
    it.label = target_for(p, out.label, 0);
    it.trusted = target_for(p, out.trusted, 0);
    it.plane = out.coordinates.stride[0];
    it.planes = p.image_rank - p.batch_axes;
    std::fill(std::begin(it.plane_axis), std::end(it.plane_axis), -1);
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const int source = p.source_axis[static_cast<std::size_t>(axis)] - p.batch_axes;
        // The only axis of a single cell may follow a batch axis; it then keeps its own number.
        if (source >= 0) it.plane_axis[source] = axis;
    }
    return it;
}

namespace gpu {

bool last_pass_writes(const option_call& call) {
    const plan& p = call.p;
    const item& to = call.list[0];
    const auto plain_type = [](const any_output<device>& field, std::initializer_list<dtype> types) {
        return !field.wanted() || std::find(types.begin(), types.end(), field.type) != types.end();
    };
    const bool reads_image = to.label.data != nullptr || p.is_signed();
    return call.list.size() == 1 && p.rank - p.first_axis > 1 && has_contiguous_fields(p, to) &&
           (to.trusted.data == nullptr || is_contiguous(p.size.data(), to.trusted.step, p.rank)) &&
           (to.label.data == nullptr || is_contiguous(p.size.data(), to.label.step, p.rank)) &&
           (!reads_image || is_contiguous(p.size.data(), p.image_stride.data(), p.rank)) &&
           (!p.is_signed() || (to.squared.data == nullptr && call.out.distance.type != dtype::float16)) &&
           plain_type(call.out.distance, {dtype::boolean, dtype::float16, dtype::float32, dtype::float64}) &&
           plain_type(call.out.squared, {dtype::uint32, dtype::uint64, dtype::float32, dtype::float64});
}

}  // namespace gpu

std::int64_t with_options(const option_call& call) {
    const plan& p = call.p;
    const bool narrow = gpu::keys_are_narrow(call);
    if (gpu::keys_are_rows(call)) return options_float64(call);
    // Double has kernels for the narrow keys of images and volumes.
    const double heaviest = !p.weighted ? 0 : size_of(call.weights->type) < 8 ? 4294967296.0 : gpu::most_exact;
    switch (p.numbers) {
        case tier::int32:
            return gpu::values_fit_keys(p) || gpu::values_suffice(p) ? options_int32(call) : options_int64(call);
        case tier::int64:
            // Small values: only the key of the whole site is long, and no pass stores it.
            if (narrow && !p.weighted && p.largest < largest_narrow) return options_int32(call);
            return p.largest + heaviest < gpu::most_exact ? options_float64(call) : options_int64(call);
        case tier::float64: return options_float64(call);
    }
    return 0;
}

void run_list(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs) {
    list_run(on, plans, jobs).solve();
}

call_plan describe(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs) {
    std::vector<job<device>> placed_jobs(jobs.begin(), jobs.end());
    for (job<device>& each : placed_jobs) each.out = placed(each.out);
    call_plan what;
    what.place = "device";
    list_run(on, plans, placed_jobs, &what).solve();
    return what;
}

}  // namespace nearfield::exact
