#pragma once

/// Work without the interpreter lock.

#include "optimizer/parallel/stop.hpp"
#include "optimizer/program/log.hpp"

#include <pybind11/pybind11.h>

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace prismopt::python {

/// Issues messages of the library as Python warnings. Throws where the user has made warnings errors.
void warn(const std::vector<std::string>& messages);

/// Returns work(), which must not use Python; what it logs becomes warnings.
template <class Work>
auto without_lock(Work&& work)
{
    std::vector<std::string> messages;
    auto result = [&] {
        const pybind11::gil_scoped_release released;
        const LogReceiver receiver([&messages](const std::string& text) { messages.push_back(text); });
        return work();
    }();
    warn(messages);
    return result;
}

/// For work without the lock: a function that lets Python handle its signals, at most ten times per second,
/// and throws what the handlers raise, as Ctrl-C does.
Pause handle_signals_sometimes();

/// Runs work(stop) on a thread of its own. The calling thread waits; ten times per second it takes the
/// lock, calls `poll`, and lets Python handle its signals. Ctrl-C, or an exception of `poll`, asks `work`
/// to stop, and waits for its end. Exceptions of `work` pass through, then those of `poll`. Returns
/// whether Ctrl-C was what stopped it.
bool run_beside(const std::function<void(std::stop_token)>& work, const std::function<void()>& poll);

}  // namespace prismopt::python
