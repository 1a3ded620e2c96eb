// One call of the library as Python gives it: arrays, options, and where to run.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "edge/work.hpp"
#include "nearfield/plan.hpp"
#include "python/bind_array.hpp"

namespace nearfield::python {

/// An image and the outputs to fill for it.
struct item {
    const array* image = nullptr;
    std::array<const array*, 6> out{};  ///< distance, squared, index, coordinates, label, trusted; null: not wanted

    /// `outputs` is a tuple of arrays or None; both are kept alive by the caller.
    item(const array& image_, const nb::tuple& outputs);

    template <class Place>
    [[nodiscard]] job<Place> asked() const {
        const auto one = [this](std::size_t k) { return view_of<void, Place>(out[k]); };
        return {image->view<const void, Place>(), {one(0), one(1), one(2), one(3), one(4), one(5)}};
    }
};

struct call {
    std::vector<item> items;
    const array *weights = nullptr, *bounds = nullptr, *where = nullptr;
    cleared_fields cleared{};
    distance_options options{};

    /// `more` is a list of pairs of an image and its outputs; `where_` an array, and for each field whether cells that
    /// take no part lose what they held.
    call(const array& image, const nb::tuple& out, const distance_options& options_, const array* weights_ = nullptr,
         const nb::list& more = {}, const array* bounds_ = nullptr, const nb::tuple& where_ = {});

    [[nodiscard]] std::int64_t cells() const {
        std::int64_t sum = 0;
        for (const item& each : items) sum += each.image->cells();
        return sum;
    }
    template <class Place>
    [[nodiscard]] edge::work<Place> work() const {
        edge::work<Place> made{{}, view_of<const void, Place>(weights), options};
        made.bounds = view_of<const void, Place>(bounds);
        made.where = view_of<const void, Place>(where), made.cleared = cleared;
        for (const item& each : items) made.jobs.push_back(each.asked<Place>());
        return made;
    }
};

/// Translates the words of Python's keywords to the library's options. Throws invalid_argument for unknown words.
[[nodiscard]] distance_options options_of(const std::vector<double>& spacing, const std::string& sites,
                                          const std::string& sign, bool half_cell,
                                          const std::vector<std::string>& border, double max_distance, int batch_axes);

/// Ends a call of Python's that is planned: what would follow has no values to work on. Distances go on, because other
/// functions are made of several of them.
struct planned : std::exception {};
inline void end_plan() {
    if (planning()) throw planned{};
}

/// A call of the library on the CPU; it must pass its argument on as host::progress.
using watched_work = std::function<void(std::function<bool(double)>)>;

/// Does work on so many cells without the interpreter's lock. Where that is long, it is asked about 20 times a second
/// whether Python has a signal waiting (Ctrl-C), and `progress`, where it is not None, is told the share done; an
/// exception of either stops the work.
void run_watched(std::int64_t cells, const nb::object& progress, const watched_work& work);

/// Runs one call on the CPU, watching for signals.
void run_on_host(const call& what, int threads, const nb::object& progress);

/// Puts the work on `stream` of device `ordinal`; does not wait.
void run_on_stream(const call& what, int ordinal, std::uintptr_t stream);

/// Processes contiguous arrays of the host on device `ordinal`: copies, computes, copies back, and waits.
void run_staged(const call& what, int ordinal);

void bind_device(nb::module_& module);
void bind_centroidal(nb::module_& module);
void bind_chamfer(nb::module_& module);
void bind_chunks(nb::module_& module);
void bind_methods(nb::module_& module);
void bind_medial_axis(nb::module_& module);
void bind_metrics(nb::module_& module);
void bind_thickness(nb::module_& module);
void bind_skeleton(nb::module_& module);
void bind_sdf(nb::module_& module);
void bind_watershed(nb::module_& module);
void bind_geodesic(nb::module_& module);
void bind_jax(nb::module_& module);
void bind_fill(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_path(nb::module_& module);
void bind_rays(nb::module_& module);

}  // namespace nearfield::python
