// Connected components by propagation of labels along links, as published; for study. Use label() for work.
#pragma once

#include <cstdint>

#include "nearfield/label.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// The parts of a round, which can be combined; at least one of `neighbours` and `links` is required.
struct propagation_options {
    bool neighbours = true;  ///< 1-gather: take the best label of the linked cells next to this one
    /// Max-gather: take the best label of the cells at the far ends of the links. Far ends skip the cells between, so
    /// that without `neighbours` some cells may never be reached; the call then throws.
    bool links = true;
    bool masters = true;  ///< then take the current label of the cell addressed by one's own label (the master)
    /// Write a better label into the master's cell as well, and into one's own at once. Winding components then take a
    /// logarithmic instead of a linear number of rounds, but the number depends on the order of the threads.
    bool hooked = false;
    int gather_length = 64;  ///< longest link, in cells, 1 to 65535; values above the longest side act as that side
    /// 0: until nothing changes. Else the largest number of rounds, including the last, in which nothing changes.
    std::int64_t most_rounds = 0;
};

struct propagation_report {
    /// Includes the last round, in which nothing changed. Equal on host and device for any threads, unless `hooked`.
    std::int64_t rounds = 0;
    std::int64_t link_steps = 0;  ///< doublings of the links' reach: log2 of the gather length, rounded up
    std::int64_t components = 0;
    double seconds_links = 0;   ///< reading the image, the first links and the doublings
    double seconds_rounds = 0;  ///< the rounds; the remaining time numbers the components
};

/// Computes the labels of label(), bit for bit, by this method. A cell's first label is its own address, the index in C
/// order; in every round each cell takes the smallest label that it is offered. A component's labels so become the
/// address of its first cell, its master. (The publication lets the largest win: the same for the reversed image.)
///
///   on       host: returns when done; `progress` gets estimated shares. device: waits until the components are
///            counted, then orders the writing of the labels on the stream; it cannot be captured in a graph
///   image    1 to 3 axes besides channels, up to 2^31 - 2 cells, types and strides as for label()
///   out      uint16, int32, uint32, int64 or uint64, of the image's shape without channels; may not overlap it
///   options  criterion, connectivity, background and channels as for label(); open borders only, no filters, no batch,
///            no steps
///
/// Workspace, a cell: 8 bytes for labels (4 when `hooked`); for links a byte a direction, two if the gather length
/// exceeds 255, for a multiple of 4 directions. Time O(cells * directions) for each round and each doubling.
///
/// Throws nearfield::error as label() does, and if a limit on the rounds or the switches leave labels unfinished
/// (invalid_argument; the message says after how many rounds). `out` is then not written.
///
/// Ziegler, Rasmusson, talk on connected components on the GPU, GPU Technology Conference, San Jose, 2010.
propagation_report label_by_propagation(const host& on, const any_input<host>& image, const any_output<host>& out,
                                        const label_options& options = {}, const propagation_options& propagation = {});
propagation_report label_by_propagation(const device& on, const any_input<device>& image, const any_output<device>& out,
                                        const label_options& options = {}, const propagation_options& propagation = {});

}  // namespace nearfield
