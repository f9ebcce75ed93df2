#include "model/predictor.hpp"

#include "model/base/statistics.hpp"
#include "model/network/network.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "model/productive_times.hpp"
#include "model/run_outlook.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/graph/slowest_group.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// What the sampler's single precision may lose over a step of a million ops; a bound must stay below it.
constexpr double single_precision = 1e-5;

/// Tokens that a phase needs over those of synchronous training.
double tokens_factor(const Problem& problem, const ParallelPlan& plan, const Phase& phase)
{
    if (plan.local_steps == 1) {
        return 1.0;
    }
    return problem.local.tokens_factor(plan.local_steps, buildings_of(plan_in_phase(plan, phase), problem.cluster));
}

constexpr double longest_run_s = 1e3 * 365.0 * 86400.0;

/// A time is not negative, whatever its error: a lower limit is at least zero, and zero where the draws support none.
Estimate of_time(Estimate e)
{
    e.low = std::max(0.0, e.low);
    e.simultaneous_low = std::max(0.0, e.simultaneous_low);
    return e;
}

/// `factor`: equally probable values of what scales all of a draw and was not drawn; empty: nothing does.
TimeDistribution distribution(const std::vector<double>& draws, const Clusters& clusters,
                              std::span<const DistributionNode> factor, const Confidence& confidence)
{
    const auto quantile = [&](double p) {
        return of_time(factor.empty() ? quantile_estimate(draws, clusters, p, confidence)
                                      : scaled_quantile_estimate(draws, clusters, factor, p, confidence));
    };
    TimeDistribution d;
    d.mean = of_time(mean_estimate(draws, clusters, confidence));  // the factor's mean is one
    d.p50 = quantile(0.50);
    d.p95 = quantile(0.95);
    d.p99 = quantile(0.99);
    for (const double p : reported_probabilities) {
        d.quantiles.push_back(quantile(p).value);
    }
    return d;
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

/// The smaller of both bounds.
LeastStep lower(const LeastStep& a, const LeastStep& b)
{
    LeastStep step{std::min(a.mean_s, b.mean_s), a.quantiles_s};
    std::transform(b.quantiles_s.begin(), b.quantiles_s.end(), step.quantiles_s.begin(), step.quantiles_s.begin(),
                   [](double x, double y) { return std::min(x, y); });
    return step;
}

/// Whether quantiles are those of a step that does not vary.
bool from_mean(const LeastStep& step)
{
    return std::all_of(step.quantiles_s.begin(), step.quantiles_s.end(),
                       [&](double quantile_s) { return quantile_s == step.mean_s; });
}

/// Limits of a training-time estimate, wider by an independent error of this standard deviation.
Estimate widened(const Estimate& e, double deviation, const Confidence& confidence)
{
    const auto limit = [&](double value, double level) {
        const double error = deviation * normal_quantile(0.5 * (1.0 - level), true);
        return std::hypot(value - e.value, error);
    };
    return of_time({e.value, e.value - limit(e.low, confidence.reported), e.value + limit(e.high, confidence.reported),
                    e.value - limit(e.simultaneous_low, confidence.simultaneous),
                    e.value + limit(e.simultaneous_high, confidence.simultaneous)});
}

}  // namespace

std::vector<Phase> phases_of_plan(const Problem& problem, const ParallelPlan& plan)
{
    std::vector<Phase> phases = problem.phases;
    for (Phase& phase : phases) {
        phase = longer(phase, tokens_factor(problem, plan, phase));
    }
    return phases;
}

std::vector<DistributionNode> common_step_distribution(const NoiseTables& noise)
{
    std::vector<DistributionNode> distribution;
    const std::vector<TailProbability> nodes = NoiseTables::step_node_probabilities();
    for (std::size_t i = 0; noise.step_varies && i < nodes.size(); ++i) {
        distribution.push_back({nodes[i].below(), noise.common_step[i]});
    }
    if (!distribution.empty()) {
        distribution.front().below = 0.0;
        distribution.back().below = 1.0;
    }
    return distribution;
}

Predictor::Predictor(const Problem& problem) : problem_(problem), failure_tables_(problem.noise.exponential)
{
    for (const Phase& phase : problem.phases) {
        compilers_.emplace_back(
            Setting{problem.workload, phase, problem.cluster, problem.noise, problem.memory_headroom, problem.orders});
    }
}

FailureModel Predictor::failures(const ParallelPlan& plan) const
{
    return failure_model(problem_.reliability,
                         {nodes_used(plan, problem_.cluster), plan.gpus(), plan.checkpoint_interval, plan.spares});
}

std::vector<RunSegment> Predictor::parts(const ParallelPlan& plan, const std::vector<double>& productive_s,
                                         const std::vector<double>& share) const
{
    std::vector<RunSegment> parts;
    std::vector<double> shares;
    for (std::size_t phase = 0; phase < share.size(); ++phase) {
        const ParallelPlan here = plan_in_phase(plan, problem_.phases[phase]);
        if (parts.empty() || parts.back().gpus != here.gpus()) {
            parts.push_back({failures(here), here.gpus(), {}});
            shares.push_back(0.0);
        }
        shares.back() += share[phase];
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].productive_s = productive_s;
        for (double& seconds : parts[i].productive_s) {
            seconds *= parts.size() > 1 ? shares[i] : 1.0;
        }
    }
    return parts;
}

int Predictor::most_gpus(const ParallelPlan& plan) const
{
    int most = 0;
    for (const Phase& phase : problem_.phases) {
        most = std::max(most, plan_in_phase(plan, phase).gpus());
    }
    return most;
}

const ProgramPaths* Predictor::paths_of(const ScheduleShape& shape)
{
    constexpr std::size_t most_counts = 4U << 20;  // of 12 bytes
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

std::variant<NoiseFree, Infeasible> Predictor::bound_of_run(const ParallelPlan& plan, std::span<const LeastStep> steps) const
{
    NoiseFree bound;
    double productive_s = 0.0;
    double productive_p95_s = 0.0;
    double productive_p99_s = 0.0;
    std::vector<double> phase_s;
    bound.step_s = steps.front().mean_s * (1.0 - single_precision);
    for (std::size_t phase = 0; phase < steps.size(); ++phase) {
        const Phase& own = problem_.phases[phase];
        const double count = own.steps() * tokens_factor(problem_, plan, own) * (1.0 - single_precision);
        phase_s.push_back(count * steps[phase].mean_s);
        productive_s += phase_s.back();
        productive_p95_s += count * steps[phase].quantiles_s[0];
        productive_p99_s += count * steps[phase].quantiles_s[1];
    }
    for (double& share : phase_s) {
        share /= productive_s;
    }
    const std::vector<RunSegment> run = parts(plan, {productive_s}, phase_s);
    for (const RunSegment& part : run) {
        if (auto refusal = run_problem(part.model, productive_s)) {
            return *refusal;
        }
        const double own_s = part.productive_s.front();
        bound.training_s += least_mean_training_time(own_s, part.model);
        bound.training_p95_s += least_training_time_quantile(own_s * (productive_p95_s / productive_s), part.model, 0.95);
        bound.training_p99_s += least_training_time_quantile(own_s * (productive_p99_s / productive_s), part.model, 0.99);
    }
    bound.gpus = most_gpus(plan);
    bound.deviation = problem_.deviation;
    if (!(bound.training_s < longest_run_s)) {
        return Infeasible{Reason::never_ends, "the mean training time exceeds 1000 years; check rates and bandwidths", 0.0};
    }
    const double held = bound.gpus + spare_gpus(run.front().model, problem_.cluster);
    bound.cost_usd = held * problem_.cluster.gpu_price.si * bound.training_s;
    bound.cost_p99_usd = held * problem_.cluster.gpu_price.si * bound.training_p99_s;
    double trained_gpu_s = 0.0;
    for (const RunSegment& part : run) {
        trained_gpu_s += part.gpus * part.productive_s.front();
    }
    const double held_gpu_s = held * bound.training_s;
    bound.energy_j = energy(problem_, held_gpu_s, std::max(0.0, held_gpu_s - trained_gpu_s));
    bound.carbon_kg = problem_.power.carbon.si * bound.energy_j;
    return bound;
}

template <class OfPhase>
Predictor::LeastSteps Predictor::least_steps(const ParallelPlan& plan, OfPhase&& of_phase)
{
    if (plan.post_validation == PostValidation::on) {  // stages begin before the first one does
        return std::nullopt;
    }
    std::vector<LeastStep> steps;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        const auto least = of_phase(compilers_[phase], plan_in_phase(plan, problem_.phases[phase]));
        if (!least) {
            return std::nullopt;
        }
        if constexpr (std::is_same_v<decltype(*least), const double&>) {
            steps.push_back(at_least(*least, {}));
        } else {
            // No sum of quantiles: several phases count with their means.
            steps.push_back(at_least(least->mean_s, compilers_.size() > 1 ? LeastStep{} : *least));
        }
    }
    return steps;
}

Predictor::LeastSteps Predictor::busiest_stages(const ParallelPlan& plan)
{
    return least_steps(plan, [](PlanCompiler& compiler, const ParallelPlan& here) { return compiler.least_step(here); });
}

Predictor::LeastSteps Predictor::constant_busiest_stages(const ParallelPlan& plan)
{
    return least_steps(plan, [](PlanCompiler& compiler, const ParallelPlan& here) { return compiler.least_constant_step(here); });
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

std::optional<NoiseFree> Predictor::sufficient_bound(const ParallelPlan& plan, const std::vector<LeastStep>& steps,
                                                     double memory_bytes, Cutoff& cutoff) const
{
    std::vector<Cutoff::Sufficient>* known = nullptr;
    if (steps.size() == 1) {
        const Cutoff::Run run(this, plan.gpus(), nodes_used(plan, problem_.cluster), plan.checkpoint_interval.si, plan.spares,
                              tokens_factor(problem_, plan, problem_.phases.front()));
        known = &cutoff.sufficient_[run];
        if (std::any_of(known->begin(), known->end(), [&](const Cutoff::Sufficient& one) {
                return steps.front().mean_s >= one.step_s && memory_bytes >= one.memory_bytes;
            })) {
            return NoiseFree{.step_s = steps.front().mean_s * (1.0 - single_precision), .deviation = problem_.deviation};
        }
    }
    auto bound = bound_of_run(plan, steps);
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
            return one.step_s >= steps.front().mean_s && one.memory_bytes >= memory_bytes;
        });
        if (known->size() == Cutoff::most_sufficient) {
            known->erase(known->begin());
        }
        known->push_back({steps.front().mean_s, memory_bytes});
    }
    return *found;
}

bool Predictor::excludes(const SubSpace& sub_space, Cutoff& cutoff)
{
    const auto suffice = [&](const LeastSteps& steps) {
        return steps && std::all_of(sub_space.runs.begin(), sub_space.runs.end(), [&](const ParallelPlan& plan) {
                   return sufficient_bound(plan, *steps, sub_space.memory_bytes, cutoff).has_value();
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
    return bound(plan, std::vector<LeastStep>(compilers_.size()), nullptr);
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan, Cutoff& cutoff)
{
    EarlyBounds& early = early_bounds(plan);
    std::vector<LeastStep> known(compilers_.size());
    if (early.busiest) {
        if (cutoff.by_memory_ && !early.memory_bytes) {
            early.memory_bytes = least_memory(std::span(&plan, 1));
        }
        const double memory_bytes = cutoff.by_memory_ ? *early.memory_bytes : 0.0;
        if (const auto first = sufficient_bound(plan, *early.busiest, memory_bytes, cutoff)) {
            return *first;
        }
        if (!early.groups) {
            early.groups = slowest_groups(plan);
        }
        if (*early.groups) {
            known = **early.groups;
            if (const auto second = sufficient_bound(plan, known, memory_bytes, cutoff)) {
                return *second;
            }
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

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan, std::vector<LeastStep> known, Cutoff* cutoff)
{
    std::vector<ExecutionGraph> graphs;
    double memory_bytes = 0.0;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]), CompileFor::bounds);
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
    std::vector<LeastStep> from_groups = std::move(known);
    const auto of_run = [&] {
        std::vector<LeastStep> steps;
        for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
            steps.push_back(at_least(noise_free_s[phase], from_groups[phase]));
        }
        auto bound = bound_of_run(plan, steps);
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
    const auto take_groups = [&](std::size_t phase, const std::vector<StagePath>& paths) {
        const LeastStep found = slowest_group_bounds(graphs[phase], group_of(phase), paths, bounded_quantiles);
        LeastStep& known = from_groups[phase];
        known.mean_s = std::max(known.mean_s, found.mean_s);
        known.quantiles_s.resize(
            graphs.size() > 1 ? 0 : found.quantiles_s.size());  // no sum of quantiles: phases count with their means
        std::transform(known.quantiles_s.begin(), known.quantiles_s.end(), found.quantiles_s.begin(), known.quantiles_s.begin(),
                       [](double a, double b) { return std::max(a, b); });
    };
    if (cutoff != nullptr) {
        auto without_groups = of_run();
        if (enough(without_groups)) {
            return without_groups;
        }
    }
    for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
        const ProgramPaths& of_program = *paths_of(graphs[phase].program->shape);
        take_groups(phase, stage_paths(graphs[phase], of_program.paths));
    }
    auto bound = of_run();
    if (cutoff != nullptr && !enough(bound)) {
        for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
            take_groups(phase, own_stage_paths(graphs[phase]));
        }
        bound = of_run();
    }
    return bound;
}

std::vector<PhaseDraws> Predictor::sample(std::span<const ParallelPlan> plans, const DrawRange& range,
                                          const SamplerOptions& options)
{
    std::vector<PhaseDraws> draws(plans.size());
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        std::vector<CompiledPlan> compiled;
        for (const ParallelPlan& plan : plans) {
            auto result = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]));
            if (auto* refusal = std::get_if<Infeasible>(&result)) {
                throw std::logic_error("cannot sample an infeasible plan: " + refusal->detail);
            }
            compiled.push_back(std::get<CompiledPlan>(std::move(result)));
        }
        std::vector<const ExecutionGraph*> graphs;
        graphs.reserve(compiled.size());
        for (const CompiledPlan& plan : compiled) {
            graphs.push_back(&plan.graph);
        }
        auto seconds = sample_steps(graphs, problem_.noise, range, options);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            draws[i].push_back(std::move(seconds[i]));
        }
    }
    return draws;
}

PhaseDraws Predictor::sample(const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& options)
{
    return std::move(sample(std::span(&plan, 1), range, options).front());
}

std::vector<double> Predictor::training_times(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                              const SamplerOptions& options)
{
    const std::vector<Phase> phases = phases_of_plan(problem_, plan);
    ProductiveTimes productive = productive_times(phases, draws, steps);
    drift(productive, problem_, options);
    const std::vector<RunSegment> run = parts(plan, productive.seconds, phase_shares(phases, draws));
    return sample_histories(run, all_causes(problem_.reliability).size(), failure_tables_, options.seed, options.purpose).seconds;
}

double Predictor::tflops_per_gpu(const Phase& phase, const ParallelPlan& here, double mean_step_s) const
{
    const double flops = model_flops_per_sequence(network_of(problem_.workload), phase.sequence) * phase.global_batch;
    return flops / mean_step_s / here.gpus() / 1e12;
}

TimeDistribution Predictor::step_distribution(const std::vector<double>& draws, int steps, const Confidence& confidence) const
{
    const auto fleet = static_cast<std::size_t>(steps);
    return distribution(draws, {fleet, block_fleets * fleet}, common_step_distribution(problem_.noise), confidence);
}

std::vector<PhasePrediction> Predictor::phases(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                               const Confidence& confidence)
{
    std::vector<PhasePrediction> result;
    const std::vector<Phase> all = phases_of_plan(problem_, plan);
    for (std::size_t i = 0; i < compilers_.size(); ++i) {
        const Phase& phase = all[i];
        PhasePrediction& here = result.emplace_back();
        here.plan = plan_in_phase(plan, phase);
        here.sequence = phase.sequence;
        here.steps = phase.steps();
        here.step = step_distribution(draws[i], steps, confidence);
        here.productive_s = here.steps * here.step.mean.value;
        here.tflops_per_gpu = tflops_per_gpu(phase, here.plan, here.step.mean.value);
        here.memory = std::get<CompiledPlan>(compilers_[i].compile(here.plan, CompileFor::noise_free_step)).memory;
    }
    return result;
}

Prediction Predictor::summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps, const SamplerOptions& options,
                                const Confidence& confidence)
{
    Prediction result;
    result.gpus = most_gpus(plan);
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]), CompileFor::noise_free_step);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            refusal->phase = static_cast<int>(phase) + 1;
            result.infeasible = *refusal;
            return result;
        }
        const auto& plan_of_phase = std::get<CompiledPlan>(compiled);
        if (phase == 0) {
            const NoiseFreeStep noise_free = noise_free_step(plan_of_phase.graph);
            result.noise_free_step_s = noise_free.step_s;
            result.shares = noise_free.shares;
        }
        if (phase == 0 || plan_of_phase.memory.total() > result.memory.total()) {
            result.memory = plan_of_phase.memory;
        }
    }
    result.memory_headroom = 1.0 - result.memory.total() / problem_.cluster.accelerator.memory;
    result.draws = draws.front().size();
    result.step = step_distribution(draws.front(), steps, confidence);

    const std::vector<Phase> phases = phases_of_plan(problem_, plan);
    ProductiveTimes productive = productive_times(phases, draws, steps);
    drift(productive, problem_, options);
    const std::vector<RunSegment> run = parts(plan, productive.seconds, phase_shares(phases, draws));
    const Histories histories =
        sample_histories(run, all_causes(problem_.reliability).size(), failure_tables_, options.seed, options.purpose);
    const std::vector<double>& training = histories.seconds;
    result.training = distribution(training, {1, block_fleets}, {}, confidence);  // a run's many steps average their factors
    // The limits above take the times as given; their mean, and what was done about noise, have errors of their own.
    const double stretch = result.training.mean.value / productive.mean;
    const auto widen = [&](Estimate& e, double deviation) {
        e = widened(e, stretch * std::sqrt(productive.mean_variance + deviation * deviation), confidence);
    };
    widen(result.training.mean, 0.0);
    widen(result.training.p50, productive.deviation_at(0.5));
    widen(result.training.p95, productive.deviation_at(0.95));
    widen(result.training.p99, productive.deviation_at(0.99));

    const Phase& first = problem_.phases.front();
    result.tflops_per_gpu = tflops_per_gpu(first, plan, result.step.mean.value);
    result.mfu = result.tflops_per_gpu * 1e12 / problem_.cluster.accelerator.peak_bf16.si;
    result.tokens_per_second = static_cast<double>(first.sequence) * first.global_batch / result.step.mean.value;
    result.ettr = productive.mean / result.training.mean.value;
    result.run = outlook(problem_, run, histories, result, confidence);
    constexpr double hour_s = (1_h).si;
    result.deviation = problem_.deviation;
    result.tokens = tokens_of(phases);
    result.steps = steps_of(phases);
    result.gpu_price_usd_per_h = problem_.cluster.gpu_price.si * hour_s;
    const double price = (result.gpus + result.run.spare_gpus) * problem_.cluster.gpu_price.si;
    result.cost_usd = price * result.training.p99;
    result.expected_cost_usd = price * result.training.mean;
    return result;
}

}  // namespace prismopt
