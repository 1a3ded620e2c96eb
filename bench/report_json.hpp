// The files of results that report.py reads.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "bench.hpp"

namespace nearfield::bench {

/// What every file says before its results: who, what on, when.
nlohmann::ordered_json head_of(const session& s);

/// Makes the folder where it is missing; throws nearfield::error(io).
void write_file(const std::string& path, const nlohmann::ordered_json& j);

}  // namespace nearfield::bench
