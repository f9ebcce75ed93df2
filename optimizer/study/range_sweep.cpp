#include "optimizer/study/range_sweep.hpp"

#include "io/words/rejected_text.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/space/stand_ins.hpp"
#include "search/archive.hpp"
#include "search/components/kept_bounds.hpp"
#include "search/near_bounds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {

namespace {

/// Raw tuples between two pauses where none is feasible: some tenths of a second.
constexpr std::uint64_t tuples_at_once = std::uint64_t{1} << 20;

/// Last axes of the sub-spaces that are judged: before recompute is chosen, then with it.
constexpr std::array last_axes{place_of(&ParallelPlan::split), place_of(&ParallelPlan::recomputed_layers)};

constexpr const char* excluded_by_bound =
    "excluded by a lower bound of all plans that differ in later axes only";

/// Counts of infeasible plans, by reason, with the closest to feasibility.
void count(std::vector<Rejected>& rejected, const Infeasible& why, const ParallelPlan& plan)
{
    const std::string reason = why.category();
    auto found =
        std::find_if(rejected.begin(), rejected.end(), [&](const Rejected& r) { return r.reason == reason; });
    if (found == rejected.end()) {
        rejected.push_back({reason, 0, std::numeric_limits<double>::infinity(), {}});
        found = rejected.end() - 1;
    }
    ++found->count;
    if (why.miss < found->miss) {
        found->miss = why.miss;
        found->nearest = facts_json({why, design_text(plan)});
    }
}

/// Bounds of what limits leave, the same with the count of all feasible points, or that count alone.
enum class Answering { bounds, bounds_and_counts, counts };

/// A rule for the sub-spaces that these stand for.
Constraint rule_for(const StandIns& stand_ins, std::string reason,
                    std::function<bool(std::span<const int>)> allows)
{
    return {std::move(reason), stand_ins.depth(), std::move(allows)};
}

class RangeSweep {
public:
    RangeSweep(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
               const Pause& pause, const SweepRange& range, Answering answering)
        : model_(model), bench_(benches.of(range.feasibility)), certain_(benches.of(Feasibility::certain)),
          intervals_(intervals), pause_(pause), range_(range), answering_(answering), kept_(range),
          near_(range.near),
          excluded_([this](const NoiseFree& bound) { return suffices(bound); },
                    needs_memory(model) || range.feasibility == Feasibility::doubtful, !range.limits.empty())
    {
        if (excludes_nothing()) {
            return;
        }
        for (const std::size_t last_axis : last_axes) {
            StandIns& stand_ins = levels_.emplace_back(model.designs, last_axis);
            if (!stand_ins.few()) {
                levels_.pop_back();
                continue;
            }
            of_sub_spaces_.push_back(
                rule_for(stand_ins, category(Reason::out_of_memory, 1),
                         [this, &stand_ins](auto leading) { return fits(stand_ins, leading); }));
            of_sub_spaces_.push_back(rule_for(stand_ins, excluded_by_bound, [this, &stand_ins](auto leading) {
                return not_excluded(stand_ins, leading);
            }));
        }
        // Of the plans of a sub-space, those with less sharding may need more memory; bounds are equal.
        // In several phases, reasons differ by phase.
        const bool has_sub_spaces = model.scenario.phases.size() == 1 && range.end - range.begin > 1;
        if (StandIns& sharded = levels_.emplace_back(model.designs, place_of(&ParallelPlan::sharding));
            has_sub_spaces && sharded.few_of_memory()) {
            of_sub_spaces_.push_back(
                rule_for(sharded, category(Reason::out_of_memory, 1), [this, &sharded](auto leading) {
                    return fits(sharded, leading) || miss_bytes_ < excluded_.closest_miss_bytes();
                }));
        }
    }

    Sweep operator()()
    {
        std::uint64_t begin = range_.begin;
        do {
            pause_();
            const std::uint64_t end = begin + std::min(tuples_at_once, range_.end - begin);
            add(model_.designs.space().enumerate(
                    begin, end,
                    [this](std::uint64_t index, std::span<const int> point) {
                        if (counts_only() && needs_no_bounds()) {
                            count_feasible(point);
                        } else {
                            judge(index, point);
                        }
                    },
                    of_sub_spaces_),
                result_.rejected);
            begin = end;
        } while (begin < range_.end);
        kept_.move_to(result_);
        result_.near = near_.best();
        const auto whole =
            std::find_if(result_.rejected.begin(), result_.rejected.end(),
                         [](const Rejected& reason) { return reason.reason == excluded_by_bound; });
        if (whole != result_.rejected.end()) {
            by(BoundKind::sub_space) = whole->count;
            result_.rejected.erase(whole);
        }
        result_.unchecked = by(BoundKind::sub_space) + by(BoundKind::busiest_stage);
        add(by_model_, result_.rejected);
        if (range_.end - range_.begin == 1) {  // one of many: keep its answer short
            std::erase_if(result_.rejected, [](const Rejected& rejected) { return rejected.count == 0; });
        }
        return std::move(result_);
    }

private:
    static bool needs_memory(const StudyModel& model)
    {
        const auto rises = [](const Objective* objective) {
            return objective->bound != nullptr &&
                   objective->bound({.memory_bytes = 1.0}) != objective->bound({.memory_bytes = 2.0});
        };
        return std::any_of(model.objectives.begin(), model.objectives.end(), rises);
    }

    std::uint64_t& by(BoundKind bound) { return result_.excluded_by[static_cast<std::size_t>(bound)]; }

    bool needs_no_bounds() const { return excludes_nothing() && range_.feasibility == Feasibility::certain; }

    bool counts_only() const { return answering_ == Answering::counts; }

    /// Whether each plan is known to be feasible before a limit excludes it.
    bool excludes_nothing() const
    {
        const bool by_study = answering_ == Answering::bounds && range_.within_limits && model_.is_limited();
        return range_.limits.empty() && !by_study;
    }

    /// Whether plans with this bound have more than is allowed.
    bool beyond(const NoiseFree& bound) const { return range_.within_limits && model_.beyond_limits(bound); }

    /// The same for a plan that nothing excludes, by what its steps with each software say of its error. Only
    /// with limits of other plans: without, more plans are returned than are ever drawn.
    bool breaks_promise(std::uint64_t index, std::span<const int> point, const NoiseFree& bound)
    {
        const Problem& problem = bench_.problem(model_.designs.variant(point));
        if (range_.limits.empty() || !range_.within_limits || !model_.limits_promise() ||
            !problem.promise.model_error) {
            return false;
        }
        const LeastModelError error = intervals_.least(index);
        NoiseFree closer = bound;
        for (std::size_t i = 0; i < problem.promise_quantiles.size(); ++i) {
            const double factor = promise_factor(problem.promise, problem.promise_quantiles[i], error);
            closer.promised_s = std::max(closer.promised_s, factor * bound.promise_quantiles_s[i]);
        }
        return model_.beyond_limits(closer);
    }

    /// Whether the plan in hand, or a plan of the sub-space, may be among those that are
    /// returned although limits exclude them.
    bool may_be_near(const std::vector<double>& objectives) const
    {
        return !range_.near.regions.empty() && near_.admits(region_, objectives[range_.near.objective]);
    }

    /// Of doubtful points, also the share of the memory that the predicted peak takes: the
    /// larger, the less probable they fit.
    std::vector<double> objectives_of(const NoiseFree& bound) const
    {
        std::vector<double> objectives = model_.bounds_of(bound);
        if (range_.feasibility == Feasibility::doubtful) {
            objectives.push_back(bound.memory_bytes / gpu_memory_bytes_);
        }
        return objectives;
    }

    bool suffices(const NoiseFree& bound)
    {
        checked_bounds_ += bound.compiled ? 1 : 0;
        const std::vector<double> objectives = objectives_of(bound);
        return (beyond(bound) || excludes(range_.limits, objectives)) &&
               (bound.compiled || !may_be_near(objectives));
    }

    bool fits(StandIns& stand_ins, std::span<const int> leading)
    {
        pause_();
        stand_ins.set(leading);
        Predictor& predictor = bench_.of(model_.designs.variant(leading));
        memory_bytes_ = predictor.least_memory(stand_ins.memory());
        miss_bytes_ = memory_bytes_ - predictor.capacity_bytes();
        return miss_bytes_ <= 0.0;
    }

    /// After fits().
    bool not_excluded(const StandIns& stand_ins, std::span<const int> leading)
    {
        region_ = model_.region(stand_ins.steps().front(), model_.designs.variant(leading));
        gpu_memory_bytes_ = bench_.problem(model_.designs.variant(leading)).cluster.accelerator.memory.si;
        return !bench_.of(model_.designs.variant(leading))
                    .excludes({stand_ins.steps(), stand_ins.least_work(), stand_ins.runs(), memory_bytes_},
                              excluded_);
    }

    /// Whether a plan that fits with the least probability fits with that of the limit: that is known from
    /// its memory, but of layers that are balanced within it.
    bool surely_fits(const ParallelPlan& plan, std::span<const int> point, const NoiseFree& bound)
    {
        Predictor& predictor = certain_.of(model_.designs.variant(point));
        if (plan.split != LayerSplit::balanced) {
            return bound.memory_bytes <= predictor.capacity_bytes();
        }
        return std::holds_alternative<CompiledRun>(predictor.compile(plan, CompileFor::noise_free_step));
    }

    void count_feasible(std::span<const int> point)
    {
        pause_();
        const ParallelPlan plan = model_.designs.plan(point);
        if (const auto why = bench_.of(model_.designs.variant(point)).infeasibility(plan)) {
            count(by_model_, *why, plan);
        } else {
            kept_.exclude();
        }
    }

    void judge(std::uint64_t index, std::span<const int> point)
    {
        pause_();
        const ParallelPlan plan = model_.designs.plan(point);
        region_ = model_.region(plan, model_.designs.variant(point));
        gpu_memory_bytes_ = bench_.problem(model_.designs.variant(point)).cluster.accelerator.memory.si;
        checked_bounds_ = 0;
        Predictor& predictor = bench_.of(model_.designs.variant(point));
        const auto bound = excludes_nothing() ? predictor.bound(plan) : predictor.bound(plan, excluded_);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            count(by_model_, *refusal, plan);
            if (refusal->conflict == Conflict::stage_over_memory) {
                excluded_.missed_by(refusal->miss);
            }
            return;
        }
        const auto& found = std::get<NoiseFree>(bound);
        if (!found.compiled) {
            ++by(BoundKind::busiest_stage);
            return;
        }
        const std::vector<double> objectives = objectives_of(found);
        const bool is_beyond = beyond(found);
        if (is_beyond || excludes(range_.limits, objectives)) {
            ++by(checked_bounds_ <= 1 ? BoundKind::noise_free_step : BoundKind::longest_paths);
            if (may_be_near(objectives)) {
                near_.add({region_, {index, objectives}});
            }
        } else if (range_.feasibility == Feasibility::doubtful && surely_fits(plan, point, found)) {
            return;
        }
        if (counts_only() || is_beyond || breaks_promise(index, point, found)) {
            kept_.exclude();
        } else {
            kept_.add({index, objectives});
        }
    }

    const StudyModel& model_;
    HardwareBench& bench_;
    HardwareBench& certain_;  // of plans that fit with the probability of the limit
    PointIntervals& intervals_;
    const Pause& pause_;
    const SweepRange& range_;
    const Answering answering_;
    Sweep result_;
    KeptBounds kept_;
    NearBounds near_;
    std::vector<Rejected> by_model_;
    Cutoff excluded_;
    std::deque<StandIns> levels_;
    std::vector<Constraint> of_sub_spaces_;
    // Of the plan or sub-space in hand:
    std::uint64_t region_ = 0;
    int checked_bounds_ = 0;
    double memory_bytes_ = 0.0;  // at least
    double miss_bytes_ = 0.0;    // what it lacks of memory, at least
    double gpu_memory_bytes_ = 1.0;
};

}  // namespace

Sweep sweep_range(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                  const Pause& pause, const SweepRange& range)
{
    return RangeSweep(model, benches, intervals, pause, range, Answering::bounds)();
}

Sweep bound_all(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                const Pause& pause, const SweepRange& range)
{
    return RangeSweep(model, benches, intervals, pause, range, Answering::bounds_and_counts)();
}

Sweep count_range(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                  const Pause& pause, const SweepRange& range)
{
    return RangeSweep(model, benches, intervals, pause, range, Answering::counts)();
}

}  // namespace prismopt
