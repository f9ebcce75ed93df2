/// scaling_study: measures the crew and the items of a study, and simulates teams that this machine does not have.
///   mpirun -n 2 scaling_study SCENARIO [FILE]

#include "tests/benchmarks/scaling/simulated_crew.hpp"

#include "optimizer/evaluator.hpp"
#include "optimizer/study_plan.hpp"

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

constexpr int empty_items = 400'000;

/// Items a second through the crew of this team; the work is to give the item back.
double throughput(Communicator& team, std::size_t bytes)
{
    team.broadcast({});
    Crew crew(team, [](const Message& item) { return item; });
    if (team.rank() != 0) {
        crew.serve();
        return 0.0;
    }
    const Message item(bytes);
    const auto start = Clock::now();
    constexpr int ahead = 64;
    for (int i = 0; i < ahead; ++i) crew.submit(item);
    for (int i = ahead; i < empty_items; ++i) {
        crew.next();
        crew.submit(item);
    }
    for (int i = 0; i < ahead; ++i) crew.next();
    const double rate = empty_items / seconds_since(start);
    crew.release();
    return rate;
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
    Crew crew(alone, [&](const Message& item) {
        const auto start = Clock::now();
        Message result = worker(item);
        list->push_back(seconds_since(start));
        return result;
    });
    const StudyPlan plan = plan_study(model);
    Evaluator evaluator(model, crew, plan.rungs);
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

std::string report(const Scenario& scenario, int ranks, double small, double large, const ItemTimes& items)
{
    // What rank 0 spends on an item: taking the result, filing it, sending the next. A message between nodes takes about this long.
    const CrewCosts costs{1.0 / small, 5e-6};
    std::string text = fmt::format(
        "# Scaling over ranks\n\nWritten by `bash jobs/scaling_study {}` on {} ranks and {} hardware threads. Where "
        "other "
        "programs ran beside it, times and their variation are upper bounds.\n\n"
        "Coordinator, {} ranks on shared memory: {:.0f} empty items a second, {:.0f} with 1 kB each way.\n\n"
        "Items of the study: {} sweep ranges of {:.2f} ms in the mean (coefficient of variation {:.2f}), {} draw blocks of "
        "{:.2f} ms "
        "({:.2f}).\n\n"
        "Simulated: 200 draw blocks a worker of these measured times in the order they came, {:.1f} us of the coordinator an "
        "item, {:.0f} "
        "us a message, two items in flight a worker. Not simulated: waiting of the strategy between its requests.\n\n"
        "| ranks | idle share of the workers | coordinator busy | efficiency of all ranks |\n|---|---|---|---|\n",
        scenario.path, ranks, std::thread::hardware_concurrency(), ranks, small, large, items.sweep_s.size(),
        1e3 * mean(items.sweep_s), variation(items.sweep_s), items.draw_s.size(), 1e3 * mean(items.draw_s),
        variation(items.draw_s), 1e6 * costs.service_s, 1e6 * costs.latency_s);
    std::string plot;
    for (std::size_t team = 16; team <= 4096; team *= 2) {
        const std::size_t workers = team - 1;
        std::vector<double> tasks;
        // A stride without a common divisor mixes the measured times alike for all team sizes.
        for (std::size_t i = 0; i < 200 * workers; ++i) tasks.push_back(items.draw_s[i * 7919 % items.draw_s.size()]);
        const SimulatedCrew crew = simulate_crew(tasks, workers, costs);
        const double efficiency = (1.0 - crew.idle_share) * static_cast<double>(workers) / static_cast<double>(team);
        text += fmt::format("| {} | {:.2f} % | {:.1f} % | {:.1f} % |\n", team, 100.0 * crew.idle_share, 100.0 * crew.coordinator,
                            100.0 * efficiency);
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
    const double small = throughput(team, 8);
    const double large = throughput(team, 1024);
    if (team.rank() != 0) return 0;
    const Scenario scenario = read_scenario(argv[1]);
    const std::string text = report(scenario, team.size(), small, large, measure_items(scenario));
    if (argc > 2) {
        std::ofstream(argv[2]) << text;
    } else {
        std::fputs(text.c_str(), stdout);
    }
    return 0;
}
