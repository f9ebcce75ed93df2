/// scaling_study: measures the scheduler and the items of a study, and simulates teams that this machine does not have.
///   mpirun -n 2 scaling_study SCENARIO [FILE]

#include "io/scenario/reading/read_scenario.hpp"
#include "tests/benchmarks/scaling/simulated_scheduler.hpp"

#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

namespace prismopt::bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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
    for (int i = 0; i < ahead; ++i) scheduler.submit(item);
    for (int i = ahead; i < items; ++i) {
        scheduler.next();
        scheduler.submit(item);
    }
    for (int i = 0; i < ahead; ++i) scheduler.next();
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
        if (team.rank() == 0) team.send(1, Message(8));
        if (team.rank() < 2) team.receive();
        if (team.rank() == 1) team.send(0, Message(8));
    }
    return seconds_since(start) / trips / 2.0;
}

struct ItemTimes {
    std::vector<double> sweep_s;
    std::vector<double> draw_s;
};

/// The items of a study's beginning, computed here one by one.
ItemTimes measure_items(const Scenario& scenario)
{
    const StudyModel model(scenario);
    Worker worker(model);
    ItemTimes times;
    std::vector<double>* list = &times.sweep_s;
    Communicator alone;
    WorkScheduler scheduler(alone, [&](const Message& item) {
        const auto start = Clock::now();
        Message result = worker(item);
        list->push_back(seconds_since(start));
        return result;
    });
    const StudyPlan plan = plan_study(model);
    Evaluator evaluator(model, scheduler, plan.rungs);
    const auto started = Clock::now();
    for (int batch = 0; batch < 40 && seconds_since(started) < 40.0; ++batch) {
        const auto requests = plan.chosen.strategy->ask();
        if (!requests || requests->empty()) break;
        if (std::holds_alternative<PointRequest>(requests->front())) list = &times.draw_s;
        evaluator.submit(*requests);
        std::vector<Answer> answers;
        for (std::size_t i = 0; i < requests->size(); ++i) answers.push_back(*evaluator.next());
        plan.chosen.strategy->tell(answers);
    }
    return times;
}

double mean(const std::vector<double>& values)
{
    double sum = 0.0;
    for (const double value : values) sum += value / static_cast<double>(values.size());
    return sum;
}

double variation(const std::vector<double>& values)
{
    const double middle = mean(values);
    double sum = 0.0;
    for (const double value : values) sum += (value - middle) * (value - middle) / static_cast<double>(values.size());
    return std::sqrt(sum) / middle;
}

std::string report(const Scenario& scenario, int ranks, const Coordination& small, double large_s, const ItemTimes& items)
{
    const SchedulerCosts costs{small.service_s, small.latency_s};
    std::string text = fmt::format(
        "# Scaling over ranks\n\nWritten by `bash jobs/scaling_study {}` on {} ranks and {} hardware threads. What is measured "
        "and "
        "what simulated: [docs/methods/result-pages.md](../docs/methods/result-pages.md#scalingmd).\n\n"
        "Coordinator, {} ranks on shared memory: {:.1f} us of rank 0 per work item, {:.0f} per second; {:.1f} us with 1 kB each "
        "way. A message takes {:.1f} us.\n\n"
        "Items of the study: {} sweep ranges of {:.2f} ms in the mean (coefficient of variation {:.2f}), {} draw blocks of "
        "{:.2f} ms ({:.2f}).\n\n"
        "| ranks | idle share of the workers | coordinator busy | efficiency of all ranks |\n|---|---|---|---|\n",
        scenario.path, ranks, std::thread::hardware_concurrency(), ranks, 1e6 * small.service_s, 1.0 / small.service_s,
        1e6 * large_s, 1e6 * small.latency_s, items.sweep_s.size(), 1e3 * mean(items.sweep_s), variation(items.sweep_s),
        items.draw_s.size(), 1e3 * mean(items.draw_s), variation(items.draw_s));
    std::string plot;
    for (std::size_t team = 16; team <= 4096; team *= 2) {
        const std::size_t workers = team - 1;
        std::vector<double> tasks;
        // A stride without a common divisor mixes the measured times alike for all team sizes.
        for (std::size_t i = 0; i < 200 * workers; ++i) tasks.push_back(items.draw_s[i * 7919 % items.draw_s.size()]);
        const SimulatedScheduler scheduler = simulate_scheduler(tasks, workers, costs);
        const double efficiency = (1.0 - scheduler.idle_share) * static_cast<double>(workers) / static_cast<double>(team);
        text += fmt::format("| {} | {:.2f} % | {:.1f} % | {:.1f} % |\n", team, 100.0 * scheduler.idle_share,
                            100.0 * scheduler.coordinator, 100.0 * efficiency);
        plot += fmt::format("{:>5} {} {:.0f} %\n", team, std::string(static_cast<std::size_t>(50.0 * efficiency), '#'),
                            100.0 * efficiency);
    }
    return text + "\nEfficiency of all ranks:\n\n```\n" + plot + "```\n";
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    using namespace prismopt;
    using namespace prismopt::bench;
    auto team = Communicator::world(argc, argv);
    if (argc < 2) {
        if (team.rank() == 0) std::fputs("usage: mpirun -n 2 scaling_study SCENARIO [FILE]\n", stderr);
        return 2;
    }
    if (team.size() < 2) {
        std::fputs("scaling_study: a single rank coordinates nobody; start it with mpirun -n 2\n", stderr);
        return 2;
    }
    const Coordination small{service(team, 8), latency(team)};
    const double large_s = service(team, 1024);
    if (team.rank() != 0) return 0;
    const Scenario scenario = read_scenario(argv[1]);
    const std::string text = report(scenario, team.size(), small, large_s, measure_items(scenario));
    if (argc > 2) {
        std::ofstream(argv[2]) << text;
    } else {
        std::fputs(text.c_str(), stdout);
    }
    return 0;
}
