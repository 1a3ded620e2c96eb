// What all benchmarks share: repeatable data, timing, and results that report.py reads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace nearfield::bench {

using shape_t = std::vector<std::int64_t>;

inline std::int64_t cells_of(const shape_t& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// splitmix64's output function (Steele, Lea, Flood 2014). peers_host.py and peers_device.py have the same.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// work(begin, end) on every core, over [0, count).
template <class Work>
void spread(std::int64_t count, Work&& work) {
    const auto workers = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    std::vector<std::jthread> team;
    for (std::int64_t w = 0; w < workers; ++w)
        team.emplace_back([&, begin = count * w / workers, end = count * (w + 1) / workers] { work(begin, end); });
}

/// What the upper 32 bits of mix(i) are compared with: cell i in C order is a site (0) when they are below, else it is
/// 1.
constexpr std::uint64_t random_limit(double density) { return static_cast<std::uint64_t>(density * 4294967296.0); }

inline std::vector<std::uint8_t> random_sites(std::int64_t cells, double density) {
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells));
    const std::uint64_t limit = random_limit(density);
    spread(cells, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            image[static_cast<std::size_t>(i)] = (mix(static_cast<std::uint64_t>(i)) >> 32) < limit ? 0 : 1;
    });
    return image;
}

/// One measurement.
struct result {
    std::string data;  ///< "random", the name of a picture, or that of a file
    shape_t shape;
    double density = 0;  ///< of the sites
    std::string field;   ///< "distance" (float32), "index" (int64) or "index32" (int32)
    int threads = 0;     ///< 0 on a device
    double ms = 0;       ///< median
    int runs = 0;
    std::string simd{};  ///< the instruction set, where it is not the best that the machine has
};

/// Bytes of a field's cell.
inline std::int64_t field_bytes(const std::string& field) { return field == "index" ? 8 : 4; }

/// What was measured where; one JSON file each.
struct session {
    std::string place;    ///< "host" or "device"
    std::string device;   ///< name of the processor or GPU
    std::string details;  ///< instruction set, CUDA version, ...
    std::vector<std::pair<int, double>>
        copy_gb_s;  ///< bandwidth of a copy, read plus write, by threads (0 on a device)
    std::vector<result> results;
};

/// Bytes that any algorithm must move: the image read and the field written, once.
inline std::int64_t floor_bytes(const result& r) { return cells_of(r.shape) * (1 + field_bytes(r.field)); }

inline double copy_of(const session& s, int threads) {
    for (auto [n, gb_s] : s.copy_gb_s) {
        if (n == threads) return gb_s;
    }
    return 0;
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Wall-clock milliseconds of each of `least` to `most` runs after one that warms up; no more are begun after
/// `budget_s`.
inline std::vector<double> time_runs(const std::function<void()>& work, int least, int most, double budget_s) {
    using clock = std::chrono::steady_clock;
    work();
    std::vector<double> ms;
    const auto start = clock::now();
    while (static_cast<int>(ms.size()) < most) {
        const auto before = clock::now();
        work();
        const auto after = clock::now();
        ms.push_back(std::chrono::duration<double, std::milli>(after - before).count());
        if (static_cast<int>(ms.size()) >= least && std::chrono::duration<double>(after - start).count() > budget_s)
            break;
    }
    return ms;
}

/// The date of a measurement, in UTC.
inline std::string today() {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
    std::string text = std::to_string(static_cast<int>(day.year()));
    for (const unsigned part : {static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day())})
        text += (part < 10 ? "-0" : "-") + std::to_string(part);
    return text;
}

/// Name of this machine's processor.
std::string processor();

/// Adds a result and prints its line.
void report(session& s, const result& r);
void print_header(const session& s);
void write_json(const session& s, const std::string& path, const char* rows = "results");

/// "512x512", with the picture's name before it where the image is not random.
std::string image_name(const std::string& data, const shape_t& shape);

struct request {
    std::vector<shape_t> shapes;
    std::vector<double> densities;  ///< of random images
    std::vector<std::string> pictures;
    std::vector<std::string> fields;
    std::string atlas;  ///< a file, or empty
};

/// The benchmarks, each a verb of the program; they return its exit status, 77 where the GPU is missing that was asked
/// for.
int components_main(int argc, char** argv);
int exact_main(int argc, char** argv);
int label_main(int argc, char** argv);
int label_device_main(int argc, char** argv);
int options_main(int argc, char** argv);
int propagation_main(int argc, char** argv);
int targets_main(int argc, char** argv);

/// The GPU's part of `exact`; throws nearfield::error where there is none.
session measure_device(const request& wanted);

}  // namespace nearfield::bench
