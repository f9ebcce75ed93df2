#include "tests/benchmarks/scaling/simulated_scheduler.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>

namespace prismopt::bench {

namespace {

constexpr int most_in_flight = 2;  // as optimizer/parallel/work_scheduler.cpp

struct Event {
    double at_s;
    std::size_t worker;
    enum class Kind { item_arrives, item_done, result_arrives } kind;

    bool operator>(const Event& other) const { return at_s > other.at_s; }
};

}  // namespace

SimulatedScheduler simulate_scheduler(const std::vector<double>& task_s, std::size_t workers,
                                      const SchedulerCosts& costs)
{
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<std::deque<double>> queue(workers);
    std::vector<bool> busy(workers, false);
    std::size_t next = 0;
    std::size_t taken = 0;
    double coordinator_free_s = 0.0;
    double span_s = 0.0;
    double now_s = 0.0;
    const auto assign_item = [&](std::size_t worker) {
        coordinator_free_s = std::max(coordinator_free_s, now_s) + costs.service_s;
        if (next < task_s.size()) {
            queue[worker].push_back(task_s[next++]);
            events.push({coordinator_free_s + costs.latency_s, worker, Event::Kind::item_arrives});
        }
    };
    for (int round = 0; round < most_in_flight; ++round) {
        for (std::size_t worker = 0; worker < workers; ++worker) {
            assign_item(worker);
        }
    }
    std::vector<std::size_t> arrived(workers, 0);
    const auto start = [&](std::size_t worker) {
        if (busy[worker] || arrived[worker] == 0) {
            return;
        }
        busy[worker] = true;
        --arrived[worker];
        events.push({now_s + queue[worker].front(), worker, Event::Kind::item_done});
        queue[worker].pop_front();
    };
    while (!events.empty()) {
        const Event event = events.top();
        events.pop();
        now_s = event.at_s;
        switch (event.kind) {
            case Event::Kind::item_arrives: ++arrived[event.worker]; break;
            case Event::Kind::item_done:
                busy[event.worker] = false;
                events.push({now_s + costs.latency_s, event.worker, Event::Kind::result_arrives});
                break;
            case Event::Kind::result_arrives:
                assign_item(event.worker);
                ++taken;
                span_s = coordinator_free_s;
                break;
        }
        start(event.worker);
    }
    const double work_s = std::accumulate(task_s.begin(), task_s.end(), 0.0);
    return {span_s, 1.0 - work_s / (span_s * static_cast<double>(workers)),
            costs.service_s * static_cast<double>(taken + most_in_flight * workers) / span_s};
}

}  // namespace prismopt::bench
