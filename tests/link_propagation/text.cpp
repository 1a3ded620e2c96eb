// The pseudo-code of the text, and its pictures.
#include <algorithm>

#include "link_propagation/call.hpp"
#include "oracle/components.hpp"

namespace nearfield::test {
namespace {

/// A binary image with its cells' neighbours.
class drawing {
public:
    explicit drawing(const label_call& c)
        : c_(c), steps_(oracle::steps_of(static_cast<int>(c.how.shape.size()), c.options.connectivity)) {}

    /// The cells that a cell reads in every round: in each direction its neighbour and the far end of its link.
    [[nodiscard]] std::vector<std::int64_t> asked_by(std::int64_t cell, const propagation_options& how) const {
        std::vector<std::int64_t> found;
        shape_t at(c_.how.shape.size());
        std::int64_t rest = cell;
        for (std::size_t axis = at.size(); axis-- > 0; rest /= c_.how.shape[axis]) at[axis] = rest % c_.how.shape[axis];
        if (index_of(at) < 0) return found;
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            if (steps_[step] == 0) continue;
            shape_t there = at;
            std::int64_t end = -1;
            for (int length = 1; length <= (how.links ? how.gather_length : 1); ++length) {
                const std::int64_t next = move(there, step);
                if (next < 0) break;
                if (length == 1 && how.neighbours) found.push_back(next);
                end = next;
            }
            if (end >= 0) found.push_back(end);
        }
        return found;
    }

private:
    /// The cell's number, or -1 if it is outside or background.
    [[nodiscard]] std::int64_t index_of(const shape_t& at) const {
        std::int64_t index = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            if (at[axis] < 0 || at[axis] >= c_.how.shape[axis]) return -1;
            index = index * c_.how.shape[axis] + at[axis];
        }
        return *c_.image.element(index) != std::byte{0} ? index : -1;
    }
    [[nodiscard]] std::int64_t move(shape_t& at, std::size_t step) const {
        for (std::size_t axis = at.size(); axis-- > 0; step /= 3) at[axis] += static_cast<std::int64_t>(step % 3) - 1;
        return index_of(at);
    }

    const label_call& c_;
    std::vector<std::uint8_t> steps_;
};

}  // namespace

std::int64_t rounds_of_the_text(const label_call& c, const propagation_options& how) {
    const drawing image(c);
    std::vector<std::int64_t> label;
    std::vector<std::vector<std::int64_t>> asked;
    for (std::int64_t cell = 0; cell < cells_of(c.how.shape); ++cell)
        label.push_back(cell), asked.push_back(image.asked_by(cell, how));
    const auto at = [](std::int64_t cell) { return static_cast<std::size_t>(cell); };
    for (std::int64_t round = 1;; ++round) {
        std::vector<std::int64_t> next = label;
        for (std::size_t cell = 0; cell < next.size(); ++cell) {
            for (const std::int64_t other : asked[cell]) next[cell] = std::min(next[cell], label[at(other)]);
            if (how.masters && at(next[cell]) != cell) next[cell] = std::min(next[cell], label[at(next[cell])]);
        }
        if (next == label) return round;
        label = next;
    }
}

flags_t hilbert_curve(std::int64_t side) {
    flags_t image(static_cast<std::size_t>(side * side), 0);
    const std::int64_t points = side / 2;
    std::int64_t before_x = 0, before_y = 0;
    for (std::int64_t d = 0; d < points * points; ++d) {
        std::int64_t x = 0, y = 0, rest = d;
        for (std::int64_t s = 1; s < points; s *= 2) {
            const std::int64_t right = rest / 2 % 2, down = (rest ^ right) % 2;
            if (down == 0) {
                if (right == 1) x = s - 1 - x, y = s - 1 - y;
                std::swap(x, y);
            }
            x += s * right, y += s * down, rest /= 4;
        }
        image[static_cast<std::size_t>(2 * y * side + 2 * x)] = 1;
        if (d > 0) image[static_cast<std::size_t>((y + before_y) * side + x + before_x)] = 1;
        before_x = x, before_y = y;
    }
    return image;
}

flags_t cross() { return {0, 1, 0, 1, 1, 1, 0, 1, 0}; }

}  // namespace nearfield::test
