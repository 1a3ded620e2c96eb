// The steps on the host.
#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "chunks/core.hpp"

namespace nearfield::chunks {
namespace {

constexpr std::int64_t cells_of_block = 1 << 16;
constexpr std::int64_t cells_of_run = 64;

/// Runs body(first, count) for blocks of cells, by several threads.
template <class Body>
void for_each_block(const host& on, std::int64_t cells, const Body& body) {
    workers team(on, cells);
    team.for_each(cells, cells_of_block, 1,
                  [&](std::int64_t first, std::int64_t last, int) { body(first, last - first); });
}

template <class Label>
void find_first_of(const Label* labels, std::int64_t cells, std::span<std::int64_t> first) {
    std::uint64_t seen = 0;  // labels rise in the order of first cells
    for (std::int64_t begin = 0; begin < cells; begin += cells_of_run) {
        const std::int64_t end = std::min(begin + cells_of_run, cells);
        if (*std::max_element(labels + begin, labels + end) <= seen) continue;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::uint64_t label = labels[i];
            if (label <= seen || label > first.size()) continue;
            first[label - 1] = i, seen = label;
        }
    }
}

}  // namespace

bool every_cell_has_site(const host& on, const any_input<host>& field) {
    std::atomic<bool> every = true;
    const no_site none = no_site_of(field.type);
    const strided of = strided_of(field);
    const bool contiguous = is_contiguous(of.size, of.stride, of.rank);
    with_word(field.type, [&]<class Word>(Word) {
        const auto* const data = static_cast<const Word*>(field.data);
        for_each_block(on, field.cells(), [&](std::int64_t first, std::int64_t cells) {
            if (!every.load(std::memory_order_relaxed)) return;
            bool found = false;
            for_each_stretch(first, cells, of.size, of.stride, of.rank, contiguous,
                             [&](std::int64_t offset, std::int64_t step, std::int64_t count, std::int64_t) {
                                 for (std::int64_t k = 0; k < count; ++k) found |= none.is(data[offset + k * step]);
                             });
            if (found) every.store(false, std::memory_order_relaxed);
        });
    });
    return every;
}

void find_first(const host&, const any_input<host>& labels, std::span<std::int64_t> first) {
    with_label(labels.type, [&]<class Label>(Label) {
        find_first_of(static_cast<const Label*>(labels.data), labels.cells(), first);
    });
}

void gather(const host&, std::span<const any_input<host>> boxes, std::span<std::int64_t> to) {
    auto next = to.begin();
    for (const any_input<host>& box : boxes) {
        const strided of = strided_of(box);
        const cell_offsets offsets(of.size, of.stride, of.rank);
        with_label(box.type, [&]<class Label>(Label) {
            const auto* const data = static_cast<const Label*>(box.data);
            for (std::int64_t i = 0; i < box.cells(); ++i) *next++ = static_cast<std::int64_t>(data[offsets.of(i)]);
        });
    }
}

void renumber(const host& on, const any_input<host>& labels, std::span<const std::int64_t> numbers,
              const any_output<host>& out) {
    const strided from = strided_of(labels), to = strided_of(out);
    const auto count = static_cast<std::int64_t>(numbers.size());
    with_label(labels.type, [&]<class Label>(Label) {
        with_label(out.type, [&]<class Number>(Number) {
            const auto* const read = static_cast<const Label*>(labels.data);
            auto* const written = static_cast<Number*>(out.data);
            for_each_block(on, labels.cells(), [&](std::int64_t first, std::int64_t cells) {
                for_each_stretch(first, cells, from.size, from.stride, from.rank, false,
                                 [&](std::int64_t offset, std::int64_t step, std::int64_t length, std::int64_t done) {
                                     Number* line = written + to.at(first + done);
                                     const std::int64_t by = to.stride[to.rank - 1];
                                     for (std::int64_t k = 0; k < length; ++k)
                                         line[k * by] = static_cast<Number>(
                                             number_of(read[offset + k * step], numbers.data(), count));
                                 });
            });
        });
    });
}

}  // namespace nearfield::chunks
