#include "optimizer/api/shortlist.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/outcome_text.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/measured_table.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/steps_to_measure.hpp"
#include "optimizer/study/stored_predictions.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// The place of the objective that is asked for.
std::size_t objective_of(const std::string& asked, const Results& results)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        if (follows_step(objective.name)) {
            names.push_back(objective.name);
        }
    }
    if (names.empty()) {
        throw InputError(
            "no objective of this study is proportional to the step time, so measured steps cannot rank its "
            "plans");
    }
    const std::string name = asked.empty() ? names.front() : asked;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw InputError(
            fmt::format("--objective {} is not an objective of this study that is proportional to the step "
                        "time; choose from: {}",
                        name, fmt::join(names, ", ")));
    }
    return static_cast<std::size_t>(std::find_if(results.objectives.begin(), results.objectives.end(),
                                                 [&](const ObjectiveInfo& o) { return o.name == name; }) -
                                    results.objectives.begin());
}

/// The numbers of GPUs that are asked for.
std::vector<int> sizes_of(const std::vector<int>& asked, const Results& results,
                          const std::vector<int>& known)
{
    for (const int gpus : asked) {
        if (std::find(known.begin(), known.end(), gpus) == known.end()) {
            throw InputError(fmt::format("no plan of this study runs on {} GPUs; choose from: {}", gpus,
                                         fmt::join(known, ", ")));
        }
    }
    if (!asked.empty()) {
        return asked;
    }
    std::vector<int> sizes;
    std::copy_if(known.begin(), known.end(), std::back_inserter(sizes), [&](int gpus) {
        return std::any_of(results.front.begin(), results.front.end(),
                           [gpus](const FrontPoint& p) { return p.prediction.gpus == gpus; });
    });
    return sizes;
}

/// Of a plan of a study.
StepsToMeasure measuring_steps(StoredStudy& study, const Point& point, double precision)
{
    constexpr int fleets = block_fleets;
    constexpr int steps = 16;
    Predictor predictor(study.problem(point));
    const PhaseDraws draws = predictor.sample(study.plan(point), {0, fleets, steps}, study.sampler({}));
    return steps_to_measure(draws.front(), fleets, steps, precision);
}

/// Refuses measurements that the model's interval does not allow: one of them would scale the predictions of
/// all plans. Those that the others contradict, and so have no effect, pass.
void refuse_implausible(const PlanPosterior& plans)
{
    constexpr double implausible = 3.0;  // standard deviations of what the model's interval holds: 99.7 %
    for (const MeasuredAndPredicted& plan : plans.measured()) {
        if (plan.measured.out_of_memory && plan.memory_surprise > implausible) {
            throw InputError(fmt::format(
                "point {}: ran out of memory, where {} of the capacity are predicted ({:+.1f} sigma; the "
                "interval "
                "of the memory model allows {:.0f}), and would raise the predicted memory of all plans; "
                "check the number "
                "of the plan, and that no other program used the GPUs, or add --accept if it is right",
                plan.measured.index, percent_text(plan.memory_share, 0), plan.memory_surprise, implausible));
        }
        if (plan.measured.memory_bytes > 0.0 && std::abs(plan.memory_surprise) > implausible) {
            throw InputError(
                fmt::format("point {}: the measured peak is {:.2f} times the predicted one ({:+.1f} sigma; "
                            "the interval of the memory model allows {:.0f}), and would change the "
                            "predicted memory of all plans; check the number of the plan, and that the "
                            "peak is the largest of any GPU and counts what [memory] counts as use, or "
                            "add --accept if it is right",
                            plan.measured.index, plan.measured_memory_share / plan.memory_share,
                            plan.memory_surprise, implausible));
        }
        if (!plan.contradictory && !plan.own_plan_only && std::abs(plan.prior_surprise) > implausible) {
            throw InputError(fmt::format(
                "point {}: the measured step of {:.4g} s is {:.2f} times the predicted {:.4g} s "
                "({:+.1f} sigma; the model's interval allows {:.0f}), and would move the predictions of all "
                "plans; "
                "check the number of the plan, the unit (seconds per step) and [software], "
                "or add --accept if it is right",
                plan.measured.index, plan.measured.step_s, plan.measured.step_s / plan.predicted_s,
                plan.predicted_s, plan.prior_surprise, implausible));
        }
    }
}

/// An evaluated plan in words, by the axes that the results have.
std::string words_of_plan(std::uint64_t index, int gpus, const Results& results)
{
    const auto stored = std::lower_bound(results.evaluations.begin(), results.evaluations.end(), index,
                                         [](const EvaluatedPoint& plan, std::uint64_t number) {
                                             return plan.index < number;
                                         });
    FrontPoint in_words;
    in_words.point = stored->point;
    in_words.prediction.gpus = gpus;
    return plan_words(results, in_words);
}

std::size_t plans_in(const std::vector<EquivalentPlans>& groups)
{
    std::size_t count = groups.size();
    for (const EquivalentPlans& group : groups) {
        count += group.others.size();
    }
    return count;
}

void refuse_no_share(const char* option, double value, double usual)
{
    if (!(value > 0.0 && value < 1.0)) {
        throw InputError(fmt::format("--{0} {1} is not between 0 and 1; write for example --{0} {2}", option,
                                     value, usual));
    }
}

}  // namespace

struct PlanChoice::State {
    State(const Results& of, const Pause& pause) : results(of), study(results)
    {
        refuse_other_predictions(study.model(), results, pause);
        plans.emplace(study.model(), results, std::vector<MeasuredPlan>{}, pause);
    }
    State(const Results& of, std::string table, const Pause& pause)
        : results(of), study(results), measured(std::move(table))
    {
        refuse_other_predictions(study.model(), results, pause);
        plans.emplace(study.model(), results, read_measured(measured, study, results), pause);
    }

    /// Returns the plans of these groups, sorted by the objective.
    std::vector<DoubtfulPlan> doubtful_plans(std::span<const EquivalentPlans> groups,
                                             std::size_t objective) const
    {
        std::vector<DoubtfulPlan> all;
        const auto add = [&](std::size_t member) {
            const Contender& contender = plans->contenders()[member];
            all.push_back({.point = contender.index,
                           .value = contender.values[objective],
                           .chance_fits = plans->fits(member)});
        };
        for (const EquivalentPlans& group : groups) {
            add(group.plan);
            std::ranges::for_each(group.others, add);
        }
        std::ranges::stable_sort(all, {}, &DoubtfulPlan::value);
        return all;
    }

    PlanShortlist list(int gpus, std::size_t objective, const ShortlistRequest& request)
    {
        PlanShortlist list{
            .gpus = gpus, .required_fit = study.scenario().memory_limit.probability, .plans = {}};
        std::vector<EquivalentPlans> groups = plans->near(gpus, objective);
        list.contenders = plans_in(groups);
        const auto may_not_fit = [this](const EquivalentPlans& group) {
            return plans->may_not_fit(group.plan);
        };
        list.none_fits = std::ranges::all_of(groups, may_not_fit);
        if (!list.none_fits) {
            const auto doubtful =
                std::stable_partition(groups.begin(), groups.end(), std::not_fn(may_not_fit));
            list.excluded_by_memory = doubtful_plans({doubtful, groups.end()}, objective);
            groups.erase(doubtful, groups.end());
        }
        const std::vector<std::size_t> members = named(groups);  // the plans by which groups are named
        const JointDraws draws = plans->draws(members, objective, {});
        const std::vector<Chance> all = chances(draws);
        const std::vector<Chance> by_constants = chances(plans->draws(members, objective, {.delta = false}));
        const Shortlist chosen =
            request.most > 0 ? least_regret(draws, request.most) : covering(draws, request.cover);
        for (std::size_t i = 0; i < chosen.points.size(); ++i) {
            const std::size_t m = chosen.points[i];
            const Contender& contender = plans->contenders()[members[m]];
            const Point point = study.space().point(contender.index);
            const Central90 interval = plans->interval(members[m], objective);
            const StepsToMeasure steps = measuring_steps(study, point, request.precision);
            ShortlistedPlan& plan = list.plans.emplace_back();
            plan.point = contender.index;
            plan.plan = words_of_plan(contender.index, gpus, results);
            plan.value = contender.values[objective];
            plan.median = interval.median;
            plan.low = interval.low;
            plan.high = interval.high;
            plan.drawn = contender.drawn;
            plan.chance_best = all[m].best;
            plan.chance_best_by_constants = by_constants[m].best;
            plan.chance_fits = plans->fits(members[m]);
            plan.expected_regret = all[m].regret;
            plan.most_regret = all[m].most_regret;
            plan.cover = chosen.cover[i];
            plan.regret_after_measuring = chosen.regret[i];
            plan.step_s = steps.mean_s;
            plan.steps_to_measure = steps.count;
            const auto& measured = plans->measured();
            plan.measured =
                std::any_of(measured.begin(), measured.end(), [&](const MeasuredAndPredicted& row) {
                    return row.measured.index == plan.point && row.measured.step_s > 0.0 &&
                           !row.contradictory;
                });
            for (const std::size_t other : groups[m].others) {
                plan.equivalents.push_back(plans->contenders()[other].index);
            }
        }
        return list;
    }

    Results results;
    StoredStudy study;
    std::string measured;  // path of the table; empty: none
    std::optional<PlanPosterior> plans;
};

PlanChoice::PlanChoice(const Results& results, const Pause& pause)
    : state_(std::make_unique<State>(results, pause))
{
}
PlanChoice::PlanChoice(const Results& results, const std::string& measured, Implausible implausible,
                       const Pause& pause)
    : state_(std::make_unique<State>(results, measured, pause))
{
    if (implausible == Implausible::refused) {
        refuse_implausible(*state_->plans);
    }
}
PlanChoice::PlanChoice(PlanChoice&&) noexcept = default;
PlanChoice& PlanChoice::operator=(PlanChoice&&) noexcept = default;
PlanChoice::~PlanChoice() = default;

Shortlists PlanChoice::shortlists(const ShortlistRequest& request)
{
    refuse_no_share("cover", request.cover, ShortlistRequest{}.cover);
    refuse_no_share("precision", request.precision, ShortlistRequest{}.precision);
    const Results& results = state_->results;
    const std::size_t objective = objective_of(request.objective, results);
    Shortlists all;
    all.study = results.study.scenario_name;
    all.objective = results.objectives[objective];
    all.request = request;
    const std::vector<int> sizes = sizes_of(request.gpus, results, state_->plans->sizes());
    if (sizes.empty()) {
        throw InputError(empty_front_text(results));
    }
    all.linearisation_error = state_->plans->linearisation_error(results);
    for (const int gpus : sizes) {
        all.lists.push_back(state_->list(gpus, objective, request));
    }
    return all;
}

WhatWasLearned PlanChoice::learned() const
{
    const PlanPosterior& plans = *state_->plans;
    WhatWasLearned all;
    all.measured = plans.measured();
    all.repeat_deviation = plans.steps().discrepancy().repeat;
    const Learned learned = plans.learned();
    std::set<std::string> used;
    for (const LearnedFactor& constant : learned.constants) {
        used.insert(constant.name);
    }
    for (const LearnedFactor& time : learned.times) {
        all.all_plans.push_back({.network = time.name, .factor = time.factor, .deviation = time.after});
    }
    const std::vector<NormalMarginal> after = plans.steps().constants();
    const std::vector<NormalMarginal> prior =
        StepPosterior(plans.steps().covariance(), plans.steps().discrepancy()).constants();
    for (std::size_t k = 0; k < plans.fitted().constants.size(); ++k) {
        const double before = prior[k].deviation;
        const FittedConstant& constant = plans.fitted().constants[k];
        if (used.contains(name_of(constant)) && std::abs(after[k].mean) > 0.5 * before) {
            all.moved.push_back({.constant = constant.key,
                                 .entries = constant.entries,
                                 .factor = std::exp(after[k].mean),
                                 .sigma = after[k].mean / before,
                                 .surprising = std::abs(after[k].mean) > surprising_sigma * before});
        }
    }
    return all;
}

std::string PlanChoice::overlay(const std::string& file) const
{
    const State& s = *state_;
    Learned learned = s.plans->learned();
    learned.origins.push_back({.program = release(),
                               .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                               .study = s.results.study.scenario_name,
                               .results = file,
                               .measured = s.measured,
                               .measured_digest = digest_of(read_text(s.measured)),
                               .rows = static_cast<int>(s.plans->measured().size())});
    return learned_text(learned);
}

}  // namespace prismopt
