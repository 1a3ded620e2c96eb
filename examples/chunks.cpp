// A driver of nearfield/chunks.hpp: computes a volume chunk by chunk, as if it did not fit into memory.
//
// Here chunks are copied from one array and back into another. A driver for files reads and writes them instead, and a
// driver for several machines sends them. Each loop over chunks may run in any order, and its rounds at the same time.
// The program compares every answer with one call on the whole volume.
//
//   c++ -std=c++20 chunks.cpp $(pkg-config --cflags --libs nearfield) -o chunks && ./chunks
#include <nearfield/chunks.hpp>
#include <nearfield/distance.hpp>
#include <nearfield/label.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

using nearfield::any_input;
using nearfield::any_output;
using nearfield::dtype;
using nearfield::host;
using sides = std::vector<std::int64_t>;

namespace {

const host cpu{};
const sides grid{120, 80, 100};
const sides side{40, 32, 40};  // of a chunk; those at the ends are smaller
const sides chunks{3, 3, 3};

/// A box of cells, in C order, that begins at `start` of the volume.
template <class T>
struct block {
    sides start, size;
    std::vector<T> cells;

    block(sides start_, sides size_) : start(std::move(start_)), size(std::move(size_)) {
        cells.resize(static_cast<std::size_t>(size[0] * size[1] * size[2]));
    }
    any_output<host> view() { return any_output<host>::contiguous(cells.data(), nearfield::dtype_of<T>(), size); }
    /// Calls body(cell of this block, cell of the volume).
    template <class Body>
    void each(const Body& body) {
        std::size_t k = 0;
        for (std::int64_t z = start[0]; z < start[0] + size[0]; ++z)
            for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
                for (std::int64_t x = start[2]; x < start[2] + size[2]; ++x)
                    body(cells[k++], static_cast<std::size_t>((z * grid[1] + y) * grid[2] + x));
    }
    void read(const std::vector<T>& volume) {
        each([&](T& cell, std::size_t at) { cell = volume[at]; });
    }
    void write(std::vector<T>& volume) {
        each([&](T& cell, std::size_t at) { volume[at] = cell; });
    }
};

template <class T>
any_output<host> whole(std::vector<T>& volume) {
    return any_output<host>::contiguous(volume.data(), nearfield::dtype_of<T>(), grid);
}

/// Calls body(start, size) for each chunk, in C order.
template <class Body>
void for_each_chunk(const Body& body) {
    for (std::int64_t z = 0; z < chunks[0]; ++z)
        for (std::int64_t y = 0; y < chunks[1]; ++y)
            for (std::int64_t x = 0; x < chunks[2]; ++x) {
                const sides start{z * side[0], y * side[1], x * side[2]};
                sides size = side;
                for (std::size_t k = 0; k < 3; ++k) size[k] = std::min(side[k], grid[k] - start[k]);
                body(start, size);
            }
}

/// Squared distances of any content, by slabs of planes and then pencils of lines along the first axis.
std::vector<std::uint32_t> by_slabs_and_pencils(const std::vector<std::uint8_t>& image) {
    std::vector<std::uint32_t> squared(image.size());
    for (std::int64_t z = 0; z < grid[0]; z += side[0]) {
        block<std::uint8_t> slab({z, 0, 0}, {std::min(side[0], grid[0] - z), grid[1], grid[2]});
        block<std::uint32_t> planes(slab.start, slab.size);
        slab.read(image);
        nearfield::squared_distance(cpu, slab.view(), planes.view(), {.batch_axes = 1});  // each plane by itself
        planes.write(squared);
    }
    for (std::int64_t y = 0; y < grid[1]; y += side[1]) {
        block<std::uint32_t> pencil({0, y, 0}, {grid[0], std::min(side[1], grid[1] - y), grid[2]});
        pencil.read(squared);
        nearfield::pass_along(cpu, {.squared = pencil.view()}, 0, {.squared = pencil.view()});
        pencil.write(squared);
    }
    return squared;
}

/// The same by chunks and the cells round them. Returns how many chunks are not certified, and have to go the other way.
int by_windows(const std::vector<std::uint8_t>& image, double limit, std::vector<std::uint32_t>& squared) {
    const sides halo = nearfield::window_halo(limit, {}, 3);
    int open = 0;
    for_each_chunk([&](const sides& start, const sides& size) {
        sides low = start, length = size;
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::max<std::int64_t>(start[k] - halo[k], 0);
            length[k] = std::min(start[k] + size[k] + halo[k], grid[k]) - low[k];
        }
        block<std::uint8_t> window(low, length);
        block<std::uint32_t> field(low, length), chunk(start, size);
        window.read(image);
        nearfield::squared_distance(cpu, window.view(), field.view(), {.max_distance = limit});
        std::vector<std::uint32_t> answer(image.size());
        field.write(answer);
        chunk.read(answer);
        if (nearfield::every_cell_has_site(cpu, chunk.view())) chunk.write(squared);
        else ++open;
    });
    return open;
}

/// Components with 26 neighbours. Labels of windows are computed twice instead of being kept.
std::vector<std::int32_t> by_faces(const std::vector<std::uint8_t>& image, std::int64_t& count) {
    const auto labelled = [&](const sides& start, const sides& size, std::int64_t& components) {
        sides length = size;
        for (std::size_t k = 0; k < 3; ++k) length[k] += start[k] + size[k] < grid[k] ? 1 : 0;
        block<std::uint8_t> window(start, length);
        block<std::int32_t> labels(start, length);
        window.read(image);
        nearfield::label_fields<host> out;
        out.label = labels.view();
        out.count = any_output<host>::contiguous(&components, dtype::int64, sides{1});
        nearfield::label(cpu, window.view(), out, {.connectivity = 26});
        return labels;
    };
    std::vector<nearfield::chunk_faces> faces;
    for_each_chunk([&](const sides& start, const sides& size) {
        std::int64_t components = 0;
        block<std::int32_t> labels = labelled(start, size, components);
        faces.push_back(nearfield::chunk_faces_of(cpu, labels.view(), components, {start, size, grid}));
    });
    const nearfield::merged_chunks merged = nearfield::merge(faces, chunks);  // of all chunks: small
    count = merged.count;
    std::vector<std::int32_t> made(image.size());
    std::size_t number = 0;
    for_each_chunk([&](const sides& start, const sides& size) {
        std::int64_t components = 0;
        block<std::int32_t> labels = labelled(start, size, components);
        nearfield::renumber(cpu, labels.view(), merged.numbers[number++], labels.view());
        labels.write(made);  // the cells beyond the chunk have the numbers that their own chunk gives them
    });
    return made;
}

}  // namespace

int main() {
    std::mt19937 random(1);
    std::vector<std::uint8_t> image(static_cast<std::size_t>(grid[0] * grid[1] * grid[2]));
    for (std::uint8_t& cell : image) cell = random() % 20 != 0;

    std::vector<std::uint32_t> squared(image.size()), windows(image.size());
    nearfield::squared_distance(cpu, whole(image), whole(squared));
    const bool passes = by_slabs_and_pencils(image) == squared;
    const int open = by_windows(image, 12, windows);
    std::printf("distances: slabs and pencils %s; windows leave %d of 27 chunks open, %s\n",
                passes ? "equal one call" : "DIFFER", open, windows == squared ? "equal one call" : "DIFFER");

    for (std::uint8_t& cell : image) cell = random() % 10 == 0;
    std::vector<std::int32_t> labels(image.size());
    nearfield::label(cpu, whole(image), whole(labels), {.connectivity = 26});
    std::int64_t count = 0;
    const bool components = by_faces(image, count) == labels;
    std::printf("components: %lld, %s\n", static_cast<long long>(count), components ? "equal one call" : "DIFFER");
    return passes && open == 0 && windows == squared && components ? 0 : 1;
}
