// On a device: the exact engine finds regions, blocks sum their moments, sites claim their targets.
#include <algorithm>
#include <span>

#include "centroidal/cuda_arrays.cuh"
#include "centroidal/cuda_plane.cuh"
#include "centroidal/cuda_samples.cuh"
#include "centroidal/room.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::centroidal {
namespace {

std::int64_t blocks(std::int64_t items) { return cuda::blocks_for(items, threads_of_block); }

void copy(const device& on, void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) {
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, cuda::stream_of(on)), "copying sites");
}

/// Runs the rounds on a device, in stream order.
class solver {
public:
    /// Uses the caller's `density`, or memory of its own if it is null. `finds` says whether find() will be called.
    solver(const device& on, const problem& p, std::uint16_t* density, bool finds, std::int64_t more_bytes = 0)
        : on_(on), p_(p), memory_(on), plane_(suits_plane(p)) {
        if (p.sites > std::int64_t{1} << 29)
            throw error(error_code::unsupported, "sites has more than 2^29 rows, which a device does not number");
        const std::int64_t across = cuda::blocks_for(p.size[2], site_map::side),
                           down = cuda::blocks_for(p.size[1], site_map::side), squares = plane_ ? across * down : 0;
        const std::int64_t found = finds || !plane_ ? p.parts() : 0;
        const auto own = memory_.reserve<std::uint16_t>(density == nullptr ? p.cells() : 0),
                   seed = memory_.reserve<std::uint8_t>(found), nearest = memory_.reserve<std::int32_t>(found),
                   map = memory_.reserve<std::uint32_t>(squares * (site_map::side + 2)),
                   number = memory_.reserve<std::int32_t>(p.parts()), site = memory_.reserve<std::int32_t>(2 * p.sites),
                   sum = memory_.reserve<sums>(p.sites), energy = memory_.reserve<std::uint64_t>(2 * p.rounds + 3),
                   more = memory_.reserve<std::byte>(more_bytes);
        memory_.allocate();
        a_.density = density == nullptr ? memory_.get<std::uint16_t>(own) : density;
        a_.seed = memory_.get<std::uint8_t>(seed);
        a_.nearest = memory_.get<std::int32_t>(nearest), a_.number = memory_.get<std::int32_t>(number);
        a_.site = memory_.get<std::int32_t>(site), a_.target = a_.site + p.sites, a_.sum = memory_.get<sums>(sum);
        a_.energy = memory_.get<unsigned long long>(energy);
        a_.settled = reinterpret_cast<std::int32_t*>(a_.energy + 2 * p.rounds + 2);
        more_ = memory_.get<std::byte>(more);
        if (plane_) {
            auto* const columns = memory_.get<std::uint32_t>(map);
            auto* const count = reinterpret_cast<std::int32_t*>(columns + squares * site_map::side);
            a_.map = {columns, count, count + squares, static_cast<int>(across), static_cast<int>(down)};
            fill(columns, 0, 4 * squares * (site_map::side + 2));
        }
        fill(a_.seed, 0, found), fill(a_.number, 0x7f, 4 * p.parts());
        fill(a_.sum, 0, p.sites * static_cast<std::int64_t>(sizeof(sums))), fill(a_.energy, 0, 16 * p.rounds + 24);
    }

    void fill(void* data, int byte, std::int64_t bytes) const {
        cuda::check(cudaMemsetAsync(data, byte, static_cast<std::size_t>(bytes), cuda::stream_of(on_)),
                    "filling memory");
    }
    template <class Kernel, class... Arguments>
    void run(Kernel* kernel, std::int64_t items, const Arguments&... arguments) const {
        cuda::launch(on_, kernel, blocks(items), dim3(threads_of_block), 0, arguments...);
    }
    /// Does the same for a kernel that waits for the one before it.
    template <class Kernel, class... Arguments>
    void run_overlapped(Kernel* kernel, std::int64_t items, const Arguments&... arguments) const {
        cuda::launch_overlapped(on_, kernel, blocks(items), dim3(threads_of_block), 0, arguments...);
    }

    /// Finds the nearest site of every part.
    void find() const {
        if (plane_) run(put_seeds, p_.sites, p_, a_);
        const std::span<const std::int64_t> shape(p_.size + 3 - p_.axes, static_cast<std::size_t>(p_.axes));
        fields<device> wanted;
        wanted.index = any_output<device>::contiguous(a_.nearest, dtype::int32, shape);
        distance_transform(on_, any_input<device>::contiguous(a_.seed, dtype::uint8, shape), wanted, p_.engine);
    }
    void measure_round(int round) const {
        if (plane_) {
            const std::int64_t squares = std::int64_t{a_.map.across} * a_.map.down;
            return run_overlapped(measure_plane, squares * threads_of_block, p_, a_, round);
        }
        find();
        const std::int64_t tiles =
            cuda::blocks_for(p_.size[2], tile_columns) * cuda::blocks_for(p_.size[0] * p_.size[1], tile_rows);
        cuda::launch(on_, measure, tiles, dim3(threads_of_block), 0, p_, a_, round);
    }
    /// Runs all rounds, after sites were given.
    void solve(const sites_told& told = {}) const {
        run(put, p_.sites, p_, a_);
        measure_round(0);
        for (int round = 0; round < p_.rounds; ++round) {
            run_overlapped(choose, p_.sites, p_, a_, p_.relax_of(round));
            run_overlapped(move, p_.sites, p_, a_);
            measure_round(round + 1);
            if (p_.tolerance > 0 && round >= p_.relaxed) cuda::launch(on_, settle, 1, dim3(1), 0, p_, a_, round + 1);
            if (told) told(sites());
        }
    }
    /// Copies the sites to the host; waits for the stream.
    [[nodiscard]] std::vector<std::int32_t> sites() const {
        std::vector<std::int32_t> all(static_cast<std::size_t>(p_.sites));
        read(all, a_.site);
        return all;
    }
    template <class T>
    void read(std::vector<T>& to, const void* from) const {
        copy(on_, to.data(), from, static_cast<std::int64_t>(to.size() * sizeof(T)), cudaMemcpyDeviceToHost);
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on_)), "waiting for sites");
    }
    [[nodiscard]] const arrays& at() const { return a_; }
    [[nodiscard]] const problem& of() const { return p_; }
    [[nodiscard]] void* more() const { return more_; }

private:
    const device& on_;
    const problem& p_;
    cuda::workspace memory_;
    arrays a_{};
    void* more_ = nullptr;
    bool plane_;
};

class device_engine : public engine {
public:
    device_engine(const device& on, std::int64_t cells) : on_(on), memory_(on_), cells_(cells) {
        const cuda::device_guard current(on_);
        const auto place = memory_.reserve<std::uint16_t>(cells);
        memory_.allocate();
        density_ = memory_.get<std::uint16_t>(place);
    }
    [[nodiscard]] std::uint16_t* there() const { return density_; }

    void lloyd(const problem& p, std::vector<std::int32_t>& sites, std::vector<std::int64_t>* weights,
               std::vector<uint128>* energy, const sites_told& told) override {
        const cuda::device_guard current(on_);
        const solver one(on_, p, density_, false, 8 * p.sites);
        give(one, sites);
        one.solve(told);
        if (p.rounds > 0) one.read(sites, one.at().site);
        if (weights != nullptr) {
            one.run(write_masses, p.sites, p, one.at(), static_cast<std::int64_t*>(one.more()));
            weights->resize(sites.size()), one.read(*weights, one.more());
        }
        if (energy == nullptr) return;
        std::vector<std::uint64_t> halves(static_cast<std::size_t>(2 * p.rounds + 2));
        one.read(halves, one.at().energy), energy->clear();
        for (std::size_t k = 0; k < halves.size(); k += 2)
            energy->push_back((static_cast<uint128>(halves[k + 1]) << 32) + halves[k]);
    }
    std::vector<moments> measure(const problem& p, const std::vector<std::int32_t>& sites) override {
        const cuda::device_guard current(on_);
        problem own = p;
        own.sites = std::ssize(sites), own.rounds = 0;
        const auto bytes = static_cast<std::int64_t>(sizeof(region_sums) * sites.size());
        const solver one(on_, own, density_, true, bytes);
        give(one, sites);
        one.fill(one.more(), 0, bytes);
        one.run(put, own.sites, own, one.at());
        one.find();
        one.run(measure_all, own.parts(), own, one.at(), static_cast<region_sums*>(one.more()));
        std::vector<region_sums> all(sites.size());
        one.read(all, one.more());
        std::vector<moments> found;
        found.reserve(all.size());
        for (const region_sums& each : all) found.push_back(moments_of(each.of, each.parts, each.low, each.high));
        return found;
    }
    void owners(const problem& p, const std::vector<std::int32_t>& sites, const std::vector<std::int64_t>& powers,
                std::int32_t* owner) override {
        const cuda::device_guard current(on_);
        const std::int64_t count = std::ssize(sites);
        cuda::workspace memory(on_);
        const auto seed = memory.reserve<std::uint8_t>(p.parts()), power = memory.reserve<std::int64_t>(p.parts()),
                   found = memory.reserve<std::int32_t>(p.parts()), site = memory.reserve<std::int32_t>(count),
                   own = memory.reserve<std::int64_t>(count);
        memory.allocate();
        copy(on_, memory.get<std::int32_t>(site), sites.data(), 4 * count, cudaMemcpyHostToDevice);
        copy(on_, memory.get<std::int64_t>(own), powers.data(), 8 * count, cudaMemcpyHostToDevice);
        cuda::check(cudaMemsetAsync(memory.get<std::uint8_t>(seed), 0, static_cast<std::size_t>(p.parts()),
                                    cuda::stream_of(on_)),
                    "filling memory");
        cuda::launch(on_, put_powers, blocks(count), dim3(threads_of_block), 0, count, memory.get<std::int32_t>(site),
                     memory.get<std::int64_t>(own), memory.get<std::uint8_t>(seed), memory.get<std::int64_t>(power));
        const std::span<const std::int64_t> shape(p.size + 3 - p.axes, static_cast<std::size_t>(p.axes));
        fields<device> wanted;
        wanted.index = any_output<device>::contiguous(memory.get<std::int32_t>(found), dtype::int32, shape);
        power_diagram(on_, any_input<device>::contiguous(memory.get<std::uint8_t>(seed), dtype::uint8, shape),
                      any_input<device>::contiguous(memory.get<std::int64_t>(power), dtype::int64, shape), wanted,
                      grid_of(p));
        copy(on_, owner, memory.get<std::int32_t>(found), 4 * p.parts(), cudaMemcpyDeviceToHost);
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on_)), "waiting for regions");
    }

    bool make(const lloyd_rounds& all, engine& by, stipples& made) override {
        const cuda::device_guard current(on_);
        const problem &coarse = all.coarse, &fine = all.fine;
        problem still = fine;
        still.rounds = 0;
        const std::int64_t count = fine.sites, energies = 2 * (fine.rounds + 1), numbers = fine.axes * count;
        cuda::workspace memory(on_);
        const auto samples = memory.reserve<std::int32_t>(count), words = 1 + count + energies + (numbers + 1) / 2,
                   answer = memory.reserve<std::uint64_t>(words);
        memory.allocate();
        auto* const site = memory.get<std::int32_t>(samples);
        auto* const lost = memory.get<std::uint64_t>(answer);  // then come masses, energies and parts
        std::uint64_t* const to[] = {lost + 1, lost + 1 + count, lost + 1 + count + energies};
        if (!place_samples(coarse.rounds > 0 ? coarse : fine, all.seed, site, lost)) return false;
        auto* const density = static_cast<device_engine&>(by).density_;  // inks_of() makes both
        if (coarse.rounds > 0) {
            const solver first(on_, coarse, density, false);
            start(first, site, lost);
            first.run(refine_sites, count, coarse, fine, first.at().site, site);
        }
        const solver second(on_, fine, density, false), last(on_, still, density_, false);
        start(second, site, lost), start(last, second.at().site, lost);
        last.run(write_sites, count, still, last.at(),
                 strided{to[2], dtype::int32, 2, {count, fine.axes}, {fine.axes, 1}},
                 strided{to[0], dtype::int64, 1, {count}, {1}});
        second.run(write_energy, fine.rounds + 1, fine, second.at(),
                   strided{to[1], dtype::uint64, 2, {fine.rounds + 1, 2}, {2, 1}});
        std::vector<std::uint64_t> here(static_cast<std::size_t>(words));
        second.read(here, lost);
        if (here[0] != 0) return false;
        const auto* const parts = reinterpret_cast<const std::int32_t*>(here.data() + (to[2] - lost));
        made.weights.assign(here.data() + 1, here.data() + 1 + count);
        made.energy.assign(here.data() + 1 + count, here.data() + 1 + count + energies);
        made.parts.assign(parts, parts + numbers);
        return true;
    }
    std::vector<std::int32_t> samples(const problem& p, std::int64_t count, std::uint64_t seed) override {
        const cuda::device_guard current(on_);
        cuda::workspace memory(on_);
        const auto place = memory.reserve<std::int32_t>(count), flag = memory.reserve<std::uint64_t>(1);
        memory.allocate();
        problem own = p;
        own.sites = count;
        std::uint64_t lost = 1;
        if (place_samples(own, seed, memory.get<std::int32_t>(place), memory.get<std::uint64_t>(flag)))
            cuda::fetch(on_, &lost, memory.get<std::uint64_t>(flag), 8);
        if (lost != 0) return centroidal::samples(p, density(), count, seed);
        std::vector<std::int32_t> found(static_cast<std::size_t>(count));
        cuda::fetch(on_, found.data(), memory.get<std::int32_t>(place), 4 * count);
        return found;
    }
    const std::uint16_t* density() override {
        if (here_.empty()) {
            here_.resize(static_cast<std::size_t>(cells_));
            cuda::fetch(on_, here_.data(), density_, 2 * cells_);
        }
        return here_.data();
    }

private:
    void give(const solver& to, const std::vector<std::int32_t>& sites) const {
        copy(on_, to.at().site, sites.data(), 4 * std::ssize(sites), cudaMemcpyHostToDevice);
    }
    /// Runs the rounds from sites on the device, unless a sample is lost.
    void start(const solver& rounds, const std::int32_t* sites, const std::uint64_t* lost) const {
        cuda::copy(on_, rounds.at().site, sites, 4 * rounds.of().sites);
        cuda::copy(on_, rounds.at().settled, lost, 4);
        rounds.solve();
    }
    /// Draws p.sites samples as parts, and sets `lost` to whether one of them has no place; its part then is 0. Returns
    /// false, without doing anything, if the host has to draw them.
    bool place_samples(const problem& p, std::uint64_t seed, std::int32_t* site, std::uint64_t* lost) const {
        sampling s{tile_grid(p, p.sites), density_, p.sites, 0, seed, nullptr, nullptr, nullptr, nullptr, site, lost};
        const int bits = s.grid.bits * s.grid.axes;
        if (bits > 20) return false;
        s.keys = std::int64_t{1} << bits;
        cuda::workspace memory(on_);
        const auto before = memory.reserve<cuda::word>(s.keys + 1), tile = memory.reserve<std::int32_t>(s.keys),
                   number = memory.reserve<std::int32_t>(p.parts());
        memory.allocate();
        s.before = memory.get<cuda::word>(before), s.all = s.before + s.keys, s.tile = memory.get<std::int32_t>(tile);
        s.number = memory.get<std::int32_t>(number);
        cuda::clear(on_, s.before, 8 * s.keys), cuda::clear(on_, site, 4 * p.sites), cuda::clear(on_, lost, 8);
        cuda::check(cudaMemsetAsync(s.number, 0x7f, static_cast<std::size_t>(4 * p.parts()), cuda::stream_of(on_)),
                    "filling memory");
        cuda::launch(on_, sum_tiles, blocks(s.grid.count() * cuda::warp), dim3(threads_of_block), 0, s);
        cuda::launch_sums(on_, s.before, s.keys, s.all);
        cuda::launch(on_, draw, blocks(p.sites), dim3(threads_of_block), 0, p, s);
        cuda::launch(on_, list_samples, blocks(p.parts()), dim3(threads_of_block), 0, p, s);
        return true;
    }

    const device on_;
    cuda::workspace memory_;
    std::int64_t cells_;
    std::uint16_t* density_ = nullptr;
    std::vector<std::uint16_t> here_;  ///< the density, once the host has asked for it
};

}  // namespace

void run(const device& on, const problem& p, const any_input<device>& density, const any_input<device>& sites,
         const centroidal_fields<device>& out) {
    const cuda::device_guard current(on);
    const solver one(on, p, nullptr, out.labels.wanted());
    one.run(widen, p.cells(), strided::of(density), p.cells(), one.at().density);
    one.run(read_sites, p.sites, p, strided::of(sites), one.at().site);
    one.solve();
    one.run(write_sites, p.sites, p, one.at(), strided::of(out.sites), strided::of(out.weights));
    if (out.energy.wanted()) one.run(write_energy, p.rounds + 1, p, one.at(), strided::of(out.energy));
    if (!out.labels.wanted()) return;
    one.find();
    one.run(write_labels, p.cells(), p, one.at(), strided::of(out.labels));
}

std::unique_ptr<engine> engine_of(const device& on, const std::uint16_t* density, std::int64_t cells) {
    auto made = std::make_unique<device_engine>(on, cells);
    copy(on, made->there(), density, 2 * cells, cudaMemcpyHostToDevice);
    return made;
}

inks inks_of(const device& on, const any_input<device>& image, std::span<const std::uint16_t> table, bool invert) {
    constexpr std::int64_t most_blocks = 1024;  // which add to one sum
    const cuda::device_guard current(on);
    auto by_ink = std::make_unique<device_engine>(on, image.cells()),
         by_density = std::make_unique<device_engine>(on, image.cells());
    cuda::workspace memory(on);
    const auto densities = memory.reserve<std::uint16_t>(std::ssize(table)), totals = memory.reserve<cuda::word>(2);
    memory.allocate();
    auto* const sums = memory.get<cuda::word>(totals);
    cuda::clear(on, sums, 16);
    cuda::send(on, memory.get<std::uint16_t>(densities), table.data(), 2 * std::ssize(table));
    cuda::launch(on, read_ink, std::min(most_blocks, blocks(image.cells())), dim3(threads_of_block), 0,
                 strided::of(image), image.cells(), memory.get<std::uint16_t>(densities),
                 static_cast<int>(std::ssize(table) - 1), invert, by_ink->there(), by_density->there(), sums);
    std::uint64_t found[2];
    cuda::fetch(on, found, sums, 16);
    return {{}, {}, std::move(by_ink), std::move(by_density), found[0], static_cast<std::int64_t>(found[1])};
}

void with_image(const device& on, const any_input<device>& image,
                const std::function<void(const any_input<host>&)>& use) {
    const cuda::device_guard current(on);
    const std::int64_t cells = image.cells();
    cuda::workspace memory(on);
    const auto wide = memory.reserve<std::uint16_t>(cells);
    memory.allocate();
    cuda::launch(on, widen, blocks(cells), dim3(threads_of_block), 0, strided::of(image), cells,
                 memory.get<std::uint16_t>(wide));
    std::vector<std::uint16_t> here(static_cast<std::size_t>(cells));
    copy(on, here.data(), memory.get<std::uint16_t>(wide), 2 * cells, cudaMemcpyDeviceToHost);
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for an image");
    const std::span<const std::int64_t> shape(image.shape.data(), static_cast<std::size_t>(image.rank));
    if (image.type == dtype::uint16) return use(any_input<host>::contiguous(here.data(), dtype::uint16, shape));
    const std::vector<std::uint8_t> bytes(here.begin(), here.end());
    use(any_input<host>::contiguous(bytes.data(), image.type, shape));
}

}  // namespace nearfield::centroidal
