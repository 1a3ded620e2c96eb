#include "cli/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "cli/parse.hpp"
#include "cli/progress.hpp"

namespace nearfield::cli {
namespace {

/// Chooses the GPU to use; none means the CPU.
std::optional<device_info> choose_device(const std::string& wanted, const system_info& machine) {
    if (wanted == "cpu" || (wanted == "auto" && machine.devices.empty())) return std::nullopt;
    if (wanted == "auto") return machine.devices.front();
    if (!wanted.starts_with("cuda"))
        throw error(error_code::invalid_argument,
                    fmt::format("--device is '{}'; expected auto, cpu, cuda, or cuda:1 for the second GPU", wanted));
    const std::int64_t ordinal =
        wanted == "cuda" ? -1
                         : parse_integer("--device", wanted.size() > 5 ? wanted.substr(5) : wanted, "--device cuda:1");
    if (machine.devices.empty())
        throw error(error_code::unsupported,
                    fmt::format("--device is {}, but there is no GPU to use: {}; use --device cpu", wanted,
                                machine.why_no_device));
    if (ordinal < 0) return machine.devices.front();
    for (const device_info& each : machine.devices)
        if (each.ordinal == ordinal) return each;
    throw error(error_code::unsupported,
                fmt::format("--device is {}, but there {} {} GPU{}; `nearfield info` lists them", wanted,
                            machine.devices.size() == 1 ? "is" : "are", machine.devices.size(),
                            machine.devices.size() == 1 ? "" : "s"));
}

computed on_host(const arguments& args, const system_info& machine, const placed_call& what, int warmups, int repeat) {
    using clock = std::chrono::steady_clock;
    computed result;
    result.device = "cpu";
    result.threads = args.threads > 0 ? static_cast<int>(args.threads) : machine.cores;
    result.name = fmt::format("{} thread{}, {}", result.threads, result.threads == 1 ? "" : "s", machine.simd);
    progress_bar bar(args.verb, !args.quiet);
    for (int round = -warmups; round < repeat; ++round) {
        const auto progress = [&](double share) { return bar((round + warmups + share) / (warmups + repeat)); };
        const auto start = clock::now();
        what.here(host{static_cast<int>(args.threads), progress});
        if (round >= 0)
            result.compute_ms.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
    }
    return result;
}

void check_threads(const arguments& args) {
    if (args.threads < 0 || args.threads > 4096)
        throw error(error_code::invalid_argument,
                    fmt::format("--threads is {}; give 1 to 4096, or 0 for every core", args.threads));
}

/// A view for a device with the same shape and type, without data.
template <class Element>
any_view<Element, device> elsewhere(const any_view<Element, host>& like) {
    return any_view<Element, device>::contiguous(nullptr, like.type,
                                                 std::span(like.shape.data(), static_cast<std::size_t>(like.rank)));
}

/// True if a plan is made for a GPU, which need not exist.
bool plans_for_device(const arguments& args) {
    return args.device.starts_with("cuda") ||
           (args.device == "auto" && choose_device(args.device, query_system()).has_value());
}

call_plan plan_for(const arguments& args, const placed_call& what) {
    if (plans_for_device(args)) return plan([&] { static_cast<void>(what.there(0, 0, 1)); });
    return plan([&] { what.here(host{static_cast<int>(args.threads), {}}); });
}

bool host_may_do_better(const error& problem) {
    return problem.code() == error_code::out_of_memory || problem.code() == error_code::unsupported;
}

}  // namespace

double computed::median_ms() const {
    std::vector<double> sorted = compute_ms;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

double computed::best_ms() const { return *std::min_element(compute_ms.begin(), compute_ms.end()); }

void computed::add(const computed& other) {
    for (std::size_t i = 0; i < compute_ms.size(); ++i) compute_ms[i] += other.compute_ms[i];
    copy_ms += other.copy_ms;
    if (note.empty()) note = other.note;
}

computed compute(const arguments& args, const placed_call& what, int warmups, int repeat) {
    check_threads(args);
    const system_info machine = query_system();
    if (args.plan) throw planned{plan_for(args, what)};
    const std::optional<device_info> gpu = choose_device(args.device, machine);
    if (!gpu) return on_host(args, machine, what, warmups, repeat);
    try {
        const edge::device_timing timing = what.there(gpu->ordinal, warmups, repeat);
        return {.device = "cuda",
                .name = gpu->name,
                .compute_ms = timing.compute_ms,
                .copy_ms = timing.copy_ms,
                .upload_ms = timing.upload_ms,
                .note = {}};
    } catch (const error& problem) {
        if (args.device != "auto" || !host_may_do_better(problem)) throw;
        computed result = on_host(args, machine, what, warmups, repeat);
        result.note = fmt::format("computed on the CPU, because the GPU could not: {}", problem.what());
        return result;
    }
}

computed compute(const arguments& args, const work<host>& what, int warmups, int repeat) {
    const placed_call call{
        [&](const host& on) { edge::run(on, what); },
        [&](int ordinal, int w, int r) { return edge::run_on_device(ordinal, what, w, r); },
    };
    return compute(args, call, warmups, repeat);
}

call_plan plan_for(const arguments& args, const work<host>& what) {
    check_threads(args);
    const auto& [image, out] = what.jobs.front();
    if (!plans_for_device(args)) {
        const host here{static_cast<int>(args.threads), {}};
        return what.weights.wanted() ? plan_power_diagram(here, image, what.weights, out, what.options)
                                     : plan(here, image, out, what.options);
    }
    const fields<device> there{elsewhere(out.distance),    elsewhere(out.squared), elsewhere(out.index),
                               elsewhere(out.coordinates), elsewhere(out.label),   elsewhere(out.trusted)};
    const device gpu{nullptr};
    if (!what.weights.wanted()) return plan(gpu, elsewhere(image), there, what.options);
    return plan_power_diagram(gpu, elsewhere(image), elsewhere(what.weights), there, what.options);
}

}  // namespace nearfield::cli
