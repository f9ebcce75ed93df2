#include "optimizer/space/rehearsal.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>

namespace prismopt {

namespace {

constexpr std::size_t sample_plans = 12;
constexpr int sample_fleets = 8192;  // enough for limits among many plans, of means too
constexpr double most_s = 20.0;
constexpr double infinity = std::numeric_limits<double>::infinity();

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Knuth's multiplicative hash: neighbours in the space get unlike plans of the sample.
std::size_t choice(std::uint64_t index, std::size_t of) { return static_cast<std::size_t>((index * 2654435761u) >> 7) % of; }

/// With few fleets there are no limits.
Estimate without_limits(Estimate estimate)
{
    estimate.safe_low = -infinity;
    estimate.safe_high = infinity;
    return estimate;
}

}  // namespace

DrawnSample draw_sample(const StudyModel& model, const std::vector<Bound>& feasible, std::uint64_t compared,
                        const std::vector<Rung>& rungs, const Pause& pause)
{
    const DrawRange range{0, sample_fleets, rungs.back().steps};
    Confidence confidence;
    confidence.safe = 1.0 - (1.0 - model.confidence()) /
                                (static_cast<double>(compared * model.objectives.size()) * static_cast<double>(rungs.size()));
    HardwareBench bench(model.scenario, model.problem);
    DrawnSample sample;
    const std::size_t count = std::min(sample_plans, feasible.size());
    for (std::size_t i = 0; i < count; ++i) {
        pause();
        const Bound& bound = feasible[i * feasible.size() / count];
        const Point point = model.designs.space().point(bound.index);
        const ParallelPlan plan = model.designs.plan(point);
        Predictor& predictor = bench.of(model.designs.hardware(point));
        const SamplerOptions sampler = model.sampler({Purpose::search});
        const PhaseDraws draws = predictor.sample(plan, range, sampler);
        const Prediction prediction = predictor.summarise(plan, draws, range.steps, sampler, confidence);
        DrawnSample::Plan& drawn = sample.plans.emplace_back();
        drawn.bound = bound.objectives;
        drawn.objectives = model.values(prediction, range.fleets, confidence.safe);
    }
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
        Evaluation evaluation{
            request.index, request.rung, static_cast<std::uint64_t>(rung.fleets) * rung.steps, {}, request.source};
        for (std::size_t k = 0; k < bound.size(); ++k) {
            const bool comparable = std::isfinite(bound[k]) && like.bound[k] > 0.0;
            const Estimate estimate = comparable ? (bound[k] / like.bound[k]) * like.objectives[k] : like.objectives[k];
            const bool limits = rung.fleets >= plan.rungs.back().fleets;
            evaluation.objectives.push_back(limits || estimate.low == estimate.high ? estimate : without_limits(estimate));
        }
        return evaluation;
    };
    const Stopwatch time;
    while (const auto requests = plan.chosen.strategy->ask()) {
        pause();
        if (time.seconds() > most_s) {
            return rehearsal;
        }
        for (const Request& request : *requests) {
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

std::vector<double> draw_costs(const StudyModel& model, const Rehearsal& rehearsal, const Pause& pause)
{
    constexpr std::size_t timed = 64;
    double drawn = 0.0;
    for (const auto& [index, draws] : rehearsal.drawn) {
        drawn += draws;
    }
    HardwareBench bench(model.scenario, model.problem);
    const DrawRange range{0, block_fleets, model.scenario.search.rungs.back().steps};
    std::vector<double> costs;
    double before = 0.0;
    for (const auto& [index, draws] : rehearsal.drawn) {
        before += draws;
        while (costs.size() < timed && before > (static_cast<double>(costs.size()) + 0.5) / timed * drawn) {
            pause();
            const Point point = model.designs.space().point(index);
            Predictor& predictor = bench.of(model.designs.hardware(point));
            const std::clock_t start = std::clock();  // of all threads: what else runs does not count
            predictor.sample(model.designs.plan(point), range, model.sampler({Purpose::search}));
            const double cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            costs.push_back(cpu_s / (static_cast<double>(range.fleets) * range.steps));
        }
    }
    return costs;
}

}  // namespace prismopt
