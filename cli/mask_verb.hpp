// Shared by the verbs that turn a mask into a mask, morphology and skeleton: checks, files, counts and words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {

/// One input and the mask made of it.
struct mask_run {
    loaded input;
    io::array result;
    std::int64_t before = 0, after = 0;  ///< number of cells that are not zero
};

/// 1 if a cell is not zero, else 0, as uint8.
[[nodiscard]] io::array ones_of(const io::array& image);

/// Reads the input of a verb that takes it as a mask, or as labels with --multilabel, and notes if it looks like a gray
/// image.
[[nodiscard]] loaded load_mask(const arguments& args);

/// Reads a further input, which must have the image's shape. Does not apply --threshold to it.
[[nodiscard]] io::array other_input(const std::string& path, const arguments& args, const io::array& image,
                                    const char* option);

/// Throws for outputs that exclude each other or cannot be written, before anything is read. True if stdout carries
/// data.
[[nodiscard]] bool check_mask_outputs(const arguments& args);

/// Allocates the result of a loaded run, after checking that it can be written and drawn.
void make_result(const arguments& args, mask_run& run, dtype type);

/// Counts cells, and turns a mask into 0 and 255, which every program shows.
void count_cells(mask_run& run, bool mask);

/// Writes -o and --picture. The picture of a mask shows what has changed; labels are in colours.
void save_mask(const arguments& args, const mask_run& run, bool mask);

/// The fields of the report that both verbs have.
[[nodiscard]] json_report start_mask_report(const arguments& args, const mask_run& run, const computed& done);

/// The files that a call has written, for the end of its line: " -> shape.npy, picture.png".
[[nodiscard]] std::string text_of_files(const arguments& args);

/// Runs a verb's work; rewrites its errors in terms of options.
void in_words_of_options(const std::function<void()>& work);

}  // namespace nearfield::cli
