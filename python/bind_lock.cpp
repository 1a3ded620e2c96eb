#include "python/bind_lock.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "os/process.hpp"

namespace nearfield::python {
namespace {

std::atomic<int> works{0};
std::atomic<bool> python_is_gone{false};

// Work looks at must_stop() some 20 times a second. What does not is left running, as Python leaves other libraries'
// work.
constexpr auto longest_wait = std::chrono::seconds(1);

void last_step() {
    python_is_gone = true;
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    while (works > 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void sleep_until_the_process_ends() noexcept {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

native_work::native_work() noexcept { ++works; }
native_work::~native_work() { --works; }
bool native_work::must_stop() noexcept { return python_is_gone; }

void native_work::wait_at_exit() {
    Py_AtExit(last_step);
    os::on_fork(nullptr, nullptr, [] { works = 0; });  // a child has none of the threads that worked
}

nb::object called(const nb::object& function, const nb::object& argument) {
    PyObject* const answer =
        entering_python([&] { return PyObject_CallFunctionObjArgs(function.ptr(), argument.ptr(), nullptr); });
    return nb::steal(answer);
}

void unlocked::unlock() noexcept {
    counted_.emplace();
    state_ = PyEval_SaveThread();
}

void unlocked::lock() noexcept {
    counted_.reset();
    if (python_is_gone) sleep_until_the_process_ends();
    entering_python([this] { PyEval_RestoreThread(state_); });
}

locked::locked() noexcept
    : state_([] {
          if (python_is_gone) sleep_until_the_process_ends();
          return entering_python([] { return PyGILState_Ensure(); });
      }()) {}

}  // namespace nearfield::python
