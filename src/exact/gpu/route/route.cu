#include "exact/gpu/route/route.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/cuda.cuh"
#include "exact/fit.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/route/calls.hpp"

namespace nearfield::exact {
namespace {

/// True if a call asks only which cells have a site within its limit.
bool wants_bits(const plan& p, const fields<device>& out) {
    return out.distance.wanted() && out.distance.type == dtype::boolean && !out.squared.wanted() && !p.sites_wanted &&
           !out.trusted.wanted();
}

/// True if words serve a call: those of sites yield indices only; the kernel for small grids yields any field. Tiles of
/// distances are for lines of many rows: three planes of 4096^2 take 5.7 ms with them.
bool words_serve(const option_call& call) {
    constexpr std::int64_t few_rows = 16;
    const plan& p = call.p;
    const fields<device>& out = call.out;
    const bool more = out.distance.wanted() || out.squared.wanted() || out.coordinates.wanted();
    plan typed = p;
    typed.plain_outputs = p.plain_outputs || wants_bits(p, out);
    if (!serves_plainly(typed) || !is_contiguous(p.size.data(), p.image_stride.data(), p.rank) ||
        !has_contiguous_fields(p, call.list[0]))
        return false;
    if (is_small(p, call.image.type)) return true;
    if (p.sites_wanted) return !more;
    return std::all_of(p.size.begin() + p.first_axis, p.size.begin() + p.rank - 1,
                       [](std::int64_t rows) { return rows > few_rows; });
}

/// Adds the passes of the engine without options; `few`: the rung for few sites writes the fields that are made from
/// indices.
void describe_plain(const plan& p, dtype image, bool few, call_plan& to) {
    const int last = p.rank - 1;
    const auto source = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    if (is_small(p, image)) {
        const std::int64_t images = p.cells / cells_between(p.size.data(), p.first_axis, p.rank);
        to.passes.push_back({source(last), gpu::row_of(gpu::rung::small).method,
                             images * whole_clusters(p) * whole_blocks, size(last), 4});
        return;
    }
    if (few || gpu::tries_few_alone(p))
        to.passes.push_back({-1, std::string(gpu::row_of(gpu::rung::few).method) + ", else",
                             blocks_for(p.cells, gpu::few_box_cells), gpu::few_box_cells, 1});
    constexpr std::int64_t stretch = 1024;
    to.passes.push_back({source(last), gpu::row_of(gpu::rung::words).method,
                         p.cells / size(last) * blocks_for(size(last), stretch), std::min(stretch, size(last)), 1});
    for (int axis = last - 1; axis >= p.first_axis; --axis) {
        pass g;
        g.axis = axis, g.rows = size(axis), g.columns = p.cells / g.rows;
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        if (axis == p.first_axis && lines_finish(p)) {
            to.passes.push_back(
                {source(axis),
                 std::string(gpu::row_of(gpu::rung::values).method) + ", else " + gpu::row_of(gpu::rung::strips).method,
                 groups, g.rows, cuda::warp});
        } else if (site_words_fit(p)) {
            to.passes.push_back({source(axis), "strips of sites in registers, else winners at pivot rows or hulls",
                                 groups, g.rows, cuda::warp});
        } else {
            to.passes.push_back(
                {source(axis), "tiles in 16 bits, else winners at pivot rows", groups, g.rows, cuda::warp});
        }
    }
}

std::optional<std::int64_t> by_words(const option_call& call) {
    if (!words_serve(call)) return {};
    return search_plainly(call, call.p, call.out);
}

std::optional<std::int64_t> by_lines(const option_call& call) { return with_options(call); }

/// The ways of a call, the fastest first; the last one serves every call. Each solves a call and returns the bytes of
/// workspace, or nothing if it does not serve it. Of a described call it adds the passes, and starts nothing.
constexpr std::optional<std::int64_t> (*ways[])(const option_call&) = {call_by_index, call_signed_image, by_words,
                                                                       by_lines};

std::int64_t serve(const device& on, const plan& p, const arrays<device>& a, call_plan* described) {
    const std::array<item, 1> only{item_for(p, a.image, a.out)};
    const option_call call{on, p, a.image, a.out, a.weights, only, described};
    for (const auto way : ways)
        if (const std::optional<std::int64_t> bytes = way(call)) return *bytes;
    return 0;
}

/// Throws the workspace error with advice on what would fit.
[[noreturn]] void fail_with_fit(const error& problem, const device& on, const plan& p, const arrays<device>& a) {
    std::size_t free_bytes = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free_bytes, &total), "asking for the free memory");
    const std::string fits = what_fits(p, static_cast<std::int64_t>(free_bytes), [&](const plan& smaller) {
        call_plan unused;
        return serve(on, smaller, a, &unused);
    });
    throw error(problem.code(), problem.what() + fits, problem.where());
}

}  // namespace

std::int64_t search_plainly(const option_call& call, const plan& p, const fields<device>& out,
                            std::int32_t* few_counters) {
    const bool few = few_counters != nullptr;
    if (call.described != nullptr) describe_plain(p, call.image.type, few, *call.described);
    else if (is_small(p, call.image.type)) gpu::trace::note(call.on, gpu::rung::small, blocks_for(p.cells, 1024));
    return call_plainly(
        {call.on, p, call.image, out, call.described != nullptr, few ? &call.out : nullptr, few_counters});
}

void describe_last(const option_call& call, const char* method) {
    if (call.described != nullptr)
        call.described->passes.push_back({-1, method, blocks_for(call.p.cells, 1024), 1024, 1});
}

void run(const device& on, const plan& p, const arrays<device>& a) {
    const cuda::device_guard current(on);
    const gpu::traced_call traced(on, p.size.data(), p.rank);
    try {
        static_cast<void>(serve(on, p, a, nullptr));
    } catch (const error& problem) {
        if (problem.code() != error_code::out_of_memory) throw;
        fail_with_fit(problem, on, p, a);
    }
}

void run(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs) {
    const cuda::device_guard current(on);
    run_list(on, plans, jobs);
}

call_plan describe(const device& on, const plan& p, const arrays<device>& a) {
    call_plan to;
    to.place = "device";
    to.numbers = p.numbers == tier::int32 ? "int32" : p.numbers == tier::int64 ? "int64" : "float64";
    if (p.cells == 0) return to;
    to.workspace_bytes = serve(on, p, {a.image, placed(a.out), a.weights}, &to);
    return to;
}

}  // namespace nearfield::exact

// The counts of traced calls.

namespace nearfield::exact::gpu {
namespace {

thread_local trace* innermost = nullptr;

bool records_graph(const device& on) {
    cudaStreamCaptureStatus recording{};
    cuda::check(cudaStreamIsCapturing(cuda::stream_of(on), &recording), "asking whether the stream records a graph");
    return recording != cudaStreamCaptureStatusNone;
}

}  // namespace

trace::trace() : outer_(innermost) {
    constexpr std::size_t bytes = rungs * sizeof(std::uint32_t);
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&numbers_), bytes), "making the trace's numbers");
    innermost = this;
}

trace::~trace() {
    innermost = outer_;
    cudaFree(numbers_);
}

std::string trace::text() const {
    std::string all;
    for (int i = 0; i < rungs; ++i)
        if (const std::int64_t windows = solved_[static_cast<std::size_t>(i)]; windows > 0)
            all += (all.empty() ? "" : ", ") + std::string(ladder[i].name) + ' ' + std::to_string(windows);
    return all.empty() ? "nothing" : all;
}

std::uint32_t* trace::numbers() { return innermost == nullptr ? nullptr : innermost->numbers_; }

bool trace::note(const device& on, rung which, std::int64_t windows, const std::int32_t* refused) {
    if (innermost == nullptr || records_graph(on)) return false;
    std::int32_t was_refused = 0;
    if (refused != nullptr) {
        cuda::check(
            cudaMemcpyAsync(&was_refused, refused, sizeof was_refused, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
            "reading whether a rung refused");
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for a rung");
    }
    if (was_refused == 0) innermost->solved_[static_cast<std::size_t>(which)] += windows;
    return was_refused == 0;
}

void trace::take(const device& on) {
    if (records_graph(on)) return;
    std::array<std::uint32_t, rungs> now{};
    const cudaStream_t stream = cuda::stream_of(on);
    cuda::check(cudaMemcpyAsync(now.data(), numbers_, sizeof now, cudaMemcpyDeviceToHost, stream), "reading a trace");
    cuda::check(cudaStreamSynchronize(stream), "waiting for a trace");
    for (std::size_t i = 0; i < now.size(); ++i) solved_[i] += now[i];
}

traced_call::traced_call(const device& on, const std::int64_t* size, int rank) : on_(on), size_(size), rank_(rank) {
    static const bool wanted = std::getenv("NEARFIELD_TRACE") != nullptr;
    if (wanted && innermost == nullptr && !records_graph(on)) own_ = new trace;
    if (innermost != nullptr)
        cuda::check(cudaMemsetAsync(innermost->numbers_, 0, rungs * sizeof(std::uint32_t), cuda::stream_of(on)),
                    "clearing the trace's numbers");
}

traced_call::~traced_call() {
    if (innermost == nullptr) return;
    try {
        innermost->take(on_);
    } catch (const error&) {  // the device failed; the call or the next one reports it
    }
    if (own_ == nullptr) return;
    std::string shape;
    for (int axis = 0; axis < rank_; ++axis) shape += (axis > 0 ? "x" : "") + std::to_string(size_[axis]);
    std::fprintf(stderr, "nearfield: %s: %s\n", shape.c_str(), own_->text().c_str());
    delete own_;
}

}  // namespace nearfield::exact::gpu
