/// scaling_study: measures the scheduler and the items of a study, and simulates teams
/// that this machine does not have.
///   mpirun -n 2 scaling_study SCENARIO

#include "io/scenario/reading/read_scenario.hpp"
#include "tests/benchmarks/scaling/simulated_scheduler.hpp"
#include "tests/support/ordered_items.hpp"

#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace prismopt::bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What the coordinator pays.
struct Coordination {
    double service_s = 0.0;  // of rank 0: an item's result taken and filed, the next item sent
    double latency_s = 0.0;  // of a message of some bytes, one way, to a rank that waits for it
};

/// Rank 0's time beside its own items and its waiting, by item that travelled, with so many bytes each way.
double service(Communicator& team, std::size_t bytes)
{
    constexpr int items = 20'000;
    constexpr double work_s = 20e-6;  // long beside a message, so that the workers get their share
    team.broadcast({});
    WorkScheduler scheduler(team, [](const Message& item) {
        const auto start = Clock::now();
        while (seconds_since(start) < work_s) {
        }
        return item;
    });
    if (team.rank() != 0) {
        scheduler.serve();
        return 0.0;
    }
    const Message item(bytes);
    const auto start = Clock::now();
    constexpr int ahead = 64;
    OrderedItems ordered(scheduler);
    for (int i = 0; i < ahead; ++i) {
        ordered.submit(item);
    }
    for (int i = ahead; i < items; ++i) {
        ordered.next();
        ordered.submit(item);
    }
    for (int i = 0; i < ahead; ++i) {
        ordered.next();
    }
    const double wall_s = seconds_since(start);
    const WorkScheduler::Account own = scheduler.accounts().front();
    scheduler.release();
    return (wall_s - own.busy_s - own.idle_s) / static_cast<double>(items - own.items);
}

double latency(Communicator& team)
{
    constexpr int trips = 2'000;
    team.broadcast({});
    const auto start = Clock::now();
    for (int i = 0; i < trips; ++i) {
        if (team.rank() == 0) {
            team.send(1, Message(8));
        }
        if (team.rank() < 2) {
            team.receive();
        }
        if (team.rank() == 1) {
            team.send(0, Message(8));
        }
    }
    return seconds_since(start) / trips / 2.0;
}

/// Seconds of the items of a study, [batch]: a batch of requests is answered before the next is asked for.
using Batches = std::vector<std::vector<double>>;

/// Computed here one by one, to the end of the search or for a minute.
Batches measure_items(const Scenario& scenario)
{
    const StudyModel model(scenario);
    Worker worker(model);
    Batches batches;
    Communicator alone;
    WorkScheduler scheduler(alone, [&](const Message& item) {
        const auto start = Clock::now();
        Message result = worker(item);
        batches.back().push_back(seconds_since(start));
        return result;
    });
    StudyPlan plan = plan_study(model);
    Evaluator evaluator(model, scheduler, plan.rungs);
    Archive archive;
    const auto started = Clock::now();
    while (seconds_since(started) < 60.0) {
        const auto requests = plan.chosen.strategy->ask();
        if (!requests || requests->empty()) {
            break;
        }
        if (std::holds_alternative<PointRequest>(requests->front())) {
            evaluator.compare_at_once(archive.feasible());
        }
        batches.emplace_back();
        evaluator.submit(*requests);
        std::vector<Answer> answers;
        for (std::size_t i = 0; i < requests->size(); ++i) {
            answers.push_back(evaluator.next()->answer);
        }
        plan.chosen.strategy->tell(answers);
        archive.add(answers);
    }
    return batches;
}

std::string report(const Coordination& small, double large_s, const Batches& batches)
{
    const SchedulerCosts costs{small.service_s, small.latency_s};
    double work_s = 0.0;
    std::size_t items = 0;
    for (const std::vector<double>& batch : batches) {
        for (const double seconds : batch) {
            work_s += seconds;
        }
        items += batch.size();
    }
    std::string text = fmt::format(
        "Simulated with {} measured items in {} batches, {:.1f} s of work: rank 0 needs {:.1f} us for an "
        "item, {:.1f} us with 1 "
        "kB "
        "each way; a message on shared memory takes {:.1f} us. Workers wait at the end of each batch, as the "
        "strategy does.\n\n"
        "| workers | time of the items [s] | time at work | rank 0 busy |\n|---|---|---|---|\n",
        items, batches.size(), work_s, 1e6 * small.service_s, 1e6 * large_s, 1e6 * small.latency_s);
    for (std::size_t workers = 1; workers <= 4096; workers *= 4) {
        double span_s = 0.0;
        double coordinator_s = 0.0;
        for (const std::vector<double>& batch : batches) {
            const SimulatedScheduler scheduler = simulate_scheduler(batch, workers, costs);
            span_s += scheduler.span_s;
            coordinator_s += scheduler.coordinator * scheduler.span_s;
        }
        text += fmt::format("| {} | {:.2f} | {:.1f} % | {:.1f} % |\n", workers, span_s,
                            100.0 * work_s / (span_s * static_cast<double>(workers)),
                            100.0 * coordinator_s / span_s);
    }
    return text;
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    using namespace prismopt;
    using namespace prismopt::bench;
    auto team = Communicator::world(argc, argv);
    if (argc < 2) {
        if (team.rank() == 0) {
            std::fputs("usage: mpirun -n 2 scaling_study SCENARIO\n", stderr);
        }
        return 2;
    }
    if (team.size() < 2) {
        std::fputs("scaling_study: a single rank coordinates nobody; start it with mpirun -n 2\n", stderr);
        return 2;
    }
    const Coordination small{service(team, 8), latency(team)};
    const double large_s = service(team, 1024);
    if (team.rank() != 0) {
        return 0;
    }
    const Scenario scenario = read_scenario(argv[1]);
    std::fputs(report(small, large_s, measure_items(scenario)).c_str(), stdout);
    return 0;
}
