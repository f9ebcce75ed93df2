/// Writes results/search-quality.md (jobs/search_quality_study). One argument: the file to
/// write; `--quick`: three seeds.

#include "io/report/outcome_text.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "tests/benchmarks/search/codesign.hpp"
#include "tests/benchmarks/search/pagmo_yardstick.hpp"
#include "tests/benchmarks/search/racing.hpp"
#include "tests/benchmarks/search/support.hpp"
#include "tests/benchmarks/search/tracker.hpp"
#include "tests/search/textbook.hpp"

#include "optimizer/space/design_text.hpp"
#include "optimizer/study/worker.hpp"
#include "search/strategies/exact/exact.hpp"
#include "search/strategies/nsga2.hpp"
#include "search/strategies/nsga3.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string_view>

namespace prismopt::bench {
namespace {

constexpr std::uint64_t most_calls = 40'000;
int seeds = 10;

/// Runs that did not reach the share count as more than all.
std::string median(std::vector<std::uint64_t> counts)
{
    for (std::uint64_t& count : counts) {
        if (count == 0) {
            count = most_calls + 1;
        }
    }
    std::sort(counts.begin(), counts.end());
    const std::uint64_t middle = counts[counts.size() / 2];
    return middle > most_calls ? "never" : grouped(middle);
}

struct Reached {
    std::vector<std::uint64_t> to_99;
    std::vector<std::uint64_t> to_999;

    void add(const Tracker& tracker)
    {
        to_99.push_back(tracker.to_99);
        to_999.push_back(tracker.to_999);
    }
    std::string row(const std::string& name) const
    {
        return fmt::format("| {} | {} | {} |\n", name, median(to_99), median(to_999));
    }
};

/// The same problem for our strategies and for pagmo.
struct Contest {
    const Space* space;
    PlayedProblem problem;
    StudyGoal goal;
    std::function<std::vector<double>(std::uint64_t)> truth;  // of a feasible point
    HypervolumeShare share;
};

Tracker follow(const Contest& contest, Strategy& strategy)
{
    Tracker tracker(contest.share);
    std::size_t seen = 0;
    const auto enough = [&](const Played& played) {
        for (; seen < played.drawn.size(); ++seen) {
            tracker.evaluated(played.drawn[seen], contest.truth(played.drawn[seen]));
        }
        return tracker.to_999 > 0;
    };
    const auto all = [](std::size_t outstanding) { return outstanding; };
    enough(play(contest.problem, strategy, all, enough));
    return tracker;
}

GeneticOptions endless()
{
    GeneticOptions options;
    options.patience = most_calls;
    return options;
}

std::string contest_rows(const Contest& contest, bool with_exact)
{
    std::string rows;
    if (with_exact) {
        Reached exact;
        const auto strategy = make_strategy("exact", *contest.space, contest.goal).strategy;
        exact.add(follow(contest, *strategy));
        rows += exact.row("exact");
        const auto whole = make_strategy("exact", *contest.space, contest.goal).strategy;
        const Played played = play(contest.problem, *whole);
        rows += fmt::format("| exact, to the end: {} | {} drawn | |\n",
                            outcome_text(whole->outcome(), "exact"), grouped(played.drawn.size()));
    }
    Reached nsga2;
    Reached nsga3;
    Reached random;
    for (int seed = 1; seed <= seeds; ++seed) {
        StudyGoal goal = contest.goal;
        goal.seed = static_cast<std::uint64_t>(seed);
        goal.max_evaluations = most_calls;
        Nsga2 two(*contest.space, goal, endless());
        nsga2.add(follow(contest, two));
        Nsga3 three(*contest.space, goal, endless());
        nsga3.add(follow(contest, three));
        const auto control = make_strategy("random", *contest.space, goal).strategy;
        random.add(follow(contest, *control));
    }
    rows += nsga2.row("nsga2") + nsga3.row("nsga3") + random.row("random");
    for (const unsigned population : {24U, 100U, 200U}) {
        Reached pagmo;
        for (int seed = 1; seed <= seeds; ++seed) {
            Tracker tracker(contest.share);
            YardstickProblem yardstick;
            std::vector<std::size_t> free;  // pagmo refuses a variable with one value
            Point whole(contest.space->axes().size(), 0);
            for (std::size_t axis = 0; axis < whole.size(); ++axis) {
                const auto labels = static_cast<int>(contest.space->axes()[axis].labels.size());
                if (labels < 2) {
                    continue;
                }
                free.push_back(axis);
                yardstick.labels.push_back(labels);
            }
            yardstick.objectives = contest.goal.objectives;
            yardstick.values = [&](std::span<const int> labels) {
                Point point = whole;
                for (std::size_t i = 0; i < free.size(); ++i) {
                    point[free[i]] = labels[i];
                }
                if (!contest.space->allows_all(point) || contest.problem.bound(point).empty()) {
                    return std::vector<double>{};
                }
                const std::uint64_t index = contest.space->index(point);
                std::vector<double> value = contest.truth(index);
                tracker.evaluated(index, value);
                return value;
            };
            run_pagmo_nsga2(yardstick, population, static_cast<unsigned>(seed), most_calls,
                            [&] { return tracker.to_999 > 0; });
            pagmo.add(tracker);
        }
        rows += pagmo.row(fmt::format("pagmo nsga2, population {}", population));
    }
    return rows;
}

constexpr const char* contest_head = "| search | evaluations to 99 % | to 99.9 % |\n|---|---|---|\n";

/// Real spaces: the exact front beside brute force with the same draws, and the contest.
std::string real_spaces()
{
    std::string text = "## Real spaces\n\nMedians of " + std::to_string(seeds) + " seeds; at most " +
                       grouped(most_calls) + " calls.\n\n";
    for (const std::string& file : {shipped + "small.toml", here + "gpt-22b.toml", here + "llama2-7b.toml"}) {
        const auto start = std::chrono::steady_clock::now();
        const TableProblem table(file, read_scenario(file).search.rungs);
        std::vector<std::vector<double>> front;
        for (const std::uint64_t index : table.front()) {
            front.push_back(table.truth(index));
        }
        const Contest contest{&table.space(), table.played(), table.goal(),
                              [&](std::uint64_t index) { return table.truth(index); },
                              HypervolumeShare(front, true)};
        const auto exact = make_strategy("exact", table.space(), table.goal()).strategy;
        const Played played = play(contest.problem, *exact);
        text += fmt::format("### {}: {} combinations of values, {} feasible, a front of {}\n\n",
                            table.scenario().name, grouped(table.space().size()),
                            grouped(table.feasible().size()), front.size());
        text += fmt::format(
            "The exact front is {} brute force with the same draws as a set (drawn in {:.0f} s).\n\n",
            played.front == table.front() ? "equal to that of" : "DIFFERENT from that of",
            seconds_since(start));
        text += contest_head + contest_rows(contest, true) + "\n";
        fmt::print(stderr, "{} done\n", file);
    }
    return text;
}

struct Textbook {
    std::string name;
    std::size_t variables;
    int steps;
    std::size_t objectives;
    std::function<std::vector<double>(std::span<const double>)> values;
    double best;  // of the variables behind the first objectives - 1
};

std::string textbook_problems()
{
    std::string text = "## Textbook problems\n\nMedians of " + std::to_string(seeds) + " seeds.\n\n";
    const auto of_zdt = [](int number) {
        return [number](std::span<const double> x) { return zdt(number, x); };
    };
    const std::vector<Textbook> problems{
        {"ZDT1, 20 variables", 20, 65, 2, of_zdt(1), 0.0},
        {"ZDT2, 20 variables", 20, 65, 2, of_zdt(2), 0.0},
        {"ZDT3, 20 variables", 20, 65, 2, of_zdt(3), 0.0},
        {"DTLZ2, 12 variables, 3 objectives", 12, 33, 3,
         [](std::span<const double> x) { return dtlz2(x, 3); }, 0.5},
    };
    for (const Textbook& problem : problems) {
        // The index of a tuple has 64 bits, so variables that the front does not vary have fewer labels.
        std::vector<Axis> axes = unit_axes(problem.variables, problem.steps);
        std::vector<int> steps(problem.variables, problem.steps);
        for (std::size_t v = problem.objectives - 1; v < problem.variables; ++v) {
            steps[v] = problem.variables > 12 ? 8 : 17;
            axes[v].labels.resize(static_cast<std::size_t>(steps[v]));
        }
        const Space space(std::move(axes), {});
        const auto values = [&](std::span<const int> point) {
            std::vector<double> x;
            for (std::size_t v = 0; v < point.size(); ++v) {
                x.push_back(static_cast<double>(point[v]) / (steps[v] - 1));
            }
            return problem.values(x);
        };
        std::vector<std::vector<double>> all;
        Point point(problem.variables);
        for (std::size_t v = 0; v < problem.variables; ++v) {
            point[v] = static_cast<int>(std::lround(problem.best * (steps[v] - 1)));
        }
        for (int first = 0; first < steps[0]; ++first) {
            point[0] = first;
            for (int second = 0; second < (problem.objectives > 2 ? steps[1] : 1); ++second) {
                if (problem.objectives > 2) {
                    point[1] = second;
                }
                all.push_back(values(point));
            }
        }
        std::vector<std::vector<double>> front;
        for (const std::size_t position : non_dominated(all)) {
            front.push_back(all[position]);
        }
        StudyGoal goal{.objectives = problem.objectives,
                       .top_rung = 1,
                       .bounded = std::vector<bool>(problem.objectives, false)};
        const auto truth = [&](std::uint64_t index) { return values(space.point(index)); };
        const Contest contest{
            &space,
            {&space, [&](std::span<const int>) { return std::vector<double>(problem.objectives, -INFINITY); },
             [&](std::uint64_t index, int rung) {
                 Evaluation evaluation{index, rung, 1, {}};
                 for (const double value : truth(index)) {
                     evaluation.objectives.push_back(Estimate::exact(value));
                 }
                 return evaluation;
             }},
            goal,
            truth,
            HypervolumeShare(front, false)};
        text += "### " + problem.name + "\n\n" + contest_head + contest_rows(contest, false) + "\n";
        fmt::print(stderr, "{} done\n", problem.name);
    }
    return text;
}

std::string speed()
{
    struct Peer {
        std::string file;
        std::string space;
        double best_s;
        std::string plan;
        double sweep_s;
    };
    const std::vector<Peer> peers{{shipped + "gpt3-175b-64-a100.toml", "467,808", 9.8274,
                                   "TP8 PP4 DP2, microbatch 4, interleave 12, attention recompute", 182.0},
                                  {shipped + "gpt-1t-512-a100.toml", "851,400", 51.9737,
                                   "TP8 PP16 DP4, microbatch 1, interleave 8, attention recompute", 240.0}};
    std::string text =
        "## Speed on the two reference spaces\n\n"
        "| scenario | combinations of values | feasible | sweep, one core | best step | plan | calculon: "
        "tuples, time on two "
        "processes, "
        "best, plan |\n"
        "|---|---|---|---|---|---|---|\n";
    for (const Peer& peer : peers) {
        const Scenario scenario = read_scenario(peer.file);
        const StudyModel model(scenario);
        std::vector<double> times;
        Sweep sweep;
        for (int repeat = 0; repeat < 3; ++repeat) {
            Worker worker(model);
            const auto start = std::chrono::steady_clock::now();
            sweep = worker.sweep({0, model.designs.space().size()});
            times.push_back(seconds_since(start));
        }
        std::sort(times.begin(), times.end());
        const auto best = std::min_element(sweep.feasible.begin(), sweep.feasible.end(),
                                           [](const Bound& a, const Bound& b) {
                                               return a.objectives.front() < b.objectives.front();
                                           });
        text += fmt::format("| {} | {} | {} | {:.2f} s | {:.3f} s | {} | {}, {:.0f} s, {:.3f} s, {} |\n",
                            scenario.name, grouped(model.designs.space().size()),
                            grouped(sweep.feasible.size()), times[1], best->objectives.front(),
                            design_text(model.designs.plan(model.designs.space().point(best->index))),
                            peer.space, peer.sweep_s, peer.best_s, peer.plan);
    }
    return text + "\n";
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    using namespace prismopt::bench;
    std::string out;
    std::string only;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--quick") {
            seeds = 3;
        } else if (word.starts_with("--only=")) {
            only = word.substr(7);
        } else {
            out = word;
        }
    }
    std::string text = fmt::format(
        "# How well the searches search\n\nWritten by `bash jobs/search_quality_study{}`. What is compared: "
        "[docs/methods/result-pages.md](../docs/methods/result-pages.md#search-qualitymd).\n\n",
        seeds == 10 ? "" : " --quick");
    if (only.empty() || only == "speed") {
        text += speed();
    }
    if (only.empty() || only == "real") {
        text += real_spaces();
    }
    if (only.empty() || only == "textbook") {
        text += textbook_problems();
    }
    if (only.empty() || only == "racing") {
        text += racing_text();
    }
    if (only.empty() || only == "codesign") {
        text += codesign_text();
    }
    if (out.empty()) {
        std::fputs(text.c_str(), stdout);
        return 0;
    }
    std::ofstream(out) << text;
    return 0;
}
