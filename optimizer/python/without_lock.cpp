#include "optimizer/python/without_lock.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace prismopt::python {

namespace py = pybind11;

namespace {

constexpr std::chrono::milliseconds between_polls{100};

/// The end of the work, for which the calling thread waits.
class End {
public:
    void reach()
    {
        const std::lock_guard held(mutex_);
        reached_ = true;
        changed_.notify_all();
    }

    bool wait_for(std::chrono::milliseconds time)
    {
        std::unique_lock held(mutex_);
        return changed_.wait_for(held, time, [this] { return reached_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool reached_ = false;
};

/// Lets Python handle its signals. Throws what the handlers raise.
void handle_signals()
{
    if (PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
    }
}

}  // namespace

void warn(const std::vector<std::string>& messages)
{
    for (const std::string& text : messages) {
        if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) {
            throw py::error_already_set();
        }
    }
}

Pause handle_signals_sometimes()
{
    using Clock = std::chrono::steady_clock;
    return [last = Clock::now()]() mutable {
        if (const auto now = Clock::now(); now - last >= between_polls) {
            last = now;
            const py::gil_scoped_acquire locked;
            handle_signals();
        }
    };
}

bool run_beside(const std::function<void(std::stop_token)>& work, const std::function<void()>& poll)
{
    End end;
    std::exception_ptr failure;
    std::stop_source stop;
    std::jthread worker([&] {
        try {
            work(stop.get_token());
        } catch (...) {
            failure = std::current_exception();
        }
        end.reach();
    });
    bool interrupted = false;
    std::exception_ptr raised;
    bool ended = false;
    while (!ended) {
        {
            const py::gil_scoped_release released;
            ended = end.wait_for(between_polls);
        }
        try {
            handle_signals();
            if (!raised) {
                poll();
            }
        } catch (const py::error_already_set& error) {
            stop.request_stop();
            if (error.matches(PyExc_KeyboardInterrupt)) {
                interrupted = true;
            } else {
                raised = std::current_exception();
            }
        }
    }
    {
        const py::gil_scoped_release released;
        worker.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    if (raised) {
        std::rethrow_exception(raised);
    }
    return interrupted;
}

}  // namespace prismopt::python
