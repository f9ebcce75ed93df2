#include "optimizer/study/evaluator.hpp"

#include "io/scenario/variants.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/parallel/stop.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// Fleets of one work item: items are small, and large enough that their points share the making of
/// draws. Where few points are asked for, items hold fewer, so that each rank gets some: how long they
/// take differs by a factor of ten.
constexpr int item_fleets = block_fleets;
constexpr std::size_t items_of_a_rank = 4;

}  // namespace

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

Evaluator::Evaluator(const StudyModel& model, WorkScheduler& scheduler, std::vector<Rung> rungs,
                     std::uint64_t kept_bytes)
    : model_(model), scheduler_(scheduler), rungs_(std::move(rungs)), kept_bytes_(kept_bytes),
      cache_(kept_bytes)
{
    confidence_.skewness = model.skewness;
    compare_at_once(1);
}

void Evaluator::compare_at_once(std::uint64_t points)
{
    // Both limits of an interval are used: the upper of one point against the lower of another.
    const auto intervals =
        static_cast<double>(std::max<std::uint64_t>(1, points)) *
        static_cast<double>(rungs_.size() * (model_.objectives.size() + model_.limits.size()));
    confidence_.simultaneous = 1.0 - (1.0 - model_.confidence()) / intervals;
}

void Evaluator::submit(std::span<const Request> requests, const Arrived& arrived)
{
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Request& request = requests[i];
        Open& open = open_.emplace_back(Open{request});
        const auto receive = [&open, arrived, i](FullAnswer answer) {
            if (arrived) {
                arrived(i, answer);
            }
            open.answer = std::move(answer);
        };
        if (const auto* range = std::get_if<SweepRange>(&request)) {
            submit_draws();
            scheduler_.submit(encode(WorkItem{*range}),
                              [receive](const Message& result) { receive(decode_full_answer(result)); });
        } else {
            const auto& point = std::get<PointRequest>(request);
            Confidence confidence = confidence_;
            if (point.miss > 0.0) {
                confidence.simultaneous = 1.0 - 2.0 * point.miss;
            }
            const int steps = rungs_.front().steps;
            begin({point, steps, confidence}, {fleets_of(point, rungs_), steps}, receive);
        }
    }
    submit_draws();
}

/// A point that was drawn further keeps all of its draws.
void Evaluator::begin(Judgement judgement, Rung rung, std::function<void(FullAnswer)> done)
{
    const DrawnPoint point{judgement.point.source, judgement.point.index};
    rung.fleets = std::max(rung.fleets, cache_.fleets(point));
    judgement.draws = cache_.extract(point);
    begun_.push_back(point);
    [[maybe_unused]] const bool is_new =
        drawings_.emplace(point, Drawing{std::move(judgement), rung, 0, std::move(done)}).second;
    assert(is_new);
}

void Evaluator::submit_draws()
{
    std::map<DrawSource, std::vector<DrawnPoint>> by_source;
    for (const DrawnPoint& point : begun_) {
        by_source[point.first].push_back(point);
    }
    begun_.clear();
    for (const auto& [source, points] : by_source) {
        submit_draws(points, source);
    }
}

/// Points that lack the same fleets and have the same hardware and schedule go together, those with the first
/// point first: so the answers, which come in the order of the points, can be made while others draw.
void Evaluator::submit_draws(std::span<const DrawnPoint> points, const DrawSource& source)
{
    using Key = std::tuple<int, int, DrawGroup>;
    std::map<Key, std::size_t> place;
    std::vector<std::vector<DrawBlock>> of_points;  // one point each, with all of its missing fleets
    std::size_t point_blocks = 0;
    for (const DrawnPoint& point : points) {
        const Drawing& drawing = drawings_.at(point);
        const PhaseDraws& draws = drawing.judgement.draws;
        const Rung& rung = drawing.rung;
        const int have = draws.empty() ? 0 : static_cast<int>(draws.front().size()) / rung.steps;
        if (have >= rung.fleets) {
            judge(point);
            continue;
        }
        const auto [found, is_new] =
            place.emplace(Key{have, rung.fleets, draw_group(model_, point.second)}, of_points.size());
        if (is_new) {
            of_points.emplace_back();
        }
        of_points[found->second].push_back({{point.second}, {have, rung.fleets - have, rung.steps}, source});
        point_blocks += static_cast<std::size_t>((rung.fleets - have) / item_fleets);
    }
    const std::size_t item_points = points_of_an_item(point_blocks);
    for (const std::vector<DrawBlock>& list : of_points) {
        for (std::size_t first = 0; first < list.size(); first += item_points) {
            DrawBlock together = list[first];
            for (std::size_t i = first + 1; i < std::min(list.size(), first + item_points); ++i) {
                together.points.push_back(list[i].points.front());
            }
            submit(std::move(together));
        }
    }
}

std::size_t Evaluator::points_of_an_item(std::size_t blocks) const
{
    return std::clamp(blocks / (items_of_a_rank * scheduler_.accounts().size()), std::size_t{1},
                      most_item_points);
}

/// In items of few fleets.
void Evaluator::submit(DrawBlock block)
{
    const DrawRange whole = block.range;
    const int end = whole.first_fleet + whole.fleets;
    std::vector<DrawBlock> items;
    for (int fleet = whole.first_fleet; fleet < end; fleet += item_fleets) {
        block.range = {fleet, std::min(item_fleets, end - fleet), whole.steps};
        items.push_back(block);
    }
    for (const std::uint64_t point : block.points) {
        drawings_.at({block.source, point}).awaited = items.size();
    }
    for (const DrawBlock& item : items) {
        const DrawBlock missing = memory_.missing ? memory_.missing(item) : item;
        if (missing.points.empty()) {
            receive_draws(item, memory_.complete(item, {}));
            continue;
        }
        scheduler_.submit(encode(WorkItem{missing}), [this, item](const Message& result) {
            std::vector<PhaseDraws> draws = decode_draws(result);
            receive_draws(item,
                          memory_.complete ? memory_.complete(item, std::move(draws)) : std::move(draws));
        });
    }
}

/// Puts the draws of a block in their places, and judges the points that have all of theirs.
void Evaluator::receive_draws(const DrawBlock& block, std::vector<PhaseDraws> draws)
{
    for (std::size_t i = 0; i < block.points.size(); ++i) {
        const DrawnPoint point{block.source, block.points[i]};
        Drawing& drawing = drawings_.at(point);
        PhaseDraws& all = drawing.judgement.draws;
        all.resize(draws[i].size());
        for (std::size_t phase = 0; phase < all.size(); ++phase) {
            all[phase].resize(static_cast<std::size_t>(drawing.rung.fleets) *
                              static_cast<std::size_t>(drawing.rung.steps));
            const auto offset = static_cast<std::ptrdiff_t>(block.range.first_fleet) * block.range.steps;
            std::copy(draws[i][phase].begin(), draws[i][phase].end(), all[phase].begin() + offset);
        }
        draws_made_ += draws[i].front().size();
        if (--drawing.awaited == 0) {
            judge(point);
        }
    }
}

/// Before other items: its answer may be waited for, and its draws take room.
void Evaluator::judge(const DrawnPoint& point)
{
    auto node = drawings_.extract(point);
    Drawing& drawing = node.mapped();
    WorkItem item{std::move(drawing.judgement)};
    const auto submitted = [done = std::move(drawing.done)](const Message& result) {
        done(decode_full_answer(result));
    };
    scheduler_.submit(encode(item), submitted, WorkScheduler::Urgency::urgent);
    auto& judgement = std::get<Judgement>(item);
    if (!judgement.for_front) {
        cache_.put(point, drawing.rung.fleets, std::move(judgement.draws));
    }
}

std::optional<FullAnswer> Evaluator::next()
{
    Open& oldest = open_.front();
    try {
        scheduler_.wait([&oldest] { return oldest.answer.has_value(); });
    } catch (const Stopped&) {
        return std::nullopt;
    }
    FullAnswer answer = std::move(*oldest.answer);
    open_.pop_front();
    return answer;
}

std::optional<std::vector<FrontPoint>> Evaluator::confirm(std::span<const std::uint64_t> points,
                                                          Feasibility feasibility)
{
    const Rung& rung = model_.scenario.search.confirm;
    std::vector<FrontPoint> front(points.size());
    std::size_t missing = points.size();
    for (std::size_t i = 0; i < points.size(); ++i) {
        const PointRequest request{.index = points[i], .source = {Purpose::confirm, 0, feasibility}};
        begin({.point = request, .steps = rung.steps, .confidence = confidence_, .for_front = true}, rung,
              [&front, &missing, i](FullAnswer answer) {
                  front[i] = std::move(*answer.drawn);
                  --missing;
              });
    }
    submit_draws();
    try {
        scheduler_.wait([&missing] { return missing == 0; });
    } catch (const Stopped&) {
        return std::nullopt;
    }
    return front;
}

std::vector<PlanFacts> Evaluator::facts(const FactsRequest& request)
{
    std::vector<PlanFacts> all(request.points.size());
    std::size_t missing = all.size();
    const std::size_t item_points = points_of_an_item(all.size());
    for (std::size_t first = 0; first < all.size(); first += item_points) {
        FactsRequest some{request.kind, {}};
        for (std::size_t i = first; i < std::min(all.size(), first + item_points); ++i) {
            some.points.push_back(request.points[i]);
        }
        scheduler_.submit(encode(WorkItem{some}), [&all, &missing, first](const Message& result) {
            auto facts = decode<std::vector<PlanFacts>>(result);
            missing -= facts.size();
            std::move(facts.begin(), facts.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
        });
    }
    scheduler_.wait([&missing] { return missing == 0; });
    return all;
}

}  // namespace prismopt
