// Calls with any options: a contiguous image, tiles where they serve, and rows and lines for everything else and for
// what tiles refuse. Compiled once for each kind of numbers.
#pragma once

#include "exact/cuda_options_tiles.hpp"
#include "exact/gpu/route/engine.cuh"

namespace nearfield::exact::gpu {

template <class V>
class general_call {
public:
    explicit general_call(const option_call& call)
        : on_(call.on), call_(call), p_(call.p), tiles_(call), memory_(call.on) {
        elements_.bytes = static_cast<int>(size_of(call_.image.type));
        elements_.floating = call_.image.type >= dtype::float16;
        if (call_.list.size() > 1)
            table_ = memory_.template reserve<item>(static_cast<std::int64_t>(call_.list.size()));
        if (copies_image())
            image_ = memory_.template reserve<std::byte>(p_.cells * (only_zeros() ? 1 : elements_.bytes));
        if (serves_tiles() && tiles_.may_refuse()) refused_ = memory_.template reserve<std::int32_t>(1);
    }

    [[nodiscard]] std::int64_t workspace_bytes() const {
        const std::int64_t tiles = serves_tiles() ? tiles_.bytes() : 0;
        return memory_.bytes() + std::max(tiles, needs_lines() ? line_engine<V>(call_, nullptr).workspace_bytes() : 0);
    }

    void solve() {
        memory_.allocate();
        point_items();
        if (serves_tiles()) solve_tiles();
        if (serves_tiles()) trace::note(on_, rung::tiles, blocks_for(p_.cells, 1024), open());
        if (needs_lines()) line_engine<V>(call_, open()).solve(elements_, items_);
    }

    void describe(call_plan& to) const {
        if (copies_image()) to.passes.push_back({-1, "copy of the image", blocks_for(p_.cells, 256), 256, 1});
        if (!serves_tiles()) return line_engine<V>(call_, nullptr).describe(to);
        tiles_.describe(to);
        if (!tiles_.put_fields()) {
            const line_shares shares(p_.size[static_cast<std::size_t>(p_.rank - 1)], p_.cells);
            to.passes.push_back({-1, "fields", blocks_for(shares.threads(), finish_threads),
                                 std::int64_t{finish_threads} * line_shares::cells_each, 1});
        }
        if (tiles_.may_refuse())
            to.passes.push_back({-1, "all again by searches, if values are too large", 1, p_.cells, 1});
    }

private:
    /// Values of 16 bits reach 181 cells of weight 1. Of images in other spacings they end so near that most are
    /// refused: 8192^2 in (2.5, 0.7) took 5.5 ms by tiles first, 1.4 by lines alone (H200, 2026-11-24).
    [[nodiscard]] bool serves_tiles() const {
        constexpr double most_weight = 8;
        double least = most_weight;
        for (int axis = p_.first_axis; axis < p_.rank; ++axis)
            least = std::min(least, p_.weight[static_cast<std::size_t>(axis)]);
        return tiles_.serve() && (least < most_weight || p_.rank - p_.first_axis > 2);
    }
    [[nodiscard]] bool needs_lines() const { return !serves_tiles() || tiles_.may_refuse(); }
    [[nodiscard]] bool only_zeros() const { return p_.by != classes::values; }
    [[nodiscard]] bool copies_image() const {
        if (p_.weighted) return false;
        return call_.list.size() > 1 || !is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank);
    }
    [[nodiscard]] std::int32_t* open() const {
        return serves_tiles() && tiles_.may_refuse() ? memory_.template get<std::int32_t>(refused_) : nullptr;
    }

    void point_items() {
        if (call_.list.size() > 1) {
            std::byte* const to = memory_.template get<std::byte>(table_);
            send_bytes(on_, call_.list.data(), static_cast<std::int64_t>(call_.list.size_bytes()), to);
            items_.table = reinterpret_cast<const item*>(to);
            items_.count = static_cast<std::int64_t>(call_.list.size());
        } else {
            items_.only = call_.list[0];
        }
        elements_.data = static_cast<const std::byte*>(call_.image.data);
        if (!copies_image()) return;
        grid_shape grid;
        grid.rank = p_.rank, grid.first_axis = p_.first_axis, grid.keys = p_.keys;
        std::copy_n(p_.size.begin(), p_.rank, grid.size);
        std::byte* const to = memory_.template get<std::byte>(image_);
        gather_images(on_, items_, grid, p_.cells, elements_, only_zeros(), to);
        elements_.data = to;
        if (only_zeros()) elements_.bytes = 1, elements_.floating = false;
    }

    void solve_tiles() const {
        cuda::workspace own(on_);
        const std::int64_t at = own.template reserve<std::byte>(tiles_.bytes());
        own.allocate();
        std::byte* const memory = own.template get<std::byte>(at);
        tiles_.solve(elements_, memory, open());
        if (!tiles_.put_fields()) finish_tiles(tiles_.states(memory));
        if (tiles_.may_refuse()) close_in_on_gate(on_);
    }

    void finish_tiles(const narrow_states& states) const {
        rules<V> by;
        by.m = p_.template as_metric<V>(), by.limit = p_.template bound<V>(p_.limit);
        grid_shape grid;
        grid.rank = p_.rank, grid.first_axis = p_.first_axis, grid.keys = p_.keys;
        std::copy_n(p_.size.begin(), p_.rank, grid.size);
        const auto how = finishing_of<V>(p_, grid, call_.image.type, call_.out);
        const line_shares shares(p_.size[static_cast<std::size_t>(p_.rank - 1)], p_.cells);
        launch_gated(on_, nullptr, finish<V, V, false, tiled_states<V>>, blocks_for(shares.threads(), finish_threads),
                     dim3(finish_threads), 0, by, how, items_, shares, tiled_states<V>{states, open()});
    }

    const device& on_;
    const option_call& call_;
    const plan& p_;
    option_tiles tiles_;
    cuda::workspace memory_;
    items items_;
    elements elements_;
    std::int64_t table_ = 0, image_ = 0, refused_ = 0;
};

template <class V>
std::int64_t serve_generally(const option_call& call) {
    general_call<V> general(call);
    if (call.described != nullptr) general.describe(*call.described);
    else general.solve();
    return general.workspace_bytes();
}

}  // namespace nearfield::exact::gpu
