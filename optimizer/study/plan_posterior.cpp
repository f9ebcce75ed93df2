#include "optimizer/study/plan_posterior.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/reading/scaled_cluster.hpp"
#include "model/calibration/posterior/posterior_draws.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/learning_error.hpp"
#include "search/near_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace prismopt {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

std::map<std::string, std::size_t> positions_of(const std::vector<FittedConstant>& constants)
{
    std::map<std::string, std::size_t> positions;
    for (std::size_t k = 0; k < constants.size(); ++k) {
        positions[name_of(constants[k])] = k;
    }
    return positions;
}

/// Which rows of measured steps are of one plan of a network, in the order of the names of both.
std::vector<std::vector<std::size_t>> rows_of_plans(const std::vector<LearnedStep>& steps,
                                                    const std::vector<char>& excluded)
{
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_plan;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (excluded[i] == 0) {
            by_plan[{steps[i].network, steps[i].design}].push_back(i);
        }
    }
    std::vector<std::vector<std::size_t>> result;
    for (auto& [plan, rows] : by_plan) {
        result.push_back(std::move(rows));
    }
    return result;
}

}  // namespace

PlanPosterior::PlanPosterior(const StudyModel& model, const Results& results,
                             const std::vector<MeasuredPlan>& measured, const Pause& pause,
                             const FindFacts& find)
    : model_(model), objectives_(results.objectives), fitted_(fitted_model()),
      steps_(widened_covariance(fitted_, kind_of(model.problem.workload, model.problem.cluster)),
             catalog_discrepancy())
{
    const FindFacts facts_of = find ? find : facts_by_own_work(model, pause);
    contenders_ = contenders_of(model, results, facts_of);
    for (const Workload* network : networks(model.scenario)) {
        networks_.push_back(network->name);
    }
    const Learned& before = model.scenario.learned;
    measured_.steps = before.steps;
    measured_.trials = before.trials;
    measured_.memory = memory_error_of(before, model.problem.cluster.stack.name);
    FactsRequest request{FactsRequest::Kind::gradients, {}};
    for (const Contender& contender : contenders_) {
        request.points.push_back(contender.index);
    }
    std::vector<PlanFacts> facts = facts_of(request);
    VariantGradients gradients(model, fitted_);
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        const std::size_t variant = contenders_[i].variant;
        const Point point = model.designs.space().point(contenders_[i].index);
        const Problem& problem = gradients.bench().problem(variant);
        const ParallelPlan plan = model.designs.plan(point);
        plans_.push_back(known_of(model, point, problem, std::move(facts[i].gradient), networks_));
        shifts_.push_back(facts[i].shift);
        by_software_.push_back(std::move(facts[i].by_software));
        possible_.try_emplace(variant, problem.cluster.possible);
        names_.push_back({design_text(plan), design_text(plan_in_phase(plan, problem.phases.front()))});
    }
    add_measured(measured_, measured, model, gradients, networks_, steps_.discrepancy().repeat);
    learn_steps();
    log_ratios_ = drawn({}, pause);
    without_delta_ = drawn({.delta = false}, pause);
    draw_memory();
    draw_software();
    const Scenario& scenario = model.scenario;
    for (const Contender& contender : contenders_) {
        if (varies_by_learning(scenario) && !longer_.contains(contender.variant)) {
            longer_[contender.variant] =
                longer_by_learning(scenario, scenario.variants[contender.variant], posterior_draws);
        }
    }
}

StepObservation PlanPosterior::observation_of(const std::vector<std::size_t>& rows) const
{
    const std::map<std::string, std::size_t> positions = positions_of(fitted_.constants);
    const LearnedStep& first = measured_.steps[rows.front()];
    PlanOfPosterior plan{traits_of(first.plan), std::vector<double>(fitted_.constants.size(), 0.0),
                         job_of(first.network)};
    for (const auto& [name, slope] : first.gradient) {
        plan.gradient[positions.at(name)] = slope;
    }
    double precision = 0.0;
    double sum = 0.0;
    for (const std::size_t row : rows) {
        const LearnedStep& step = measured_.steps[row];
        precision += 1.0 / (step.deviation * step.deviation);
        sum += step.log_ratio / (step.deviation * step.deviation);
    }
    // Rows that differ by more than their deviations explain are worth what their scatter says.
    const double mean = sum / precision;
    double squares = 0.0;
    for (const std::size_t row : rows) {
        squares += std::pow((measured_.steps[row].log_ratio - mean) / measured_.steps[row].deviation, 2.0);
    }
    const double excess = rows.size() > 1 ? squares / static_cast<double>(rows.size() - 1) : 0.0;
    return {std::move(plan), mean, std::sqrt(std::max(1.0, excess) / precision)};
}

void PlanPosterior::learn_steps()
{
    if (measured_.steps.empty()) {
        return;
    }
    constexpr std::size_t fewest = 3;    // of two that contradict each other, neither is known to be wrong
    constexpr double contradicts = 4.0;  // standard deviations
    std::vector<double> surprises(measured_.steps.size(), not_known);
    std::vector<char> contradictory(measured_.steps.size(), 0);
    std::vector<char> excluded;
    for (const LearnedStep& step : measured_.steps) {
        excluded.push_back(step.own_plan_only ? 1 : 0);
    }
    const StepPosterior prior(steps_.covariance(), steps_.discrepancy());
    while (true) {
        const std::vector<std::vector<std::size_t>> plans = rows_of_plans(measured_.steps, excluded);
        std::vector<StepObservation> observations;
        for (const std::vector<std::size_t>& rows : plans) {
            observations.push_back(observation_of(rows));
        }
        steps_ = StepPosterior(steps_.covariance(), steps_.discrepancy(), std::move(observations));
        if (plans.empty()) {
            break;
        }
        const std::vector<double> found = steps_.surprises();
        for (std::size_t i = 0; i < plans.size(); ++i) {
            for (const std::size_t row : plans[i]) {
                surprises[row] = found[i];
            }
        }
        const auto worst = std::max_element(found.begin(), found.end(),
                                            [](double a, double b) { return std::abs(a) < std::abs(b); });
        if (plans.size() < fewest || std::abs(*worst) <= contradicts) {
            break;
        }
        const std::vector<std::size_t>& rows = plans[static_cast<std::size_t>(worst - found.begin())];
        for (const std::size_t row : rows) {
            excluded[row] = 1;
            // Measured again, it is so; it carries no information about other plans all the same.
            if (rows.size() > 1) {
                measured_.steps[row].own_plan_only = true;
            } else {
                contradictory[row] = 1;
            }
        }
    }
    for (std::size_t i = 0; i < measured_.rows.size(); ++i) {
        if (const std::size_t step = measured_.step_of_row[i]; step != Measurements::no_step) {
            measured_.rows[i].surprise = surprises[step];
            const StepObservation own = observation_of({step});
            const double deviation = prior.marginals(std::span(&own.plan, 1)).front().deviation;
            measured_.rows[i].prior_surprise = own.log_ratio / std::hypot(deviation, own.deviation);
            measured_.rows[i].contradictory = contradictory[step] != 0;
            measured_.rows[i].own_plan_only = measured_.steps[step].own_plan_only;
        }
    }
}

void PlanPosterior::draw_memory()
{
    // Plans that need the same memory are mostly one plan in different words, so their own errors, and
    // what was seen of them, are equal.
    std::map<double, std::optional<bool>> seen;  // by share of the memory: whether such a plan ran
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        std::optional<bool>& ran = seen[contenders_[i].memory_share];
        for (const LearnedTrial& trial : measured_.trials) {
            if (trial.design == names_[i].whole &&
                trial.network == networks_[static_cast<std::size_t>(plans_[i].job)]) {
                ran = trial.ran;
            }
        }
    }
    std::vector<std::size_t> group;  // [contender]: position of its share
    for (const Contender& contender : contenders_) {
        group.push_back(
            static_cast<std::size_t>(std::distance(seen.begin(), seen.find(contender.memory_share))));
    }
    const std::vector<double> common = draw(measured_.memory, posterior_draws, model_.scenario.seed);
    std::vector<char> fits(seen.size());
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        std::size_t k = 0;
        for (const auto& [share, ran] : seen) {
            const double error = common[d] + draw_own(measured_.memory, k, d, model_.scenario.seed);
            fits[k++] = ran ? *ran : share * std::exp(error) <= 1.0;
        }
        for (const std::size_t k_of : group) {
            fits_.push_back(fits[k_of]);
        }
    }
}

void PlanPosterior::draw_software()
{
    const std::size_t n = contenders_.size();
    runs_.assign(fits_.size(), 1);
    if (!measured_.steps.empty()) {
        return;  // steps of the software that it has
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::vector<PossibleSoftware>& possible = possible_.at(contenders_[i].variant);
        for (std::size_t d = 0; d < posterior_draws && !possible.empty(); ++d) {
            const std::optional<double> ratio = by_software_[i][drawn_software(possible, d)];
            log_ratios_[d * n + i] += ratio.value_or(0.0);
            without_delta_[d * n + i] += ratio.value_or(0.0);
            runs_[d * n + i] = ratio ? 1 : 0;
        }
    }
}

std::vector<double> PlanPosterior::drawn(StepPosterior::Components components, const Pause& pause) const
{
    const std::size_t n = plans_.size();
    const std::uint64_t seed = model_.scenario.seed;
    std::vector<double> ratios = steps_.draw(plans_, posterior_draws, seed, components, pause);
    std::vector<char> own_only;  // plans that were measured and carry no information about others
    for (const LearnedStep& step : measured_.steps) {
        own_only.push_back(step.own_plan_only ? 0 : 1);
    }
    for (const std::vector<std::size_t>& rows : rows_of_plans(measured_.steps, own_only)) {
        const StepObservation known = observation_of(rows);
        const LearnedStep& step = measured_.steps[rows.front()];
        constexpr std::size_t after_observations = std::size_t{1} << 20;
        for (std::size_t i = 0; i < n; ++i) {
            const bool is_it = names_[i].first == step.design && plans_[i].job == known.plan.job;
            for (std::size_t d = 0; is_it && d < posterior_draws; ++d) {
                ratios[d * n + i] =
                    known.log_ratio + known.deviation * posterior_normal(seed, d, PosteriorKind::repeat,
                                                                         after_observations + rows.front());
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            ratios[d * n + i] -= shifts_[i];
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
    if (!model_.scenario.machines.empty()) {
        throw InputError(
            fmt::format("{}: what is learned belongs to one cluster, and this study chooses from several; "
                        "search that of the measured "
                        "plans alone, and learn from its results",
                        model_.scenario.path));
    }
    result.origins = model_.scenario.learned.origins;
    const Cluster& cluster = model_.scenario.cluster;
    result.accelerator = identity_of(cluster.accelerator);
    result.stack = cluster.stack.name;
    result.domain = cluster.gpus_per_node();
    result.fit = fit_digest();
    result.steps = measured_.steps;
    result.trials = measured_.trials;
    result.memory = measured_.memory;
    const StepPosterior prior(steps_.covariance(), steps_.discrepancy());
    std::set<std::string> used;
    std::set<std::string> jobs;
    for (const LearnedStep& step : measured_.steps) {
        if (jobs.insert(step.network).second) {
            const NormalMarginal time = steps_.constants(job_of(step.network)).back();
            result.times.push_back(
                {step.network, std::exp(time.mean), steps_.discrepancy().source, time.deviation});
        }
        for (const auto& [name, slope] : step.gradient) {
            used.insert(name);
        }
    }
    const std::vector<NormalMarginal> before = prior.constants();
    const std::vector<NormalMarginal> after = steps_.constants();
    for (std::size_t k = 0; k < fitted_.constants.size(); ++k) {
        if (const std::string name = name_of(fitted_.constants[k]); used.contains(name)) {
            result.constants.push_back(
                {name, std::exp(after[k].mean), before[k].deviation, after[k].deviation});
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

std::vector<EquivalentPlans> PlanPosterior::near(int gpus, std::size_t objective) const
{
    double best = std::numeric_limits<double>::infinity();
    const auto counts = [&](const Contender& c) {
        return c.gpus == gpus && !std::isnan(c.values[objective]);
    };
    for (const Contender& contender : contenders_) {
        if (counts(contender)) {
            best = std::min(best, contender.values[objective]);
        }
    }
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        if (counts(contenders_[i]) && contenders_[i].values[objective] <= (1.0 + near_best) * best) {
            members.push_back(i);
        }
    }
    const std::vector<std::size_t> group = equivalents(draws(members, objective, {}));
    std::map<std::size_t, EquivalentPlans> found;
    for (std::size_t m = 0; m < members.size(); ++m) {
        const auto [of, is_new] = found.try_emplace(group[m], EquivalentPlans{members[group[m]], {}});
        (of->second.others).push_back(members[m]);
        // Named by a plan of the front, else by one that was drawn.
        const auto rank = [this](std::size_t i) {
            return std::pair(contenders_[i].on_front, contenders_[i].drawn);
        };
        if (rank(members[m]) > rank(of->second.plan)) {
            of->second.plan = members[m];
        }
    }
    std::vector<EquivalentPlans> result;
    for (auto& [first, equivalent] : found) {
        std::erase(equivalent.others, equivalent.plan);
        result.push_back(std::move(equivalent));
    }
    return result;
}

std::vector<std::size_t> named(const std::vector<EquivalentPlans>& groups)
{
    std::vector<std::size_t> plans;
    for (const EquivalentPlans& equivalent : groups) {
        plans.push_back(equivalent.plan);
    }
    return plans;
}

JointDraws PlanPosterior::draws(std::span<const std::size_t> members, std::size_t objective,
                                StepPosterior::Components components) const
{
    const std::vector<double>& ratios = components.delta ? log_ratios_ : without_delta_;
    const bool moves = follows_step(objectives_[objective].name);
    const bool of_training = follows_tokens(objectives_[objective].name);
    JointDraws result{members.size(), {}};
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        for (const std::size_t i : members) {
            const Contender& contender = contenders_[i];
            const double slower = (moves ? std::exp(ratios[d * contenders_.size() + i]) : 1.0) *
                                  (of_training && !longer_.empty() ? longer_.at(contender.variant)[d] : 1.0);
            const bool possible =
                fits_[d * contenders_.size() + i] != 0 && runs_[d * contenders_.size() + i] != 0;
            result.values.push_back(possible ? contender.values[objective] * slower
                                             : std::numeric_limits<double>::infinity());
        }
    }
    return result;
}

bool PlanPosterior::may_not_fit(std::size_t contender) const
{
    const double required = model_.problem.memory_limit.probability;
    const double error = std::sqrt(required * (1.0 - required) / static_cast<double>(posterior_draws));
    return fits(contender) < required - 3.0 * error;
}

double PlanPosterior::fits(std::size_t contender) const
{
    std::size_t count = 0;
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        count += fits_[d * contenders_.size() + contender] != 0 ? 1 : 0;
    }
    return static_cast<double>(count) / static_cast<double>(posterior_draws);
}

Central90 PlanPosterior::interval(std::size_t contender, std::size_t objective) const
{
    JointDraws own = draws(std::span(&contender, 1), objective, {});
    if (measured_.steps.empty() && follows_step(objectives_[objective].name)) {
        const std::vector<double> shared =
            steps_.source_draws(plans_[contender].job, posterior_draws, model_.scenario.seed);
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            own.values[d] *= std::exp(-shared[d]);
        }
    }
    return central_90(own, 0);
}

double PlanPosterior::linearisation_error(const Results& results) const
{
    constexpr std::size_t most_draws = 8;
    // The drawn constants are the draws of plans that each depend on one of them, without those
    // of a plan that depends on none.
    const std::size_t n = fitted_.constants.size();
    std::vector<PlanOfPosterior> single(n + 1, {PlanTraits{}, std::vector<double>(n, 0.0)});
    for (std::size_t k = 0; k < n; ++k) {
        single[k].gradient[k] = 1.0;
    }
    const std::vector<double> drawn = steps_.draw(single, most_draws, model_.scenario.seed, {.delta = false});
    VariantGradients gradients(model_, fitted_);
    double largest = 0.0;
    for (const FrontPoint& point : results.front) {
        const Point at = model_.designs.space().point(point.index);
        const std::size_t variant = model_.designs.variant(at);
        const ParallelPlan plan = plan_in_phase(model_.designs.plan(at), gradients.phase(variant));
        const std::vector<double> gradient = gradients.of(variant).of(plan);
        const auto base = gradients.of(variant).log_step(plan);
        const Problem& problem = gradients.bench().problem(variant);
        const Cluster catalog = without_learned(problem.cluster);
        for (std::size_t d = 0; base && d < most_draws; ++d) {
            Cluster cluster = catalog;
            double expected = *base;
            for (std::size_t k = 0; k < n; ++k) {
                const double moved = drawn[d * (n + 1) + k] - drawn[d * (n + 1) + n];
                cluster = scaled(std::move(cluster), fitted_.constants[k], std::exp(moved));
                expected += gradient[k] * moved;
            }
            const Setting setting{problem.workload, problem.phases.front(), cluster,
                                  problem.noise,    problem.memory_limit,   problem.orders};
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
            better = better || (1.0 + equivalent_difference) * x < y;
        }
        return better;
    };
    std::vector<double> kept;
    for (const FrontPoint& point : results.front) {
        pause();
        const auto own = std::find_if(contenders.begin(), contenders.end(),
                                      [&](const Contender& c) { return c.index == point.index; });
        if (own == contenders.end()) {
            kept.push_back(not_known);
            continue;
        }
        const auto position = static_cast<std::size_t>(own - contenders.begin());
        double count = 0.0;
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            const bool possible = std::isfinite(objectives.front().at(d, position));
            count += possible && std::none_of(all.begin(), all.end(),
                                              [&](std::size_t i) { return beats(d, i, position); })
                         ? 1.0
                         : 0.0;
        }
        kept.push_back(count / posterior_draws);
    }
    return kept;
}

}  // namespace

void add_posterior(const StudyModel& model, Results& results, const Pause& pause, const FindFacts& find)
{
    const PlanPosterior plans(model, results, {}, pause, find);
    if (plans.contenders().empty()) {
        return;
    }
    constexpr double cover = 0.9;
    results.posterior.linearisation_error = plans.linearisation_error(results);
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        for (const int gpus : follows_step(results.objectives[k].name) ? plans.sizes() : std::vector<int>{}) {
            pause();
            const std::vector<std::size_t> members = named(plans.near(gpus, k));
            const JointDraws draws = plans.draws(members, k, {});
            const std::vector<Chance> with = chances(draws);
            const std::vector<Chance> without = chances(plans.draws(members, k, {.delta = false}));
            const Shortlist shortlist = covering(draws, cover);
            for (std::size_t m = 0; m < members.size(); ++m) {
                const Contender& contender = plans.contenders()[members[m]];
                PlanChance row{contender.index,       gpus,         static_cast<int>(k), contender.values[k],
                               contender.drawn,       with[m].best, without[m].best,     with[m].regret,
                               plans.fits(members[m])};
                const Central90 interval = plans.interval(members[m], k);
                row.low = interval.low;
                row.high = interval.high;
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
