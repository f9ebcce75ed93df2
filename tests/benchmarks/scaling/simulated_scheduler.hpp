#pragma once

/// Discrete-event simulation of the scheduler: one coordinator that serves one message after the other, and
/// workers with up to two items each.

#include <cstddef>
#include <vector>

namespace prismopt::bench {

struct SchedulerCosts {
    double service_s = 0.0;  // of the coordinator, an item's result taken and the next item sent
    double latency_s = 0.0;  // of a message, one way
};

struct SimulatedScheduler {
    double span_s = 0.0;       // until the last result is taken
    double idle_share = 0.0;   // of the workers' time until then
    double coordinator = 0.0;  // share of its time that it serves
};

/// `task_s` are handed out in order to `workers`.
SimulatedScheduler simulate_scheduler(const std::vector<double>& task_s, std::size_t workers,
                                      const SchedulerCosts& costs);

}  // namespace prismopt::bench
