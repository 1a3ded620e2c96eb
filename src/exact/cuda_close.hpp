// Images in which every cell has a site close by, in one kernel without workspace; and what tells the calls that find such images
// from the others.
#pragma once

#include "exact/cuda_call.hpp"

namespace nearfield::exact {

/// Does a call whose turn it is, whatever is near or far in its image; else returns false. The host cannot know what an image is
/// like without waiting for the device. It goes by what earlier images of this size were like, of which it hears without waiting;
/// a wrong guess costs time alone. Not while the stream records a graph, whose images may be others.
bool search_if_close(const device_call& call);

/// Whether the next call like this would go so, as far as the host has heard.
bool next_is_close(const plan& p);
/// Nothing is known of earlier images then.
void forget_close_images();

}  // namespace nearfield::exact
