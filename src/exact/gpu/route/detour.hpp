// Calls whose fields a kernel makes from those of one or two plain searches, which are faster than lines.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/cuda.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {

class detour {
public:
    /// A search without options, and its fields.
    struct search {
        plan p;
        fields<device> out;
    };

    detour(const device& on, plan p, const arrays<device>& a) : on_(on), p_(std::move(p)), a_(a), memory_(on) {}
    detour(const detour&) = delete;
    detour& operator=(const detour&) = delete;
    virtual ~detour() = default;

    [[nodiscard]] const std::vector<search>& searches() const { return searches_; }
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }
    /// Returns the fields that few sites write at once (plain_call::few_out), or null, and the counters.
    [[nodiscard]] const fields<device>* few_out() const { return tries_few_ ? &a_.out : nullptr; }
    [[nodiscard]] std::int32_t* counters() const { return tries_few_ ? memory_.get<std::int32_t>(counters_) : nullptr; }
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
        kept_ = &field, place_ = memory_.reserve<std::byte>(p_.cells * size_of(field.type));
    }

    void try_few(std::int64_t counters) { tries_few_ = true, counters_ = memory_.reserve<std::int32_t>(counters); }

    const device& on_;
    const plan p_;
    const arrays<device> a_;
    std::vector<search> searches_;

private:
    cuda::workspace memory_;
    any_output<device>* kept_ = nullptr;
    std::int64_t place_ = 0, counters_ = 0;
    bool tries_few_ = false;
};

/// True if a call wants only the signed distances of an image, in contiguous memory.
bool wants_signed_image(const plan& p, const arrays<device>& a);

// Each returns null if it does not serve a call.
std::unique_ptr<detour> fields_by_index(const device& on, const plan& p, const arrays<device>& a);
std::unique_ptr<detour> both_sides(const device& on, const plan& p, const arrays<device>& a);
std::unique_ptr<detour> faces_by_corners(const device& on, const plan& p, const arrays<device>& a);

}  // namespace nearfield::exact::gpu
