// What `bench_all components` times on every place: tables, lists, numbers and contacts of one label image.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "nearfield/components.hpp"

namespace nearfield::bench {

struct component_request {
    std::vector<shape_t> shapes;
    std::vector<int> grains;  ///< sides of the blocks that are foreground or not, by half; 0: one label on all cells
    std::vector<int> threads;
};

/// Labels of a generated image, by 4 or 6 neighbours, and how many there are.
struct label_data {
    std::string name;
    shape_t shape;
    std::vector<std::int32_t> labels;
    std::int64_t count = 0;
    double density = 1;  ///< share of the cells that have a label
};
label_data make_label_data(const shape_t& shape, int grain);

/// The arrays of one image on a place; `allocate` gives memory there that lives as long as the caller's.
template <class Place>
class component_calls {
public:
    using allocator = std::function<void*(std::int64_t bytes)>;

    component_calls(const label_data& data, const allocator& allocate) : shape_(data.shape), rows_(data.count) {
        const std::int64_t cells = cells_of(shape_), axes = static_cast<std::int64_t>(shape_.size());
        labels_ = array(allocate, dtype::int32, shape_);
        bytes_ = array(allocate, dtype::uint8, shape_), reals_ = array(allocate, dtype::float32, shape_);
        shape_tables_.size = array(allocate, dtype::int64, {rows_});
        shape_tables_.box = array(allocate, dtype::int64, {rows_, 2, axes});
        shape_tables_.centroid = array(allocate, dtype::float64, {rows_, axes});
        shape_tables_.border = array(allocate, dtype::uint8, {rows_});
        face_tables_.faces = array(allocate, dtype::int64, {rows_});
        byte_tables_ = value_tables(allocate, bytes_), real_tables_ = value_tables(allocate, reals_);
        offsets_ = array(allocate, dtype::int64, {rows_ + 1});
        entries_ = array(allocate, dtype::int32, {cells}), runs_ = array(allocate, dtype::int32, {cells, 2});
        numbers_ = array(allocate, dtype::int32, shape_);
    }
    [[nodiscard]] void* labels() const { return labels_.data; }
    [[nodiscard]] void* bytes() const { return bytes_.data; }
    [[nodiscard]] void* reals() const { return reals_.data; }

    using call = std::pair<std::string, std::function<void(const Place&)>>;
    /// Calls by name; those of lists come after the one that makes their offsets.
    [[nodiscard]] std::vector<call> all() const {
        const auto measure = [this](const component_tables<Place>& tables) {
            return [this, &tables](const Place& on) { component_statistics(on, labels_, tables); };
        };
        const auto list = [this](list_of what) {
            return [this, what](const Place& on) {
                label_list_offsets(on, labels_, offsets_, what);
                label_lists(on, labels_, offsets_, what == list_of::cells ? entries_ : runs_, what);
            };
        };
        return {{"shape", measure(shape_tables_)},
                {"faces", measure(face_tables_)},
                {"uint8 values", measure(byte_tables_)},
                {"float32 values", measure(real_tables_)},
                {"offsets", [this](const Place& on) { label_list_offsets(on, labels_, offsets_); }},
                {"lists of cells", list(list_of::cells)},
                {"lists of runs", list(list_of::runs)},
                {"relabel", [this](const Place& on) { relabel(on, labels_, numbers_); }},
                {"contacts", [this](const Place& on) { static_cast<void>(contacts(on, labels_)); }}};
    }

private:
    static any_output<Place> array(const allocator& allocate, dtype type, const shape_t& shape) {
        return any_output<Place>::contiguous(allocate(cells_of(shape) * size_of(type)), type, shape);
    }
    component_tables<Place> value_tables(const allocator& allocate, const any_output<Place>& values) const {
        component_tables<Place> t;
        t.intensity = values;
        t.lowest = array(allocate, values.type, {rows_}), t.highest = array(allocate, values.type, {rows_});
        t.sum = array(allocate, dtype::float64, {rows_}), t.mean = array(allocate, dtype::float64, {rows_});
        t.variance = array(allocate, dtype::float64, {rows_});
        return t;
    }

    shape_t shape_;
    std::int64_t rows_;
    any_output<Place> labels_, bytes_, reals_, offsets_, entries_, runs_, numbers_;
    component_tables<Place> shape_tables_, face_tables_, byte_tables_, real_tables_;
};

/// Values to measure: the same on every place.
std::vector<std::uint8_t> byte_values(std::int64_t cells);
std::vector<float> real_values(std::int64_t cells);

/// The GPU's part; throws nearfield::error where there is none.
session measure_components_on_device(const component_request& wanted);

}  // namespace nearfield::bench
