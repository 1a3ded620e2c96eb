// What the tables of random squares and cubes do not show: bad inputs, odd shapes, time by size, small images,
// workspace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench.hpp"

namespace nearfield::bench {

/// One line of the results; `report.py` compares it with others of its part.
struct target_result {
    std::string part;  ///< "bad", "odd", "flat", "small" or "workspace"
    std::string how;   ///< small images: "call", "graph", "in graph" or "wait"; else empty
    result measured;
    double workspace_bytes = 0;  ///< where that is what was asked
};

struct target_request {
    std::vector<std::string> parts;
    std::string atlas;
    std::int64_t most_cells = 0;
};

struct target_session {
    session head;  ///< its results stay empty
    std::vector<target_result> results;
};

/// Sites' share where one has to be chosen.
inline constexpr double usual_density = 0.1;

/// Squares and cubes that other shapes are compared with: those of the table of random images.
inline const std::vector<shape_t> usual_shapes = {
    {512, 512},   {1024, 1024},    {2048, 2048},    {4096, 4096},    {8192, 8192},    {16384, 16384},
    {64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {768, 768, 768}, {1024, 1024, 1024}};
inline const std::vector<shape_t> bad_shapes = {{4096, 4096}, {8192, 8192}, {256, 256, 256}, {512, 512, 512}};
inline const std::vector<shape_t> odd_shapes = {{512, 512, 40},    {4097, 4095},  {1023, 1023, 1023},
                                                {2048, 2048, 512}, {60000, 1000}, {100, 100, 10000}};
inline const std::vector<shape_t> flat_shapes = {
    {2048, 2048},    {4096, 4096},    {8192, 8192},    {16384, 16384},     {32768, 32768},     {65536, 65536},
    {256, 256, 256}, {384, 384, 384}, {512, 512, 512}, {1024, 1024, 1024}, {1280, 1280, 1280}, {1600, 1600, 1600}};
inline const std::vector<shape_t> small_shapes = {{512, 512}, {64, 64, 64}};

/// Adds a result and prints its line.
void report(target_session& s, const target_result& r);

/// The GPU's part, all but the workspace; throws nearfield::error where there is none.
void measure_targets(target_session& s, const target_request& wanted);

}  // namespace nearfield::bench
