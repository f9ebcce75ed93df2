#include "tests/benchmarks/search/racing.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/parallel/work_scheduler.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/worker.hpp"
#include "tests/benchmarks/search/support.hpp"
#include "tests/benchmarks/search/table_problem.hpp"

#include "search/components/race.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace prismopt::bench {
namespace {

constexpr std::size_t candidates = 1000;
constexpr std::size_t top = 10;
constexpr std::uint64_t other_draws = 1000;  // added to the seed
constexpr int truth_fleets = 8192;

std::vector<Rung> doublings(int first, int last)
{
    std::vector<Rung> rungs;
    for (int fleets = first; fleets <= last; fleets *= 2) {
        rungs.push_back({fleets, 1});
    }
    return rungs;
}

Scenario of_step_times(const std::string& file, std::uint64_t seed)
{
    Scenario scenario = read_scenario(file);
    scenario.seed = seed;
    scenario.objectives = {"step_time_p99"};
    return scenario;
}

std::map<std::uint64_t, double> values_of(const Scenario& scenario, const std::vector<std::uint64_t>& points,
                                          int fleets)
{
    const StudyModel model(scenario);
    Communicator alone;
    WorkScheduler scheduler(alone, Worker(model));
    Evaluator evaluator(model, scheduler, {{fleets, 1}});
    std::vector<Request> requests;
    requests.reserve(points.size());
    for (const std::uint64_t index : points) {
        requests.emplace_back(PointRequest{index, 1});
    }
    evaluator.submit(requests);
    std::map<std::uint64_t, double> values;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Answer answer = evaluator.next()->answer;
        const auto& evaluation = std::get<Evaluation>(answer);
        values[evaluation.index] = evaluation.objectives.front().value;
    }
    return values;
}

std::vector<std::uint64_t> spread_over(const std::vector<Bound>& feasible)
{
    const std::size_t count = std::min(candidates, feasible.size());
    std::vector<std::uint64_t> chosen;
    for (std::size_t i = 0; i < count; ++i) {
        chosen.push_back(feasible[i * feasible.size() / count].index);
    }
    return chosen;
}

struct Raced {
    std::vector<std::uint64_t> order;  // by rung reached, then by value
    std::uint64_t draws = 0;
};

Raced race_of(const StudyModel& model, const std::vector<std::uint64_t>& chosen)
{
    const std::vector<Rung> rungs = doublings(64, 4096);
    Communicator alone;
    WorkScheduler scheduler(alone, Worker(model));
    Race race({.top_rung = static_cast<int>(rungs.size())});
    Evaluator evaluator(model, scheduler, rungs);
    std::map<std::uint64_t, Evaluation> last;
    const auto run = [&](const std::vector<Request>& requests) {
        evaluator.submit(requests);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const Answer answer = evaluator.next()->answer;
            const auto& evaluation = std::get<Evaluation>(answer);
            race.add(evaluation);
            last[evaluation.index] = evaluation;
        }
    };
    std::vector<Request> first;
    first.reserve(chosen.size());
    for (const std::uint64_t index : chosen) {
        first.emplace_back(PointRequest{index, 1});
    }
    run(first);
    for (auto next = race.next(); !next.empty(); next = race.next()) {
        run({next.begin(), next.end()});
    }

    Raced raced{chosen, 0};
    for (const auto& entry : last) {
        raced.draws += entry.second.draws;
    }
    std::sort(raced.order.begin(), raced.order.end(), [&](std::uint64_t a, std::uint64_t b) {
        const Evaluation& x = last.at(a);
        const Evaluation& y = last.at(b);
        return x.rung != y.rung ? x.rung > y.rung : x.objectives.front().value < y.objectives.front().value;
    });
    return raced;
}

/// Top ten of a thousand real plans by p99 step time, and what the race paid for them.
std::string top_ten_row(const std::string& file, std::uint64_t seed, const std::string& remark)
{
    const Scenario scenario = of_step_times(file, seed);
    const StudyModel model(scenario);
    const auto chosen = spread_over(Worker(model).sweep({0, model.designs.space().size()}).feasible);
    const Raced raced = race_of(model, chosen);

    const Scenario held_out = of_step_times(file, seed + other_draws);
    const auto rough = values_of(held_out, chosen, 256);
    std::vector<std::uint64_t> promising = chosen;
    std::sort(promising.begin(), promising.end(),
              [&](std::uint64_t a, std::uint64_t b) { return rough.at(a) < rough.at(b); });
    const double middle = rough.at(promising[promising.size() / 2]);
    promising.resize(std::min(4 * top, promising.size()));
    promising.insert(promising.end(), raced.order.begin(), raced.order.begin() + top);
    std::sort(promising.begin(), promising.end());
    promising.erase(std::unique(promising.begin(), promising.end()), promising.end());
    const auto truth = values_of(held_out, promising, truth_fleets);
    std::vector<double> best;
    best.reserve(truth.size());
    for (const auto& entry : truth) {
        best.push_back(entry.second);
    }
    std::sort(best.begin(), best.end());
    double found = 0.0;
    double ideal = 0.0;
    for (std::size_t i = 0; i < top; ++i) {
        found += truth.at(raced.order[i]);
        ideal += best[i];
    }
    fmt::print(stderr, "race of {}, seed {} done\n", scenario.name, seed);
    return fmt::format("| {} | {} | {} | {} | {:.4f} % | {:.4f} s, {:.4f} s, {:.4f} s | {} |\n",
                       scenario.name, seed, chosen.size(), grouped(raced.draws),
                       100.0 * (found / ideal - 1.0), best[0], best[top - 1], middle, remark);
}

/// What each strategy returns, judged by other draws than it saw.
std::string returned_rows(const std::string& file)
{
    const std::vector<Rung> rungs = doublings(64, 512);
    const TableProblem seen(file, rungs);
    const TableProblem held_out(file, {rungs.back()}, other_draws);
    std::vector<std::vector<double>> front;
    for (const std::uint64_t index : held_out.front()) {
        front.push_back(held_out.truth(index));
    }
    const HypervolumeShare share(front, true);
    std::string rows;
    for (const char* name : {"racing", "exact", "nsga2", "nsga3"}) {
        const auto strategy = make_strategy(name, seen.space(), seen.goal()).strategy;
        const Played played = play(seen.played(), *strategy);
        std::vector<std::vector<double>> returned;
        for (const std::uint64_t index : played.front) {
            returned.push_back(held_out.truth(index));
        }
        rows += fmt::format("| {} | {} | {} | {} | {:.3f} % |\n", seen.scenario().name, name,
                            grouped(played.draws), played.front.size(), 100.0 * share(returned));
    }
    fmt::print(stderr, "returned sets of {} done\n", file);
    return rows;
}

}  // namespace

std::string racing_text()
{
    std::string text = fmt::format(
        "## Racing\n\nThe ten that the race ranks first of {} plans, by {} held-out fleets of each plan that "
        "is promising by "
        "256.\n\n"
        "| scenario | seed | plans | draws | excess | best, tenth, median of all | "
        "|\n|---|---|---|---|---|---|---|\n",
        grouped(candidates), grouped(truth_fleets));
    const std::string llama = here + "llama2-7b.toml";
    text += top_ten_row(llama, 1, "settings chosen here");
    for (const std::uint64_t seed : {21, 22, 23}) {
        text += top_ten_row(llama, seed, "");
    }
    for (const std::uint64_t seed : {21, 22, 23}) {
        text += top_ten_row(here + "gpt-22b.toml", seed, "");
    }
    text += top_ten_row(shipped + "gpt3-175b-64-a100.toml", 21, "");
    text +=
        "\nHypervolume of the returned set, rungs of 64 to 512 fleets:\n\n"
        "| scenario | strategy | draws | returned | share of the best known |\n|---|---|---|---|---|\n";
    text += returned_rows(here + "gpt-22b.toml");
    text += returned_rows(llama);
    return text + "\n";
}

}  // namespace prismopt::bench
