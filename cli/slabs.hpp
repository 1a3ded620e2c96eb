// Work on rows by all cores, for samples and pictures; the fields have their own threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace nearfield::cli {

/// Calls work(begin, end) on disjoint ranges that cover [0, count); the first exception is thrown again when all are done.
template <class Work>
void for_slabs(std::int64_t count, const Work& work) {
    const std::int64_t parts =
        std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, std::max<std::int64_t>(count, 1));
    if (parts == 1) return work(std::int64_t{0}, count);
    std::vector<std::exception_ptr> failed(static_cast<std::size_t>(parts));
    {
        std::vector<std::jthread> threads;
        for (std::int64_t part = 0; part < parts; ++part)
            threads.emplace_back([&, part] {
                try {
                    work(count * part / parts, count * (part + 1) / parts);
                } catch (...) {
                    failed[static_cast<std::size_t>(part)] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr& each : failed)
        if (each) std::rethrow_exception(each);
}

}  // namespace nearfield::cli
