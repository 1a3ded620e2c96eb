// Random masks to split, and their results by slow means: distances cell by cell, the watershed's oracle, flood fills.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/split.hpp"

namespace nearfield::test {

struct split_case {
    shape_t shape;
    std::vector<std::uint8_t> mask;
    std::vector<double> lengths;  ///< cell lengths; empty: 1
    std::vector<border> ends;     ///< empty: open
    split_options options;

    [[nodiscard]] std::string text() const;
    /// The options with the case's spacing and borders.
    [[nodiscard]] split_options asked() const;
};

struct split_result {
    std::vector<std::int32_t> label;
    std::int64_t count = 0;
    friend bool operator==(const split_result&, const split_result&) = default;
};

split_result expected(const split_case& c);
split_result split_on_host(const split_case& c);

/// Checks the seeds [first, end), with methods in turn; stops at the first wrong one.
void check_splits(const std::function<split_result(const split_case&)>& run, std::uint64_t first, std::uint64_t end,
                  std::initializer_list<split_method> methods);

}  // namespace nearfield::test
