#include "optimizer/evaluator.hpp"

#include "optimizer/work_item.hpp"

#include <algorithm>
#include <limits>

namespace prismopt {

namespace {

/// Fleets of one work item: items are small, and of about equal cost for one point.
constexpr int item_fleets = 2 * block_fleets;

Problem problem_of(const Scenario& s, NoiseTables tables)
{
    return {s.workload, s.phases, s.cluster, s.reliability, s.memory_headroom, std::move(tables)};
}

void count(std::vector<Rejected>& rejected, const Infeasible& why, std::string where)
{
    auto found = std::find_if(rejected.begin(), rejected.end(), [&](const Rejected& r) { return r.reason == why.reason; });
    if (found == rejected.end()) {
        rejected.push_back({why.reason, 0, std::numeric_limits<double>::infinity(), {}});
        found = rejected.end() - 1;
    }
    ++found->count;
    if (why.miss < found->miss) {
        found->miss = why.miss;
        found->nearest = why.detail + " (" + std::move(where) + ")";
    }
}

}  // namespace

StudyModel::StudyModel(const Scenario& of, NoiseTables tables)
    : scenario(of), problem(problem_of(of, std::move(tables))), designs(of)
{
    for (const std::string& objective : of.objectives) {
        objectives.push_back(find_objective(objective));
    }
}

SamplerOptions StudyModel::sampler(Purpose purpose) const { return {scenario.seed, purpose, scenario.search.replicas_simulated}; }

Message Worker::operator()(const Message& bytes)
{
    const WorkItem item = decode_item(bytes);
    if (const auto* range = std::get_if<SweepRange>(&item)) {
        return encode(Answer{sweep(*range)});
    }
    const auto& block = std::get<DrawBlock>(item);
    const ParallelPlan plan = model_.designs.plan(model_.designs.space().point(block.index));
    return encode(predictor_.sample(plan, block.range, model_.sampler(block.purpose)));
}

Sweep Worker::sweep(const SweepRange& range)
{
    Sweep result;
    result.range = range;
    std::vector<Rejected> by_model;
    const auto judge = [&](std::uint64_t index, std::span<const int> point) {
        const ParallelPlan plan = model_.designs.plan(point);
        const auto bound = predictor_.bound(plan);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            count(by_model, *refusal, design_text(plan));
            return;
        }
        std::vector<double> objectives;
        for (const Objective* objective : model_.objectives) {
            objectives.push_back(objective->bound == nullptr ? -std::numeric_limits<double>::infinity()
                                                             : objective->bound(std::get<NoiseFree>(bound)));
        }
        result.feasible.push_back({index, std::move(objectives)});
    };
    result.rejected = model_.designs.space().enumerate(range.begin, range.end, judge);
    result.rejected.insert(result.rejected.end(), by_model.begin(), by_model.end());
    return result;
}

Evaluator::Evaluator(const StudyModel& model, Crew& crew) : model_(model), crew_(crew), predictor_(model.problem)
{
    confidence_.reported = 0.95;
    compare_at_once(1);
}

void Evaluator::compare_at_once(std::uint64_t points)
{
    // Both limits of an interval are used: the upper of one point against the lower of another.
    const auto intervals = static_cast<double>(std::max<std::uint64_t>(1, points)) *
                           static_cast<double>(model_.scenario.search.rungs.size() * model_.objectives.size());
    confidence_.safe = 1.0 - (1.0 - model_.scenario.search.confidence) / intervals;
}

void Evaluator::submit(std::span<const Request> requests)
{
    for (const Request& request : requests) {
        Pending pending{request, 1};
        if (const auto* range = std::get_if<SweepRange>(&request)) {
            crew_.submit(encode(WorkItem{*range}));
        } else {
            const auto& point = std::get<PointRequest>(request);
            const auto drawn = draws_.find(point.index);
            const Rung& rung = model_.scenario.search.rungs[point.rung - 1];
            const int have = drawn == draws_.end() ? 0 : static_cast<int>(drawn->second.front().size()) / rung.steps;
            pending.items = submit_draws(point.index, have, rung, Purpose::search);
        }
        pending_.push_back(pending);
    }
}

std::size_t Evaluator::submit_draws(std::uint64_t index, int from_fleet, const Rung& rung, Purpose purpose)
{
    std::size_t items = 0;
    for (int fleet = from_fleet; fleet < rung.fleets; fleet += item_fleets) {
        const int fleets = std::min(item_fleets, rung.fleets - fleet);
        crew_.submit(encode(WorkItem{DrawBlock{index, {fleet, fleets, rung.steps}, purpose}}));
        ++items;
    }
    return items;
}

void Evaluator::collect_draws(PhaseDraws& draws, std::size_t items)
{
    draws.resize(model_.problem.phases.size());
    for (; items > 0; --items) {
        const PhaseDraws more = decode_draws(crew_.next());
        for (std::size_t phase = 0; phase < draws.size(); ++phase) {
            draws[phase].insert(draws[phase].end(), more[phase].begin(), more[phase].end());
        }
        draws_made_ += more.front().size();
    }
}

Answer Evaluator::next()
{
    const Pending pending = pending_.front();
    pending_.pop_front();
    if (std::holds_alternative<SweepRange>(pending.request)) {
        return decode_answer(crew_.next());
    }
    const auto& point = std::get<PointRequest>(pending.request);
    collect_draws(draws_[point.index], pending.items);
    return summarise(point);
}

Answer Evaluator::summarise(const PointRequest& request)
{
    const ParallelPlan plan = model_.designs.plan(model_.designs.space().point(request.index));
    const int steps = model_.scenario.search.rungs.front().steps;
    const Prediction prediction =
        predictor_.summarise(plan, draws_[request.index], steps, model_.sampler(Purpose::search), confidence_);
    Evaluation evaluation{request.index, request.rung, prediction.draws, {}};
    for (const Objective* objective : model_.objectives) {
        evaluation.objectives.push_back(objective->value(prediction));
    }
    return evaluation;
}

std::optional<std::vector<Prediction>> Evaluator::confirm(std::span<const std::uint64_t> points,
                                                          const std::function<bool()>& stop)
{
    const Rung& rung = model_.scenario.search.confirm;
    std::vector<std::size_t> items;
    for (const std::uint64_t index : points) {
        items.push_back(submit_draws(index, 0, rung, Purpose::confirm));
    }
    std::vector<Prediction> predictions;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (stop()) {
            return std::nullopt;
        }
        PhaseDraws draws;
        collect_draws(draws, items[i]);
        const ParallelPlan plan = model_.designs.plan(model_.designs.space().point(points[i]));
        predictions.push_back(predictor_.summarise(plan, draws, rung.steps, model_.sampler(Purpose::confirm), confidence_));
    }
    return predictions;
}

}  // namespace prismopt
