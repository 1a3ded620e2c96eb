#include "cli/font.hpp"

#include <fmt/format.h>
#include <ft2build.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "cli/outlines.hpp"
#include FT_FREETYPE_H
#include FT_OUTLINE_H

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

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
    explicit drawing(const font_request& r) : request_(r) {
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
        scale_ = r.size / face->units_per_EM;
    }

    glyph_atlas draw() {
        glyph_atlas made;
        std::vector<glyph> glyphs;
        for (glyph& each : characters_of(request_.characters, !request_.as_line)) {
            each.index = FT_Get_Char_Index(face_.get(), each.codepoint);
            if (each.index == 0) made.missing.push_back(each.text);
            else measure(each), glyphs.push_back(each);
        }
        const auto [height, width] = request_.as_line ? set_line(glyphs) : place_cells(glyphs);
        made.field = io::make_array(dtype::float32, {height, width});
        auto* const field = reinterpret_cast<float*>(made.field.data.get());
        std::fill_n(field, height * width, -std::numeric_limits<float>::infinity());
        outlines line;
        for (const glyph& each : glyphs) {
            if (each.width == 0) continue;
            outlines own;
            add(each, request_.as_line ? line : own);
            if (!request_.as_line) own.write(field + each.y * width + each.x, each.height, each.width, width);
        }
        if (request_.as_line) line.write(field, height, width, width, request_.down, request_.across);
        made.metrics = metrics_of(glyphs, width, height);
        return made;
    }

private:
    void load(const glyph& g) {
        if (FT_Load_Glyph(face_.get(), g.index, FT_LOAD_NO_SCALE) != 0)
            throw error(error_code::io, fmt::format("{}: the glyph of {} cannot be read", request_.path, g.text));
    }

    void measure(glyph& g) {
        load(g);
        const FT_GlyphSlot slot = face_->glyph;
        g.advance = static_cast<double>(slot->metrics.horiAdvance) * scale_;
        if (slot->format != FT_GLYPH_FORMAT_OUTLINE || slot->outline.n_points == 0) return;
        FT_BBox box;
        FT_Outline_Get_CBox(&slot->outline, &box);
        const auto low = [&](FT_Pos at) { return std::llround(std::floor(static_cast<double>(at) * scale_)); };
        const auto high = [&](FT_Pos at) { return std::llround(std::ceil(static_cast<double>(at) * scale_)); };
        g.left = low(box.xMin) - request_.margin, g.top = high(box.yMax) + request_.margin;
        g.width = high(box.xMax) + request_.margin - g.left, g.height = g.top - (low(box.yMin) - request_.margin);
    }

    /// Places cells in rows, the highest first; the atlas becomes about square. Returns its height and width.
    static std::pair<std::int64_t, std::int64_t> place_cells(std::vector<glyph>& glyphs) {
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
        return {std::max<std::int64_t>(y + row, 1), width};
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
        return {std::max<std::int64_t>(top - bottom, 1), last - first};
    }

    [[nodiscard]] double kerning(const glyph& a, const glyph& b) const {
        FT_Vector by{};
        if (FT_HAS_KERNING(face_.get())) FT_Get_Kerning(face_.get(), a.index, b.index, FT_KERNING_UNSCALED, &by);
        return static_cast<double>(by.x) * scale_;
    }

    /// Adds the outlines of a glyph at the place of its cell, or relative to it in an atlas.
    void add(const glyph& g, outlines& to) {
        load(g);
        struct pen {
            outlines& to;
            double y, x, scale;
            [[nodiscard]] place at(const FT_Vector* v) const {
                return {y - static_cast<double>(v->y) * scale, x + static_cast<double>(v->x) * scale};
            }
        };
        pen with{to, static_cast<double>(g.top + (request_.as_line ? g.y : 0)) - 0.5,
                 static_cast<double>((request_.as_line ? g.x : 0) - g.left) - 0.5, scale_};
        static constexpr auto of = [](void* user) -> const pen& { return *static_cast<pen*>(user); };
        FT_Outline_Funcs draw{};
        draw.move_to = [](const FT_Vector* a, void* p) { return of(p).to.begin(of(p).at(a)), 0; };
        draw.line_to = [](const FT_Vector* a, void* p) { return of(p).to.line(of(p).at(a)), 0; };
        draw.conic_to = [](const FT_Vector* a, const FT_Vector* b, void* p) {
            return of(p).to.curve(of(p).at(a), of(p).at(b)), 0;
        };
        draw.cubic_to = [](const FT_Vector* a, const FT_Vector* b, const FT_Vector* c, void* p) {
            return of(p).to.curve(of(p).at(a), of(p).at(b), of(p).at(c)), 0;
        };
        if (FT_Outline_Decompose(&face_->glyph->outline, &draw, &with) != 0)
            throw error(error_code::io, fmt::format("{}: the glyph of {} has no valid outline", request_.path, g.text));
    }

    nlohmann::ordered_json metrics_of(const std::vector<glyph>& glyphs, std::int64_t width, std::int64_t height) {
        nlohmann::ordered_json said;
        said["font"] = std::string(face_->family_name != nullptr ? face_->family_name : "");
        said["style"] = std::string(face_->style_name != nullptr ? face_->style_name : "");
        said["size"] = request_.size, said["margin"] = request_.margin;
        said["ascender"] = face_->ascender * scale_;
        said["descender"] = face_->descender * scale_;
        said["line_height"] = face_->height * scale_;
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
    double scale_ = 1;  ///< pixels in a unit of the font
    library_owner library_;
    face_owner face_;
};

}  // namespace

glyph_atlas draw_glyphs(const font_request& request) { return drawing(request).draw(); }

}  // namespace nearfield::cli
