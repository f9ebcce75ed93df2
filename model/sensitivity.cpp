#include "model/sensitivity.hpp"

#include "model/base/jackknife.hpp"
#include "model/plan/phase.hpp"
#include "model/predictor.hpp"
#include "model/productive_times.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/training_quantile_errors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace prismopt {

namespace {

constexpr std::array step_probabilities{0.50, 0.95, 0.99};
constexpr std::array run_probabilities{0.99};

template <class... Visitors>
struct Cases : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Cases(Visitors...) -> Cases<Visitors...>;

/// The problem with all changes made, or why its hardware cannot be built.
std::variant<Problem, Infeasible> changed(const Problem& problem, const WhatIf& what_if)
{
    Problem result = problem;
    std::vector<HardwareParameter> hardware_parameters;
    std::vector<double> values;
    for (const PlanChange& change : what_if) {
        std::visit(Cases{[&](const Without& c) { result.noise = without(std::move(result.noise), c.source); },
                         [&](const Faster& c) { result.cluster.speed.multiply(c.kernels, c.speed); },
                         [&](const Turned& c) {
                             hardware_parameters.push_back(c.parameter);
                             values.push_back(c.value);
                         }},
                   change);
    }
    auto hardware = turned({result.cluster, result.reliability}, result.power, hardware_parameters, values);
    if (auto* why = std::get_if<Infeasible>(&hardware)) {
        return std::move(*why);
    }
    auto& built = std::get<Hardware>(hardware);
    result.cluster = std::move(built.cluster);
    result.reliability = std::move(built.reliability);
    return result;
}

/// Names of the sources that the sampler's own tables lose: what-ifs with equal ones are drawn together.
std::string drawn_without(const WhatIf& what_if)
{
    std::vector<std::string> names;
    for (const PlanChange& change : what_if) {
        const auto* removed = std::get_if<Without>(&change);
        if (removed != nullptr && !is_of_graph(removed->source)) {
            names.push_back(removed->source.name + ";");
        }
    }
    std::sort(names.begin(), names.end());
    std::string key;
    for (const std::string& name : names) {
        key += name;
    }
    return key;
}

/// Draws of one plan in several problems whose sampled tables are equal.
void sample(const std::vector<const Problem*>& problems, const ParallelPlan& plan, const DrawRange& range,
            const SamplerOptions& options, const Pause& pause, const std::vector<PhaseDraws*>& draws)
{
    for (std::size_t phase = 0; phase < problems.front()->phases.size(); ++phase) {
        const ParallelPlan here = plan_in_phase(plan, problems.front()->phases[phase]);
        std::vector<ExecutionGraph> graphs;
        for (const Problem* p : problems) {
            PlanCompiler compiler(setting_of(*p, p->phases[phase]));
            auto compiled = compiler.compile(here);
            graphs.push_back(std::get<CompiledPlan>(std::move(compiled)).graph);
        }
        std::vector<const ExecutionGraph*> pointers;
        for (const ExecutionGraph& graph : graphs) {
            pointers.push_back(&graph);
        }
        for (PhaseDraws* of_problem : draws) {
            of_problem->emplace_back();
        }
        for (const DrawRange& sub_range : split_range(range, pointers.size())) {
            pause();
            const auto seconds = sample_steps(pointers, problems.front()->noise, sub_range, options);
            for (std::size_t i = 0; i < problems.size(); ++i) {
                std::vector<double>& of_phase = draws[i]->back();
                of_phase.insert(of_phase.end(), seconds[i].begin(), seconds[i].end());
            }
        }
    }
}

/// Second moment over squared mean, of the distribution between its nodes.
double relative_second_moment(std::span<const DistributionNode> distribution)
{
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 1; i < distribution.size(); ++i) {
        const double mass = distribution[i].below - distribution[i - 1].below;
        const double a = distribution[i - 1].value;
        const double b = distribution[i].value;
        first += mass * 0.5 * (a + b);
        second += mass * (a * a + a * b + b * b) / 3.0;
    }
    return distribution.empty() ? 1.0 : second / (first * first);
}

double relative_second_moment(std::span<const double> draws)
{
    double first = 0.0;
    for (const double x : draws) {
        first += x / static_cast<double>(draws.size());
    }
    double squares = 0.0;
    for (const double x : draws) {
        squares += (x - first) * (x - first) / static_cast<double>(draws.size());
    }
    return 1.0 + squares / (first * first);
}

double& at(Figures& figures, Figure figure) { return figures[static_cast<std::size_t>(figure)]; }

/// Quantiles of draws: as predictions have them, or smooth.
using QuantilesOf = std::function<std::vector<double>(std::span<const double> draws)>;

QuantilesOf as_predicted(std::span<const DistributionNode> factor, std::span<const double> probabilities)
{
    return [=](std::span<const double> draws) { return quantiles(draws, factor, probabilities); };
}

/// Of draws as many as the weights are for. A factor that is integrated smooths by itself.
QuantilesOf smooth(std::span<const DistributionNode> factor, const SmoothQuantiles& weights,
                   std::span<const double> probabilities)
{
    if (!factor.empty()) {
        return as_predicted(factor, probabilities);
    }
    return [&weights](std::span<const double> draws) {
        std::vector<double> sorted(draws.begin(), draws.end());
        std::sort(sorted.begin(), sorted.end());
        return weights(sorted);
    };
}

void set_step(std::span<const double> draws, std::span<const DistributionNode> factor,
              const QuantilesOf& quantiles_of, Figures& figures)
{
    const std::vector<double> q = quantiles_of(draws);
    at(figures, Figure::p50) = q[0];
    at(figures, Figure::p95) = q[1];
    at(figures, Figure::p99) = q[2];
    at(figures, Figure::spread) = q[2] / q[0];
    // Of a product of independent factors second moments multiply.
    at(figures, Figure::cv) =
        std::sqrt(std::max(0.0, relative_second_moment(draws) * relative_second_moment(factor) - 1.0));
}

void set_run(std::span<const double> seconds, double dollars_per_second, const QuantilesOf& quantiles_of,
             Figures& figures)
{
    at(figures, Figure::training_p99) = quantiles_of(seconds).front();
    at(figures, Figure::cost) = dollars_per_second * at(figures, Figure::training_p99);
}

/// Cuts and weights: the same for all what-ifs.
struct Cut {
    Sections sections;
    SmoothQuantiles all;
    SmoothQuantiles others;  // of all draws but a section's

    Cut(std::size_t draws, const Clusters& clusters, std::span<const double> probabilities)
        : sections(sections_of(draws, clusters)), all(draws, probabilities),
          others(draws - sections.size, probabilities)
    {
    }
};

struct Cuts {
    Cut steps;
    Cut fleets;

    explicit Cuts(const DrawRange& range)
        : steps(static_cast<std::size_t>(range.fleets) * static_cast<std::size_t>(range.steps),
                {static_cast<std::size_t>(range.steps), block_fleets * static_cast<std::size_t>(range.steps)},
                step_probabilities),
          fleets(static_cast<std::size_t>(range.fleets), {1, block_fleets}, run_probabilities)
    {
    }
};

Consequence consequence_of(const Problem& problem, const ParallelPlan& plan, const NoiseFree& bound,
                           const PhaseDraws& draws, const DrawRange& range, const Cuts& cuts,
                           const SamplerOptions& options)
{
    const std::span<const double> step = draws.front();
    const std::vector<DistributionNode> factor = common_step_distribution(problem.noise);
    const double price = bound.cost_usd / bound.training_s;  // GPUs and spares
    const std::vector<double> productive = productive_times(problem.phases, draws, range.steps).seconds;
    const std::vector<double> training = Predictor(problem).training_times(plan, draws, range.steps, options);

    const DrawnRun run{problem.phases, draws, range.steps, productive, training};

    Consequence consequence;
    set_step(step, factor, as_predicted(factor, step_probabilities), consequence.predicted);
    set_run(training, price, as_predicted({}, run_probabilities), consequence.predicted);
    set_step(step, factor, smooth(factor, cuts.steps.all, step_probabilities), consequence.all);
    set_run(training, price, smooth({}, cuts.fleets.all, run_probabilities), consequence.all);

    const std::size_t sections = std::min(cuts.steps.sections.count, cuts.fleets.sections.count);
    for (std::size_t s = 0; s < sections; ++s) {
        Figures& figures = consequence.pseudo_values.emplace_back();
        set_step(without_section(step, cuts.steps.sections, s), factor,
                 smooth(factor, cuts.steps.others, step_probabilities), figures);
        set_run(training_without_section(run, cuts.fleets.sections, s), price,
                smooth({}, cuts.fleets.others, run_probabilities), figures);
        for (std::size_t f = 0; f < figure_count; ++f) {
            figures[f] = pseudo_value(consequence.all[f], figures[f], step.size(), cuts.steps.sections);
        }
    }
    return consequence;
}

}  // namespace

Estimate combined(std::initializer_list<Term> terms, Figure figure, const Confidence& confidence)
{
    const auto index = static_cast<std::size_t>(figure);
    double value = 0.0;
    std::vector<double> pseudo_values(terms.begin()->consequence->pseudo_values.size(), 0.0);
    for (const Term& term : terms) {
        value += term.weight * term.consequence->all[index];
        for (std::size_t s = 0; s < pseudo_values.size(); ++s) {
            pseudo_values[s] += term.weight * term.consequence->pseudo_values[s][index];
        }
    }
    return jackknife_estimate(value, pseudo_values, confidence);
}

std::vector<KernelClass> kernel_classes_of(const Problem& problem, const ParallelPlan& plan)
{
    constexpr double slow = 0x1p-30;              // so that nothing hides them
    const auto steps_s = [&](const Problem& p) {  // noise-free, one of each phase
        double sum = 0.0;
        for (const Phase& phase : p.phases) {
            PlanCompiler compiler(setting_of(p, phase));
            const auto compiled = compiler.compile(plan_in_phase(plan, phase), CompileFor::noise_free_step);
            sum += noise_free_step(std::get<CompiledPlan>(compiled).graph).step_s;
        }
        return sum;
    };
    const double usual_s = steps_s(problem);
    std::vector<KernelClass> found;
    for (const KernelClassRow& row : kernel_class_rows) {
        Problem slowed = problem;
        slowed.cluster.speed.multiply(row.kernel, slow);
        for (const KernelClassRow& inner : kernel_class_rows) {
            if (inner.within == row.kernel && inner.kernel != row.kernel) {
                slowed.cluster.speed.multiply(inner.kernel, 1.0 / slow);
            }
        }
        if (steps_s(slowed) > usual_s) {
            found.push_back(row.kernel);
        }
    }
    return found;
}

std::vector<Consequence> consequences(const Problem& problem, const ParallelPlan& plan,
                                      const std::vector<WhatIf>& what_ifs, const DrawRange& range,
                                      const SamplerOptions& options, const Pause& pause)
{
    std::vector<Consequence> result(what_ifs.size());
    std::vector<std::optional<Problem>> problems;
    std::vector<NoiseFree> bounds(what_ifs.size());
    std::map<std::string, std::vector<std::size_t>> together;
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        pause();
        auto with_changes = changed(problem, what_ifs[i]);
        if (auto* why = std::get_if<Infeasible>(&with_changes)) {
            result[i].infeasible = std::move(*why);
            problems.emplace_back();
            continue;
        }
        problems.emplace_back(std::get<Problem>(std::move(with_changes)));
        auto bound = Predictor(*problems[i]).bound(plan);
        if (auto* refusal = std::get_if<Infeasible>(&bound)) {
            result[i].infeasible = std::move(*refusal);
            continue;
        }
        bounds[i] = std::get<NoiseFree>(bound);
        together[drawn_without(what_ifs[i])].push_back(i);
    }
    std::vector<PhaseDraws> draws(what_ifs.size());
    for (const auto& [key, members] : together) {
        std::vector<const Problem*> of_members;
        std::vector<PhaseDraws*> drawn;
        for (const std::size_t i : members) {
            of_members.push_back(&*problems[i]);
            drawn.push_back(&draws[i]);
        }
        sample(of_members, plan, range, options, pause, drawn);
    }
    const Cuts cuts(range);
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        if (!result[i].infeasible) {
            pause();
            result[i] = consequence_of(*problems[i], plan, bounds[i], draws[i], range, cuts, options);
        }
    }
    return result;
}

}  // namespace prismopt
