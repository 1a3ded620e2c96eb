// Label propagation on the host: threads take blocks of cells in turn.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <type_traits>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "link_propagation/run.hpp"

namespace nearfield::link_propagation {
namespace {

constexpr std::int64_t block_cells = 1 << 14;
// The number of rounds is unknown; shares given to `progress` assume this many passes over the cells.
constexpr std::int64_t passes_guessed = 24;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Reads a value that other threads may write at the same time; either value will do.
template <class T>
T read_shared(T& from) {
    return std::atomic_ref<T>(from).load(std::memory_order_relaxed);
}
template <class T>
void write_shared(T& to, T value) {
    std::atomic_ref<T>(to).store(value, std::memory_order_relaxed);
}
void lower_shared(address& to, address by) {
    const std::atomic_ref<address> cell(to);
    address held = cell.load(std::memory_order_relaxed);
    while (by < held && !cell.compare_exchange_weak(held, by, std::memory_order_relaxed)) {
    }
}

/// Runs a call with link lengths of type `Link`.
template <class Link>
class engine {
public:
    engine(const host& on, const problem& p, const any_input<host>& image, const any_output<host>& out)
        : p_(p),
          image_(image),
          out_(out),
          cells_(p.grid.cells()),
          crew_(on, passes_guessed * cells_),
          label_(cells_),
          next_(p.how.hooked ? 0 : cells_),
          links_(cells_ * p.ways.count) {}

    propagation_report solve() {
        propagation_report report;
        const auto start = std::chrono::steady_clock::now();
        read_image();
        report.link_steps = link_steps(p_.length);
        for (int done = 0; done < report.link_steps; ++done) grow_links(done);
        report.seconds_links = seconds_since(start);
        const auto begin = std::chrono::steady_clock::now();
        report.rounds = propagate();
        report.seconds_rounds = seconds_since(begin);
        if (!always_finishes(p_.how, p_.length) && !neighbours_agree()) fail_unfinished(report.rounds, false);
        const std::vector<std::int64_t> before = masters_before_blocks();
        report.components = before.back();
        check_number(out_.type, report.components);
        number(before);
        return report;
    }

private:
    [[nodiscard]] std::int64_t blocks() const { return (cells_ + block_cells - 1) / block_cells; }
    template <class Body>
    void for_cells(const Body& body) {
        crew_.for_each(blocks(), 1, block_cells, [&](std::int64_t block, std::int64_t end, int) {
            for (; block < end; ++block) body(block * block_cells, std::min((block + 1) * block_cells, cells_));
        });
    }
    [[nodiscard]] const Link* links_of(std::int64_t cell) const { return links_.get() + cell * p_.ways.count; }

    // ---- the image --------------------------------------------------------------------------------------------------

    void read_image() {
        const auto as = [&]<class T>(T) {
            const labelling::rule<T> rule = labelling::make_rule<T>(p_.look);
            for_cells([&](std::int64_t first, std::int64_t last) { read_as(rule, first, last); });
        };
        switch (image_.type) {
            case dtype::boolean:
            case dtype::uint8: return as(std::uint8_t{});
            case dtype::int8: return as(std::int8_t{});
            case dtype::int16: return as(std::int16_t{});
            case dtype::uint16: return as(std::uint16_t{});
            case dtype::int32: return as(std::int32_t{});
            case dtype::uint32: return as(std::uint32_t{});
            case dtype::int64: return as(std::int64_t{});
            case dtype::uint64: return as(std::uint64_t{});
            case dtype::float32: return as(float{});
            default: return as(double{});
        }
    }

    /// Writes first labels, and links of one cell or none, for the cells of a block.
    template <class T>
    void read_as(const labelling::rule<T>& rule, std::int64_t first, std::int64_t last) {
        const std::int64_t channel = p_.channels > 1 ? image_.stride[static_cast<std::size_t>(p_.rank)] : 0;
        std::int64_t stride[3]{};
        std::copy_n(image_.stride.begin(), p_.rank, stride + 3 - p_.rank);
        const std::int64_t(&size)[3] = p_.grid.size;
        const auto count = static_cast<std::size_t>(p_.ways.count);
        std::int64_t jump[most_directions];
        for (std::size_t way = 0; way < count; ++way) {
            const auto& step = p_.ways.step[way];
            jump[way] = step[0] * stride[0] + step[1] * stride[1] + step[2] * stride[2];
        }
        std::int64_t at[3] = {first / size[2] / size[1], first / size[2] % size[1], first % size[2]};
        for (std::int64_t cell = first; cell < last; ++cell) {
            const T* value =
                static_cast<const T*>(image_.data) + at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2];
            const bool counts = rule.foreground(value, p_.channels, channel);
            label_.get()[cell] = counts ? static_cast<address>(cell) : background;
            Link* link = links_.get() + cell * p_.ways.count;
            const unsigned sides = sides_of(p_.grid, at[0], at[1], at[2]);
            for (std::size_t way = 0; way < count; ++way) {
                const T* other = value + jump[way];
                link[way] = counts && (p_.ways.leaves[way] & sides) == 0 &&
                            rule.foreground(other, p_.channels, channel) &&
                            rule.linked(value, other, p_.channels, channel);
            }
            if (++at[2] < size[2]) continue;
            at[2] = 0;
            if (++at[1] == size[1]) at[1] = 0, ++at[0];
        }
    }

    // ---- links ------------------------------------------------------------------------------------------------------

    void grow_links(int done) {
        const std::int64_t count = p_.ways.count;
        for_cells([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first * count, way = 0; i < last * count; ++i, way = way + 1 == count ? 0 : way + 1) {
                const int link = links_.get()[i];  // only this thread writes it
                if (!can_grow(link, done, p_.length)) continue;
                const std::int64_t end = i + link * std::int64_t{p_.ways.offset[way]} * count;
                write_shared(links_.get()[i],
                             static_cast<Link>(grown(link, read_shared(links_.get()[end]), p_.length)));
            }
        });
    }

    // ---- rounds -----------------------------------------------------------------------------------------------------

    /// The smaller label, compared as unsigned numbers, among which the background is the largest. A linked cell has a
    /// label, unless the image changed while it was read.
    static address better(address a, address b) {
        return static_cast<std::uint32_t>(b) < static_cast<std::uint32_t>(a) ? b : a;
    }
    /// The smallest label that a cell gathers; `read` yields the label of a cell.
    template <class Read>
    address gathered(std::int64_t cell, address own, const gathers& from, const Read& read) const {
        address best = own;
        const Link* link = links_of(cell);
        for (int way = 0; way < p_.ways.count; ++way) {
            const std::int64_t offset = p_.ways.offset[way];
            if (link[way] > from.near_above) best = better(best, read(cell + offset));
            if (link[way] > from.far_above) best = better(best, read(cell + offset * link[way]));
        }
        return from.masters && best != cell ? better(best, read(best)) : best;
    }

    /// Runs rounds until nothing changes; returns their number, including the last one.
    std::int64_t propagate() {
        for (std::int64_t round = 1;; ++round) {
            if (!(p_.how.hooked ? hook() : pull())) return round;
            if (round == p_.how.most_rounds) fail_unfinished(round, true);
        }
    }

    bool pull() {
        const gathers from = gathers_of(p_.how);
        const address* const old = label_.get();
        address* const next = next_.get();
        std::atomic<bool> any{false};
        for_cells([&](std::int64_t first, std::int64_t last) {
            bool changed = false;
            for (std::int64_t cell = first; cell < last; ++cell) {
                const address own = old[cell];
                next[cell] = own;
                if (own == background) continue;
                next[cell] = gathered(cell, own, from, [old](std::int64_t i) { return old[i]; });
                changed = changed || next[cell] != own;
            }
            if (changed) any.store(true, std::memory_order_relaxed);
        });
        std::swap(label_, next_);
        return any.load();
    }

    /// Runs a round in place, so that cells see new labels at once; true if a label changed.
    bool hook() {
        const gathers from = gathers_of(p_.how);
        address* const label = label_.get();
        std::atomic<bool> any{false};
        for_cells([&](std::int64_t first, std::int64_t last) {
            bool changed = false;
            for (std::int64_t cell = first; cell < last; ++cell) {
                const address own = read_shared(label[cell]);
                if (own == background) continue;
                const address best =
                    gathered(cell, own, from, [label](std::int64_t i) { return read_shared(label[i]); });
                if (best == own) continue;
                lower_shared(label[cell], best);
                lower_shared(label[own], best);
                changed = true;
            }
            if (changed) any.store(true, std::memory_order_relaxed);
        });
        return any.load();
    }

    [[nodiscard]] bool neighbours_agree() {
        const address* const label = label_.get();
        std::atomic<bool> agree{true};
        for_cells([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t cell = first; cell < last; ++cell)
                for (int way = 0; way < p_.ways.count; ++way)
                    if (links_of(cell)[way] > 0 && label[cell + p_.ways.offset[way]] != label[cell])
                        agree.store(false, std::memory_order_relaxed);
        });
        return agree.load();
    }

    // ---- numbers ----------------------------------------------------------------------------------------------------

    /// Number of masters before each block, and at the end the number of all masters.
    std::vector<std::int64_t> masters_before_blocks() {
        std::vector<std::int64_t> before(static_cast<std::size_t>(blocks()) + 1, 0);
        for_cells([&](std::int64_t first, std::int64_t last) {
            std::int64_t& here = before[static_cast<std::size_t>(first / block_cells) + 1];
            for (std::int64_t cell = first; cell < last; ++cell) here += label_.get()[cell] == cell;
        });
        for (std::size_t block = 1; block < before.size(); ++block) before[block] += before[block - 1];
        return before;
    }

    /// Replaces a master's label by -2 or less, -1 minus its component's number; the background is -1.
    void number(const std::vector<std::int64_t>& before) {
        for_cells([&](std::int64_t first, std::int64_t last) {
            auto found = static_cast<address>(before[static_cast<std::size_t>(first / block_cells)]);
            for (std::int64_t cell = first; cell < last; ++cell)
                if (label_.get()[cell] == cell) label_.get()[cell] = background - ++found;
        });
        switch (size_of(out_.type)) {
            case 2: return write_as<std::uint16_t>();
            case 4: return write_as<std::uint32_t>();
            default: return write_as<std::uint64_t>();
        }
    }

    template <class Label>
    void write_as() {
        const address* const label = label_.get();
        const bool contiguous = is_contiguous(out_.shape.data(), out_.stride.data(), out_.rank);
        for_cells([&](std::int64_t first, std::int64_t last) {
            for_each_stretch(first, last - first, out_.shape.data(), out_.stride.data(), out_.rank, contiguous,
                             [&](std::int64_t offset, std::int64_t step, std::int64_t count, std::int64_t done) {
                                 Label* const to = static_cast<Label*>(out_.data) + offset;
                                 for (std::int64_t i = 0; i < count; ++i) {
                                     const address mine = label[first + done + i];
                                     to[i * step] = static_cast<Label>(background - (mine < 0 ? mine : label[mine]));
                                 }
                             });
        });
    }

    const problem& p_;
    const any_input<host>& image_;
    const any_output<host>& out_;
    std::int64_t cells_;
    workers crew_;
    host_scratch<address> label_, next_;
    host_scratch<Link> links_;
};

}  // namespace

propagation_report run(const host& on, const problem& p, const any_input<host>& image, const any_output<host>& out) {
    if (p.length <= std::numeric_limits<std::uint8_t>::max()) return engine<std::uint8_t>(on, p, image, out).solve();
    return engine<std::uint16_t>(on, p, image, out).solve();
}

}  // namespace nearfield::link_propagation
