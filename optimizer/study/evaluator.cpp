#include "optimizer/study/evaluator.hpp"

#include "io/scenario/hardware_variants.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/space/stand_ins.hpp"
#include "search/archive.hpp"
#include "search/components/kept_bounds.hpp"
#include "search/near_bounds.hpp"

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

/// Raw tuples between two pauses where none is feasible: some tenths of a second.
constexpr std::uint64_t tuples_at_once = std::uint64_t{1} << 20;

Problem problem_of(const Scenario& s, NoiseTables tables)
{
    const double deviation = deviation_from(s.numerics.reference, numeric_choice(s.workload));
    return {s.workload,
            s.phases,
            s.cluster,
            s.reliability,
            s.memory_headroom,
            std::move(tables),
            nullptr,
            s.power,
            s.deadline,
            deviation,
            local_updates_of(s, s.workload, tokens_to_the_loss(s))};
}

void count(std::vector<Rejected>& rejected, const Infeasible& why, const ParallelPlan& plan)
{
    const std::string reason = why.category();
    auto found = std::find_if(rejected.begin(), rejected.end(), [&](const Rejected& r) { return r.reason == reason; });
    if (found == rejected.end()) {
        rejected.push_back({reason, 0, std::numeric_limits<double>::infinity(), {}});
        found = rejected.end() - 1;
    }
    ++found->count;
    if (why.miss < found->miss) {
        found->miss = why.miss;
        found->nearest = why.detail + " (" + design_text(plan) + ")";
    }
}

}  // namespace

NoiseTables tables_of(const Scenario& scenario) { return build_noise_tables(scenario.variability, layer_groups(scenario)); }

NoiseTables tables_of(const Scenario& scenario, const ParallelPlan& plan)
{
    std::vector<int> groups;
    for (const Phase& phase : scenario.phases) {
        const ParallelPlan here = plan_in_phase(plan, phase);
        groups.push_back(here.tp * here.cp);
    }
    return build_noise_tables(scenario.variability, groups);
}

StudyModel::StudyModel(const Scenario& of, NoiseTables tables)
    : scenario(of), problem(problem_of(of, std::move(tables))), designs(of)
{
    for (const std::string& objective : of.objectives) {
        const Objective* found = find_objective(objective);
        objectives.push_back(found);
        bounded.push_back(found->bound != nullptr &&
                          (found->quantile == 0.0 || quantiles_reach_means(of.variability, found->quantile)));
        if (!near_objective && bounded.back() && follows_step(found->units)) {
            near_objective = objectives.size() - 1;
        }
    }
    skewness = largest_skewness(of.variability);
}

std::vector<Estimate> StudyModel::values(const Prediction& prediction, int fleets, double simultaneous) const
{
    const bool too_few = fleets < clusters_for_mean_limits(skewness, simultaneous);
    std::vector<Estimate> values;
    for (const Objective* objective : objectives) {
        Estimate value = objective->value(prediction);
        if (objective->of_mean && too_few) {
            value.simultaneous_low = -std::numeric_limits<double>::infinity();
            value.simultaneous_high = std::numeric_limits<double>::infinity();
        }
        values.push_back(value);
    }
    return values;
}

/// A seed of its own makes a round independent of all others: the generator is keyed by it.
std::vector<double> StudyModel::bounds_of(const NoiseFree& bound) const
{
    std::vector<double> result;
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        result.push_back(bounded[k] ? objectives[k]->bound(bound) : -std::numeric_limits<double>::infinity());
    }
    return result;
}

SamplerOptions StudyModel::sampler(const DrawSource& source) const
{
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: seeds of rounds stay apart
    return {scenario.seed + golden * static_cast<std::uint64_t>(source.round), source.purpose,
            scenario.search.replicas_simulated};
}

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
    Predictor& predictor = bench_.of(model_.designs.hardware(model_.designs.space().point(block.points.front())));
    return encode(predictor.sample(plans, block.range, model_.sampler(block.source)));
}

Sweep Worker::sweep(const SweepRange& range)
{
    Sweep result;
    KeptBounds kept(range);
    std::vector<Rejected> by_model;
    NearBounds near(range.near.objective, range.near.best);
    std::uint64_t region = 0;
    const auto may_be_near = [&](const std::vector<double>& objectives) {
        return !range.near.best.empty() && near.admits(region, objectives[range.near.objective]);
    };
    const auto checked = [](const NoiseFree& bound) { return bound.memory_bytes > 0.0; };
    int checked_bounds = 0;  // of the plan
    Cutoff excluded([&](const NoiseFree& bound) {
        checked_bounds += checked(bound) ? 1 : 0;
        const std::vector<double> objectives = model_.bounds_of(bound);
        return excludes(range.limits, objectives) && (checked(bound) || !may_be_near(objectives));
    });
    const auto by = [&result](BoundKind bound) -> std::uint64_t& { return result.excluded_by[static_cast<std::size_t>(bound)]; };
    const auto judge = [&](std::uint64_t index, std::span<const int> point) {
        pause_();
        const ParallelPlan plan = model_.designs.plan(point);
        region = StudyModel::region(plan);
        checked_bounds = 0;
        Predictor& predictor = bench_.of(model_.designs.hardware(point));
        const auto bound = range.limits.empty() ? predictor.bound(plan) : predictor.bound(plan, excluded);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            count(by_model, *refusal, plan);
            return;
        }
        const auto& found = std::get<NoiseFree>(bound);
        if (!checked(found)) {
            ++by(BoundKind::busiest_stage);
        } else {
            const std::vector<double> objectives = model_.bounds_of(found);
            if (excludes(range.limits, objectives)) {
                ++by(checked_bounds == 1 ? BoundKind::noise_free_step : BoundKind::longest_paths);
                if (may_be_near(objectives)) {
                    near.add({region, {index, objectives}});
                }
            }
            kept.add({index, objectives});
        }
    };
    StandIns stand_ins(model_.designs);
    const Constraint not_excluded{
        "excluded by a lower bound of all plans that differ in later axes only", stand_ins.depth(),
        [&](std::span<const int> leading) {
            pause_();
            stand_ins.set(leading);
            region = StudyModel::region(stand_ins.steps().front());
            return !bench_.of(model_.designs.hardware(leading)).excludes(stand_ins.steps(), stand_ins.runs(), excluded);
        }};
    const bool by_sub_spaces = !range.limits.empty() && stand_ins.few();
    std::uint64_t begin = range.begin;
    do {
        pause_();
        const std::uint64_t end = begin + std::min(tuples_at_once, range.end - begin);
        std::vector<Rejected> rejected =
            model_.designs.space().enumerate(begin, end, judge, by_sub_spaces ? &not_excluded : nullptr);
        if (by_sub_spaces) {
            by(BoundKind::sub_space) += rejected.back().count;
            rejected.pop_back();
        }
        add(rejected, result.rejected);
        begin = end;
    } while (begin < range.end);
    kept.move_to(result);
    result.near = near.best();
    result.unchecked = by(BoundKind::sub_space) + by(BoundKind::busiest_stage);
    result.rejected.insert(result.rejected.end(), by_model.begin(), by_model.end());
    if (range.end - range.begin == 1) {  // one of many: keep its answer short
        std::erase_if(result.rejected, [](const Rejected& rejected) { return rejected.count == 0; });
    }
    return result;
}

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
    const std::size_t variant = model.designs.hardware(choices);
    const std::vector<Phase> phases =
        model.scenario.hardware.empty() ? model.problem.phases : phases_at(model.scenario, model.scenario.hardware[variant]);
    shapes.reserve(phases.size());
    for (const Phase& phase : phases) {
        shapes.push_back(schedule_shape(plan_in_phase(plan, phase), phase.global_batch));
    }
    return {variant, std::move(shapes), plan.split};
}

Evaluator::Evaluator(const StudyModel& model, WorkScheduler& scheduler, std::vector<Rung> rungs)
    : model_(model), scheduler_(scheduler), rungs_(std::move(rungs)), bench_(model.scenario, model.problem)
{
    confidence_.reported = 0.95;
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
    prediction_ = bench_.of(model_.designs.hardware(point))
                      .summarise(model_.designs.plan(point), drawn_[request.source][request.index].draws, steps,
                                 model_.sampler(request.source), confidence);
    return Evaluation{request.index, request.rung, prediction_.draws,
                      model_.values(prediction_, fleets_of(request, rungs_), confidence.simultaneous), request.source};
}

std::optional<std::vector<Prediction>> Evaluator::confirm(std::span<const std::uint64_t> points)
{
    const Rung& rung = model_.scenario.search.confirm;
    std::vector<Need> needs;
    for (const std::uint64_t index : points) {
        needs.push_back({index, 0, rung});
    }
    constexpr DrawSource source{Purpose::confirm, 0};
    DrawnPoints& drawn = drawn_[source];
    submit_draws(needs, source);
    std::vector<Prediction> predictions;
    try {
        for (const std::uint64_t index : points) {
            collect_draws(index, source);
            const Point point = model_.designs.space().point(index);
            predictions.push_back(
                bench_.of(model_.designs.hardware(point))
                    .summarise(model_.designs.plan(point), drawn[index].draws, rung.steps, model_.sampler(source), confidence_));
        }
    } catch (const Stopped&) {
        return std::nullopt;
    }
    return predictions;
}

}  // namespace prismopt
