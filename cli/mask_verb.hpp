// What the verbs share that make a mask of a mask, morphology and skeleton: checks, files, counts and words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {

/// One input and what is made of it.
struct mask_run {
    loaded input;
    io::array result;
    std::int64_t before = 0, after = 0;  ///< cells that are not zero
};

/// 1 where a cell is not zero, uint8.
[[nodiscard]] io::array ones_of(const io::array& image);

/// The array of a further input by the option, which has the image's shape; --threshold is not for it.
[[nodiscard]] io::array other_input(const std::string& path, const arguments& args, const io::array& image,
                                    const char* option);

/// Throws for outputs that do not go together or cannot be written, before anything is read. True when stdout carries
/// data.
[[nodiscard]] bool check_mask_outputs(const arguments& args);

/// Makes the result of a run whose input is loaded, once it can be written and drawn.
void make_result(const arguments& args, mask_run& run, dtype type);

/// Counts cells; a mask becomes 0 and 255, so that every program shows it.
void count_cells(mask_run& run, bool mask);

/// Writes -o and --picture: of masks what has changed, labels in colours.
void save_mask(const arguments& args, const mask_run& run, bool mask);

/// The report's fields that both verbs have.
[[nodiscard]] json_report start_mask_report(const arguments& args, const mask_run& run, const computed& done);

/// Runs a verb's work; its errors speak of options.
void in_words_of_options(const std::function<void()>& work);

}  // namespace nearfield::cli
