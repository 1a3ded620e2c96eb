// The tables of label(): owns their memory, and writes them as CSV or JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/io.hpp"
#include "nearfield/components.hpp"

namespace nearfield::cli {

/// Description of lengths: the length of a cell along each axis, the unit if it is known, and whether rows number the
/// images of a batch.
struct measure {
    std::vector<double> per_axis;
    std::string unit;
    bool of_batch = false;
};

/// True if a text has only letters and digits, as a unit in a column's name must.
[[nodiscard]] bool is_plain_word(const std::string& text);

/// Receives a text in pieces.
using text_sink = std::function<void(std::string_view piece)>;

/// Columns with a row for each component. Cannot be copied, because the library keeps pointers into it.
class component_columns {
public:
    /// Makes room for `rows` rows. `axes` counts those of an image; `intensity` may be unwanted.
    component_tables<host> make(std::int64_t rows, int axes, const any_input<host>& intensity);

    /// Adds columns of shapes, one shape for each row. `square`: all axes have the same spacing.
    void add_shapes(std::vector<component_shape> shapes, bool square) {
        shapes_ = std::move(shapes), with_shapes_ = true, square_ = square;
    }

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t cells_of(std::int64_t row) const;

    /// Writes a header and one line for each row. Names are those of nearfield.ComponentTable; start and stop form a
    /// Python slice, and centroids count from the centre of the first cell. `images`: the number of components in each
    /// image of a batch.
    void csv(const measure& lengths, const std::vector<std::int64_t>& images, const text_sink& to) const;
    /// Writes a JSON array with an object for each component, one a line, with these names. Non-finite values are null.
    void json(const measure& lengths, const std::vector<std::int64_t>& images, const text_sink& to) const;

private:
    using value = std::variant<std::int64_t, std::uint64_t, double>;
    struct column {
        std::string name;
        std::function<value(std::int64_t row)> at;
    };
    [[nodiscard]] std::vector<column> columns(const measure& lengths, const std::vector<std::int64_t>& images) const;
    void add_intensities(std::vector<column>& made) const;
    void add_shapes(std::vector<column>& made, const std::string& suffix) const;

    std::int64_t rows_ = 0;
    int axes_ = 0;
    std::vector<component_shape> shapes_;
    bool with_shapes_ = false, square_ = true;
    io::array size_, box_, centroid_, border_, faces_, lowest_, highest_, sum_, mean_, variance_;
};

}  // namespace nearfield::cli
