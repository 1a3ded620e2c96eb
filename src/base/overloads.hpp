// Function pointers that are called like overloads of one function: loops that are compiled once for each instruction
// set, for several types.
#pragma once

namespace nearfield {

template <class F>
struct overload;
template <class R, class... A>
struct overload<R (*)(A...)> {
    R (*function)(A...);
    R operator()(A... a) const { return function(a...); }
};

/// Initialized by one function for each of the types F.
template <class... F>
struct overloads : overload<F>... {
    using overload<F>::operator()...;
};

}  // namespace nearfield
