// Calls of label_by_propagation() for every backend, and the sets of images and switches that all of them run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "label/call.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield::test {

/// Fills label and count of the call.
using propagation_engine = std::function<propagation_report(label_call&, const propagation_options&)>;
propagation_report propagate_on_host(label_call& c, const propagation_options& how);

/// check() of label/call.hpp for this method; `report`, if given, receives the call's report.
std::string check_propagation(const propagation_engine& engine, const label_call& c, const propagation_options& how,
                              propagation_report* report = nullptr);

/// Returns "" if the call throws nothing, else the message, or "written" if it throws but has changed `out`.
std::string refusal(const propagation_engine& engine, label_call c, const propagation_options& how);
bool says(const std::string& message, const std::string& part);

std::string name_of(const propagation_options& how);

/// The switches that finish every image: all with the 1-gather, and links of one cell alone, which are the
/// same.
std::vector<propagation_options> finishing_switches();

/// A binary image of 1 to 3 axes, contiguous.
label_call drawn(const shape_t& shape, const flags_t& foreground, int connectivity);

/// Runs shapes, figures, criteria and switches, every `every`-th case. Failures fail the running test.
void walk_figures(const propagation_engine& engine, std::uint64_t every);
void walk_criteria(const propagation_engine& engine, std::uint64_t every);
/// Checks that the pull-only form takes as many rounds as the pseudo-code of the text.
void walk_rounds(const propagation_engine& engine, std::uint64_t every);
/// Limits of rounds, and links alone, give correct labels or an error.
void walk_unfinished(const propagation_engine& engine);

/// Runs the pseudo-code cell by cell on a binary image; shares nothing with src/. Returns its rounds, including the
/// last one, which changes nothing.
std::int64_t rounds_of_the_text(const label_call& c, const propagation_options& how);

flags_t hilbert_curve(std::int64_t side);  ///< a curve of order log2(side) - 1, whose steps are two cells long
flags_t cross();                           ///< the text's example: five cells of 3 x 3

}  // namespace nearfield::test
