#pragma once

/// Asking a run to stop: signals of the batch system to any of its ranks, and a time limit.

#include "optimizer/parallel/communicator.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace prismopt {

/// From now on SIGUSR1 and SIGTERM set a flag instead of ending the process. On every rank: launchers signal all of them, users one.
void catch_stop_signals();

/// Its clock starts when it is made: first of all.
class StopRequest {
public:
    StopRequest(std::optional<std::chrono::duration<double>> max_time, Communicator& team);

    /// Rank 0: why the run should stop now ("SIGUSR1", "--max-time"), or nothing; a signal to another rank counts as its own. The other
    /// ranks leave the decision to rank 0: they pass on the signal that they got and say nothing. To be called several times a
    /// second, also while waiting.
    std::optional<std::string> reason() const;

private:
    Communicator& team_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    mutable int signal_ = 0;  // that rank 0 knows of, or that another rank has passed on
};

/// What long work calls in between, several times a second. It throws where the work is to be given up.
using Pause = std::function<void()>;

/// Work was given up, because the run stops. The text says why.
class Stopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace prismopt
