// The readers of meshes: the first byte says the format, the others must give a mesh or an error(io). What is read is
// written in every format and read back.
#include <cstdlib>
#include <span>

#include "nearfield/mesh.hpp"

using namespace nearfield;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    mesh made;
    try {
        made = read_mesh(bytes, static_cast<mesh_format>(data[0] % 4), "input");
    } catch (const error& e) {
        if (e.code() != error_code::io) std::abort();
        return 0;
    }
    static_cast<void>(measure_mesh(made));
    if (made.vertices.empty()) return 0;
    for (const mesh_format as : {mesh_format::obj, mesh_format::ply, mesh_format::off})
        for (const bool text : {false, true}) {
            const std::string written = mesh_bytes(made, as, text);
            if (read_mesh(std::as_bytes(std::span(written)), as) != made) std::abort();
        }
    return 0;
}
