#include "base/rehearsal.hpp"

#include <algorithm>

#include "nearfield/call_plan.hpp"
#include "os/process.hpp"

namespace nearfield {
namespace {

thread_local rehearsal* current = nullptr;

}  // namespace

rehearsal* rehearsing() noexcept { return current; }

rehearsal::rehearsal() : before_(current), told_(std::make_unique<call_plan>()) { current = this; }
rehearsal::~rehearsal() {
    for (const block& each : blocks_) os::give_back(each.start, each.bytes);
    current = before_;
}

void* rehearsal::take(std::int64_t bytes) noexcept {
    void* const start = os::reserve(bytes);
    if (start == nullptr) return nullptr;
    try {
        blocks_.push_back({start, bytes});
    } catch (const std::bad_alloc&) {
        os::give_back(start, bytes);
        return nullptr;
    }
    count(bytes);
    return start;
}

void rehearsal::give(void* start) noexcept {
    const auto found = std::ranges::find(blocks_, start, &block::start);
    if (found == blocks_.end()) return;
    os::give_back(found->start, found->bytes);
    bytes_ -= found->bytes;
    blocks_.erase(found);
}

void rehearsal::count(std::int64_t more) noexcept {
    bytes_ += more;
    told_->workspace_bytes = std::max(told_->workspace_bytes, bytes_);
}

void rehearsal::note_step(const char* method) { told_->passes.push_back({.axis = -1, .method = method, .tiles = 0}); }

void rehearsal::note_arrays(bool on_device, std::int64_t cells, std::int64_t input_bytes, std::int64_t output_bytes) {
    if (!told_->place.empty()) return;
    told_->place = on_device ? "device" : "host";
    told_->cells = cells, told_->input_bytes = input_bytes, told_->output_bytes = output_bytes;
}

void rehearsal::note_part(const call_plan& part) {
    told_->passes.insert(told_->passes.end(), part.passes.begin(), part.passes.end());
    if (told_->numbers.empty()) told_->numbers = part.numbers;
    told_->threads = std::max(told_->threads, part.threads);
    count(part.workspace_bytes), bytes_ -= part.workspace_bytes;
}

}  // namespace nearfield
