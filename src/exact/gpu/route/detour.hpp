// Calls whose fields a kernel makes from those of one or two plain searches, which are faster than lines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cuda.cuh"
#include "exact/gpu/ground/items.cuh"

namespace nearfield::exact::gpu {

class detour {
public:
    /// A search without options, and its fields.
    struct search {
        plan p;
        fields<device> out;
    };

    explicit detour(const option_call& call) : call_(call), memory_(call.on) {}
    detour(const detour&) = delete;
    detour& operator=(const detour&) = delete;
    virtual ~detour() = default;

    [[nodiscard]] const std::vector<search>& searches() const { return searches_; }
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }
    /// Allocates the memory, before the searches.
    void begin() {
        memory_.allocate();
        if (kept_ != nullptr) kept_->data = memory_.get<std::byte>(place_);
    }
    /// Makes the call's fields, after the searches.
    virtual void put() const = 0;
    /// Returns the name of the last kernel in a plan.
    [[nodiscard]] virtual const char* method() const = 0;

protected:
    /// Reserves memory for a field of a search.
    void keep(any_output<device>& field) {
        kept_ = &field, place_ = memory_.reserve<std::byte>(call_.p.cells * size_of(field.type));
    }

    const option_call& call_;
    std::vector<search> searches_;

private:
    cuda::workspace memory_;
    any_output<device>* kept_ = nullptr;
    std::int64_t place_ = 0;
};

// Each returns null if it does not serve a call.
std::unique_ptr<detour> fields_by_index(const option_call& call);
std::unique_ptr<detour> signed_image(const option_call& call);

}  // namespace nearfield::exact::gpu
