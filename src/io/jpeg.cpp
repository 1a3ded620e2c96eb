// JPEG by libjpeg: gray or RGB of 8 bits.
//
// libjpeg's error callback may not return, so no object with a destructor lives between setjmp and libjpeg's frames.
#include <cstdio>

#include <fmt/format.h>
#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

/// Bound of samples per byte: a block of 8x8 pixels takes at least two bits, in a progressive scan at least one.
constexpr std::int64_t most_samples_a_byte = 2048;
constexpr int most_scans = 400;  // each scan visits the whole picture

struct jpeg_reader {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf out{};
    char message[JMSG_LENGTH_MAX] = "";

    jpeg_reader() {
        info.err = jpeg_std_error(&errors);
        info.client_data = this;
        errors.error_exit = [](j_common_ptr of) { self(of).leave(); };
        // libjpeg fills missing data with gray and only warns, so these warnings count as errors.
        errors.emit_message = [](j_common_ptr of, int level) {
            const int code = of->err->msg_code;
            if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
                self(of).leave();
        };
        errors.output_message = [](j_common_ptr) {};
        progress.progress_monitor = [](j_common_ptr of) {
            jpeg_reader& r = self(of);
            if (r.info.input_scan_number > most_scans) r.leave();
        };
    }
    ~jpeg_reader() { jpeg_destroy_decompress(&info); }
    jpeg_reader(const jpeg_reader&) = delete;
    jpeg_reader& operator=(const jpeg_reader&) = delete;

    static jpeg_reader& self(j_common_ptr of) { return *static_cast<jpeg_reader*>(of->client_data); }
    [[noreturn]] void leave() {
        errors.format_message(reinterpret_cast<j_common_ptr>(&info), message);
        std::longjmp(out, 1);
    }
    /// Runs `step` and turns libjpeg's errors into an exception.
    template <class Step>
    void guarded(const std::string& name, const Step& step) {
        if (setjmp(out) == 0) {
            step();
            return;
        }
        throw bad_file(name, fmt::format("bad JPEG: {}", message));
    }
};

}  // namespace

array read_jpeg(const source& from, const read_limits& limits) {
    const std::int64_t size = from.size();
    if (size > limits.max_bytes) throw bad_file(from.name(), fmt::format("has {} bytes, more than the limit", size));
    std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
    plain_stream(from).exact(bytes.data(), bytes.size(), "the picture");
    jpeg_reader r;
    r.guarded(from.name(), [&] {
        jpeg_create_decompress(&r.info);
        r.info.progress = &r.progress;
        jpeg_mem_src(&r.info, bytes.data(), static_cast<unsigned long>(bytes.size()));
        jpeg_read_header(&r.info, TRUE);
        r.info.out_color_space = r.info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    });
    if (r.info.num_components != 1 && r.info.num_components != 3)
        throw bad_file(from.name(), "is a JPEG of four inks; convert it to RGB");
    const auto samples = static_cast<std::int64_t>(r.info.num_components);
    std::vector<std::int64_t> shape{r.info.image_height, r.info.image_width};
    if (samples > 1) shape.push_back(samples);
    array values = claimed_array(from.name(), dtype::uint8, shape, limits, size * most_samples_a_byte);
    values.color = samples > 1;
    auto* const to = reinterpret_cast<unsigned char*>(values.data.get());
    const std::size_t row_bytes = r.info.image_width * static_cast<std::size_t>(samples);
    r.guarded(from.name(), [&] {
        jpeg_start_decompress(&r.info);
        while (r.info.output_scanline < r.info.output_height) {
            JSAMPROW row = to + r.info.output_scanline * row_bytes;
            jpeg_read_scanlines(&r.info, &row, 1);
        }
        jpeg_finish_decompress(&r.info);
    });
    return values;
}

}  // namespace nearfield::io
