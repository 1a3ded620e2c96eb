#include "exact/gpu/route/sides.hpp"

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int join_threads = 256;
constexpr int join_cells = 4;  // of a thread

template <class T>
__global__ void __launch_bounds__(join_threads)
    join_both_sides(T* to, const T* other, std::int64_t cells, T sign, T other_sign) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * join_threads * join_cells + threadIdx.x;
    T one[join_cells], two[join_cells];
#pragma unroll
    for (int k = 0; k < join_cells; ++k) {
        const std::int64_t cell = first + k * join_threads;
        if (cell < cells) one[k] = to[cell], two[k] = other[cell];
    }
#pragma unroll
    for (int k = 0; k < join_cells; ++k) {
        const std::int64_t cell = first + k * join_threads;
        if (cell < cells) to[cell] = one[k] > 0 ? sign * one[k] : other_sign * two[k];
    }
}

}  // namespace

both_sides::both_sides(const device& on, const plan& p, const arrays<device>& a) : on_(on), memory_(on) {
    for (std::size_t side = 0; side < 2; ++side) {
        plan& mine = plans_[side];
        mine = p;
        mine.by = classes::none, mine.rule = side == 0 ? sites::zero : sites::nonzero;
        mine.inside_sign = mine.outside_sign = 1;
        out_[side].distance = a.out.distance;
    }
    serve_ = could_serve(p, a);
    if (!serve_) return;
    sign_[0] = p.inside_is_nonzero ? p.inside_sign : p.outside_sign;
    sign_[1] = p.inside_is_nonzero ? p.outside_sign : p.inside_sign;
    other_ = memory_.reserve<std::byte>(p.cells * size_of(a.out.distance.type));
}

bool both_sides::could_serve(const plan& p, const arrays<device>& a) const {
    const fields<device>& out = a.out;
    const bool alone = out.distance.wanted() && !out.squared.wanted() && !out.index.wanted() &&
                       !out.coordinates.wanted() && !out.label.wanted() && !out.trusted.wanted();
    return alone && p.is_signed() && p.by == classes::zero && !p.background && p.rank - p.first_axis == 2 &&
           p.plain_outputs && plans_[0].plain() && serves_plainly(plans_[0]) &&
           is_contiguous(p.size.data(), p.image_stride.data(), p.rank) &&
           has_contiguous_fields(p, item_for(p, a.image, a.out));
}

void both_sides::begin() {
    memory_.allocate();
    out_[1].distance.data = memory_.get<std::byte>(other_);
}

void both_sides::join() const {
    const std::int64_t cells = plans_[0].cells;
    const auto launch = [&]<class T>(T* to) {
        cuda::launch(on_, join_both_sides<T>, blocks_for(cells, std::int64_t{join_threads} * join_cells),
                     dim3(join_threads), 0, to, static_cast<const T*>(out_[1].distance.data), cells,
                     static_cast<T>(sign_[0]), static_cast<T>(sign_[1]));
    };
    void* const to = out_[0].distance.data;
    if (out_[0].distance.type == dtype::float32) launch(static_cast<float*>(to));
    else launch(static_cast<double*>(to));
}

}  // namespace nearfield::exact::gpu
