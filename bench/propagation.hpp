// Label propagation beside label(): the source text's table, the length of links, the switches; one list for host and
// device.
#pragma once

#include <string>
#include <vector>

#include "bench.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield::bench {

/// An image to label, made from its name: "regions" (of a Voronoi diagram, in six colours), "noise" (smooth, in
/// levels), "hilbert", "spiral", "atlas".
struct propagation_image {
    std::string name;
    shape_t shape;                     ///< without channels
    std::vector<std::uint8_t> values;  ///< three a cell where `colour`
    bool colour = false;
    bool binary = false;

    [[nodiscard]] label_options look(int connectivity) const;
    template <class Place>
    [[nodiscard]] any_input<Place> view(const void* memory) const {
        shape_t all = shape;
        if (colour) all.push_back(3);
        return any_input<Place>::contiguous(memory, dtype::uint8, all);
    }
};

/// `atlas` is a file of labels, or empty: then there is no such image, and the one returned has no values.
propagation_image propagation_picture(const std::string& name, const shape_t& shape, const std::string& atlas);

struct propagation_timing {
    double ms = 0;
    double ms_with_transfers = 0;  ///< on a device: image there and labels back, in page-locked memory
    double label_ms = 0;           ///< label() on the same image; 0 where there is none
    propagation_report report{};
};

/// Times one call; `extra` asks for transfers and label() as well.
class propagation_timer {
public:
    virtual ~propagation_timer() = default;
    virtual void take(const propagation_image& image) = 0;  ///< the image of the calls that follow
    virtual propagation_timing time(int connectivity, const propagation_options& how, bool extra) = 0;
};

struct propagation_row {
    std::string part;  ///< "text", "length" or "switches"
    std::string image;
    shape_t shape;
    int connectivity = 4;
    propagation_options how;
    int threads = 0;  ///< 0 on a device
    double published_ms = 0;
    propagation_timing took;
};

struct propagation_session {
    session head;
    std::vector<propagation_row> rows;
};

struct propagation_request {
    std::string atlas;
    bool quick = false;  ///< without the largest images
    int threads = 1;
};

/// All rows, by whatever times them.
void measure_propagation(propagation_session& s, const propagation_request& wanted, propagation_timer& by);
/// The GPU's part; throws nearfield::error where there is none.
propagation_session measure_propagation_on_device(const propagation_request& wanted);

}  // namespace nearfield::bench
