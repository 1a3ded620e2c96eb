// Divides work on rows among all cores, for samples and pictures; the library's fields have their own threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace nearfield::cli {

/// Calls work(begin, end) on disjoint ranges that cover [0, count). When all are done, rethrows the first
/// exception.
template <class Work>
void for_slabs(std::int64_t count, const Work& work) {
    const std::int64_t parts =
        std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, std::max<std::int64_t>(count, 1));
    if (parts == 1) return work(std::int64_t{0}, count);
    std::vector<std::exception_ptr> failed(static_cast<std::size_t>(parts));
    const auto one = [&](std::int64_t part) {
        try {
            work(count * part / parts, count * (part + 1) / parts);
        } catch (...) {
            failed[static_cast<std::size_t>(part)] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(failed.size());
        std::int64_t started = 1;
        try {
            for (; started < parts; ++started) threads.emplace_back(one, started);
        } catch (const std::system_error&) {  // this thread takes the parts for which none could be started
        }
        for (std::int64_t part = started; part < parts; ++part) one(part);
        one(0);
    }
    for (const std::exception_ptr& each : failed)
        if (each) std::rethrow_exception(each);
}

}  // namespace nearfield::cli
