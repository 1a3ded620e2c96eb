// Labels images of any cells by tiles: words of links first, then five launches. What other tiles serve goes there.
#include "label/cuda_links.cuh"
#include "label/cuda_links_bytes.cuh"
#include "label/cuda_tile_kept.cuh"
#include "label/cuda_tile_links.cuh"
#include "label/cuda_tile_run.cuh"

namespace nearfield::labelling {
namespace {

/// The same decisions about natural numbers in the order of the values; floating point as it is.
template <class Number, class T>
rule<Number> rule_of_numbers(const rule<T>& r) {
    if constexpr (std::is_floating_point_v<T>) return r;
    else
        return {r.kind,
                r.has_background,
                r.nan_background,
                r.norm,
                static_cast<Number>(statistics::key_of(r.background)),
                r.tolerance,
                r.tolerance2};
}

/// Words by strips of rows that one warp or thread goes down.
std::int64_t strips_of(const lattice<narrow_id>& g) {
    return std::int64_t{g.images} * g.size[0] * g.words * in_blocks(g.size[1], link_rows);
}

/// find(touches, words of a record, records) orders what writes the records.
template <class Find>
void run_records(const device_call<narrow_id>& call, const Find& find) {
    with_valued_tiling(call, [&]<class Tiling>(Tiling) {
        using touching = typename Tiling::touching;
        tile_run<Tiling>(call).solve([&](auto& run) {
            constexpr int size = link_record<touching>::size;
            cuda::workspace memory(call.on);
            const std::int64_t at = memory.reserve<word>(call.grid.all_words() * size);
            memory.allocate();
            find(touch_list::make<touching>(), size, memory.get<word>(at));
            const word* const records = memory.get<word>(at);
            run.start(unite_linked_tiles<Tiling>, Tiling::threads, records, run.store(), run.fresh());
            run.start(unite_linked_borders<Tiling>, border_items<Tiling>::threads, records, run.store());
        });
    });
}

/// find(kinds of slanted links, order of words, where they go) orders what finds the links.
template <class Find>
void run_kept(const device_call<narrow_id>& call, const Find& find) {
    with_valued_tiling(call, [&]<class Tiling>(Tiling) {
        tile_run<Tiling>(call).solve([&](auto& run) {
            constexpr int kinds = kinds_of<Tiling>();
            const std::int64_t words = std::int64_t{tile_place<Tiling>::all(call.grid)} * Tiling::threads;
            cuda::workspace memory(call.on);
            const std::int64_t records = memory.reserve<kept_record>(words);
            const std::int64_t flags = memory.reserve<std::uint16_t>(words);
            const std::int64_t slanted = memory.reserve<word>(words * kinds);
            memory.allocate();
            const link_store links{memory.get<kept_record>(records), memory.get<std::uint16_t>(flags),
                                   memory.get<word>(slanted), static_cast<std::uint32_t>(words)};
            find(kinds, tile_order::make<Tiling>(call.grid), links);
            run.start(unite_kept_tiles<Tiling>, Tiling::threads, links, run.store(), run.fresh());
            run.start(unite_kept_borders<Tiling>, Tiling::threads, links, run.store());
        });
    });
}

/// Of bytes that can be read 16 at a time.
template <class T>
void run_byte_links(const device_call<narrow_id>& call) {
    const auto decide = rule_of_numbers<std::uint8_t>(make_rule<T>(call.p.options));
    constexpr std::uint32_t any = std::numeric_limits<std::uint8_t>::max();  // whatever is foreground hangs together
    const byte_source from{static_cast<const std::uint8_t*>(call.image.data), decide.has_background, decide.background,
                           static_cast<std::uint8_t>(statistics::natural_zero<T>),
                           decide.kind == criterion::within && decide.tolerance < any
                               ? static_cast<std::uint32_t>(decide.tolerance)
                               : any};
    run_kept(call, [&](int kinds, const tile_order& order, const link_store& links) {
        const auto strips = byte_strips::make(call.grid);
        const auto start = [&](auto kernel) {
            cuda::launch_overlapped(call.on, kernel, strips.blocks(call.grid), byte_strips::threads, 0, call.grid, from,
                                    strips, kinds, order, links);
        };
        const bool deep = call.p.rank > 2;
        if (decide.kind == criterion::equal)
            start(deep ? find_byte_links<true, unequal_words> : find_byte_links<false, unequal_words>);
        else start(deep ? find_byte_links<true, distant_words> : find_byte_links<false, distant_words>);
    });
}

template <class T, int Channels, bool Within>
void run_pixel_links(const device_call<narrow_id>& call) {
    using number = std::conditional_t<std::is_floating_point_v<T>, T, statistics::bits_of<T>>;
    const problem& p = call.p;
    T zero{};
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) zero = std::numeric_limits<T>::lowest();
    pixel_source<number, Channels, Within> from(
        static_cast<const number*>(call.image.data), call.strides_of(call.image),
        rule_of_numbers<number>(make_rule<T>(p.options)), static_cast<number>(zero));
    if (p.colour) {
        from.channels = p.channels;
        from.channel_stride = call.image.stride[static_cast<std::size_t>(call.image.rank - 1)];
    }
    run_records(call, [&](const touch_list& touching, int, word* records) {
        const auto start = [&](auto kernel) {
            cuda::launch_overlapped(call.on, kernel, in_blocks(strips_of(call.grid), link_threads / cuda::warp),
                                    link_threads, 0, call.grid, from, touching, records);
        };
        if (p.rank > 2) start(find_links<true, number, Channels, Within>);
        else start(find_links<false, number, Channels, Within>);
    });
}

template <class T, int Channels>
void run_links(const device_call<narrow_id>& call) {
    if constexpr (sizeof(T) == 1 && Channels == 1)
        if (has_plain_bytes(call)) return run_byte_links<T>(call);
    if (call.p.options.criterion == criterion::within) return run_pixel_links<T, Channels, true>(call);
    run_pixel_links<T, Channels, false>(call);
}

}  // namespace

bool linked_tiles_serve(const device_call<narrow_id>& call) {
    return with_valued_tiling(call, [&]<class Tiling>(Tiling) { return fits_tiles<Tiling>(call.grid); });
}

void run_linked_tiles(const device_call<narrow_id>& call) {
    if (call.p.colour) {
        switch (call.image.type) {
            case dtype::uint8: return run_links<std::uint8_t, 4>(call);
            case dtype::uint16: return run_links<std::uint16_t, 4>(call);
            case dtype::float32: return run_links<float, 4>(call);
            default: return run_links<double, 4>(call);
        }
    }
    switch (call.image.type) {
        case dtype::int8: return run_links<std::int8_t, 1>(call);
        case dtype::int16: return run_links<std::int16_t, 1>(call);
        case dtype::uint16: return run_links<std::uint16_t, 1>(call);
        case dtype::int32: return run_links<std::int32_t, 1>(call);
        case dtype::uint32: return run_links<std::uint32_t, 1>(call);
        case dtype::int64: return run_links<std::int64_t, 1>(call);
        case dtype::uint64: return run_links<std::uint64_t, 1>(call);
        case dtype::float32: return run_links<float, 1>(call);
        case dtype::float64: return run_links<double, 1>(call);
        default: return run_links<std::uint8_t, 1>(call);
    }
}

}  // namespace nearfield::labelling
