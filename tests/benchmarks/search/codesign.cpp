#include "tests/benchmarks/search/codesign.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "tests/benchmarks/search/support.hpp"
#include "tests/benchmarks/search/table_problem.hpp"

#include "io/scenario/variants.hpp"
#include "optimizer/loop/codesign.hpp"
#include "optimizer/parallel/work_scheduler.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"
#include "optimizer/study/worker.hpp"
#include "search/ranking.hpp"
#include "search/strategies/nlopt_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

namespace prismopt::bench {
namespace {

/// A step of `fixed` seconds and two parts that a faster clock x and a wider link y shorten, each speed at
/// its price: T = fixed + work / x + bytes / y, price = base + a x + b y. For what is spent on speed, s = a x
/// + b y, the least time is fixed + k^2 / s with k = sqrt(a work) + sqrt(b bytes), by Cauchy and Schwarz, at
/// a x / sqrt(a work) = b y / sqrt(b bytes) = s / k.
struct Tradeoff {
    double fixed = 1.0, work = 3.0, bytes = 5.0;
    double base = 2.0, a = 0.05, b = 0.02;

    double k() const { return std::sqrt(a * work) + std::sqrt(b * bytes); }
    double time(std::span<const double> hardware_parameters) const
    {
        return fixed + work / hardware_parameters[0] + bytes / hardware_parameters[1];
    }
    double spent(std::span<const double> hardware_parameters) const
    {
        return a * hardware_parameters[0] + b * hardware_parameters[1];
    }
    double least_time(double s) const { return fixed + k() * k() / s; }
    std::vector<double> best_parameters(double s) const
    {
        return {std::sqrt(work / a) * s / k(), std::sqrt(bytes / b) * s / k()};
    }
};

/// Time times price is least where d/ds (fixed + k^2 / s) (base + s) = 0: s = k sqrt(base / fixed).
std::string known_optimum()
{
    const Tradeoff problem;
    const double best_s = problem.k() * std::sqrt(problem.base / problem.fixed);
    const std::vector<double> best = problem.best_parameters(best_s);
    const double least = problem.least_time(best_s) * (problem.base + best_s);
    const Box box{{1.0, 2.0}, {60.0, 120.0}};
    const std::vector<double> start = box.low;

    std::string text = fmt::format(
        "### A known optimum\n\nA step of {} + {} / x + {} / y seconds at a price of {} + {} x + {} y. The "
        "cheapest run, time "
        "times "
        "price: {:.6f} at x = {:.4f}, y = {:.4f}. {} directions of the front, at most 200 evaluations per "
        "tuning.\n\n"
        "| method | cheapest run | x, y | evaluations | largest excess along the front | evaluations "
        "|\n|---|---|---|---|---|---|\n",
        problem.fixed, problem.work, problem.bytes, problem.base, problem.a, problem.b, least, best[0],
        best[1], 12);
    constexpr std::array methods{std::pair{"global_then_local (the default)", TuneMethod::global_then_local},
                                 std::pair{"sbplx", TuneMethod::sbplx},
                                 std::pair{"bobyqa", TuneMethod::bobyqa},
                                 std::pair{"direct_l", TuneMethod::direct_l},
                                 std::pair{"crs2", TuneMethod::crs2}};
    for (const auto& [name, method] : methods) {
        const auto product = [&](std::span<const double> x) {
            return problem.time(x) * (problem.base + problem.spent(x));
        };
        const Tuned cheapest = minimise(product, box, start, {.method = method});
        Scalarisation scalar{.weight = {},
                             .ideal = {problem.time(box.high), problem.spent(box.low)},
                             .nadir = {problem.time(box.low), problem.spent(box.high)}};
        double excess = 0.0;
        int evaluations = 0;
        for (const Values& direction : reference_directions(2, 12)) {
            scalar.weight = direction;
            for (double& weight : scalar.weight) {
                weight = std::max(weight, 1e-3);
            }
            const auto cost = [&](std::span<const double> x) {
                return scalar(std::vector{problem.time(x), problem.spent(x)});
            };
            const Tuned tuned = minimise(cost, box, start, {.method = method});
            evaluations += tuned.evaluations;
            excess =
                std::max(excess, problem.time(tuned.x) / problem.least_time(problem.spent(tuned.x)) - 1.0);
        }
        text += fmt::format("| {} | {:.6f} | {:.4f}, {:.4f} | {} | {:.4f} % | {} |\n", name, cheapest.value,
                            cheapest.x[0], cheapest.x[1], cheapest.evaluations, 100.0 * excess, evaluations);
    }
    return text + "\n";
}

/// The front that the exact strategy draws on the kinds of hardware of a scenario, and what that took.
struct DrawnFront {
    std::uint64_t raw_tuples = 0;
    std::uint64_t feasible = 0;
    std::uint64_t drawn = 0;
    double seconds = 0.0;
    std::vector<std::vector<double>> values;
    std::vector<std::string> hardware;
    std::vector<int> gpus;
};

DrawnFront exact_front(Scenario scenario)
{
    scenario.search.strategy = "exact";
    const auto start = Clock::now();
    const StudyModel model(scenario);
    Communicator alone;
    WorkScheduler scheduler(alone, Worker(model));
    StudyPlan plan = plan_study(model);
    Evaluator evaluator(model, scheduler, plan.rungs);
    Archive archive;
    while (const auto requests = plan.chosen.strategy->ask()) {
        if (!requests->empty() && std::holds_alternative<PointRequest>(requests->front())) {
            evaluator.compare_at_once(archive.feasible());
        }
        evaluator.submit(*requests);
        std::vector<Answer> answers;
        for (std::size_t i = 0; i < requests->size(); ++i) {
            answers.push_back(evaluator.next()->answer);
        }
        plan.chosen.strategy->tell(answers);
        archive.add(answers);
    }
    DrawnFront front{model.designs.space().size(),
                     archive.feasible(),
                     archive.evaluations().size(),
                     seconds_since(start),
                     {},
                     {},
                     {}};
    for (const std::uint64_t index : plan.chosen.strategy->front()) {
        std::vector<double>& values = front.values.emplace_back();
        for (const Estimate& objective : archive.evaluations().at(index).objectives) {
            values.push_back(objective.value);
        }
        const Point point = model.designs.space().point(index);
        const std::size_t kind = model.designs.variant(point);
        front.gpus.push_back(model.designs.plan(point).gpus());
        front.hardware.push_back(variant_text(scenario.choices, scenario.variants[kind]));
    }
    return front;
}

/// The scenario with so many levels of each continuous hardware parameter.
Scenario with_levels(Scenario scenario, int levels)
{
    for (StudyChoice& choice : scenario.choices) {
        if (!choice.continuous) {
            continue;
        }
        const double low = std::get<HardwareLevel>(choice.values.front()).si;
        const double high = std::get<HardwareLevel>(choice.values.back()).si;
        choice.values.clear();
        for (int i = 0; i < levels; ++i) {
            choice.values.emplace_back(HardwareLevel{low + (high - low) * i / (levels - 1)});
        }
    }
    find_variants(scenario);
    return scenario;
}

std::string front_row(const std::string& name, std::size_t kinds, const DrawnFront& front,
                      const HypervolumeShare& share)
{
    return fmt::format("| {} | {} | {} | {} | {} | {} | {:.3f} % | {:.1f} s, {:.1f} ms a plan drawn |\n",
                       name, kinds, grouped(front.raw_tuples), grouped(front.feasible), grouped(front.drawn),
                       front.values.size(), 100.0 * share(front.values), front.seconds,
                       1e3 * front.seconds / static_cast<double>(front.drawn));
}

/// The ends of the front at each number of GPUs.
std::string what_to_buy(const DrawnFront& front)
{
    constexpr double day_s = 86'400.0;
    const auto cell = [&](std::size_t i) {
        return fmt::format("{:.1f} days, {:.2f} M USD, {}", front.values[i][0] / day_s,
                           front.values[i][1] / 1e6, front.hardware[i]);
    };
    std::map<int, std::vector<std::size_t>> by_gpus;
    for (std::size_t i = 0; i < front.values.size(); ++i) {
        by_gpus[front.gpus[i]].push_back(i);
    }
    std::string text = "| GPUs | points | fastest | cheapest |\n|---|---|---|---|\n";
    for (const auto& [gpus, points] : by_gpus) {
        const auto ends =
            std::minmax_element(points.begin(), points.end(), [&](std::size_t i, std::size_t j) {
                return front.values[i] < front.values[j];
            });
        text += fmt::format("| {} | {} | {} | {} |\n", gpus, points.size(), cell(*ends.first),
                            cell(*ends.second));
    }
    return text + "\n";
}

std::string domain_size()
{
    constexpr int fine_levels = 36;  // 5 GB/s apart
    const std::string file = "jobs/scenarios/nvlink-domain.toml";
    const Scenario coarse = read_scenario(std::string(PRISMOPT_SOURCE_DIR) + "/" + file);
    const auto start = Clock::now();
    const TunedHardware found = tune_hardware(coarse);
    const double tuning_s = seconds_since(start);
    Scenario tuned = coarse;
    tuned.variants.insert(tuned.variants.end(), found.variants.begin(), found.variants.end());
    const Scenario fine = with_levels(coarse, fine_levels);

    const DrawnFront of_coarse = exact_front(coarse);
    const DrawnFront of_tuned = exact_front(tuned);
    const DrawnFront of_fine = exact_front(fine);
    const HypervolumeShare share(of_fine.values, true);
    std::string text = fmt::format(
        "### Which NVLink domain size and inter-node bandwidth for Llama 3 405B under a price\n\n`{}`: GPUs "
        "with their share of "
        "the network at most {:.2f} USD an hour; p99 training time and cost. The fine grid has {} "
        "bandwidths. The tuning took {} "
        "evaluations of {:.2f} ms.\n\n"
        "| hardware | kinds | combinations of values | feasible | drawn | front | hypervolume | time "
        "|\n|---|---|---|---|---|---|---|---|\n",
        file, coarse.search.gpu_price_limit.si * 3600.0, fine_levels, grouped(found.evaluations),
        1e3 * tuning_s / static_cast<double>(found.evaluations));
    text += front_row("the scenario's levels", coarse.variants.size(), of_coarse, share);
    text += front_row("levels and tuned (nlopt)", tuned.variants.size(), of_tuned, share);
    text += front_row("fine grid", fine.variants.size(), of_fine, share);
    return text + "\nThe front of nlopt (training time p99 and cost, with the hardware):\n\n" +
           what_to_buy(of_tuned);
}

}  // namespace

std::string codesign_text() { return "## Co-design\n\n" + known_optimum() + domain_size(); }

}  // namespace prismopt::bench
