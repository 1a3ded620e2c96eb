// A hash table with open places, for keys that are few against the cells that ask for them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "components/core.hpp"

namespace nearfield::components {

template <class Key, class Value>
class open_map {
public:
    /// The key's value, made if it is new, and whether it is.
    std::pair<Value&, bool> find_or_make(const Key& key, std::uint64_t hash) {
        if (2 * (used_ + 1) > places_.size()) grow();
        place& p = find(key, hash);
        const bool is_new = !p.taken;
        if (is_new) p = {key, Value{}, hash, true}, ++used_;
        return {p.value, is_new};
    }
    /// Of a key that is there.
    [[nodiscard]] const Value& get(const Key& key, std::uint64_t hash) const {
        const std::size_t mask = places_.size() - 1;
        std::size_t at = hash & mask;
        while (!(places_[at].key == key) || !places_[at].taken) at = (at + 1) & mask;
        return places_[at].value;
    }
    template <class Body>
    void for_each(const Body& body) const {
        for (const place& p : places_)
            if (p.taken) body(p.key, p.value);
    }

private:
    struct place {
        Key key{};
        Value value{};
        std::uint64_t hash = 0;
        bool taken = false;
    };
    place& find(const Key& key, std::uint64_t hash) {
        const std::size_t mask = places_.size() - 1;
        std::size_t at = hash & mask;
        while (places_[at].taken && !(places_[at].key == key)) at = (at + 1) & mask;
        return places_[at];
    }
    void grow() {
        std::vector<place> before =
            std::exchange(places_, std::vector<place>(places_.empty() ? 64 : 2 * places_.size()));
        for (place& p : before)
            if (p.taken) find(p.key, p.hash) = std::move(p);
    }
    std::vector<place> places_;
    std::size_t used_ = 0;
};

}  // namespace nearfield::components
