// Calls with any options: a contiguous image, then rows and lines. For every number type.
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/route/engine.cuh"

namespace nearfield::exact::gpu {

namespace {

template <class V>
class general_call {
public:
    explicit general_call(const option_call& call) : on_(call.on), call_(call), p_(call.p), memory_(call.on) {
        elements_.bytes = static_cast<int>(size_of(call_.image.type));
        elements_.floating = call_.image.type >= dtype::float16;
        if (call_.list.size() > 1)
            table_ = memory_.template reserve<item>(static_cast<std::int64_t>(call_.list.size()));
        if (copies_image())
            image_ = memory_.template reserve<std::byte>(p_.cells * (only_zeros() ? 1 : elements_.bytes));
    }

    [[nodiscard]] std::int64_t workspace_bytes() const {
        return memory_.bytes() + line_engine<V>(call_).workspace_bytes();
    }

    void solve() {
        memory_.allocate();
        point_items();
        line_engine<V>(call_).solve(elements_, items_);
    }

    void describe(call_plan& to) const {
        if (copies_image()) to.passes.push_back({-1, "copy of the image", blocks_for(p_.cells, 256), 256, 1});
        line_engine<V>(call_).describe(to);
    }

private:
    [[nodiscard]] bool only_zeros() const { return p_.by != classes::values; }
    [[nodiscard]] bool copies_image() const {
        if (p_.weighted) return false;
        return call_.list.size() > 1 || !is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank);
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

    const device& on_;
    const option_call& call_;
    const plan& p_;
    cuda::workspace memory_;
    items items_;
    elements elements_;
    std::int64_t table_ = 0, image_ = 0;
};

template <class V>
std::int64_t serve_generally(const option_call& call) {
    general_call<V> general(call);
    if (call.described != nullptr) general.describe(*call.described);
    else general.solve();
    return general.workspace_bytes();
}

}  // namespace
}  // namespace nearfield::exact::gpu

namespace nearfield::exact {

std::int64_t options_int32(const option_call& call) { return gpu::serve_generally<std::int32_t>(call); }
std::int64_t options_int64(const option_call& call) { return gpu::serve_generally<std::int64_t>(call); }
std::int64_t options_float64(const option_call& call) { return gpu::serve_generally<double>(call); }

}  // namespace nearfield::exact
