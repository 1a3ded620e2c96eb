// The host's workspace is as large as the header says, counted by the allocation function that only scratch memory uses
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/scratch.hpp"
#include "label/call.hpp"

namespace nearfield::test {
namespace {

std::atomic<std::int64_t> taken{0}, most_taken{0};

/// Workspace in bytes, as include/nearfield/label.hpp describes it.
double said(const shape_t& shape, criterion kind, std::int64_t runs, int threads) {
    const auto cells = static_cast<double>(cells_of(shape)), row = static_cast<double>(shape.back());
    const bool mask = kind == criterion::nonzero;
    const double a_cell = mask ? 0.19 : shape.size() == 1 ? 0.32 : shape.size() == 2 ? 0.44 : 0.57;
    return a_cell * cells + (mask ? 32 : 72) * cells / row + 4 * static_cast<double>(runs) +
           threads * (1.3 * row + 4096);
}

TEST(LabelWorkspace, IsWhatTheHeaderSays) {
    for (const shape_t& shape : {shape_t{250, 1024}, shape_t{300, 130}, shape_t{30, 40, 192}})
        for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
            for (const int threads : {1, 3}) {
                label_call c({.shape = shape, .threads = threads}, {.criterion = kind});
                c.draw(make_figure(figure::checkerboard, shape));
                taken = most_taken = 0;
                label_on_host(c);
                EXPECT_EQ(taken, 0);
                const double bytes = said(shape, kind, (cells_of(shape) + 1) / 2, threads);
                EXPECT_LE(static_cast<double>(most_taken), bytes) << text_of(shape) << ", " << threads << " threads";
                EXPECT_GE(static_cast<double>(most_taken), 0.8 * bytes)
                    << text_of(shape) << ", " << threads << " threads";
            }
}

TEST(LabelWorkspace, OfShortRows) {
    const shape_t shape{20000, 3};
    label_call c({.shape = shape}, {});
    c.draw(make_figure(figure::checkerboard, shape));
    most_taken = 0;
    label_on_host(c);
    const auto cells = static_cast<double>(cells_of(shape)), half = cells / 2;
    const double turned = 4 * cells,
                 labels = turned + cells + said({3, 20000}, criterion::nonzero, cells_of(shape) / 2, 1);
    const double bytes = std::max(labels, turned + 0.3 * cells + 8 * half);
    EXPECT_LE(static_cast<double>(most_taken), bytes);
    EXPECT_GE(static_cast<double>(most_taken), 0.8 * bytes);
}

TEST(LabelWorkspace, OfTheEngineForAnySteps) {
    const shape_t shape{200, 300};
    const std::vector<std::uint8_t> steps{0, 1, 0, 0, 0, 0, 0, 1, 0};
    label_call c({.shape = shape}, {.steps = steps});
    const flags_t cells = make_figure(figure::half, shape);
    c.draw(cells);
    most_taken = 0;
    label_on_host(c);
    // Without links along the last axis each cell of a word is a node.
    const auto nodes = static_cast<double>(std::count_if(cells.begin(), cells.end(), [](auto f) { return f != 0; }));
    const double bytes = 1.4 * static_cast<double>(cells_of(shape)) + 16 * nodes;
    EXPECT_LE(static_cast<double>(most_taken), bytes);
    EXPECT_GE(static_cast<double>(most_taken), 0.9 * bytes);
}

/// Cells that are linked within a word of 64 are one node, along whichever axis they are linked.
TEST(LabelWorkspace, OfCellsThatAreNodesTogether) {
    const shape_t shape{8, 8, 8, 8, 8, 8};
    label_call c({.shape = shape}, {});
    c.draw(flags_t(static_cast<std::size_t>(cells_of(shape)), 1));
    most_taken = 0;
    label_on_host(c);
    EXPECT_LE(static_cast<double>(most_taken), (1.4 + 16.0 / 64) * static_cast<double>(cells_of(shape)));
}

}  // namespace
}  // namespace nearfield::test

namespace {

constexpr std::size_t header_room = 128;
static_assert(header_room >= nearfield::scratch_alignment);

}  // namespace

void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
    const std::size_t whole = (bytes + 2 * header_room - 1) / header_room * header_room;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(header_room, whole));
    if (memory == nullptr) return nullptr;
    new (memory) std::size_t{bytes};
    using nearfield::test::most_taken;
    const std::int64_t now = nearfield::test::taken += static_cast<std::int64_t>(bytes);
    for (std::int64_t most = most_taken; most < now && !most_taken.compare_exchange_weak(most, now);) {
    }
    return memory + header_room;
}
void operator delete(void* memory, std::align_val_t) noexcept {
    if (memory == nullptr) return;
    std::byte* const whole = static_cast<std::byte*>(memory) - header_room;
    nearfield::test::taken -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(whole));
    std::free(whole);
}
