// Connected components by propagation of labels along links, as published: the method to study beside label().
#pragma once

#include <cstdint>

#include "nearfield/label.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// What a round does, each part by itself or together with the others; at least one of `neighbours` and `links`.
struct propagation_options {
    bool neighbours = true;  ///< 1-gather: take the best label of the linked cells next to this one
    /// Max-gather: take the best label of the cells at the far end of the links. Far ends skip what lies between, so
    /// that without `neighbours` cells can be left out for ever; the call then throws.
    bool links = true;
    bool masters = true;  ///< then take the label that the cell addressed by one's own label (the master) has by now
    /// Write a better label into the master's cell as well, and into one's own at once: a logarithmic number of rounds
    /// where winding components otherwise need a linear one, but a number that depends on who comes first.
    bool hooked = false;
    int gather_length = 64;  ///< longest link, in cells, 1 to 65535; more than the longest side is no more than that
    /// 0: until nothing changes. Else that many at most, the last one, in which nothing changes, counted too.
    std::int64_t most_rounds = 0;
};

struct propagation_report {
    /// With the last one, in which nothing changed. The same on host and device, whatever the threads, unless `hooked`.
    std::int64_t rounds = 0;
    std::int64_t link_steps = 0;  ///< times that the links' reach was doubled: log2 of the gather length, rounded up
    std::int64_t components = 0;
    double seconds_links = 0;   ///< reading the image, first links and the doublings
    double seconds_rounds = 0;  ///< and the rounds; what is left numbers the components
};

/// label() by this method, for its labels alone: the same bits. Cells start with their own address, the index in C
/// order, as label; in every round each takes the smallest one that it is offered. So a component's labels end as the
/// address of its first cell, its master. (The text lets the largest win: the same with the image turned round.)
///
///   on       host: returns when done; `progress` hears of shares that are guessed. device: waits until the components
///            are counted, then orders the writing of the labels on the stream; it cannot be captured in a graph
///   image    1 to 3 axes besides channels, up to 2^31 - 2 cells, types and strides as for label()
///   out      uint16, int32, uint32, int64 or uint64, of the image's shape without channels; may not overlap it
///   options  criterion, connectivity, background and channels as for label(); open borders only, no filters, no batch,
///            no steps
///
/// Workspace, a cell: 8 bytes for labels (4 when `hooked`); for links a byte a direction, two where the gather length
/// is above 255, the number of directions rounded up to a multiple of four.
///
/// Throws nearfield::error as label() does, and where a limit on the rounds or the switches leave the labels unfinished
/// (invalid_argument; the message says after how many rounds). `out` is then not written.
///
/// Ziegler, Rasmusson, talk on connected components on the GPU, GPU Technology Conference, San Jose, 2010.
propagation_report label_by_propagation(const host& on, const any_input<host>& image, const any_output<host>& out,
                                        const label_options& options = {}, const propagation_options& propagation = {});
propagation_report label_by_propagation(const device& on, const any_input<device>& image, const any_output<device>& out,
                                        const label_options& options = {}, const propagation_options& propagation = {});

}  // namespace nearfield
