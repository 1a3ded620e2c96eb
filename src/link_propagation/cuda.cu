// Label propagation on a device: reads the image, grows links, runs the rounds, and numbers the components.
#include <algorithm>

#include "base/cuda_together.cuh"
#include "link_propagation/cuda_number.cuh"
#include "link_propagation/run.hpp"

namespace nearfield::link_propagation {
namespace {

using cuda::blocks_for;

/// Calls body(T{}, colour) with the image's element type.
template <class Body>
void with_element(dtype type, bool colour, const Body& body) {
    if (colour) {
        switch (type) {
            case dtype::uint8: return body(std::uint8_t{}, std::true_type{});
            case dtype::uint16: return body(std::uint16_t{}, std::true_type{});
            case dtype::float32: return body(float{}, std::true_type{});
            default: return body(double{}, std::true_type{});
        }
    }
    switch (type) {
        case dtype::boolean:
        case dtype::uint8: return body(std::uint8_t{}, std::false_type{});
        case dtype::int8: return body(std::int8_t{}, std::false_type{});
        case dtype::int16: return body(std::int16_t{}, std::false_type{});
        case dtype::uint16: return body(std::uint16_t{}, std::false_type{});
        case dtype::int32: return body(std::int32_t{}, std::false_type{});
        case dtype::uint32: return body(std::uint32_t{}, std::false_type{});
        case dtype::int64: return body(std::int64_t{}, std::false_type{});
        case dtype::uint64: return body(std::uint64_t{}, std::false_type{});
        case dtype::float32: return body(float{}, std::false_type{});
        default: return body(double{}, std::false_type{});
    }
}

/// An event that marks a point of the stream.
class mark {
public:
    explicit mark(const device& on) {
        cuda::check(cudaEventCreate(&event_), "making an event");
        if (const cudaError_t result = cudaEventRecord(event_, cuda::stream_of(on)); result != cudaSuccess) {
            cudaEventDestroy(event_);
            cuda::check(result, "recording an event");
        }
    }
    ~mark() { cudaEventDestroy(event_); }
    mark(const mark&) = delete;
    mark& operator=(const mark&) = delete;
    [[nodiscard]] double seconds_until(const mark& later) const {
        float ms = 0;
        cuda::check(cudaEventElapsedTime(&ms, event_, later.event_), "reading an event");
        return 1e-3 * static_cast<double>(ms);
    }

private:
    cudaEvent_t event_{};
};

template <class Link>
class engine {
public:
    engine(const device& on, const problem& p, const any_input<device>& image, const any_output<device>& out)
        : on_(on), p_(p), image_(image), out_(out), cells_(p.grid.cells()), memory_(on) {
        const std::int64_t words = blocks_for(cells_, 32), blocks = blocks_for(cells_, block_cells);
        const auto label = memory_.reserve<address>(cells_), next = memory_.reserve<address>(p.how.hooked ? 0 : cells_),
                   links = memory_.reserve<word_of<Link>>(cells_ * p.ways.packs()),
                   bits = memory_.reserve<std::uint32_t>(words), before = memory_.reserve<std::uint32_t>(words),
                   of_block = memory_.reserve<std::uint32_t>(blocks), says = memory_.reserve<verdict>(1);
        memory_.allocate();
        label_ = memory_.get<address>(label);
        next_ = p.how.hooked ? label_ : memory_.get<address>(next);
        links_ = memory_.get<word_of<Link>>(links);
        masters_ = {memory_.get<std::uint32_t>(bits), memory_.get<std::uint32_t>(before),
                    memory_.get<std::uint32_t>(of_block)};
        says_ = memory_.get<verdict>(says);
    }

    propagation_report solve() {
        const mark start(on_);
        cuda::check(cudaMemsetAsync(says_, 0, sizeof(verdict), cuda::stream_of(on_)), "clearing memory");
        read();
        propagation_report report;
        report.link_steps = link_steps(p_.length);
        for (int done = 0; done < report.link_steps; ++done)
            cuda::launch(on_, grow_links<Link>, blocks_for(cells_, link_threads * grown_at_once), dim3(link_threads), 0,
                         links_, p_.ways, cells_, done, p_.length);
        const mark linked(on_);
        propagate_all();
        const mark propagated(on_);
        cuda::launch(on_, find_masters, blocks_for(cells_, block_cells), dim3(number_threads), 0,
                     static_cast<const address*>(label_), cells_, masters_);
        cuda::launch_sums(on_, masters_.of_block, blocks_for(cells_, block_cells), &says_->components);
        verdict found;
        cuda::check(cudaMemcpyAsync(&found, says_, sizeof(verdict), cudaMemcpyDeviceToHost, cuda::stream_of(on_)),
                    "reading the count");
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on_)), "propagating labels");
        if (found.unfinished != 0 || found.disagree != 0) fail_unfinished(found.rounds, found.unfinished != 0);
        check_number(out_.type, found.components);
        write();
        report.rounds = found.rounds, report.components = found.components;
        report.seconds_links = start.seconds_until(linked), report.seconds_rounds = linked.seconds_until(propagated);
        return report;
    }

private:
    void read() const {
        with_element(image_.type, p_.look.channels, [&]<class T, class Colour>(T, Colour) {
            pixels<T> from;
            from.data = static_cast<const T*>(image_.data);
            std::copy_n(image_.stride.begin(), p_.rank, from.stride + 3 - p_.rank);
            for (int way = 0; way < p_.ways.count; ++way)
                for (int axis = 0; axis < 3; ++axis) from.jump[way] += p_.ways.step[way][axis] * from.stride[axis];
            from.channels = p_.channels;
            if (Colour::value) from.channel_stride = image_.stride[static_cast<std::size_t>(p_.rank)];
            from.rule = labelling::make_rule<T>(p_.look);
            cuda::launch(on_, read_image<T, Colour::value, Link>, blocks_for(cells_, link_threads), dim3(link_threads),
                         0, from, p_.grid, p_.ways, label_, links_);
        });
    }

    void propagate_all() const {
        switch (p_.ways.packs()) {
            case 1: return propagate_with<1>();
            case 2: return propagate_with<2>();
            case 5: return propagate_with<5>();
            default: return propagate_with<7>();
        }
    }

    template <int Packs>
    void propagate_with() const {
        auto* const kernel = p_.how.hooked ? propagate<Packs, Link, true> : propagate<Packs, Link, false>;
        const std::int64_t at_once = cuda::blocks_at_once(kernel, round_threads);
        rounds_of<Link> r;
        r.label = label_, r.next = next_, r.links = links_, r.cells = cells_, r.says = says_;
        std::copy_n(p_.ways.offset, p_.ways.count, r.offset);
        r.from = gathers_of(p_.how), r.most_rounds = p_.how.most_rounds;
        // Rows let neighbours meet in a cache; narrow rows would leave threads idle.
        const bool narrow = p_.grid.size[2] < tile_columns / 2;
        r.width = static_cast<address>(narrow ? cells_ : p_.grid.size[2]);
        r.rows = static_cast<address>(cells_ / r.width);
        r.tiles_a_row = static_cast<address>(blocks_for(r.width, tile_columns));
        for (r.rows_a_thread = cells_a_thread<Packs>;; r.rows_a_thread /= 2) {
            r.tiles = static_cast<address>(r.tiles_a_row * blocks_for(r.rows, rows_at_once * r.rows_a_thread));
            if (r.tiles >= at_once || r.rows_a_thread == 1) break;
        }
        cuda::launch_together(on_, kernel, std::min<std::int64_t>(r.tiles, at_once), dim3(round_threads), r);
        if (!always_finishes(p_.how, p_.length))
            cuda::launch(on_, compare_neighbours<Link>, blocks_for(cells_, link_threads), dim3(link_threads), 0, r,
                         p_.ways.count);
    }

    void write() const {
        written to{out_.data};
        to.rank = out_.rank;
        std::copy_n(out_.shape.begin(), out_.rank, to.size);
        std::copy_n(out_.stride.begin(), out_.rank, to.stride);
        to.contiguous = is_contiguous(to.size, to.stride, to.rank);
        auto* const kernel = size_of(out_.type) == 2   ? write_numbers<std::uint16_t>
                             : size_of(out_.type) == 4 ? write_numbers<std::uint32_t>
                                                       : write_numbers<std::uint64_t>;
        cuda::launch(on_, kernel, blocks_for(cells_, number_threads * written_at_once), dim3(number_threads), 0,
                     static_cast<const address*>(label_), cells_, masters_, to);
    }

    const device& on_;
    const problem& p_;
    const any_input<device>& image_;
    const any_output<device>& out_;
    std::int64_t cells_;
    cuda::workspace memory_;
    address *label_ = nullptr, *next_ = nullptr;
    word_of<Link>* links_ = nullptr;
    masters masters_;
    verdict* says_ = nullptr;
};

}  // namespace

propagation_report run(const device& on, const problem& p, const any_input<device>& image,
                       const any_output<device>& out) {
    const cuda::device_guard current(on);
    if (p.length <= std::numeric_limits<std::uint8_t>::max()) return engine<std::uint8_t>(on, p, image, out).solve();
    return engine<std::uint16_t>(on, p, image, out).solve();
}

}  // namespace nearfield::link_propagation
