// nearfield info
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/file_facts.hpp"
#include "cli/load.hpp"
#include "cli/mesh_facts.hpp"
#include "cli/report.hpp"
#include "io/bytes.hpp"
#include "nearfield/system.hpp"

namespace nearfield::cli {
namespace {

std::string version_text(int cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); }

json_report as_json(const arguments& args, const system_info& machine) {
    json_report said = start_report(args);
    said["compiler"] = machine.compiler;
    said["simd"] = machine.simd;
    said["cores"] = machine.cores;
    said["cuda"] = {{"built", machine.cuda_built},
                    {"runtime", machine.cuda_runtime},
                    {"driver", machine.cuda_driver},
                    {"devices", json_report::array()}};
    for (const device_info& each : machine.devices)
        said["cuda"]["devices"].push_back({{"ordinal", each.ordinal},
                                           {"name", each.name},
                                           {"compute", fmt::format("{}.{}", each.compute_major, each.compute_minor)},
                                           {"memory_bytes", each.memory_bytes},
                                           {"free_bytes", each.free_bytes}});
    if (!machine.why_no_device.empty()) said["cuda"]["why_no_device"] = machine.why_no_device;
    return said;
}

std::string tell_mesh(const std::string& path, json_report& said) {
    const mesh m = read_mesh(path);
    const mesh_measures is = measure_mesh(m);
    said = describe(m, is);
    std::string text = io::printable(path) + "\n  mesh       " + text_of_mesh(m, is) + "\n";
    if (m.vertices.empty()) return text;
    auto low = m.vertices[0], high = low;
    for (const auto& at : m.vertices)
        for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], at[k]), high[k] = std::max(high[k], at[k]);
    said["least"] = low, said["largest"] = high;
    return text + fmt::format("  box        {:.6g} to {:.6g}  (x y z)\n", fmt::join(low, ","), fmt::join(high, ","));
}

int tell_files(const arguments& args) {
    json_report said = start_report(args);
    std::string text;
    for (const std::string& path : args.inputs) {
        if (is_mesh(path)) {
            said["files"].push_back({});
            text += tell_mesh(path, said["files"].back());
            said["files"].back()["path"] = path;
            continue;
        }
        const io::array image = read_file(path, args);
        const value_facts facts = facts_of(image);
        text += io::printable(path) + "\n" + text_of_file(image, facts);
        said["files"].push_back(describe(image));
        json_report& file = said["files"].back();
        file["path"] = path, file["colour"] = image.color, file["bytes"] = image.bytes();
        file["least"] = facts.least, file["largest"] = facts.largest;
        file["nonzero"] = facts.nonzero, file["not_finite"] = facts.not_finite;
        if (facts.different < value_facts::most_counted) file["different_values"] = facts.different;
    }
    if (args.json) finish(args, said, {});
    else print(text);
    return 0;
}

}  // namespace

int info_verb(const arguments& args) {
    if (!args.inputs.empty()) return tell_files(args);
    const system_info machine = query_system();
    if (args.json) {
        finish(args, as_json(args, machine), {});
        return 0;
    }
    std::string text = fmt::format("nearfield {}\ncompiler   {}\ncpu        {} core{}, {}\n", machine.version,
                                   machine.compiler, machine.cores, machine.cores == 1 ? "" : "s", machine.simd);
    text +=
        machine.cuda_built
            ? fmt::format("cuda       runtime {}, {}\n", version_text(machine.cuda_runtime),
                          machine.cuda_driver > 0 ? "driver serves " + version_text(machine.cuda_driver) : "no driver")
            : "cuda       not in this build\n";
    for (const device_info& each : machine.devices)
        text +=
            fmt::format("gpu {}      {}, compute {}.{}, {} of {} free\n", each.ordinal, each.name, each.compute_major,
                        each.compute_minor, text_of_bytes(each.free_bytes), text_of_bytes(each.memory_bytes));
    if (machine.devices.empty()) text += fmt::format("gpu        none: {}\n", machine.why_no_device);
    print(text);
    return 0;
}

}  // namespace nearfield::cli
