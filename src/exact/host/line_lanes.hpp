// Vectors of squared distances, with or without sites, for the search along lines: one line per lane. To be included
// after "exact/host_lanes.hpp"; read once for each instruction set.

namespace nearfield::exact::HWY_NAMESPACE {

/// Numbers that min() compares: values, or values packed with their sites.
template <class T>
struct line_lanes {
    using lane = lane_of_number<T>;
    using tag_of = hn::CappedTag<lane, 64 / sizeof(lane)>;
    using row_tag_of = tag_of;
    using cells = hn::Vec<tag_of>;
    using values = cells;
    static constexpr tag_of tag{};
    static constexpr row_tag_of row_tag{};
    /// Rows that search together, with one test that is hard to predict for all. 192x256x256 with 16 bits, blocks of 4
    /// and 8: 13, 9 ms.
    static constexpr int block = 8;

    static HWY_INLINE cells load(const T* row, std::int64_t column) {
        return hn::LoadU(tag, reinterpret_cast<const lane*>(row) + column);
    }
    static HWY_INLINE void store(cells c, T* row, std::int64_t column) {
        hn::StoreU(c, tag, reinterpret_cast<lane*>(row) + column);
    }
    static HWY_INLINE values value(cells c) { return c; }
    static HWY_INLINE cells add(cells c, lane extra) {
        if constexpr (sizeof(lane) == 2) return hn::SaturatedAdd(c, hn::Set(tag, extra));
        else return hn::Add(c, hn::Set(tag, extra));
    }
    static HWY_INLINE cells nearer(cells a, cells b) { return hn::Min(a, b); }
    /// Returns the nearest of `best` and of two rows at the same cost.
    static HWY_INLINE cells relax(cells best, cells a, cells b, lane extra) {
        return nearer(best, add(nearer(a, b), extra));
    }
    static HWY_INLINE auto is_nearer(cells a, cells b) { return hn::Not(hn::Eq(hn::Max(a, b), a)); }
    static HWY_INLINE auto has_site(cells c) { return is_nearer(c, hn::Set(tag, number<T>::infinite)); }
    /// True if a row that adds `bound` or more can change no lane.
    static HWY_INLINE bool settled(values v, lane bound) {
        const auto most = hn::Set(tag, bound);
        return hn::AllTrue(tag, hn::Eq(hn::Max(v, most), most));
    }
};

/// Values with sites beside them: the sites decide between equal values.
template <class V>
struct line_lanes<wide_site<V>> {
    using lane = V;
    using tag_of = hn::CappedTag<V, 64 / sizeof(V)>;
    using row_tag_of = hn::Rebind<double, tag_of>;
    using site_tag_of = hn::Rebind<std::int64_t, tag_of>;
    using values = hn::Vec<tag_of>;
    struct cells {
        values value;
        hn::Vec<site_tag_of> site;
    };
    static constexpr tag_of tag{};
    static constexpr row_tag_of row_tag{};
    static constexpr site_tag_of site_tag{};
    static constexpr int block = 4;

    static HWY_INLINE cells load(const wide_site<V>* row, std::int64_t column) {
        return {hn::LoadU(tag, reinterpret_cast<const V*>(row) + column),
                hn::LoadU(site_tag, reinterpret_cast<const std::int64_t*>(row) + columns + column)};
    }
    static HWY_INLINE void store(const cells& c, wide_site<V>* row, std::int64_t column) {
        hn::StoreU(c.value, tag, reinterpret_cast<V*>(row) + column);
        hn::StoreU(c.site, site_tag, reinterpret_cast<std::int64_t*>(row) + columns + column);
    }
    static HWY_INLINE values value(const cells& c) { return c.value; }
    static HWY_INLINE cells add(const cells& c, V extra) { return {hn::Add(c.value, hn::Set(tag, extra)), c.site}; }
    static HWY_INLINE auto is_nearer(const cells& a, const cells& b) {
        const auto same = hn::RebindMask(site_tag, hn::Eq(a.value, b.value));
        const auto less = hn::RebindMask(site_tag, hn::Lt(a.value, b.value));
        return hn::RebindMask(row_tag, hn::Or(less, hn::And(same, hn::Lt(a.site, b.site))));
    }
    static HWY_INLINE cells nearer(const cells& a, const cells& b) {
        const auto first = is_nearer(a, b);
        return {hn::IfThenElse(hn::RebindMask(tag, first), a.value, b.value),
                hn::IfThenElse(hn::RebindMask(site_tag, first), a.site, b.site)};
    }
    /// Values of a and b may differ and be equal after adding and rounding: sites are then compared.
    static HWY_INLINE cells relax(const cells& best, const cells& a, const cells& b, V extra) {
        return nearer(add(b, extra), nearer(add(a, extra), best));
    }
    static HWY_INLINE auto has_site(const cells& c) {
        return hn::RebindMask(row_tag, hn::Lt(c.value, hn::Set(tag, number<V>::infinite)));
    }
    /// At equality a row of a smaller site may still win.
    static HWY_INLINE bool settled(values v, V bound) { return hn::AllTrue(tag, hn::Lt(v, hn::Set(tag, bound))); }

private:
    static constexpr int columns = number<wide_site<V>>::columns;
};

}  // namespace nearfield::exact::HWY_NAMESPACE
