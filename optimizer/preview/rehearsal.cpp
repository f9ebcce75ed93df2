#include "optimizer/preview/rehearsal.hpp"

#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/preview/processor_time.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <span>

namespace prismopt {

namespace {

constexpr std::size_t sample_plans = 12;
constexpr int sample_fleets = 8192;               // enough for limits among many plans, of means too
constexpr int fleets_at_once = 4 * block_fleets;  // between two pauses
/// Plans whose limits share the error probability in a search, about: incumbents of a round, and
/// plans that these do not exclude.
constexpr std::uint64_t compared = 256;
constexpr int most_sample_steps = 4;
constexpr double most_sampling_s = 8.0;
constexpr double most_of_first_s = 24.0;  // of the first plan
constexpr double most_rehearsing_s = 10.0;
constexpr double most_timing_s = 4.0;
constexpr double infinity = std::numeric_limits<double>::infinity();

class Stopwatch {
public:
    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Knuth's multiplicative hash: neighbours in the space get unlike plans of the sample.
std::size_t choice(std::uint64_t index, std::size_t of)
{
    return static_cast<std::size_t>((index * 2654435761u) >> 7) % of;
}

/// With few fleets there are no limits.
Estimate without_limits(Estimate estimate)
{
    estimate.simultaneous_low = -infinity;
    estimate.simultaneous_high = infinity;
    return estimate;
}

}  // namespace

DrawnSample draw_sample(const StudyModel& model, const std::vector<Bound>& feasible,
                        const std::vector<Rung>& rungs, const Pause& pause)
{
    const DrawRange range{0, sample_fleets, std::min(rungs.back().steps, most_sample_steps)};
    Confidence confidence;
    confidence.skewness = model.skewness;
    const std::uint64_t limits = compared * model.objectives.size() * rungs.size();
    confidence.simultaneous = 1.0 - (1.0 - model.confidence()) / static_cast<double>(limits);
    HardwareBench bench(model.scenario, model.problem);
    DrawnSample sample;
    const std::size_t count = std::min(sample_plans, feasible.size());
    const Stopwatch time;
    double summarising_s = 0.0;
    double summarised = 0.0;  // step draws
    for (std::size_t i = 0; i < count && (i == 0 || time.seconds() < most_sampling_s); ++i) {
        // The last have the most GPUs and cost least.
        const Bound& bound = feasible[(count - 1 - i) * feasible.size() / count];
        const Point point = model.designs.space().point(bound.index);
        const ParallelPlan plan = model.designs.plan(point);
        Predictor& predictor = bench.of(model.designs.variant(point));
        const SamplerOptions sampler = model.sampler({Purpose::search});
        PhaseDraws draws(model.problem.phases.size());
        int drawn_fleets = 0;
        while (drawn_fleets < range.fleets && time.seconds() < (i == 0 ? most_of_first_s : most_sampling_s)) {
            pause();
            const DrawRange next{drawn_fleets, std::min(fleets_at_once, range.fleets - drawn_fleets),
                                 range.steps};
            const PhaseDraws more = predictor.sample(plan, next, sampler);
            for (std::size_t phase = 0; phase < draws.size(); ++phase) {
                draws[phase].insert(draws[phase].end(), more[phase].begin(), more[phase].end());
            }
            drawn_fleets += next.fleets;
        }
        if (drawn_fleets < range.fleets && i > 0) {
            break;  // too few for limits
        }
        const double before_s = processor_s();
        const Prediction prediction = predictor.summarise(plan, draws, range.steps, sampler, confidence);
        summarising_s += processor_s() - before_s;
        summarised += static_cast<double>(drawn_fleets) * range.steps;
        DrawnSample::Plan& drawn = sample.plans.emplace_back();
        drawn.bound = bound.objectives;
        drawn.objectives = model.values(prediction);
    }
    sample.summary_s = summarising_s / summarised;
    return sample;
}

Rehearsal rehearse(const StudyModel& model, StudyPlan plan, const DrawnSample& sample, const Pause& pause)
{
    Rehearsal rehearsal;
    rehearsal.plans.assign(plan.rungs.size(), 0);
    Worker worker(model, pause);
    Archive archive;
    std::map<std::uint64_t, std::vector<double>> bounds;
    const auto answer = [&](const PointRequest& request) {
        const Rung rung{fleets_of(request, plan.rungs), plan.rungs.front().steps};
        const bool extends = request.rung > 1 && request.source.purpose == Purpose::search;
        const int before = extends ? plan.rungs[static_cast<std::size_t>(request.rung - 2)].fleets : 0;
        if (request.source.purpose == Purpose::search) {
            ++rehearsal.plans[static_cast<std::size_t>(request.rung - 1)];
        }
        rehearsal.drawn.emplace_back(request.index, static_cast<double>(rung.fleets - before) * rung.steps);
        rehearsal.draws += rehearsal.drawn.back().second;
        const DrawnSample::Plan& like = sample.plans[choice(request.index, sample.plans.size())];
        const std::vector<double>& bound = bounds.at(request.index);
        Evaluation evaluation{request.index,
                              request.rung,
                              static_cast<std::uint64_t>(rung.fleets) * rung.steps,
                              {},
                              request.source};
        for (std::size_t k = 0; k < bound.size(); ++k) {
            const bool comparable = std::isfinite(bound[k]) && like.bound[k] > 0.0;
            const Estimate estimate =
                comparable ? (bound[k] / like.bound[k]) * like.objectives[k] : like.objectives[k];
            const bool limits = rung.fleets >= plan.rungs.back().fleets;
            evaluation.objectives.push_back(
                limits || estimate.low == estimate.high ? estimate : without_limits(estimate));
        }
        return evaluation;
    };
    const Stopwatch time;
    while (const auto requests = plan.chosen.strategy->ask()) {
        for (const Request& request : *requests) {
            pause();
            if (time.seconds() > most_rehearsing_s) {
                return rehearsal;
            }
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                const Sweep sweep = worker.sweep(*range);
                for (const Bound& bound : sweep.feasible) {
                    bounds[bound.index] = bound.objectives;
                }
                rehearsal.looked_at += range->end - range->begin;
                plan.chosen.strategy->tell(std::vector<Answer>{sweep});
            } else {
                plan.chosen.strategy->tell(std::vector<Answer>{answer(std::get<PointRequest>(request))});
            }
        }
    }
    rehearsal.ended = true;
    rehearsal.front = plan.chosen.strategy->front().size();
    const Rung& confirm = model.scenario.search.confirm;
    rehearsal.draws += static_cast<double>(rehearsal.front) * confirm.fleets * confirm.steps;
    return rehearsal;
}

DrawCosts draw_costs(const StudyModel& model, const Rehearsal& rehearsal, const Pause& pause)
{
    double drawn = 0.0;
    std::map<DrawGroup, std::vector<std::uint64_t>> groups;
    for (const auto& [index, draws] : rehearsal.drawn) {
        drawn += draws;
        std::vector<std::uint64_t>& group = groups[draw_group(model, index)];
        if (group.size() < most_item_points && std::find(group.begin(), group.end(), index) == group.end()) {
            group.push_back(index);
        }
    }
    HardwareBench bench(model.scenario, model.problem);
    const DrawRange range{0, block_fleets, model.scenario.search.rungs.back().steps};
    const auto cost_s = [&](std::span<const std::uint64_t> points) {
        pause();
        std::vector<ParallelPlan> plans;
        for (const std::uint64_t point : points) {
            plans.push_back(model.designs.plan(model.designs.space().point(point)));
        }
        Predictor& predictor = bench.of(model.designs.variant(model.designs.space().point(points.front())));
        const double start_s = processor_s();
        predictor.sample(plans, range, model.sampler({Purpose::search}));
        return (processor_s() - start_s) / (static_cast<double>(points.size()) * range.fleets * range.steps);
    };
    DrawCosts costs;
    if (rehearsal.drawn.empty()) {
        return costs;
    }
    constexpr double fewest = 8.0;
    constexpr double most = 64.0;
    const Stopwatch time;
    cost_s(std::span(&rehearsal.drawn.front().first, 1));
    const auto timed =
        static_cast<std::size_t>(std::clamp(most_timing_s / std::max(1e-9, time.seconds()), fewest, most));
    double before = 0.0;
    for (const auto& [index, draws] : rehearsal.drawn) {
        before += draws;
        while (costs.alone_s.size() < timed && before > (static_cast<double>(costs.alone_s.size()) + 0.5) /
                                                            static_cast<double>(timed) * drawn) {
            costs.alone_s.push_back(cost_s(std::span(&index, 1)));
            if (time.seconds() < most_timing_s || costs.together_s.size() < 2) {
                costs.together_s.push_back(cost_s(groups[draw_group(model, index)]));
            }
        }
    }
    pause();
    const Point point = model.designs.space().point(rehearsal.drawn.front().first);
    const double start_s = processor_s();
    model_interval(bench.problem(model.designs.variant(point)), model.designs.plan(point), fitted_model());
    costs.model_interval_s = processor_s() - start_s;
    return costs;
}

}  // namespace prismopt
