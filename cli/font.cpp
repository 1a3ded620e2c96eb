#include "cli/font.hpp"

#include <fmt/format.h>
#include <ft2build.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

constexpr double units = 64;  // FreeType's units of length in a pixel

struct closer {
    void operator()(FT_Library library) const { FT_Done_FreeType(library); }
    void operator()(FT_Face face) const { FT_Done_Face(face); }
};
using library_owner = std::unique_ptr<FT_LibraryRec_, closer>;
using face_owner = std::unique_ptr<FT_FaceRec_, closer>;

struct glyph {
    char32_t codepoint = 0;
    std::string text;  ///< UTF-8
    FT_UInt index = 0;
    std::int64_t left = 0, top = 0, width = 0, height = 0;  ///< its cell, relative to the pen; empty for a blank
    std::int64_t x = 0, y = 0;                              ///< place in the atlas
    double advance = 0;
};

/// Splits text into characters; `once`: drops repeated ones.
std::vector<glyph> characters_of(const std::string& text, bool once) {
    std::vector<glyph> made;
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const std::size_t count = first < 0x80       ? 1
                                  : first >> 5 == 6  ? 2
                                  : first >> 4 == 14 ? 3
                                  : first >> 3 == 30 ? 4
                                                     : 0;
        char32_t code = count == 1 ? first : count == 0 ? 0 : first & (0xffU >> (count + 1));
        bool valid = count > 0 && i + count <= text.size();
        for (std::size_t k = 1; valid && k < count; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            valid = next >> 6 == 2, code = code << 6 | (next & 63U);
        }
        if (!valid) refuse(fmt::format("--characters is not UTF-8 at byte {}; give UTF-8 text", i));
        const bool known =
            once && std::any_of(made.begin(), made.end(), [&](const glyph& g) { return g.codepoint == code; });
        if (!known && code >= 32) made.push_back({.codepoint = code, .text = text.substr(i, count)});
        i += count;
    }
    return made;
}

class drawing {
public:
    explicit drawing(const font_request& r) : request_(r), scale_(units * r.supersample) {
        FT_Library library = nullptr;
        if (FT_Init_FreeType(&library) != 0) throw error(error_code::out_of_memory, "FreeType could not start");
        library_.reset(library);
        FT_Face face = nullptr;
        if (FT_New_Face(library, r.path.c_str(), 0, &face) != 0)
            throw error(error_code::io, fmt::format("{} cannot be read as a font; give a .ttf or .otf file", r.path));
        face_.reset(face);
        if (!FT_IS_SCALABLE(face))
            throw error(error_code::io,
                        fmt::format("{} has no outlines; give a font with outlines, such as .ttf or .otf", r.path));
        if (FT_Set_Char_Size(face, 0, std::lround(r.size * scale_), 72, 72) != 0)
            refuse(
                fmt::format("--size {:g} at --supersample {} is larger than FreeType takes; make one of them smaller",
                            r.size, r.supersample));
    }

    glyph_atlas draw() {
        glyph_atlas made;
        std::vector<glyph> glyphs;
        for (glyph& each : characters_of(request_.characters, !request_.as_line)) {
            each.index = FT_Get_Char_Index(face_.get(), each.codepoint);
            if (each.index == 0) made.missing.push_back(each.text);
            else measure(each), glyphs.push_back(each);
        }
        const auto [width, height] = request_.as_line ? set_line(glyphs) : place(glyphs);
        made.coverage = io::make_array(dtype::uint8, {height * request_.supersample, width * request_.supersample});
        std::fill_n(made.coverage.data.get(), made.coverage.bytes(), std::byte{0});
        for (const glyph& each : glyphs) fill(each, made.coverage);
        made.metrics = metrics_of(glyphs, width, height);
        return made;
    }

private:
    void load(const glyph& g) {
        if (FT_Load_Glyph(face_.get(), g.index, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP) != 0)
            throw error(error_code::io, fmt::format("{}: the glyph of {} cannot be read", request_.path, g.text));
    }

    void measure(glyph& g) {
        load(g);
        const FT_GlyphSlot slot = face_->glyph;
        g.advance = static_cast<double>(slot->linearHoriAdvance) / 65536 / request_.supersample;
        if (slot->format != FT_GLYPH_FORMAT_OUTLINE || slot->outline.n_points == 0) return;
        FT_BBox box;
        FT_Outline_Get_CBox(&slot->outline, &box);
        const auto low = [&](FT_Pos at) { return std::llround(std::floor(static_cast<double>(at) / scale_)); };
        const auto high = [&](FT_Pos at) { return std::llround(std::ceil(static_cast<double>(at) / scale_)); };
        g.left = low(box.xMin) - request_.margin, g.top = high(box.yMax) + request_.margin;
        g.width = high(box.xMax) + request_.margin - g.left, g.height = g.top - (low(box.yMin) - request_.margin);
    }

    /// Places cells in rows, the highest first; the atlas becomes about square.
    static std::pair<std::int64_t, std::int64_t> place(std::vector<glyph>& glyphs) {
        std::vector<glyph*> order;
        std::int64_t area = 0, widest = 1;
        for (glyph& each : glyphs) {
            order.push_back(&each);
            area += each.width * each.height, widest = std::max(widest, each.width);
        }
        std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->height > b->height; });
        std::int64_t width = 1;
        while (width < widest || width * width < area) width *= 2;
        std::int64_t x = 0, y = 0, row = 0;
        for (glyph* each : order) {
            if (x + each->width > width) x = 0, y += row, row = 0;
            each->x = x, each->y = y;
            x += each->width, row = std::max(row, each->height);
        }
        return {width, std::max<std::int64_t>(y + row, 1)};
    }

    /// Places cells along a line of text, on one baseline.
    std::pair<std::int64_t, std::int64_t> set_line(std::vector<glyph>& glyphs) {
        double pen = 0;
        std::int64_t first = 0, last = 1, top = 0, bottom = 0;
        for (std::size_t k = 0; k < glyphs.size(); ++k) {
            glyph& g = glyphs[k];
            if (k > 0) pen += kerning(glyphs[k - 1], g);
            g.x = std::llround(pen) + g.left, pen += g.advance;
            if (g.width == 0) continue;
            first = std::min(first, g.x), last = std::max(last, g.x + g.width);
            top = std::max(top, g.top), bottom = std::min(bottom, g.top - g.height);
        }
        for (glyph& g : glyphs) g.x -= first, g.y = top - g.top;
        return {last - first, std::max<std::int64_t>(top - bottom, 1)};
    }

    [[nodiscard]] double kerning(const glyph& a, const glyph& b) const {
        FT_Vector by{};
        if (FT_HAS_KERNING(face_.get())) FT_Get_Kerning(face_.get(), a.index, b.index, FT_KERNING_UNFITTED, &by);
        return static_cast<double>(by.x) / scale_;
    }

    void fill(const glyph& g, io::array& image) {
        if (g.width == 0) return;
        load(g);
        FT_Outline& outline = face_->glyph->outline;
        FT_Outline_Translate(&outline, std::lround(-static_cast<double>(g.left) * scale_),
                             std::lround(-static_cast<double>(g.top - g.height) * scale_));
        const std::int64_t s = request_.supersample, columns = image.shape[1];
        std::vector<unsigned char> cells(static_cast<std::size_t>(g.width * s * g.height * s));
        FT_Bitmap bitmap{};
        bitmap.rows = static_cast<unsigned>(g.height * s), bitmap.width = static_cast<unsigned>(g.width * s);
        bitmap.pitch = static_cast<int>(g.width * s), bitmap.buffer = cells.data();
        bitmap.num_grays = 256, bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
        if (FT_Outline_Get_Bitmap(library_.get(), &outline, &bitmap) != 0)
            throw error(error_code::io, fmt::format("{}: the glyph of {} cannot be filled", request_.path, g.text));
        for (std::int64_t y = 0; y < g.height * s; ++y)
            for (std::int64_t x = 0; x < g.width * s; ++x) {
                std::byte& to = image.data[static_cast<std::size_t>((g.y * s + y) * columns + g.x * s + x)];
                to = std::max(to, std::byte{cells[static_cast<std::size_t>(y * g.width * s + x)]});  // they may overlap
            }
    }

    nlohmann::ordered_json metrics_of(const std::vector<glyph>& glyphs, std::int64_t width, std::int64_t height) {
        nlohmann::ordered_json said;
        const FT_Size_Metrics& lines = face_->size->metrics;
        said["font"] = std::string(face_->family_name != nullptr ? face_->family_name : "");
        said["style"] = std::string(face_->style_name != nullptr ? face_->style_name : "");
        said["size"] = request_.size, said["margin"] = request_.margin;
        said["ascender"] = static_cast<double>(lines.ascender) / scale_;
        said["descender"] = static_cast<double>(lines.descender) / scale_;
        said["line_height"] = static_cast<double>(lines.height) / scale_;
        said["atlas"] = {{"width", width}, {"height", height}};
        said["glyphs"] = nlohmann::ordered_json::array(), said["kerning"] = nlohmann::ordered_json::array();
        for (const glyph& g : glyphs)
            said["glyphs"].push_back({{"character", g.text},
                                      {"codepoint", static_cast<std::uint32_t>(g.codepoint)},
                                      {"x", g.x},
                                      {"y", g.y},
                                      {"width", g.width},
                                      {"height", g.height},
                                      {"left", g.left},
                                      {"top", g.top},
                                      {"advance", g.advance}});
        for (const glyph& a : glyphs)
            for (const glyph& b : glyphs)
                if (const double by = kerning(a, b); by != 0) said["kerning"].push_back({a.text, b.text, by});
        return said;
    }

    const font_request& request_;
    double scale_;  ///< FreeType's units in a pixel of the atlas
    library_owner library_;
    face_owner face_;
};

}  // namespace

glyph_atlas draw_glyphs(const font_request& request) { return drawing(request).draw(); }

}  // namespace nearfield::cli
