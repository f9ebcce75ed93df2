#include "optimizer/study/evaluator.hpp"

#include "io/scenario/variants.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/study/range_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// Fleets of one work item: items are small, and large enough that their points share the making of draws. Where few points are
/// asked for, items hold fewer, so that each rank gets some: how long they take differs by a factor of ten.
constexpr int item_fleets = block_fleets;
constexpr std::size_t items_of_a_rank = 4;

}  // namespace

Message Worker::operator()(const Message& bytes)
{
    const WorkItem item = decode_item(bytes);
    if (const auto* range = std::get_if<SweepRange>(&item)) {
        return encode(Answer{sweep(*range)});
    }
    const auto& block = std::get<DrawBlock>(item);
    std::vector<ParallelPlan> plans;
    for (const std::uint64_t point : block.points) {
        plans.push_back(model_.designs.plan(model_.designs.space().point(point)));
    }
    Predictor& predictor =
        benches_.of(block.source.feasibility).of(model_.designs.variant(model_.designs.space().point(block.points.front())));
    return encode(predictor.sample(plans, block.range, model_.sampler(block.source)));
}

Sweep Worker::sweep(const SweepRange& range) { return sweep_range(model_, benches_, pause_, range); }

int fleets_of(const PointRequest& request, std::span<const Rung> rungs)
{
    const int top = static_cast<int>(rungs.size());
    int fleets = rungs[static_cast<std::size_t>(std::min(request.rung, top) - 1)].fleets;
    for (int rung = top; rung < request.rung; ++rung) {
        fleets *= 4;
    }
    return fleets;
}

DrawGroup draw_group(const StudyModel& model, std::uint64_t point)
{
    const Point choices = model.designs.space().point(point);
    const ParallelPlan plan = model.designs.plan(choices);
    std::vector<ScheduleShape> shapes;
    const std::size_t variant = model.designs.variant(choices);
    const std::vector<Phase> phases = phases_at(model.scenario, model.scenario.variants[variant]);
    shapes.reserve(phases.size());
    for (const Phase& phase : phases) {
        shapes.push_back(schedule_shape(plan_in_phase(plan, phase), phase.global_batch));
    }
    return {variant, std::move(shapes), plan.split};
}

Evaluator::Evaluator(const StudyModel& model, WorkScheduler& scheduler, std::vector<Rung> rungs)
    : model_(model), scheduler_(scheduler), rungs_(std::move(rungs)), benches_(model.scenario, model.problem)
{
    confidence_.skewness = model.skewness;
    compare_at_once(1);
}

void Evaluator::compare_at_once(std::uint64_t points)
{
    // Both limits of an interval are used: the upper of one point against the lower of another.
    const auto intervals =
        static_cast<double>(std::max<std::uint64_t>(1, points)) * static_cast<double>(rungs_.size() * model_.objectives.size());
    confidence_.simultaneous = 1.0 - (1.0 - model_.confidence()) / intervals;
}

void Evaluator::submit(std::span<const Request> requests)
{
    std::map<DrawSource, std::vector<Need>> needs;
    for (const Request& request : requests) {
        if (const auto* range = std::get_if<SweepRange>(&request)) {
            submit_draws(needs);
            scheduler_.submit(encode(WorkItem{*range}));
        } else {
            const auto& point = std::get<PointRequest>(request);
            const Rung rung{fleets_of(point, rungs_), rungs_.front().steps};
            const PhaseDraws& draws = drawn_[point.source][point.index].draws;
            const int have = draws.empty() ? 0 : static_cast<int>(draws.front().size()) / rung.steps;
            needs[point.source].push_back({point.index, have, rung});
        }
        pending_.push_back(request);
    }
    submit_draws(needs);
}

void Evaluator::submit_draws(std::map<DrawSource, std::vector<Need>>& needs)
{
    for (const auto& [source, list] : needs) {
        submit_draws(list, source);
    }
    needs.clear();
}

/// Points that lack the same fleets and have the same hardware and schedule go together, those with the first point first: so the
/// answers, which come in the order of the points, can be made while others draw.
void Evaluator::submit_draws(std::span<const Need> needs, const DrawSource& source)
{
    using Key = std::tuple<int, int, DrawGroup>;
    std::map<Key, std::size_t> place;
    std::vector<std::vector<const Need*>> alike;
    std::size_t point_blocks = 0;
    for (const Need& need : needs) {
        const Key key{need.from_fleet, need.rung.fleets, draw_group(model_, need.point)};
        const auto [found, is_new] = place.emplace(key, alike.size());
        if (is_new) {
            alike.emplace_back();
        }
        alike[found->second].push_back(&need);
        point_blocks += static_cast<std::size_t>(std::max(0, need.rung.fleets - need.from_fleet) / item_fleets);
    }
    const std::size_t ranks = scheduler_.accounts().size();
    const std::size_t item_points = std::clamp(point_blocks / (items_of_a_rank * ranks), std::size_t{1}, most_item_points);
    for (const auto& list : alike) {
        for (std::size_t first = 0; first < list.size(); first += item_points) {
            DrawBlock block;
            block.source = source;
            for (std::size_t i = first; i < std::min(list.size(), first + item_points); ++i) {
                block.points.push_back(list[i]->point);
            }
            const Rung& rung = list[first]->rung;
            for (int fleet = list[first]->from_fleet; fleet < rung.fleets; fleet += item_fleets) {
                block.range = {fleet, std::min(item_fleets, rung.fleets - fleet), rung.steps};
                scheduler_.submit(encode(WorkItem{block}));
                submitted_.push_back(block);
                for (const std::uint64_t point : block.points) {
                    ++drawn_[source][point].awaited;
                }
            }
        }
    }
}

/// Takes results in the order of the items until the point has all of its draws.
void Evaluator::collect_draws(std::uint64_t point, const DrawSource& source)
{
    while (drawn_[source][point].awaited > 0) {
        const std::vector<PhaseDraws> more = decode_draws(scheduler_.next());
        const DrawBlock block = std::move(submitted_.front());
        submitted_.pop_front();
        for (std::size_t i = 0; i < block.points.size(); ++i) {
            Drawn& of_point = drawn_[block.source][block.points[i]];
            of_point.draws.resize(more[i].size());
            for (std::size_t phase = 0; phase < more[i].size(); ++phase) {
                of_point.draws[phase].insert(of_point.draws[phase].end(), more[i][phase].begin(), more[i][phase].end());
            }
            --of_point.awaited;
            draws_made_ += more[i].front().size();
        }
    }
}

std::optional<Answer> Evaluator::next()
{
    const Request request = pending_.front();
    pending_.pop_front();
    try {
        if (std::holds_alternative<SweepRange>(request)) {
            return decode_answer(scheduler_.next());
        }
        const auto& point = std::get<PointRequest>(request);
        collect_draws(point.index, point.source);
        return summarise(point);
    } catch (const Stopped&) {
        return std::nullopt;
    }
}

Answer Evaluator::summarise(const PointRequest& request)
{
    const Point point = model_.designs.space().point(request.index);
    const int steps = rungs_.front().steps;
    Confidence confidence = confidence_;
    if (request.miss > 0.0) {
        confidence.simultaneous = 1.0 - 2.0 * request.miss;
    }
    prediction_ = benches_.of(request.source.feasibility)
                      .of(model_.designs.variant(point))
                      .summarise(model_.designs.plan(point), drawn_[request.source][request.index].draws, steps,
                                 model_.sampler(request.source), confidence);
    std::vector<Estimate> values = model_.values(prediction_);
    if (request.source.feasibility == Feasibility::doubtful) {  // as sweeps bound them
        values.push_back(Estimate::exact(1.0 - prediction_.memory_headroom));
    }
    return Evaluation{request.index, request.rung, prediction_.draws, std::move(values), request.source};
}

std::optional<std::vector<Prediction>> Evaluator::confirm(std::span<const std::uint64_t> points, Feasibility feasibility)
{
    const Rung& rung = model_.scenario.search.confirm;
    std::vector<Need> needs;
    for (const std::uint64_t index : points) {
        needs.push_back({index, 0, rung});
    }
    const DrawSource source{Purpose::confirm, 0, feasibility};
    DrawnPoints& drawn = drawn_[source];
    submit_draws(needs, source);
    std::vector<Prediction> predictions;
    try {
        for (const std::uint64_t index : points) {
            collect_draws(index, source);
            const Point point = model_.designs.space().point(index);
            predictions.push_back(
                benches_.of(feasibility)
                    .of(model_.designs.variant(point))
                    .summarise(model_.designs.plan(point), drawn[index].draws, rung.steps, model_.sampler(source), confidence_));
        }
    } catch (const Stopped&) {
        return std::nullopt;
    }
    return predictions;
}

}  // namespace prismopt
