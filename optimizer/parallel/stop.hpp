#pragma once

/// Requests to stop a run: signals of the batch system to any rank, a time
/// limit, and the program that called.

#include "model/base/parallel.hpp"
#include "optimizer/parallel/communicator.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace prismopt {

/// Makes SIGUSR1, SIGTERM, SIGINT, SIGHUP and SIGXCPU set a flag instead of ending the process; a second
/// SIGINT ends it. Those that are ignored, as SIGHUP under nohup, stay so. Call it on every rank:
/// launchers signal all ranks, users one.
void catch_stop_signals();

/// Request to stop. Its clock starts at construction, so construct it first.
class StopRequest {
public:
    /// `token`: of the calling program, on rank 0. The team must outlive the request.
    StopRequest(std::optional<std::chrono::duration<double>> max_time, Communicator& team,
                std::stop_token token = {});

    /// Replaces the time limit, from the construction on.
    void limit(std::chrono::duration<double> max_time);

    /// Rank 0: why the run should stop now ("SIGUSR1", "--max-time", "the caller"), or nothing; includes
    /// signals to other ranks. The other ranks forward their signals to rank 0 and return nothing. Call it
    /// several times per second, also while waiting.
    std::optional<std::string> reason() const;

private:
    Communicator& team_;
    std::stop_token token_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    mutable int signal_ = 0;  // known to rank 0, or forwarded by this rank
};

/// Thrown to cancel work because the run stops. The text gives the reason.
class Stopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace prismopt
