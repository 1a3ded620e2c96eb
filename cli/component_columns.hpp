// The tables of label() in memory of their own, and as CSV or JSON.
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

/// How lengths read: one per axis of an image, and their unit where it is known; and whether images of a batch are
/// numbered.
struct measure {
    std::vector<double> per_axis;
    std::string unit;
    bool of_batch = false;
};

/// Letters and digits alone, which is what a unit in a column's name has to be.
[[nodiscard]] bool is_plain_word(const std::string& text);

/// Takes a text in pieces.
using text_sink = std::function<void(std::string_view piece)>;

/// A row for each component. Not copied: what the library fills points into it.
class component_columns {
public:
    /// Makes room for so many rows; `axes` are those of an image, `intensity` may be unwanted.
    component_tables<host> make(std::int64_t rows, int axes, const any_input<host>& intensity);

    /// Adds columns of shapes, one for each row; `square`: the axes have one spacing.
    void add_shapes(std::vector<component_shape> shapes, bool square) {
        shapes_ = std::move(shapes), with_shapes_ = true, square_ = square;
    }

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t cells_of(std::int64_t row) const;

    /// Names of the columns and one row of them; start and stop are a Python slice, centroids count from the centre of
    /// the first cell, the names are those of nearfield.ComponentTable. `images`: how many components each image of a
    /// batch has.
    void csv(const measure& lengths, const std::vector<std::int64_t>& images, const text_sink& to) const;
    /// A JSON array with an object for each component, one a line, of the same names. What is not finite is null.
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
