// Font functions in a build without FreeType: they throw.
#include "cli/font.hpp"

namespace nearfield::cli {

glyph_atlas draw_glyphs(const font_request&) {
    throw error(
        error_code::unsupported,
        "--font needs FreeType, which this build has not; install libfreetype-dev and build again, or give an image");
}

}  // namespace nearfield::cli
