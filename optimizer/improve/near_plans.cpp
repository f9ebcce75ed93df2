#include "optimizer/improve/near_plans.hpp"

#include "io/scenario/scenario.hpp"
#include "io/trainers/trainer.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "model/predictor.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

/// Positions of values, in ascending order.
using Combination = std::vector<std::size_t>;

struct Candidate {
    ParallelPlan plan;
    Combination values;
    double hope = 0.0;  // sum of the logarithms by which each change alone changes the value
};

bool by_value(const NearPlan& a, const NearPlan& b) { return a.value < b.value; }

/// A rule of a trainer, as far as it holds for plans near one that runs.
struct NearRule {
    TrainerRule rule;
    std::string own;  // "recompute=full", which it refuses, although it runs; empty: it refuses nothing of it
};

bool holds(const TrainerRule& rule, const ParallelPlan& plan, const Problem& problem)
{
    return in_every_phase(plan, problem.phases, [&](const ParallelPlan& here, const Phase& phase) {
        return rule.why({here, phase, problem}).empty();
    });
}

/// The rules of a trainer for plans near this one. A rule that its own run breaks lets its value of that axis
/// pass: the trainer runs that, whatever an export can write. Rules on the job carry no information.
std::vector<NearRule> near_rules(const std::string& trainer, const ParallelPlan& plan, const Problem& problem)
{
    std::vector<NearRule> rules;
    for (const TrainerRule& rule : trainer_rules(trainer)) {
        if (!is_on_job(rule, plan.gpus(), problem)) {
            const bool kept = holds(rule, plan, problem);
            rules.push_back({rule, kept ? "" : axis_text(rule.axis, plan)});
        }
    }
    return rules;
}

bool keeps(const std::vector<NearRule>& rules, const ParallelPlan& plan, const Problem& problem)
{
    return std::all_of(rules.begin(), rules.end(), [&](const NearRule& near) {
        const bool as_today = !near.own.empty() && axis_text(near.rule.axis, plan) == near.own;
        return as_today || holds(near.rule, plan, problem);
    });
}

/// Tables for all groups that plans with these values may have.
NoiseTables tables_for(const Scenario& scenario, const ParallelPlan& plan, const SpaceSettings& values)
{
    std::map<int, ParallelPlan> by_group{{plan.tp * plan.cp, plan}};
    for (const int tp : values.tp) {
        for (const int cp : values.cp) {
            ParallelPlan changed = plan;
            changed.tp = tp;
            changed.cp = cp;
            changed.pp = 1;
            if (const auto whole = on_gpus(plan.gpus(), changed)) {
                by_group.emplace(tp * cp, *whole);
            }
        }
    }
    std::vector<ParallelPlan> plans;
    for (const auto& [group, one] : by_group) {
        plans.push_back(one);
    }
    return tables_of(scenario, plans);
}

/// Everything that the enumeration knows of a plan's surroundings, and its predictors.
class Surroundings {
public:
    Surroundings(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem,
                 const NearPlansRequest& request)
        : plan_(plan), scenario_(scenario), request_(request),
          rules_(near_rules(trainer_of(scenario), plan, problem)), limited_(problem)
    {
        const SpaceSettings to_try = values_to_try(scenario, problem, trainer_of(scenario));
        values_ = other_values(plan, to_try);
        limited_.noise = tables_for(scenario, plan, to_try);
        limited_.orders = nullptr;  // of the plan that is changed, and of no other
        if (request.fits) {
            limited_.memory_limit = with_probability(limited_.memory_limit, *request.fits);
        }
        for (std::size_t value = 0; value < values_.size(); ++value) {
            if (const auto changed = changed_plan({value})) {
                singles_.push_back({*changed, {value}});
            }
        }
    }

    /// The structure of the plan with these values is sound, and the trainer runs it.
    std::optional<ParallelPlan> changed_plan(const Combination& combination) const
    {
        std::vector<const AxisValue*> chosen;
        for (const std::size_t value : combination) {
            chosen.push_back(&values_[value]);
        }
        std::optional<ParallelPlan> changed = with_values(plan_, chosen);
        if (!changed || *changed == plan_ || structural_problem(*changed, limited_) ||
            !keeps(rules_, *changed, limited_)) {
            return std::nullopt;
        }
        return changed;
    }

    const std::vector<AxisValue>& values() const { return values_; }
    const std::vector<Candidate>& singles() const { return singles_; }
    const Problem& limited() const { return limited_; }

    NearPlan near_plan(const ParallelPlan& plan, int axes, const NoiseFree& bound) const
    {
        const Bytes memory = limited_.cluster.accelerator.memory;
        return {.plan = plan,
                .axes = axes,
                .changes = changed_values(plan_, plan),
                .bound = bound,
                .value = least_value(bound, scenario_.objectives),
                .fits = fit_probability(limited_.memory_limit, Bytes{bound.memory_bytes}, memory),
                .in_space = lists_changes(scenario_.space, plan_, plan)};
    }

private:
    const ParallelPlan& plan_;
    const Scenario& scenario_;
    const NearPlansRequest& request_;
    std::vector<NearRule> rules_;
    std::vector<AxisValue> values_;
    Problem limited_;  // to the probability of fitting that is asked for
    std::vector<Candidate> singles_;
};

/// Calls visit(combination) for all combinations of `size` values of different axes.
template <class Visit>
void for_combinations(const std::vector<AxisValue>& values, std::size_t size, Combination& chosen,
                      Visit&& visit)
{
    if (chosen.size() == size) {
        visit(chosen);
        return;
    }
    for (std::size_t value = chosen.empty() ? 0 : chosen.back() + 1; value < values.size(); ++value) {
        if (chosen.empty() || values[chosen.back()].axis != values[value].axis) {
            chosen.push_back(value);
            for_combinations(values, size, chosen, visit);
            chosen.pop_back();
        }
    }
}

/// The best plans of one number of changes.
class Best {
public:
    explicit Best(std::size_t most) : most_(most) {}

    void add(NearPlan plan)
    {
        plans_.insert(std::upper_bound(plans_.begin(), plans_.end(), plan, by_value), std::move(plan));
        if (plans_.size() > most_) {
            plans_.pop_back();
        }
    }
    /// What a further plan must be below.
    double limit() const
    {
        return plans_.size() < most_ ? std::numeric_limits<double>::infinity() : plans_.back().value;
    }
    const std::vector<NearPlan>& plans() const { return plans_; }

private:
    std::size_t most_;
    std::vector<NearPlan> plans_;
};

/// The levels of the enumeration, one after the other.
class Enumeration {
public:
    Enumeration(const Surroundings& near, const ParallelPlan& plan, const Scenario& scenario,
                const NearPlansRequest& request, const Pause& pause)
        : near_(near), plan_(plan), scenario_(scenario), request_(request), pause_(pause),
          hopes_(near.values().size(), 0.0), seen_{plan}
    {
    }

    void change_one()
    {
        Problem any_memory = near_.limited();
        any_memory.memory_limit = without_limit(any_memory.memory_limit);
        Predictor unlimited(any_memory);
        Predictor limited(near_.limited());
        const bool sound = !structural_problem(plan_, any_memory);
        if (const auto bound = sound ? bound_of(unlimited, plan_) : std::nullopt) {
            result_.start = near_.near_plan(plan_, 0, *bound);
            result_.start_fits = bound_of(limited, plan_).has_value();
        }
        if (result_.start_fits) {
            known_[plan_] = result_.start->value;
        }
        Best best(request_.most);
        for (const Candidate& single : near_.singles()) {
            pause_();
            const auto any = bound_of(unlimited, single.plan);
            if (any && result_.start) {
                hopes_[single.values.front()] =
                    std::log(least_value(*any, scenario_.objectives) / result_.start->value);
            }
            const auto bound =
                seen_.insert(single.plan).second && any ? bound_of(limited, single.plan) : std::nullopt;
            if (bound) {
                note_value(near_.near_plan(single.plan, 1, *bound), least_undone(single.values), best);
            }
        }
        keep(best);
    }

    void change(std::size_t changes)
    {
        const std::vector<Candidate> candidates = combined(changes);
        Predictor predictor(near_.limited());
        Best best(request_.most);
        for (const Candidate& candidate : candidates) {
            pause_();
            if (result_.bounds == request_.most_bounds) {
                result_.complete = false;
                break;
            }
            ++result_.bounds;
            const double undone = least_undone(candidate.values);
            const double limit = std::min({limit_, best.limit(), undone});
            Cutoff cutoff(
                [&](const NoiseFree& bound) { return least_value(bound, scenario_.objectives) >= limit; });
            const auto bound = predictor.bound(candidate.plan, cutoff);
            const auto* feasible = std::get_if<NoiseFree>(&bound);
            if (feasible != nullptr && !cutoff.suffices(*feasible)) {
                note_value(near_.near_plan(candidate.plan, static_cast<int>(changes), *feasible), undone,
                           best);
            }
        }
        keep(best);
    }

    NearPlans result()
    {
        std::stable_sort(result_.plans.begin(), result_.plans.end(), by_value);
        return std::move(result_);
    }

private:
    static std::optional<NoiseFree> bound_of(Predictor& predictor, const ParallelPlan& plan)
    {
        const auto bound = predictor.bound(plan);
        const auto* feasible = std::get_if<NoiseFree>(&bound);
        return feasible == nullptr ? std::nullopt : std::optional(*feasible);
    }

    void note_value(const NearPlan& found, double undone, Best& best)
    {
        known_[found.plan] = found.value;
        if (found.value < undone) {
            best.add(found);
        }
    }

    /// Plans with more changes must be better than as many with fewer.
    void keep(const Best& best)
    {
        limit_ = std::min(limit_, best.limit());
        result_.plans.insert(result_.plans.end(), best.plans().begin(), best.plans().end());
    }

    /// What a combination must be below: the least value with some of its changes undone, as far as it is
    /// known, less what a change must save.
    double least_undone(const Combination& combination) const
    {
        double least = std::numeric_limits<double>::infinity();
        const std::size_t subsets = (std::size_t{1} << combination.size()) - 1;
        for (std::size_t subset = 0; subset < subsets; ++subset) {
            Combination kept;
            for (std::size_t i = 0; i < combination.size(); ++i) {
                if ((subset >> i & 1U) != 0) {
                    kept.push_back(combination[i]);
                }
            }
            const auto changed = kept.empty() ? std::optional(plan_) : near_.changed_plan(kept);
            const auto found = changed ? known_.find(*changed) : known_.end();
            if (found != known_.end()) {
                least = std::min(least, found->second);
            }
        }
        return least * (1.0 - request_.least_gain);
    }

    /// Combinations of several values, the most promising first; plans that fewer changes give are omitted.
    std::vector<Candidate> combined(std::size_t size)
    {
        std::vector<Candidate> candidates;
        Combination chosen;
        for_combinations(near_.values(), size, chosen, [&](const Combination& combination) {
            pause_();
            const auto plan = near_.changed_plan(combination);
            if (plan && seen_.insert(*plan).second) {
                const double hope =
                    std::accumulate(combination.begin(), combination.end(), 0.0,
                                    [&](double sum, std::size_t value) { return sum + hopes_[value]; });
                candidates.push_back({*plan, combination, hope});
            }
        });
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.hope < b.hope; });
        return candidates;
    }

    const Surroundings& near_;
    const ParallelPlan& plan_;
    const Scenario& scenario_;
    const NearPlansRequest& request_;
    const Pause& pause_;
    // [value]: logarithm by which it alone changes the value of the plan, whether that fits or not
    std::vector<double> hopes_;
    std::set<ParallelPlan> seen_;
    std::map<ParallelPlan, double> known_;
    double limit_ = std::numeric_limits<double>::infinity();
    NearPlans result_;
};

}  // namespace

std::string trainer_of(const Scenario& scenario)
{
    return scenario.search.runnable_by.empty() ? scenario.cluster.software.trainer
                                               : scenario.search.runnable_by;
}

NearPlans near_plans(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem,
                     const NearPlansRequest& request, const Pause& pause)
{
    const Surroundings near(plan, scenario, problem, request);
    Enumeration enumeration(near, plan, scenario, request, pause);
    enumeration.change_one();
    for (std::size_t changes = 2; changes <= static_cast<std::size_t>(request.most_changes); ++changes) {
        enumeration.change(changes);
    }
    return enumeration.result();
}

}  // namespace prismopt
