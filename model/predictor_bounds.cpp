/// Lower bounds of a plan and of sub-spaces. docs/methods/step-graph.md.

#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/predictor.hpp"
#include "model/run_outlook.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/graph/slowest_group.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

/// What the sampler's single precision may lose over a step of a million ops; a bound must stay below it.
constexpr double single_precision = 1e-5;

constexpr int longest_run_years = 1000;
constexpr double longest_run_s = longest_run_years * 365.0 * 86400.0;

/// The least of the asked percents above the median, at or below which nothing
/// bounds a quantile; zero without one.
int least_bounded_percent(const Job& job)
{
    int least = 0;
    for (const int percent : job.percents) {
        if (percent > 50 && (least == 0 || percent < least)) {
            least = percent;
        }
    }
    return least;
}

/// The larger of both bounds; a quantile is not below the mean.
LeastStep at_least(double mean_s, const LeastStep& other)
{
    LeastStep step{std::max(mean_s, other.mean_s), other.quantiles_s};
    step.quantiles_s.resize(2, 0.0);
    for (double& quantile_s : step.quantiles_s) {
        quantile_s = std::max(quantile_s, step.mean_s);
    }
    return step;
}

/// A bound of the mean alone.
std::optional<LeastStep> of_mean(std::optional<double> seconds)
{
    return seconds ? std::optional(LeastStep{*seconds, {}}) : std::nullopt;
}

/// The smaller of both bounds.
LeastStep lower(const LeastStep& a, const LeastStep& b)
{
    LeastStep step{std::min(a.mean_s, b.mean_s), a.quantiles_s};
    std::transform(b.quantiles_s.begin(), b.quantiles_s.end(), step.quantiles_s.begin(),
                   step.quantiles_s.begin(), [](double x, double y) { return std::min(x, y); });
    return step;
}

/// Whether quantiles are those of a step that does not vary.
bool from_mean(const LeastStep& step)
{
    return std::all_of(step.quantiles_s.begin(), step.quantiles_s.end(),
                       [&](double quantile_s) { return quantile_s == step.mean_s; });
}

}  // namespace

const ProgramPaths* Predictor::paths_of(const ScheduleShape& shape)
{
    auto found = paths_.find(shape);
    if (found == paths_.end()) {
        if (cached_counts_ > most_counts) {
            paths_.clear();
            cached_counts_ = 0;
        }
        found = paths_.emplace(shape, std::nullopt).first;
        if (const auto program = compilers_.front().program(shape)) {
            found->second = program_paths(*program);
            for (const ProgramPath& path : found->second->paths) {
                cached_counts_ += path.own.size() + path.others.size();
            }
        }
    }
    return found->second ? &*found->second : nullptr;
}

namespace {

/// Lower bounds of the productive time of a run.
struct LeastProductiveTime {
    double mean_s = 0.0;
    double p95_s = 0.0;
    double p99_s = 0.0;
    std::vector<double> shares;  // of phases, of the mean

    /// Of a probability above a half; below p95 that of the mean.
    double quantile_s(double probability) const
    {
        if (probability >= 0.99) {
            return p99_s;
        }
        return probability >= 0.95 ? p95_s : mean_s;
    }
};

LeastProductiveTime least_productive_time(const Problem& problem, const ParallelPlan& plan,
                                          std::span<const LeastStep> steps)
{
    LeastProductiveTime least;
    for (std::size_t phase = 0; phase < steps.size(); ++phase) {
        const Phase& own = problem.phases[phase];
        const double count = own.steps() * tokens_factor(problem, plan, own) * (1.0 - single_precision);
        least.shares.push_back(count * steps[phase].mean_s);
        least.mean_s += least.shares.back();
        least.p95_s += count * steps[phase].quantiles_s[0];
        least.p99_s += count * steps[phase].quantiles_s[1];
    }
    for (double& share : least.shares) {
        share /= least.mean_s;
    }
    return least;
}

/// A bound of a quantile of the training time. That of a run of one segment rises exactly with each
/// quantile of its productive time.
double least_training_quantile(const std::vector<RunSegment>& run, const LeastProductiveTime& productive,
                               double probability)
{
    double quantile_s = 0.0;
    for (const RunSegment& segment : run) {
        const double share = segment.productive_s.front() / productive.mean_s;
        quantile_s += least_training_time_quantile(productive.quantile_s(probability) * share, segment.model,
                                                   probability);
    }
    return quantile_s;
}

/// Needs the GPUs and the times of the bound.
void add_power_and_cost(const Problem& problem, const std::vector<RunSegment>& run, double work_j,
                        NoiseFree& bound)
{
    const double held = bound.gpus + spare_gpus(run.front().model, problem.cluster);
    bound.held_gpus = held;
    bound.power_w = power_in_training(problem, bound.gpus, held - bound.gpus);
    bound.cluster_power_w = cluster_power_in_training(problem, bound.gpus, held - bound.gpus);
    TrainedWork trained{0.0, work_j * (1.0 - single_precision)};
    for (const RunSegment& segment : run) {
        trained.gpu_s += segment.gpus * segment.productive_s.front();
    }
    const double price = held * problem.cluster.gpu_price.si;
    bound.cost_usd = price * bound.training_s + electricity_usd(problem, held, trained, bound.training_s);
    bound.cost_p99_usd =
        price * bound.training_p99_s + electricity_usd(problem, held, trained, bound.training_p99_s);
    const double held_gpu_s = held * bound.training_s;
    bound.energy_j = energy(problem, held_gpu_s, trained);
    bound.carbon_kg = problem.power.carbon.si * bound.energy_j;
}

}  // namespace

std::variant<NoiseFree, Infeasible> Predictor::bound_of_run(const ParallelPlan& plan,
                                                            std::span<const LeastStep> steps,
                                                            double work_j) const
{
    const LeastProductiveTime productive = least_productive_time(problem_, plan, steps);
    const std::vector<RunSegment> run = run_segments(plan, {productive.mean_s}, productive.shares);
    NoiseFree bound;
    bound.step_s = steps.front().mean_s * (1.0 - single_precision);
    for (const RunSegment& segment : run) {
        if (auto refusal = run_problem(segment.model, productive.mean_s)) {
            return *refusal;
        }
        bound.training_s += least_mean_training_time(segment.productive_s.front(), segment.model);
    }
    if (!(bound.training_s < longest_run_s)) {  // before quantiles, which count its failures
        return Infeasible{Conflict::beyond_longest_run, {{FactKey::most_years, longest_run_years}}};
    }
    bound.training_p95_s = least_training_quantile(run, productive, 0.95);
    bound.training_p99_s = least_training_quantile(run, productive, 0.99);
    for (std::size_t i = 0; i < problem_.promise_factors.size(); ++i) {
        bound.promise_quantiles_s[i] =
            least_training_quantile(run, productive, problem_.promise_quantiles[i]);
        bound.promised_s =
            std::max(bound.promised_s, problem_.promise_factors[i] * bound.promise_quantiles_s[i]);
    }
    if (const int percent = least_bounded_percent(problem_)) {
        bound.training_asked_s = least_training_quantile(run, productive, percent / 100.0);
    }
    bound.gpus = most_gpus(plan);
    bound.deviation = problem_.deviation;
    add_power_and_cost(problem_, run, work_j, bound);
    return bound;
}

std::optional<Infeasible> Predictor::problem_of_run(const CompiledRun& run) const
{
    std::vector<LeastStep> steps;
    for (const CompiledPlan& phase : run.phases) {
        steps.push_back(at_least(noise_free_step(phase.graph).step_s, {}));
    }
    const auto bound = bound_of_run(run.plan, steps, 0.0);
    const auto* why = std::get_if<Infeasible>(&bound);
    return why == nullptr ? std::nullopt : std::optional(*why);
}

template <class OfPhase>
Predictor::LeastSteps Predictor::least_steps(const ParallelPlan& plan, OfPhase&& of_phase)
{
    if (plan.post_validation == PostValidation::on) {  // stages begin before the first one does
        return std::nullopt;
    }
    std::vector<LeastStep> steps;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        const std::optional<LeastStep> least =
            of_phase(compilers_[phase], plan_in_phase(plan, problem_.phases[phase]));
        if (!least) {
            return std::nullopt;
        }
        // No sum of quantiles: several phases count with their means.
        steps.push_back(at_least(least->mean_s, compilers_.size() > 1 ? LeastStep{} : *least));
    }
    return steps;
}

Predictor::LeastSteps Predictor::busiest_stages(const ParallelPlan& plan)
{
    return least_steps(plan, [](PlanCompiler& compiler, const ParallelPlan& here) {
        return of_mean(compiler.least_step(here));
    });
}

Predictor::LeastSteps Predictor::constant_busiest_stages(const ParallelPlan& plan)
{
    return least_steps(plan, [](PlanCompiler& compiler, const ParallelPlan& here) {
        return of_mean(compiler.least_constant_step(here));
    });
}

Predictor::LeastSteps Predictor::slowest_groups(const ParallelPlan& plan)
{
    return least_steps(plan, [](PlanCompiler& compiler, const ParallelPlan& here) {
        return compiler.least_step_of_groups(here, bounded_quantiles);
    });
}

Predictor::LeastSteps Predictor::least_of(std::span<const ParallelPlan> plans,
                                          LeastSteps (Predictor::*of_plan)(const ParallelPlan&))
{
    LeastSteps least;
    for (const ParallelPlan& plan : plans) {
        const LeastSteps own = (this->*of_plan)(plan);
        if (!own) {
            return std::nullopt;
        }
        if (!least) {
            least = own;
        }
        for (std::size_t phase = 0; phase < own->size(); ++phase) {
            (*least)[phase] = lower((*least)[phase], (*own)[phase]);
        }
    }
    return least;
}

std::optional<NoiseFree> Predictor::sufficient_bound(const ParallelPlan& plan,
                                                     const std::vector<LeastStep>& steps, double memory_bytes,
                                                     double work_j, Cutoff& cutoff) const
{
    std::vector<Cutoff::Sufficient>* known = nullptr;
    if (steps.size() == 1) {
        const Cutoff::Run run(this, plan.gpus(), nodes_used(plan, problem_.cluster),
                              plan.checkpoint_interval.si, plan.spares,
                              tokens_factor(problem_, plan, problem_.phases.front()));
        known = &cutoff.sufficient_[run];
        if (std::any_of(known->begin(), known->end(), [&](const Cutoff::Sufficient& one) {
                return steps.front().mean_s >= one.step_s && memory_bytes >= one.memory_bytes &&
                       work_j >= one.work_j;
            })) {
            return NoiseFree{.step_s = steps.front().mean_s * (1.0 - single_precision),
                             .deviation = problem_.deviation};
        }
    }
    auto bound = bound_of_run(plan, steps, work_j);
    auto* found = std::get_if<NoiseFree>(&bound);
    if (found == nullptr) {
        return std::nullopt;
    }
    found->memory_bytes = memory_bytes;
    if (!cutoff.suffices(*found)) {
        return std::nullopt;
    }
    if (known != nullptr && from_mean(steps.front())) {
        std::erase_if(*known, [&](const Cutoff::Sufficient& one) {
            return one.step_s >= steps.front().mean_s && one.memory_bytes >= memory_bytes &&
                   one.work_j >= work_j;
        });
        if (known->size() == Cutoff::most_sufficient) {
            known->erase(known->begin());
        }
        known->push_back({steps.front().mean_s, memory_bytes, work_j});
    }
    return *found;
}

bool Predictor::excludes(const SubSpace& sub_space, Cutoff& cutoff)
{
    const auto suffice = [&](const LeastSteps& steps) {
        return steps &&
               std::all_of(sub_space.runs.begin(), sub_space.runs.end(), [&](const ParallelPlan& plan) {
                   return sufficient_bound(plan, *steps, sub_space.memory_bytes, least_work_of(plan), cutoff)
                       .has_value();
               });
    };
    if (sub_space.least_work) {
        return suffice(least_of(sub_space.steps, &Predictor::constant_busiest_stages));
    }
    return suffice(least_of(sub_space.steps, &Predictor::busiest_stages)) ||
           suffice(least_of(sub_space.steps, &Predictor::slowest_groups));
}

double Predictor::least_memory(std::span<const ParallelPlan> plans)
{
    double least = std::numeric_limits<double>::infinity();
    for (const ParallelPlan& plan : plans) {
        double of_plan = 0.0;
        for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
            const auto of_phase = compilers_[phase].least_memory(plan_in_phase(plan, problem_.phases[phase]));
            of_plan = std::max(of_plan, of_phase.value_or(0.0));
        }
        least = std::min(least, of_plan);
    }
    constexpr double rounding = 1e-12;  // sums in another order
    return plans.empty() ? 0.0 : least * (1.0 - rounding);
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan)
{
    return bound(plan, slowest_groups(plan).value_or(std::vector<LeastStep>(compilers_.size())), nullptr);
}

std::optional<Infeasible> Predictor::infeasibility(const ParallelPlan& plan)
{
    const auto compiled = compile(plan, CompileFor::bounds);
    if (const auto* why = std::get_if<Infeasible>(&compiled)) {
        return *why;
    }
    // Runs of longer steps end less often, and no bound exceeds the noise-free step by more than the factor
    // of the slowest group that can be; twice that, for rounding and for groups whose mean is below one.
    std::vector<LeastStep> long_steps;
    const std::vector<CompiledPlan>& phases = std::get<CompiledRun>(compiled).phases;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        const ExecutionGraph& graph = phases[phase].graph;
        const double slowest = compilers_[phase].group_of(graph.placement.tp, graph.segment_cv).largest();
        long_steps.push_back(at_least(2.0 * slowest * noise_free_step(graph).step_s, {}));
    }
    if (std::holds_alternative<NoiseFree>(bound_of_run(plan, long_steps, 0.0))) {
        return std::nullopt;
    }
    const auto bounded = bound(plan);  // a run that hardly ends
    const auto* why = std::get_if<Infeasible>(&bounded);
    return why == nullptr ? std::nullopt : std::optional(*why);
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan, Cutoff& cutoff)
{
    EarlyBounds& early = early_bounds(plan);
    const auto least_bytes = [&] {
        if (!early.memory_bytes) {
            early.memory_bytes = least_memory(std::span(&plan, 1));
        }
        return *early.memory_bytes;
    };
    std::vector<LeastStep> known(compilers_.size());
    if (early.busiest) {
        const double memory_bytes = cutoff.by_memory_ ? least_bytes() : 0.0;
        const double work_j = work_of(plan);
        if (const auto first = sufficient_bound(plan, *early.busiest, memory_bytes, work_j, cutoff)) {
            return *first;
        }
        if (!early.groups) {
            early.groups = slowest_groups(plan);
        }
        if (*early.groups) {
            known = **early.groups;
            if (const auto second = sufficient_bound(plan, known, memory_bytes, work_j, cutoff)) {
                return *second;
            }
        }
    }
    if (compilers_.size() == 1 && std::isfinite(cutoff.closest_miss_bytes_)) {
        const double miss_bytes = least_bytes() - capacity_bytes();
        if (miss_bytes >= std::max(0.0, cutoff.closest_miss_bytes_)) {
            return Infeasible{.conflict = Conflict::stage_over_memory, .miss = miss_bytes};
        }
    }
    return bound(plan, std::move(known), &cutoff);
}

Predictor::EarlyBounds& Predictor::early_bounds(const ParallelPlan& plan)
{
    ParallelPlan without_run = plan;
    without_run.checkpoint_interval = {};
    without_run.spares = as_configured;
    if (!early_bounds_ || without_run != early_bounds_->plan) {
        early_bounds_ = EarlyBounds{without_run, busiest_stages(plan), {}, {}};
    }
    return *early_bounds_;
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan, std::vector<LeastStep> known,
                                                     Cutoff* cutoff)
{
    std::vector<ExecutionGraph> graphs;
    double memory_bytes = 0.0;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled =
            compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]), CompileFor::bounds);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            refusal->phase = static_cast<int>(phase) + 1;
            return *refusal;
        }
        auto& result = std::get<CompiledPlan>(compiled);
        memory_bytes = std::max(memory_bytes, result.memory.total().si);
        graphs.push_back(std::move(result.graph));
    }
    std::vector<double> noise_free_s;
    std::transform(graphs.begin(), graphs.end(), std::back_inserter(noise_free_s),
                   [](const ExecutionGraph& graph) { return noise_free_step(graph).step_s; });
    const double work_j = work_of(plan);
    std::vector<LeastStep> from_groups = std::move(known);
    const auto of_run = [&] {
        std::vector<LeastStep> steps;
        for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
            steps.push_back(at_least(noise_free_s[phase], from_groups[phase]));
        }
        auto bound = bound_of_run(plan, steps, work_j);
        if (auto* found = std::get_if<NoiseFree>(&bound)) {
            found->memory_bytes = memory_bytes;
            found->compiled = true;
        }
        return bound;
    };
    const auto enough = [cutoff](const std::variant<NoiseFree, Infeasible>& bound) {
        const auto* found = std::get_if<NoiseFree>(&bound);
        return cutoff != nullptr && (found == nullptr || cutoff->suffices(*found));
    };
    const auto group_of = [&](std::size_t phase) -> const GroupFactor& {
        return compilers_[phase].group_of(graphs[phase].placement.tp, graphs[phase].segment_cv);
    };
    const auto add_groups = [&](std::size_t phase, const std::vector<StagePath>& paths) {
        const LeastStep found =
            slowest_group_bounds(graphs[phase], group_of(phase), paths, bounded_quantiles);
        LeastStep& least = from_groups[phase];
        least.mean_s = std::max(least.mean_s, found.mean_s);
        least.quantiles_s.resize(
            graphs.size() > 1
                ? 0
                : found.quantiles_s.size());  // no sum of quantiles: phases count with their means
        std::transform(least.quantiles_s.begin(), least.quantiles_s.end(), found.quantiles_s.begin(),
                       least.quantiles_s.begin(), [](double a, double b) { return std::max(a, b); });
    };
    if (cutoff != nullptr) {
        auto without_groups = of_run();
        if (enough(without_groups)) {
            return without_groups;
        }
    }
    for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
        const ProgramPaths& of_program = *paths_of(graphs[phase].program->shape);
        add_groups(phase, stage_paths(graphs[phase], of_program.paths));
    }
    auto bound = of_run();
    if (cutoff != nullptr && cutoff->tightest_ && !enough(bound)) {
        for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
            add_groups(phase, own_stage_paths(graphs[phase]));
        }
        bound = of_run();
    }
    return bound;
}

}  // namespace prismopt
