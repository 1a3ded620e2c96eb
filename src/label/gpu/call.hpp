// One call on the device, in the form in which separately compiled files pass it on.
#pragma once

#include <vector>

#include "label/checks.hpp"
#include "label/core.hpp"
#include "label/gpu/labels_out.cuh"

namespace nearfield::labelling {

using narrow_id = std::uint32_t;
using wide_id = unsigned long long;

/// Reads the number of components before each image; waits for the device.
std::vector<std::int64_t> read_base(const device& on, const problem& p, const std::int64_t* base);

/// A checked call on an image that has cells, with its axes in the lattice's order.
template <class Id>
struct device_call {
    const device& on;
    const problem& p;
    const any_input<device>& image;
    const label_fields<device>& out;
    lattice<Id> grid;
    std::int64_t* base =
        nullptr;  ///< receives the number of components before each image (images + 1); null: not wanted

    /// Returns the strides of an array that has the image's axes.
    template <class View>
    [[nodiscard]] strides strides_of(const View& v) const {
        strides s{};
        s.batch_axes = p.batch_axes;
        for (int axis = 0; axis < p.batch_axes; ++axis) {
            s.image_size[axis] = v.shape[static_cast<std::size_t>(axis)];
            s.image_stride[axis] = v.stride[static_cast<std::size_t>(axis)];
        }
        for (int axis = 0; axis < p.rank; ++axis)
            s.along[3 - p.rank + axis] = v.stride[static_cast<std::size_t>(p.batch_axes + axis)];
        return s;
    }
    [[nodiscard]] bool binary() const { return p.options.criterion == criterion::nonzero; }

    /// Throws if the label type is too narrow; waits if it could be. `base` has the components before each image.
    void check_label(const std::int64_t* base) const {
        if (!out.label.wanted() || most_components(p) <= largest_label(out.label.type)) return;
        const std::vector<std::int64_t> all = read_base(on, p, base);
        for (std::size_t i = 1; i < all.size(); ++i) check_number(out.label.type, all[i] - all[i - 1]);
    }

    /// Calls write(target, quads) with the label array; quads says whether four labels can be stored at once.
    template <class Write>
    void with_label(const any_output<device>& label, const Write& write) const {
        switch (label.type) {
            case dtype::uint16: return choose_quads<std::uint16_t>(label, write);
            case dtype::int32:
            case dtype::uint32: return choose_quads<std::uint32_t>(label, write);
            default: return choose_quads<std::uint64_t>(label, write);
        }
    }

private:
    template <class Label, class Write>
    void choose_quads(const any_output<device>& label, const Write& write) const {
        const label_target<Label> to{static_cast<Label*>(label.data), strides_of(label)};
        const strides& at = to.at;
        bool even = at.along[2] == 1 && grid.size[2] % 4 == 0 && at.along[0] % 4 == 0 && at.along[1] % 4 == 0 &&
                    reinterpret_cast<std::uintptr_t>(to.data) % sizeof(four_labels<Label>) == 0;
        for (int axis = 0; axis < at.batch_axes; ++axis) even = even && at.image_stride[axis] % 4 == 0;
        if (even) write(to, std::true_type{});
        else write(to, std::false_type{});
    }
};

/// True if tiles can read the cells as bytes, 16 at a time.
inline bool has_plain_bytes(const device_call<narrow_id>& call) {
    const any_input<device>& v = call.image;
    std::int64_t step = 1;
    for (int axis = v.rank - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (v.stride[a] != step && v.shape[a] > 1) return false;
        step *= v.shape[a];
    }
    return size_of(v.type) == 1 && !call.p.colour && call.grid.size[2] % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
}

/// Writes the number of components of each image; zeros if `base` is null.
void put_counts(const device& on, std::int64_t images, const std::int64_t* base, const any_output<device>& count);

/// Writes the words of foreground bits, for any element type.
void mark_foreground(const device_call<narrow_id>& call, word* foreground);

/// Labels images of any kind with nodes in device memory.
template <class Id>
void run_cells(const device_call<Id>& call);

/// True if run_tiles() supports the call; it is much faster.
bool tiles_serve(const device_call<narrow_id>& call);
void run_tiles(const device_call<narrow_id>& call);

/// True if tiles compute the tables from bits and nodes instead of from labels. `mask`: tiles_serve() holds, so that
/// adjacent foreground cells always belong to one component.
bool tiles_measure(bool mask, const component_tables<device>& tables);

/// True if run_linked_tiles() supports the call: other images, whose links are found first and stored as words.
bool linked_tiles_serve(const device_call<narrow_id>& call);
void run_linked_tiles(const device_call<narrow_id>& call);

}  // namespace nearfield::labelling
