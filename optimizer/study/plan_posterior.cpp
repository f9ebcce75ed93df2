#include "optimizer/study/plan_posterior.hpp"

#include "io/measured/catalog_discrepancy.hpp"
#include "io/measured/scaled_cluster.hpp"
#include "model/base/median.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/learning_error.hpp"
#include "search/near_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// Gradients on the hardware variants of a study.
class VariantGradients {
public:
    VariantGradients(const StudyModel& model, const FittedModel& fitted)
        : model_(model), fitted_(fitted), bench_(model.scenario, model.problem)
    {
    }

    StepGradients& of(std::size_t variant)
    {
        auto& gradients = variants_[variant];
        if (!gradients) {
            problems_.push_back(bench_.problem(variant));
            const Problem& problem = problems_.back();
            gradients = std::make_unique<StepGradients>(Setting{problem.workload, problem.phases.front(), problem.cluster,
                                                                problem.noise, problem.memory_headroom, problem.orders},
                                                        fitted_);
        }
        return *gradients;
    }

    HardwareBench& bench() { return bench_; }
    const Phase& phase(std::size_t variant) { return bench_.problem(variant).phases.front(); }

private:
    const StudyModel& model_;
    const FittedModel& fitted_;
    HardwareBench bench_;
    std::deque<Problem> problems_;
    std::map<std::size_t, std::unique_ptr<StepGradients>> variants_;
};

constexpr double memory_noise = 0.02;  // of a measured peak: allocators round, and read at different moments. An assumption

/// Position of a name, which is added if it is new.
int position_of(const std::string& name, std::vector<std::string>& names)
{
    const auto found = std::find(names.begin(), names.end(), name);
    const auto position = static_cast<int>(found - names.begin());
    if (found == names.end()) {
        names.push_back(name);
    }
    return position;
}

/// `jobs`: names of networks.
PlanOfPosterior known_of(const StudyModel& model, const Point& point, VariantGradients& gradients, std::vector<std::string>& jobs)
{
    const std::size_t variant = model.designs.hardware(point);
    const ParallelPlan first = plan_in_phase(model.designs.plan(point), gradients.phase(variant));
    return {traits_of(first), gradients.of(variant).of(first),
            position_of(gradients.bench().problem(variant).workload.name, jobs)};
}

/// What may be written of a measured step.
LearnedStep step_of(const StudyModel& model, const Point& point, VariantGradients& gradients, const PlanOfPosterior& known,
                    const FittedModel& fitted)
{
    const std::size_t variant = model.designs.hardware(point);
    LearnedStep step;
    step.network = gradients.bench().problem(variant).workload.name;
    step.plan = plan_in_phase(model.designs.plan(point), gradients.phase(variant));
    step.design = design_text(step.plan);
    for (std::size_t k = 0; k < known.gradient.size(); ++k) {
        if (known.gradient[k] != 0.0) {
            step.gradient.emplace_back(name_of(fitted.constants[k]), known.gradient[k]);
        }
    }
    return step;
}

bool same_measurement(const LearnedStep& a, const LearnedStep& b)
{
    return a.network == b.network && a.design == b.design && a.measured_s == b.measured_s;
}

std::map<std::string, std::size_t> positions_of(const std::vector<FittedConstant>& constants)
{
    std::map<std::string, std::size_t> positions;
    for (std::size_t k = 0; k < constants.size(); ++k) {
        positions[name_of(constants[k])] = k;
    }
    return positions;
}

/// As the problem of a study, for plans that ran although their predicted memory is too large.
Problem without_memory_limit(Problem problem)
{
    problem.memory_headroom = no_memory_limit;
    return problem;
}

/// The first of two benches on which the plan fits into memory.
HardwareBench& bench_with_memory(const StudyModel& model, const Point& point, HardwareBench& limited, HardwareBench& unlimited)
{
    const auto bound = limited.of(model.designs.hardware(point)).bound(model.designs.plan(point));
    const auto* refusal = std::get_if<Infeasible>(&bound);
    return refusal != nullptr && refusal->reason == Reason::out_of_memory ? unlimited : limited;
}

/// Of the accelerator's memory, by the fullest GPU.
double share_of_memory(const StudyModel& model, const Point& point, HardwareBench& bench)
{
    const std::size_t variant = model.designs.hardware(point);
    const auto bound = bench.of(variant).bound(model.designs.plan(point));
    const auto* plan = std::get_if<NoiseFree>(&bound);
    return plan == nullptr ? std::numeric_limits<double>::infinity()
                           : plan->memory_bytes / bench.problem(variant).cluster.accelerator.memory.si;
}

/// Predicted mean of the first phase's steps, in seconds.
double mean_step(const StudyModel& model, const Point& point, HardwareBench& bench)
{
    constexpr DrawRange range{0, 64, 4};
    const std::size_t variant = model.designs.hardware(point);
    const ParallelPlan plan = model.designs.plan(point);
    const auto bound = bench.of(variant).bound(plan);
    if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
        throw InputError(
            fmt::format("point {} was measured, but is infeasible for this study: {}; correct the scenario, and search again",
                        model.designs.space().index(point), refusal->text()));
    }
    const std::vector<double> steps = bench.of(variant).sample(plan, range, model.sampler({})).front();
    return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

}  // namespace

PlanPosterior::PlanPosterior(const StudyModel& model, const Results& results, const std::vector<MeasuredPlan>& measured,
                             const Pause& pause)
    : model_(model), objectives_(results.objectives), fitted_(fitted_model()), learned_constants_(fitted_.constants.size(), 0.0),
      contenders_(contenders_of(model, results, pause)),
      steps_(widened_covariance(fitted_, kind_of(model.problem.workload, model.problem.cluster)), catalog_discrepancy())
{
    for (const Workload* network : networks(model.scenario)) {
        networks_.push_back(network->name);
    }
    const Learned& before = model.scenario.learned;
    const std::map<std::string, std::size_t> positions = positions_of(fitted_.constants);
    for (const LearnedFactor& constant : before.constants) {
        learned_constants_[positions.at(constant.name)] = std::log(constant.factor);
    }
    learned_ = before.steps;
    for (const LearnedStep& step : learned_) {
        position_of(step.network, networks_);
    }
    memory_ = before.empty() ? MemoryError{.deviation = steps_.discrepancy().memory} : before.memory;
    VariantGradients gradients(model, fitted_);
    for (const Contender& contender : contenders_) {
        pause();
        const Point point = model.designs.space().point(contender.index);
        plans_.push_back(known_of(model, point, gradients, networks_));
    }
    std::vector<std::size_t> observed;  // [row that was measured]: position in learned_
    const Problem any_memory = without_memory_limit(model.problem);
    HardwareBench unlimited(model.scenario, any_memory);
    for (const MeasuredPlan& plan : measured) {
        const Point point = model.designs.space().point(plan.index);
        HardwareBench& bench = bench_with_memory(model, point, gradients.bench(), unlimited);
        MeasuredAndPredicted both{plan, absent, share_of_memory(model, point, bench), absent};
        bool known_before = false;
        if (plan.step_s > 0.0) {
            both.predicted_s = mean_step(model, point, bench);
            const PlanOfPosterior known = known_of(model, point, gradients, networks_);
            LearnedStep step = step_of(model, point, gradients, known, fitted_);
            step.measured_s = plan.step_s;
            step.log_ratio = std::log(plan.step_s / both.predicted_s) + shift_of(known);
            step.deviation = std::hypot(plan.deviation, steps_.discrepancy().repeat);
            const auto found = std::find_if(learned_.begin(), learned_.end(),
                                            [&step](const LearnedStep& other) { return same_measurement(step, other); });
            known_before = found != learned_.end() && found < learned_.begin() + static_cast<std::ptrdiff_t>(before.steps.size());
            observed.push_back(known_before ? static_cast<std::size_t>(found - learned_.begin()) : learned_.size());
            if (!known_before) {
                learned_.push_back(std::move(step));
            }
        }
        const double capacity = gradients.bench().problem(model.designs.hardware(point)).cluster.accelerator.memory.si;
        const double fits_below = -std::log(both.memory_share);
        ran_[plan.index] = !plan.out_of_memory;
        if (plan.out_of_memory) {
            memory_.low = std::max(memory_.low, fits_below);
        } else if (!(plan.memory_bytes > 0.0)) {
            memory_.high = std::min(memory_.high, fits_below);
        } else if (!known_before) {
            memory_ = after(memory_, std::log(plan.memory_bytes / (both.memory_share * capacity)), memory_noise);
        }
        measured_.push_back(both);
    }
    if (!learned_.empty()) {
        steps_ = StepPosterior(steps_.covariance(), steps_.discrepancy(), observations());
        const std::vector<double> surprises = steps_.surprises();
        auto next = observed.begin();
        for (MeasuredAndPredicted& both : measured_) {
            both.surprise = both.measured.step_s > 0.0 ? surprises[*next++] : absent;
        }
    }
    log_ratios_ = drawn({}, pause);
    without_delta_ = drawn({.delta = false}, pause);
    log_memory_ = draw(memory_, posterior_draws, model_.scenario.seed);
    const Scenario& scenario = model.scenario;
    for (const Contender& contender : contenders_) {
        if (varies_by_learning(scenario) && !longer_.contains(contender.variant)) {
            const std::vector<double> values =
                scenario.hardware.empty() ? std::vector<double>{} : scenario.hardware[contender.variant];
            longer_[contender.variant] = longer_by_learning(scenario, values, posterior_draws);
        }
    }
}

std::vector<StepObservation> PlanPosterior::observations() const
{
    const std::map<std::string, std::size_t> positions = positions_of(fitted_.constants);
    std::vector<StepObservation> list;
    for (const LearnedStep& step : learned_) {
        PlanOfPosterior plan{traits_of(step.plan), std::vector<double>(fitted_.constants.size(), 0.0), job_of(step.network)};
        for (const auto& [name, slope] : step.gradient) {
            plan.gradient[positions.at(name)] = slope;
        }
        list.push_back({std::move(plan), step.log_ratio, step.deviation});
    }
    return list;
}

double PlanPosterior::shift_of(const PlanOfPosterior& plan) const
{
    return std::inner_product(plan.gradient.begin(), plan.gradient.end(), learned_constants_.begin(),
                              std::log(model_.scenario.cluster.learned_time));
}

std::vector<double> PlanPosterior::drawn(StepPosterior::Components components, const Pause& pause) const
{
    std::vector<double> ratios = steps_.draw(plans_, posterior_draws, model_.scenario.seed, components, pause);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        const double shift = shift_of(plans_[i]);
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            ratios[d * plans_.size() + i] -= shift;
        }
    }
    return ratios;
}

int PlanPosterior::job_of(const std::string& network) const
{
    return static_cast<int>(std::find(networks_.begin(), networks_.end(), network) - networks_.begin());
}

Learned PlanPosterior::learned() const
{
    Learned result;
    const Cluster& cluster = model_.scenario.cluster;
    result.accelerator = cluster.accelerator.name;
    result.stack = cluster.stack.name;
    result.domain = cluster.gpus_per_node();
    result.fit = fit_digest();
    result.steps = learned_;
    result.memory = memory_;
    const StepPosterior prior(steps_.covariance(), steps_.discrepancy());
    std::set<std::string> used;
    std::set<std::string> jobs;
    for (const LearnedStep& step : learned_) {
        if (jobs.insert(step.network).second) {
            const NormalMarginal time = steps_.constants(job_of(step.network)).back();
            result.times.push_back({step.network, std::exp(time.mean), steps_.discrepancy().source, time.deviation});
        }
        for (const auto& [name, slope] : step.gradient) {
            used.insert(name);
        }
    }
    const std::vector<NormalMarginal> before = prior.constants();
    const std::vector<NormalMarginal> after = steps_.constants();
    for (std::size_t k = 0; k < fitted_.constants.size(); ++k) {
        if (const std::string name = name_of(fitted_.constants[k]); used.contains(name)) {
            result.constants.push_back({name, std::exp(after[k].mean), before[k].deviation, after[k].deviation});
        }
    }
    return result;
}

std::vector<int> PlanPosterior::sizes() const
{
    std::set<int> sizes;
    for (const Contender& contender : contenders_) {
        sizes.insert(contender.gpus);
    }
    return {sizes.begin(), sizes.end()};
}

std::vector<std::size_t> PlanPosterior::near(int gpus, std::size_t objective) const
{
    double best = std::numeric_limits<double>::infinity();
    const auto counts = [&](const Contender& c) { return c.gpus == gpus && !std::isnan(c.values[objective]); };
    for (const Contender& contender : contenders_) {
        best = counts(contender) ? std::min(best, contender.values[objective]) : best;
    }
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        if (counts(contenders_[i]) && contenders_[i].values[objective] <= (1.0 + near_best) * best) {
            members.push_back(i);
        }
    }
    return members;
}

JointDraws PlanPosterior::draws(std::span<const std::size_t> members, std::size_t objective,
                                StepPosterior::Components components) const
{
    const std::vector<double>& ratios = components.delta ? log_ratios_ : without_delta_;
    const bool moves = follows_step(objectives_[objective].units);
    const bool of_training = moves && !objectives_[objective].name.starts_with("step_time");
    JointDraws result{members.size(), {}};
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        const double memory = std::exp(log_memory_[d]);
        for (const std::size_t i : members) {
            const Contender& contender = contenders_[i];
            const double slower = (moves ? std::exp(ratios[d * contenders_.size() + i]) : 1.0) *
                                  (of_training && !longer_.empty() ? longer_.at(contender.variant)[d] : 1.0);
            const auto tried = ran_.find(contender.index);
            const bool fits = tried != ran_.end() ? tried->second : contender.memory_share * memory <= 1.0;
            result.values.push_back(fits ? contender.values[objective] * slower : std::numeric_limits<double>::infinity());
        }
    }
    return result;
}

double PlanPosterior::linearisation_error(const Results& results) const
{
    constexpr std::size_t most_draws = 8;
    // The drawn constants are the draws of plans that each depend on one of them, without those of a plan that depends on none.
    const std::size_t n = fitted_.constants.size();
    std::vector<PlanOfPosterior> single(n + 1, {PlanTraits{}, std::vector<double>(n, 0.0)});
    for (std::size_t k = 0; k < n; ++k) {
        single[k].gradient[k] = 1.0;
    }
    const std::vector<double> drawn = steps_.draw(single, most_draws, model_.scenario.seed, {.delta = false});
    VariantGradients gradients(model_, fitted_);
    double largest = 0.0;
    for (const FrontPoint& point : results.front) {
        const std::size_t variant = model_.designs.hardware(point.point);
        const ParallelPlan plan = plan_in_phase(model_.designs.plan(point.point), gradients.phase(variant));
        const std::vector<double> gradient = gradients.of(variant).of(plan);
        const auto base = gradients.of(variant).log_step(plan);
        const Problem& problem = gradients.bench().problem(variant);
        for (std::size_t d = 0; base && d < most_draws; ++d) {
            Cluster cluster = problem.cluster;
            double expected = *base;
            for (std::size_t k = 0; k < n; ++k) {
                const double moved = drawn[d * (n + 1) + k] - drawn[d * (n + 1) + n] - learned_constants_[k];
                cluster = scaled(std::move(cluster), fitted_.constants[k], std::exp(moved));
                expected += gradient[k] * moved;
            }
            const Setting setting{problem.workload, problem.phases.front(),  cluster,
                                  problem.noise,    problem.memory_headroom, problem.orders};
            if (const auto exact = log_noise_free_step(setting, plan)) {
                largest = std::max(largest, std::abs(std::expm1(expected - *exact)));
            }
        }
    }
    return largest;
}

namespace {

/// How often each point of the front is not dominated by a contender.
std::vector<double> kept_on_front(const PlanPosterior& plans, const Results& results, const Pause& pause)
{
    const std::vector<Contender>& contenders = plans.contenders();
    std::vector<std::size_t> all(contenders.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<JointDraws> objectives;
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        objectives.push_back(plans.draws(all, k, {}));
    }
    const auto beats = [&](std::size_t draw, std::size_t a, std::size_t b) {
        bool better = false;
        for (const JointDraws& objective : objectives) {
            const double x = objective.at(draw, a);
            const double y = objective.at(draw, b);
            if (!(x <= y)) {
                return false;
            }
            better = better || x < y;
        }
        return better;
    };
    std::vector<double> kept;
    for (const FrontPoint& point : results.front) {
        pause();
        const auto own =
            std::find_if(contenders.begin(), contenders.end(), [&](const Contender& c) { return c.index == point.index; });
        if (own == contenders.end()) {
            kept.push_back(absent);
            continue;
        }
        const auto position = static_cast<std::size_t>(own - contenders.begin());
        double count = 0.0;
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            const bool possible = std::isfinite(objectives.front().at(d, position));
            count += possible && std::none_of(all.begin(), all.end(), [&](std::size_t i) { return beats(d, i, position); }) ? 1.0
                                                                                                                            : 0.0;
        }
        kept.push_back(count / posterior_draws);
    }
    return kept;
}

/// The 5 % and 95 % quantiles of a plan's possible values.
std::pair<double, double> central_90(const JointDraws& draws, std::size_t member)
{
    std::vector<double> values;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        if (std::isfinite(draws.at(d, member))) {
            values.push_back(draws.at(d, member));
        }
    }
    if (values.empty()) {
        return {absent, absent};
    }
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return {values[static_cast<std::size_t>(std::lround(0.05 * last))],
            values[static_cast<std::size_t>(std::lround(0.95 * last))]};
}

}  // namespace

void add_posterior(const StudyModel& model, Results& results, const Pause& pause)
{
    const PlanPosterior plans(model, results, {}, pause);
    if (plans.contenders().empty()) {
        return;
    }
    constexpr double cover = 0.9;
    results.posterior.linearisation_error = plans.linearisation_error(results);
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        for (const int gpus : follows_step(results.objectives[k].units) ? plans.sizes() : std::vector<int>{}) {
            pause();
            const std::vector<std::size_t> members = plans.near(gpus, k);
            const JointDraws draws = plans.draws(members, k, {});
            const std::vector<Chance> with = chances(draws);
            const std::vector<Chance> without = chances(plans.draws(members, k, {.delta = false}));
            const Shortlist shortlist = covering(draws, cover);
            for (std::size_t m = 0; m < members.size(); ++m) {
                const Contender& contender = plans.contenders()[members[m]];
                PlanChance row{contender.index, gpus,         static_cast<int>(k), contender.values[k],
                               contender.drawn, with[m].best, without[m].best,     with[m].regret,
                               with[m].possible};
                std::tie(row.low, row.high) = central_90(draws, m);
                const auto chosen = std::find(shortlist.points.begin(), shortlist.points.end(), m);
                if (chosen != shortlist.points.end()) {
                    row.shortlist = 1 + static_cast<int>(chosen - shortlist.points.begin());
                    row.cover = shortlist.cover[static_cast<std::size_t>(row.shortlist - 1)];
                }
                results.posterior.plans.push_back(row);
            }
        }
    }
    const std::vector<double> kept = kept_on_front(plans, results, pause);
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        FrontPoint& point = results.front[i];
        point.chance_on_front = kept[i];
        const auto row = std::find_if(results.posterior.plans.begin(), results.posterior.plans.end(),
                                      [&](const PlanChance& chance) { return chance.index == point.index; });
        if (row != results.posterior.plans.end()) {
            point.chance_best = row->best;
            point.chance_fits = row->fits;
            point.expected_regret = row->regret;
        }
    }
}

}  // namespace prismopt
