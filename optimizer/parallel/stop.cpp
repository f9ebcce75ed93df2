#include "optimizer/parallel/stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace prismopt {

namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember(int signal) { caught = signal; }

struct StopSignal {
    int number;
    const char* name;
    bool once;  // a second one has its usual effect
};
constexpr StopSignal stop_signals[] = {
    {SIGUSR1, "SIGUSR1", false},  // batch systems, some time before the limit of a job
    {SIGTERM, "SIGTERM", false},  // ... at the limit, or when a job is cancelled
    {SIGINT, "SIGINT", true},     // Ctrl-C
    {SIGHUP, "SIGHUP", false},    // the terminal was closed
    {SIGXCPU, "SIGXCPU", false},  // the soft limit of CPU time, as `ulimit -t` and some batch systems set it
};

void remember_signal(const StopSignal& signal)
{
    struct sigaction before = {};
    sigaction(signal.number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
        return;
    }
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = signal.once ? static_cast<int>(SA_RESTART | SA_RESETHAND) : SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal.number, &action, nullptr);
}

std::string name_of(int number)
{
    const auto* found = std::ranges::find(stop_signals, number, &StopSignal::number);
    return found != std::end(stop_signals) ? found->name : fmt::format("signal {}", number);
}

}  // namespace

void catch_stop_signals()
{
    for (const StopSignal& signal : stop_signals) {
        remember_signal(signal);
    }
}

StopRequest::StopRequest(std::optional<std::chrono::duration<double>> max_time, Communicator& team,
                         std::stop_token token)
    : team_(team), token_(std::move(token))
{
    if (max_time) {
        limit(*max_time);
    }
}

void StopRequest::limit(std::chrono::duration<double> max_time)
{
    deadline_ = start_ + std::chrono::duration_cast<std::chrono::nanoseconds>(max_time);
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
