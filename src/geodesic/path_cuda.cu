// The fields of paths in memory of a device. The host reads few of their cells: it fetches tiles when it needs them.
#include <cstring>

#include "base/cuda.cuh"
#include "geodesic/path_fields.hpp"
#include "nearfield/label.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::geodesics {
namespace {

constexpr int threads_of_block = 256;
/// Cells of a tile, log2: 64 KiB of both fields take little longer to fetch than one value.
constexpr int tile_bits = 12;

__device__ inline std::int64_t own_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
}

/// Writes what a flood reads. A thread owns a cell; `price` may be null.
__global__ void __launch_bounds__(threads_of_block)
    write_rule(const __grid_constant__ cell_rule rule, const double* squared, std::int64_t cells, std::uint8_t* open,
               std::uint8_t* seed, std::uint16_t* price) {
    const std::int64_t i = own_item();
    if (i >= cells) return;
    const double own = squared[i];
    open[i] = rule.is_open(own) ? 1 : 0;
    if (seed != nullptr) seed[i] = 0;
    if (price != nullptr) price[i] = rule.price(own);
}

/// Writes the image of clearances, in which closed cells are no cells, and a seed below it. A thread owns a cell.
__global__ void __launch_bounds__(threads_of_block)
    write_clearances(const __grid_constant__ cell_rule rule, const double* squared, std::int64_t cells, double* image,
                     double* seed) {
    const std::int64_t i = own_item();
    if (i >= cells) return;
    image[i] = rule.is_open(squared[i]) ? squared[i] : std::numeric_limits<double>::quiet_NaN(), seed[i] = -1;
}

/// Gives some cells a value, or that of the cell in `from` if this is not null. A thread owns one of them.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    put(const std::int64_t* cell, std::int64_t count, T value, const T* from, T* to) {
    const std::int64_t i = own_item();
    if (i < count) to[cell[i]] = from == nullptr ? value : from[cell[i]];
}

/// Lists the values of some cells. A thread owns one of them.
__global__ void __launch_bounds__(threads_of_block)
    pick(const std::int64_t* cell, std::int64_t count, const std::uint64_t* from, std::uint64_t* to) {
    const std::int64_t i = own_item();
    if (i < count) to[i] = from[cell[i]];
}

struct corner {
    std::int64_t at[max_rank];
};
/// Copies a tile of two fields. A thread owns a cell; those beyond the grid keep what they have.
__global__ void __launch_bounds__(threads_of_block)
    copy_tile(const __grid_constant__ tiling where, const __grid_constant__ corner first, const std::uint64_t* one,
              const std::uint64_t* other, std::uint64_t* to) {
    const auto local = static_cast<std::int32_t>(own_item());
    if (local >= where.cells_a_tile()) return;
    std::int64_t cell = 0;
    for (int axis = 0; axis < where.axes; ++axis) {
        const std::int64_t at = first.at[axis] + where.within(local, axis);
        if (at >= where.size[axis]) return;
        cell = cell * where.size[axis] + at;
    }
    to[local] = one[cell], to[where.cells_a_tile() + local] = other[cell];
}

class device_fields final : public path_fields {
public:
    device_fields(const device& on, const any_input<device>& obstacles, int bits)
        : path_fields(tiling_of(obstacles, bits)),
          on_(on),
          obstacles_(obstacles),
          cells_(obstacles.cells()),
          memory_(on),
          tiles_(static_cast<std::size_t>(where().tiles)) {
        const cuda::device_guard current(on_);
        const auto squared = memory_.reserve<double>(cells_), cost = memory_.reserve<std::int64_t>(cells_),
                   tile = memory_.reserve<std::uint64_t>(2 * where().cells_a_tile());
        memory_.allocate();
        squared_ = memory_.get<double>(squared), cost_ = memory_.get<std::int64_t>(cost);
        tile_ = memory_.get<std::uint64_t>(tile);
    }

    void measure(const distance_options& how) override {
        fields<device> out;
        out.squared = any_output<device>::contiguous(squared_, dtype::float64, shape());
        distance_transform(on_, obstacles_, out, how);
    }

    void flood(const cell_rule& rule, std::span<const std::int64_t> seeds, const geodesic_options& how) override {
        const cuda::device_guard current(on_);
        cuda::workspace memory(on_);
        const auto open = memory.reserve<std::uint8_t>(cells_), seed = memory.reserve<std::uint8_t>(cells_),
                   price = memory.reserve<std::uint16_t>(rule.priced ? cells_ : 0),
                   table = memory.reserve<clearance_price>(rule.count),
                   list = memory.reserve<std::int64_t>(std::ssize(seeds));
        memory.allocate();
        auto* const is_open = memory.get<std::uint8_t>(open);
        auto* const is_seed = memory.get<std::uint8_t>(seed);
        auto* const prices = rule.priced ? memory.get<std::uint16_t>(price) : nullptr;
        cell_rule there = rule;
        auto* const table_there = memory.get<clearance_price>(table);
        there.prices = table_there;
        cuda::send(on_, table_there, rule.prices, rule.count * std::int64_t{sizeof(clearance_price)});
        run(write_rule, cells_, there, squared_, cells_, is_open, is_seed, prices);
        put_cells<std::uint8_t>(seeds, memory.get<std::int64_t>(list), 1, nullptr, is_seed);
        geodesic_fields<device> out;
        out.cost = any_output<device>::contiguous(cost_, dtype::int64, shape());
        any_input<device> paid;
        if (rule.priced) paid = any_input<device>::contiguous(prices, dtype::uint16, shape());
        geodesic(on_, any_input<device>::contiguous(is_open, dtype::uint8, shape()),
                 any_input<device>::contiguous(is_seed, dtype::uint8, shape()), out, how, paid);
        for (auto& each : tiles_) each.clear();
    }

    double squared(std::int64_t place) override { return std::bit_cast<double>(tile_of(place)[within(place)]); }
    std::int64_t cost(std::int64_t place) override {
        return static_cast<std::int64_t>(tile_of(place)[where().cells_a_tile() + within(place)]);
    }

    std::vector<double> widths(const cell_rule& rule, std::span<const std::int64_t> starts,
                               std::span<const std::int64_t> goals, const borders& ends) override {
        const cuda::device_guard current(on_);
        const auto longer = std::count_if(shape().begin(), shape().end(), [](std::int64_t n) { return n > 1; });
        if (longer > 3 || cells_ >= std::int64_t{1} << 29) return widths_on_host(rule, starts, goals, ends);
        cuda::workspace memory(on_);
        const auto image = memory.reserve<double>(cells_), seed = memory.reserve<double>(cells_),
                   passes = memory.reserve<double>(cells_), list = memory.reserve<std::int64_t>(std::ssize(goals));
        memory.allocate();
        auto* const heights = memory.get<double>(image);
        auto* const from = memory.get<double>(seed);
        run(write_clearances, cells_, rule, squared_, cells_, heights, from);
        put_cells<double>(goals, memory.get<std::int64_t>(list), 0, heights, from);
        watershed_options w;
        w.maxima = true, w.border = ends;
        reconstruct_gray(on_, any_input<device>::contiguous(from, dtype::float64, shape()),
                         any_input<device>::contiguous(heights, dtype::float64, shape()),
                         any_output<device>::contiguous(memory.get<double>(passes), dtype::float64, shape()), w);
        std::vector<double> found;
        for (const std::uint64_t each : picked(starts, memory.get<std::uint64_t>(passes)))
            found.push_back(std::max(-1.0, std::bit_cast<double>(each)));
        return found;
    }

    std::vector<std::int64_t> components(const cell_rule& rule, std::span<const std::int64_t> cells,
                                         const borders& ends) override {
        const cuda::device_guard current(on_);
        cuda::workspace memory(on_);
        const auto open = memory.reserve<std::uint8_t>(cells_), number = memory.reserve<std::int64_t>(cells_);
        memory.allocate();
        auto* const is_open = memory.get<std::uint8_t>(open);
        run(write_rule, cells_, rule, squared_, cells_, is_open, nullptr, nullptr);
        label_options l;
        l.border = ends;
        label(on_, any_input<device>::contiguous(is_open, dtype::uint8, shape()),
              any_output<device>::contiguous(memory.get<std::int64_t>(number), dtype::int64, shape()), l);
        const std::vector<std::uint64_t> found = picked(cells, memory.get<std::uint64_t>(number));
        return {found.begin(), found.end()};
    }

    host_scratch<std::uint8_t> thinned(const cell_rule& rule, const skeleton_options& how) override {
        const cuda::device_guard current(on_);
        cuda::workspace memory(on_);
        const auto open = memory.reserve<std::uint8_t>(cells_), skeleton = memory.reserve<std::uint8_t>(cells_);
        memory.allocate();
        auto* const is_open = memory.get<std::uint8_t>(open);
        auto* const is_in = memory.get<std::uint8_t>(skeleton);
        run(write_rule, cells_, rule, squared_, cells_, is_open, nullptr, nullptr);
        skeletonize(on_, any_input<device>::contiguous(is_open, dtype::uint8, shape()),
                    any_output<device>::contiguous(is_in, dtype::uint8, shape()), how);
        host_scratch<std::uint8_t> made(cells_);
        cuda::fetch(on_, made.get(), is_in, cells_);
        return made;
    }

    void fetch_squared(double* to) const { cuda::fetch(on_, to, squared_, 8 * cells_); }
    void fetch_cost(std::int64_t* to) const { cuda::fetch(on_, to, cost_, 8 * cells_); }

private:
    template <class... Parameters, class... Arguments>
    void run(void (*kernel)(Parameters...), std::int64_t items, Arguments... arguments) const {
        cuda::launch(on_, kernel, cuda::blocks_for(items, threads_of_block), dim3(threads_of_block), 0, arguments...);
    }
    template <class T>
    void put_cells(std::span<const std::int64_t> cells, std::int64_t* list, T value, const T* from, T* to) const {
        cuda::send(on_, list, cells.data(), 8 * std::ssize(cells));
        run(put<T>, std::ssize(cells), list, std::ssize(cells), value, from, to);
    }
    [[nodiscard]] std::vector<std::uint64_t> picked(std::span<const std::int64_t> cells,
                                                    const std::uint64_t* from) const {
        cuda::workspace memory(on_);
        const auto list = memory.reserve<std::int64_t>(std::ssize(cells)),
                   made = memory.reserve<std::uint64_t>(std::ssize(cells));
        memory.allocate();
        cuda::send(on_, memory.get<std::int64_t>(list), cells.data(), 8 * std::ssize(cells));
        run(pick, std::ssize(cells), memory.get<std::int64_t>(list), std::ssize(cells), from,
            memory.get<std::uint64_t>(made));
        std::vector<std::uint64_t> found(cells.size());
        cuda::fetch(on_, found.data(), memory.get<std::uint64_t>(made), 8 * std::ssize(cells));
        return found;
    }
    /// Serves what reconstruct_gray() refuses on a device.
    [[nodiscard]] std::vector<double> widths_on_host(const cell_rule& rule, std::span<const std::int64_t> starts,
                                                     std::span<const std::int64_t> goals, const borders& ends) const {
        const host_scratch<double> squared(cells_);
        const host_scratch<std::uint8_t> open(cells_);
        cuda::fetch(on_, squared.get(), squared_, 8 * cells_);
        for (std::int64_t i = 0; i < cells_; ++i) open.get()[i] = rule.is_open(squared.get()[i]) ? 1 : 0;
        return widths_of(host{}, any_input<host>::contiguous(squared.get(), dtype::float64, shape()),
                         any_input<host>::contiguous(open.get(), dtype::uint8, shape()), starts, goals, ends);
    }

    [[nodiscard]] std::size_t within(std::int64_t place) const {
        return static_cast<std::size_t>(place & (where().cells_a_tile() - 1));
    }
    /// Returns both fields of a tile.
    [[nodiscard]] const std::uint64_t* tile_of(std::int64_t place) {
        std::vector<std::uint64_t>& tile = tiles_[static_cast<std::size_t>(place >> where().tile_bits)];
        if (tile.empty()) fetch(place >> where().tile_bits, tile);
        return tile.data();
    }
    void fetch(std::int64_t number, std::vector<std::uint64_t>& tile) const {
        const cuda::device_guard current(on_);
        corner first{};
        where().origin(number, first.at);
        run(copy_tile, where().cells_a_tile(), where(), first, reinterpret_cast<const std::uint64_t*>(squared_),
            reinterpret_cast<const std::uint64_t*>(cost_), tile_);
        tile.resize(static_cast<std::size_t>(2 * where().cells_a_tile()));
        cuda::fetch(on_, tile.data(), tile_, 8 * std::ssize(tile));
    }
    [[nodiscard]] std::span<const std::int64_t> shape() const {
        return {obstacles_.shape.data(), static_cast<std::size_t>(obstacles_.rank)};
    }

    const device& on_;
    const any_input<device>& obstacles_;
    std::int64_t cells_;
    cuda::workspace memory_;
    double* squared_ = nullptr;
    std::int64_t* cost_ = nullptr;
    std::uint64_t* tile_ = nullptr;
    std::vector<std::vector<std::uint64_t>> tiles_;  ///< those that were fetched
};

/// Lets the memory of the device go after the flood.
class kept_fields final : public path_fields {
public:
    kept_fields(const device& on, const any_input<device>& obstacles)
        : path_fields(tiling_of(obstacles, 0)),
          made_(std::make_unique<device_fields>(on, obstacles, 0)),
          squared_(obstacles.cells()),
          cost_(obstacles.cells()) {}

    void measure(const distance_options& how) override { made_->measure(how), made_->fetch_squared(squared_.get()); }
    void flood(const cell_rule& rule, std::span<const std::int64_t> seeds, const geodesic_options& how) override {
        made_->flood(rule, seeds, how), made_->fetch_cost(cost_.get());
        made_.reset();
    }
    double squared(std::int64_t place) override { return squared_.get()[place]; }
    std::int64_t cost(std::int64_t place) override { return cost_.get()[place]; }
    std::vector<double> widths(const cell_rule& rule, std::span<const std::int64_t> starts,
                               std::span<const std::int64_t> goals, const borders& ends) override {
        return made_->widths(rule, starts, goals, ends);
    }
    std::vector<std::int64_t> components(const cell_rule& rule, std::span<const std::int64_t> cells,
                                         const borders& ends) override {
        return made_->components(rule, cells, ends);
    }
    host_scratch<std::uint8_t> thinned(const cell_rule& rule, const skeleton_options& how) override {
        return made_->thinned(rule, how);
    }

private:
    std::unique_ptr<device_fields> made_;
    host_scratch<double> squared_;
    host_scratch<std::int64_t> cost_;
};

}  // namespace

std::unique_ptr<path_fields> fields_of(const device& on, const any_input<device>& obstacles) {
    return std::make_unique<device_fields>(on, obstacles, tile_bits);
}
std::unique_ptr<path_fields> kept_fields_of(const device& on, const any_input<device>& obstacles) {
    return std::make_unique<kept_fields>(on, obstacles);
}

}  // namespace nearfield::geodesics
