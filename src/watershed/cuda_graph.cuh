// Basins that are kept on a device: descents and passes are found there, the tree of basins is built on the host.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>

#include "watershed/cuda_call.cuh"
#include "watershed/cuda_kept.cuh"
#include "watershed/host_room.hpp"
#include "watershed/host_tree.hpp"

namespace nearfield::watersheds {

/// Device memory of some elements, in stream order.
template <class T>
class device_list {
public:
    device_list(const device& on, std::int64_t count) : memory_(on), at_(memory_.reserve<T>(count)) {
        memory_.allocate();
    }
    device_list(const device& on, const list<T>& from) : device_list(on, std::ssize(from)) {
        cuda::send(on, get(), from.data(), std::ssize(from) * static_cast<std::int64_t>(sizeof(T)));
    }
    [[nodiscard]] T* get() const { return memory_.get<T>(at_); }

private:
    cuda::workspace memory_;
    std::int64_t at_;
};

/// A stream of its own on the device of another one, for which it waits first.
class own_stream {
public:
    explicit own_stream(const device& on) : on_(nullptr) {
        const cuda::device_guard current(on);
        cudaStream_t made = nullptr;
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for the device");
        cuda::check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "making a stream");
        on_.stream = made;
    }
    ~own_stream() { static_cast<void>(cudaStreamDestroy(cuda::stream_of(on_))); }
    own_stream(const own_stream&) = delete;
    own_stream& operator=(const own_stream&) = delete;
    [[nodiscard]] const device& get() const { return on_; }

private:
    device on_;
};

class kept_basins final : public graph<device> {
    /// Calls use(tree) with the tree whose keys are those of the image's type.
    template <class Use>
    auto with_tree(const Use& use) const {
        return wide() ? use(exact_) : use(tree_);
    }

public:
    kept_basins(const device& on, const problem& p) : asked_(p), stream_(on), home_(stream_.get()), call_(home_, p) {
        const cuda::device_guard current(home_);
        call_.find_passes();
        take_tree(), keep_tree();
        const std::int64_t places = p.where.places;
        kept_ = std::make_unique<device_list<std::int32_t>>(home_, 2 * places);
        cuda::copy(home_, keys(), arrays().key, 4 * places);
        wait();
        arrays().image.data = arrays().mask.data = nullptr;
        asked_.image.data = asked_.mask.data = nullptr;
    }

    [[nodiscard]] std::vector<extremum> extrema(const height& least) const override {
        return with_tree([&](const auto& tree) { return tree.extrema(asked_.where, least); });
    }
    [[nodiscard]] std::vector<peak> peaks(const height& least) const override {
        return with_tree([&](const auto& tree) { return tree.peaks(asked_.where, least); });
    }
    [[nodiscard]] std::vector<extinction> extinctions(attribute by, bool roots) const override {
        const cuda::device_guard current(home_);
        return with_tree([&](const auto& tree) { return tree.extinctions(asked_.where, *regions_by(by, roots)); });
    }
    void mark(const device& on, const height& least, const target& out) const override;
    void flood(const device& on, const problem& p) override;
    void cut(const device& on, const cut_options& cut, const height& least, const target& out) override;
    [[nodiscard]] std::vector<double> passes(const std::vector<std::int64_t>& a,
                                             const std::vector<std::int64_t>& b) const override;

private:
    using edges = list<edge<std::int32_t>>;

    [[nodiscard]] work& arrays() { return call_.arrays(); }
    [[nodiscard]] std::int32_t* keys() const { return kept_->get(); }
    [[nodiscard]] std::int32_t* labels() const { return kept_->get() + asked_.where.places; }
    [[nodiscard]] bool wide() const { return size_of(asked_.image.type) == 8; }
    void wait() const { cuda::check(cudaStreamSynchronize(cuda::stream_of(home_)), "waiting for the device"); }
    /// Waits for what the caller's stream does to the arrays of a question.
    const device& after(const device& on) const {
        const cuda::device_guard current(home_);
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for the device");
        return home_;
    }
    template <class... Parameters, class... Arguments>
    void each_of(std::int64_t count, void (*kernel)(const work, Parameters...), const work& w,
                 const Arguments&... arguments) const {
        cuda::launch(home_, kernel, cuda::blocks_for(count, threads_of_block), dim3(threads_of_block), 0, w,
                     arguments...);
    }
    template <class... Parameters, class... Arguments>
    void each_of(std::int64_t count, void (*kernel)(const work, Parameters...), const Arguments&... arguments) const {
        each_of(count, kernel, call_.arrays(), arguments...);
    }
    template <class T>
    void fetch(list<T>& to, const T* from) const {
        cuda::fetch(home_, to.data(), from, std::ssize(to) * static_cast<std::int64_t>(sizeof(T)));
    }
    void take_tree();
    void keep_tree();
    void label_minima();
    [[nodiscard]] edges merged() const;
    [[nodiscard]] list<std::int64_t> exact_of(const list<std::int32_t>& ranks) const;
    [[nodiscard]] std::shared_ptr<const region_tree> regions_by(attribute by, bool roots) const;
    [[nodiscard]] double fill(lakes_of_tree& lakes, bool volumes) const;
    [[nodiscard]] double factor() const;

    problem asked_;
    own_stream stream_;
    const device& home_;
    call call_;
    std::unique_ptr<device_list<std::int32_t>> kept_;    ///< keys, then labels of the watershed from all minima
    std::unique_ptr<device_list<std::int32_t>> minima_;  ///< their basins, which the kept labels number
    std::int64_t count_of_minima_ = 0;
    merge_tree<std::int32_t> tree_;
    merge_tree<std::int64_t> exact_;                            ///< of 8-byte types, whose keys on the device are ranks
    std::unique_ptr<device_list<std::int32_t>> into_, passes_;  ///< those of the tree
    std::unique_ptr<device_list<std::uint64_t>> tops_;          ///< key and place of each basin's lowest cell
    mutable kept_regions regions_;
};

// ---- building -------------------------------------------------------------------------------------------------------

/// Fetches the pass over which each basin merged into another one. These passes connect basins as all passes do: the
/// highest pass from a basin to the one that represents its merged basin is its own least pass.
inline kept_basins::edges kept_basins::merged() const {
    const work& w = call_.arrays();
    list<std::int32_t> up(tree_.low.size()), pass(up.size());
    fetch(up, w.up), fetch(pass, w.pass);
    edges found;
    for (std::size_t i = 0; i < up.size(); ++i)
        if (const auto own = static_cast<std::int32_t>(i); up[i] != own) found.push_back({own, up[i], pass[i]});
    return found;
}

/// Numbers basins in raster order of their cells, and builds the tree.
inline void kept_basins::take_tree() {
    list<std::uint32_t> counts(counters);
    fetch(counts, arrays().count);
    const std::size_t count = counts[basins_found];
    list<std::uint64_t> top(count);  // key and place of the lowest cell
    fetch(top, arrays().top);
    call_.merge_without_root();
    list<std::int32_t> order(count), number(count);
    std::iota(order.begin(), order.end(), 0);
    const auto place = [&](std::int32_t i) { return static_cast<std::uint32_t>(top[static_cast<std::size_t>(i)]); };
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return place(a) < place(b); });
    tree_.type = exact_.type = asked_.image.type, tree_.maxima = exact_.maxima = asked_.maxima;
    tree_.cell.resize(count), tree_.low.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
        tree_.cell[i] = static_cast<std::int32_t>(place(order[i]));
        tree_.low[i] = key_in(top[static_cast<std::size_t>(order[i])]);
    }
    edges found = merged();
    for (auto& each : found)
        each.a = number[static_cast<std::size_t>(each.a)], each.b = number[static_cast<std::size_t>(each.b)];
    tree_.connect(found);
    const device_list<std::int32_t> numbers(home_, number);
    each_of(asked_.where.places, renumber, numbers.get());
    if (!wide()) return;
    exact_.cell = tree_.cell, exact_.into = tree_.into, exact_.order = tree_.order;
    list<std::int32_t> pass = tree_.pass;
    for (std::size_t i = 0; i < count; ++i)
        if (tree_.into[i] < 0) pass[i] = 0;
    exact_.low = exact_of(tree_.low), exact_.pass = exact_of(pass);
}

/// Keeps on the device what merging begins with.
inline void kept_basins::keep_tree() {
    list<std::uint64_t> top(tree_.cell.size());
    for (std::size_t i = 0; i < top.size(); ++i)
        top[i] = packed(tree_.low[i], static_cast<std::uint32_t>(tree_.cell[i]));
    into_ = std::make_unique<device_list<std::int32_t>>(home_, tree_.into);
    passes_ = std::make_unique<device_list<std::int32_t>>(home_, tree_.pass);
    tops_ = std::make_unique<device_list<std::uint64_t>>(home_, top);
}

inline list<std::int64_t> kept_basins::exact_of(const list<std::int32_t>& ranks) const {
    list<std::int64_t> found(ranks.size());
    if (ranks.empty()) return found;
    const device_list<std::int32_t> from(home_, ranks);
    const device_list<std::int64_t> to(home_, std::ssize(ranks));
    each_of(std::ssize(ranks), read_exact, from.get(), std::ssize(ranks), to.get());
    fetch(found, to.get());
    return found;
}

// ---- questions ------------------------------------------------------------------------------------------------------

inline void kept_basins::mark(const device& on, const height& least, const target& out) const {
    const cuda::device_guard current(after(on));
    const device_list<std::uint8_t> marked(home_, with_tree([&](const auto& tree) { return tree.marked(least); }));
    work w = call_.arrays();
    w.extrema = {out, asked_.where.axes};
    each_of(w.where.quads, mark_lowest, w, keys(), tops_->get(), marked.get());
    wait();
}

inline void kept_basins::flood(const device& on, const problem& p) {
    if (p.extrema.data != nullptr) mark(on, p.least, p.extrema);
    if (p.label.data == nullptr && p.passes.data == nullptr) return;
    const cuda::device_guard current(after(on));
    work& w = arrays();
    cuda::copy(home_, w.key, keys(), 4 * p.where.places);
    call_.take(p), call_.clear();
    work along = w;  // steps and parents are found later
    along.edge_a = w.steps, along.edge_b = w.parent, along.edge_pass = passes_->get();
    along.most_edges = std::numeric_limits<std::uint32_t>::max();
    each_of(std::ssize(tree_.cell), separate, along, into_->get(), tops_->get(), std::ssize(tree_.cell));
    if (!w.heights) call_.find_markers();
    call_.merge_with_root(along);
    call_.finish();
    wait();
}

/// Keeps the labels of the watershed from all minima.
inline void kept_basins::label_minima() {
    if (minima_ != nullptr) return;
    const height any{0, 0, false, asked_.maxima};
    const list<std::uint8_t> stay = with_tree([&](const auto& tree) { return tree.staying(any); });
    list<std::int32_t> minima;
    for (std::size_t i = 0; i < stay.size(); ++i)
        if (stay[i] != 0) minima.push_back(static_cast<std::int32_t>(i));
    problem p = asked_;
    p.label = {labels() + p.where.base, dtype::int32, {}}, p.least = any;
    std::copy_n(p.where.pitch, p.where.axes, p.label.stride);
    flood(home_, p);
    count_of_minima_ = std::ssize(minima), minima_ = std::make_unique<device_list<std::int32_t>>(home_, minima);
}

inline void kept_basins::cut(const device& on, const cut_options& cut, const height& least, const target& out) {
    const cuda::device_guard current(after(on));
    label_minima();
    const std::int64_t basins = std::ssize(tree_.cell);
    const device_list<std::int32_t> in_cut(home_, count_of_minima_ + 1);
    const device_list<std::uint32_t> before(home_, basins + 1);
    work w = call_.arrays();
    w.label = {out, asked_.where.axes}, w.least = least;
    if (cut.by == attribute::height && cut.regions == 0) {
        with_number(asked_.image.type, [&]<class Value>(Value) {
            each_of(basins, keep_regions<Value>, w, into_->get(), passes_->get(), tops_->get(), basins, before.get());
        });
        cuda::launch_sums(home_, before.get(), basins, before.get() + basins);
        each_of(count_of_minima_ + 1, name_regions, w, into_->get(), before.get(), minima_->get(), count_of_minima_,
                in_cut.get());
    } else {
        const list<std::int32_t> found =
            with_tree([&](const auto& tree) { return tree.labels_of_cut(*regions_by(cut.by, cut.roots), cut, least); });
        cuda::send(home_, in_cut.get(), found.data(), 4 * std::ssize(found));
    }
    each_of(w.where.quads, write_cut, w, labels(), in_cut.get());
    wait();
}

inline std::vector<double> kept_basins::passes(const std::vector<std::int64_t>& a,
                                               const std::vector<std::int64_t>& b) const {
    const cuda::device_guard current(home_);
    const std::int64_t count = 2 * std::ssize(a);
    std::vector<double> lowest;
    if (count == 0) return lowest;
    list<std::int32_t> place, basin(2 * a.size()), key(2 * a.size());
    for (const auto* const cells : {&a, &b})
        for (const std::int64_t cell : *cells)
            place.push_back(static_cast<std::int32_t>(place_in_frame(asked_.where, cell)));
    const device_list<std::int32_t> sent(home_, place), basins(home_, count), found(home_, count);
    each_of(count, read_cells, keys(), sent.get(), count, basins.get(), found.get());
    fetch(basin, basins.get()), fetch(key, found.get());
    for (std::size_t i = 0; i < basin.size(); ++i)
        if (basin[i] == nowhere) key[i] = 0;  // which is a rank that exists
    const list<std::int64_t> exact = wide() ? exact_of(key) : list<std::int64_t>(key.begin(), key.end());
    for (std::size_t i = 0, k = a.size(); i < a.size(); ++i, ++k)
        lowest.push_back(with_tree([&]<class Key>(const merge_tree<Key>& tree) {
            if (basin[i] == nowhere || basin[k] == nowhere) return tree.no_pass();
            return tree.pass_between(-2 - basin[i], -2 - basin[k], static_cast<Key>(std::max(exact[i], exact[k])));
        }));
    return lowest;
}

// ---- regions --------------------------------------------------------------------------------------------------------

inline std::shared_ptr<const region_tree> kept_basins::regions_by(attribute by, bool roots) const {
    const auto fill_them = [&](lakes_of_tree& lakes, bool volumes) { return fill(lakes, volumes); };
    return regions_.get(
        by, roots, [&] { return with_tree([&](const auto& tree) { return tree.regions(by, roots, fill_them); }); });
}

/// Returns the factor of volumes.
inline double kept_basins::factor() const {
    const device_list<word> largest(home_, list<word>{0});
    list<word> found(1);
    with_number(asked_.image.type, [&]<class Value>(Value) {
        if constexpr (std::is_floating_point_v<Value>)
            each_of(asked_.where.places, find_largest<Value>, keys(), largest.get());
    });
    fetch(found, largest.get());
    return factor_for(std::bit_cast<double>(std::uint64_t{found[0]}));
}

inline double kept_basins::fill(lakes_of_tree& lakes, bool volumes) const {
    const bool real = asked_.image.type == dtype::float32 || asked_.image.type == dtype::float64;
    const double by = volumes && real ? factor() : 1;
    list<std::int32_t> end;
    lakes = tree_.number_lakes(end);
    list<word> sums(3 * end.size());
    const device_list<std::int32_t> first(home_, lakes.first), ends(home_, end);
    const device_list<word> to(home_, sums);
    const lakes_on_device there{into_->get(), passes_->get(), first.get(), ends.get(), to.get(), by};
    const std::int64_t fillers = cuda::blocks_for(asked_.where.places, places_of_filler * cuda::warp) * cuda::warp;
    with_number(asked_.image.type, [&]<class Value>(Value) { each_of(fillers, fill_lakes<Value>, keys(), there); });
    fetch(sums, to.get());
    for (std::size_t i = 0; i < end.size(); ++i) {
        lakes.cells.push_back(static_cast<std::int64_t>(sums[3 * i]));
        lakes.low.push_back(static_cast<std::int64_t>(sums[3 * i + 1]));
        lakes.high.push_back(static_cast<std::int64_t>(sums[3 * i + 2]));
    }
    return by;
}

}  // namespace nearfield::watersheds
