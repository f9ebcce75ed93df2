#pragma once

/// Asking a run to stop: signals of the batch system, and a time limit.

#include <chrono>
#include <optional>
#include <string>

namespace prismopt {

/// From now on SIGUSR1 and SIGTERM set a flag instead of ending the process. On every rank: launchers signal all of them.
void catch_stop_signals();

/// Its clock starts when it is made: first of all.
class StopRequest {
public:
    explicit StopRequest(std::optional<std::chrono::duration<double>> max_time);

    /// Why the run should stop now ("SIGUSR1", "--max-time"), or nothing.
    std::optional<std::string> reason() const;

private:
    std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace prismopt
