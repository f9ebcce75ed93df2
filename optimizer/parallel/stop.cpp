#include "optimizer/parallel/stop.hpp"

#include <csignal>
#include <utility>

namespace prismopt {

namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember(int signal) { caught = signal; }

void remember_signal(int signal)
{
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

std::string name_of(int signal) { return signal == SIGUSR1 ? "SIGUSR1" : signal == SIGINT ? "SIGINT" : "SIGTERM"; }

}  // namespace

void catch_stop_signals()
{
    remember_signal(SIGUSR1);
    remember_signal(SIGTERM);
}

void catch_interrupt() { remember_signal(SIGINT); }

StopRequest::StopRequest(std::optional<std::chrono::duration<double>> max_time, Communicator& team, std::stop_token token)
    : team_(team), token_(std::move(token))
{
    if (max_time) {
        deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(*max_time);
    }
}

std::optional<std::string> StopRequest::reason() const
{
    if (team_.rank() != 0) {
        if (signal_ == 0 && caught != 0) {
            signal_ = caught;
            team_.pass_on(signal_);
        }
        return std::nullopt;
    }
    if (signal_ == 0) {
        signal_ = caught != 0 ? static_cast<int>(caught) : team_.passed_on().value_or(0);
    }
    if (signal_ != 0) {
        return name_of(signal_);
    }
    if (token_.stop_requested()) {
        return "the caller";
    }
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) {
        return "--max-time";
    }
    return std::nullopt;
}

}  // namespace prismopt
