#include "model/sensitivity.hpp"

#include "model/phase.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace prismopt {

namespace {

constexpr double deepest = 0.99;  // of the quantiles among figures
constexpr double least_beyond_interaction = 40.0;

template <class... Parts>
struct Cases : Parts... {
    using Parts::operator()...;
};
template <class... Parts>
Cases(Parts...) -> Cases<Parts...>;

/// The problem with all changes made, or nothing where the tiers of the hardware would not nest.
std::optional<Problem> changed(const Problem& problem, const WhatIf& what_if)
{
    Problem result = problem;
    std::vector<Knob> knobs;
    std::vector<double> values;
    for (const Change& change : what_if) {
        std::visit(Cases{[&](const Without& c) { result.noise = without(std::move(result.noise), c.source); },
                         [&](const Faster& c) { result.cluster.speed.factor[static_cast<std::size_t>(c.kernels)] *= c.speed; },
                         [&](const Turned& c) {
                             knobs.push_back(c.knob);
                             values.push_back(c.value);
                         }},
                   change);
    }
    auto hardware = turned({result.cluster, result.reliability}, knobs, values);
    if (!hardware) {
        return std::nullopt;
    }
    result.cluster = std::move(hardware->cluster);
    result.reliability = std::move(hardware->reliability);
    return result;
}

/// Names of the sources that the sampler's own tables lose: what-ifs with equal ones are drawn together.
std::string drawn_without(const WhatIf& what_if)
{
    std::vector<std::string> names;
    for (const Change& change : what_if) {
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

/// Draws of one plan in several problems whose sampled tables are alike.
void sample(const std::vector<const Problem*>& problems, const ParallelPlan& plan, const DrawRange& range,
            const SamplerOptions& options, const std::vector<PhaseDraws*>& draws)
{
    for (std::size_t phase = 0; phase < problems.front()->phases.size(); ++phase) {
        const ParallelPlan here = plan_in_phase(plan, problems.front()->phases[phase]);
        std::vector<ExecutionGraph> graphs;
        for (const Problem* p : problems) {
            PlanCompiler compiler({p->workload, p->phases[phase], p->cluster, p->noise, p->memory_headroom, p->orders});
            auto compiled = compiler.compile(here);
            graphs.push_back(std::get<CompiledPlan>(std::move(compiled)).graph);
        }
        std::vector<const ExecutionGraph*> pointers;
        for (const ExecutionGraph& graph : graphs) {
            pointers.push_back(&graph);
        }
        auto seconds = sample_steps(pointers, problems.front()->noise, range, options);
        for (std::size_t i = 0; i < problems.size(); ++i) {
            draws[i]->push_back(std::move(seconds[i]));
        }
    }
}

/// Second moment over squared mean, of the law between its nodes.
double relative_second_moment(std::span<const LawNode> law)
{
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 1; i < law.size(); ++i) {
        const double mass = law[i].below - law[i - 1].below;
        const double a = law[i - 1].value;
        const double b = law[i].value;
        first += mass * 0.5 * (a + b);
        second += mass * (a * a + a * b + b * b) / 3.0;
    }
    return law.empty() ? 1.0 : second / (first * first);
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

void set_step(std::span<const double> draws, std::span<const LawNode> factor, Figures& figures)
{
    const std::array probabilities{0.50, 0.95, deepest};
    const std::vector<double> q = quantiles(draws, factor, probabilities);
    at(figures, Figure::p50) = q[0];
    at(figures, Figure::p95) = q[1];
    at(figures, Figure::p99) = q[2];
    at(figures, Figure::spread) = q[2] / q[0];
    // Of a product of independent factors second moments multiply.
    at(figures, Figure::cv) = std::sqrt(std::max(0.0, relative_second_moment(draws) * relative_second_moment(factor) - 1.0));
}

void set_run(std::span<const double> seconds, double dollars_per_second, Figures& figures)
{
    const std::array probabilities{deepest};
    at(figures, Figure::training_p99) = quantiles(seconds, {}, probabilities).front();
    at(figures, Figure::cost) = dollars_per_second * at(figures, Figure::training_p99);
}

/// The jackknife over sections: each left out in turn, so that quantiles are of nearly all draws.
void set_pseudo_values(std::span<const double> draws, std::span<const LawNode> factor, const Sections& sections,
                       Consequence& consequence)
{
    const auto count = static_cast<double>(sections.count);
    for (std::size_t s = 0; s < sections.count; ++s) {
        std::vector<double> others(draws.begin(), draws.begin() + static_cast<std::ptrdiff_t>(s * sections.size));
        others.insert(others.end(), draws.begin() + static_cast<std::ptrdiff_t>((s + 1) * sections.size), draws.end());
        Figures& figures = consequence.pseudo_values.emplace_back();
        set_step(others, factor, figures);
        for (std::size_t f = 0; f < figure_count; ++f) {
            figures[f] = count * consequence.all[f] - (count - 1.0) * figures[f];
        }
    }
}

Consequence consequence_of(const Problem& problem, const ParallelPlan& plan, const NoiseFree& bound, const PhaseDraws& draws,
                           const DrawRange& range, const SamplerOptions& options)
{
    const auto steps = static_cast<std::size_t>(range.steps);
    const std::span<const double> step = draws.front();
    const std::vector<LawNode> factor = common_step_law(problem.noise);
    const double price = bound.cost_usd / bound.training_s;  // GPUs and spares
    Predictor predictor(problem);
    Consequence consequence;
    set_step(step, factor, consequence.all);
    set_run(predictor.training_times(plan, draws, range.steps, options), price, consequence.all);

    const Sections of_steps = sections_of(step.size(), {steps, block_fleets * steps}, deepest);
    consequence.beyond = (1.0 - deepest) * static_cast<double>(of_steps.size);
    for (std::size_t s = 0; s < of_steps.count; ++s) {
        set_step(step.subspan(s * of_steps.size, of_steps.size), factor, consequence.sections.emplace_back());
    }
    if (consequence.beyond < least_beyond_interaction) {
        set_pseudo_values(step, factor, of_steps, consequence);
    }
    const Sections of_fleets = sections_of(step.size() / steps, {1, block_fleets}, deepest);
    consequence.run_beyond = (1.0 - deepest) * static_cast<double>(of_fleets.size);
    if (of_fleets.count > 0) {
        // What few steps say of a fleet's noise is part of the error: each section finds it out alone.
        const std::vector<double> runs = predictor.training_times(plan, draws, range.steps, options, of_fleets.size);
        for (std::size_t s = 0; s < of_fleets.count; ++s) {
            set_run(std::span(runs).subspan(s * of_fleets.size, of_fleets.size), price, consequence.run_sections.emplace_back());
        }
    }
    return consequence;
}

}  // namespace

Estimate combined(std::initializer_list<Term> terms, Figure figure, const Confidence& confidence)
{
    const auto index = static_cast<std::size_t>(figure);
    const bool of_run = figure == Figure::training_p99 || figure == Figure::cost;
    const Consequence& first = *terms.begin()->consequence;
    const bool told = terms.size() <= 2 || (of_run ? first.run_beyond : first.beyond) >= least_beyond_interaction;
    const auto list = of_run ? &Consequence::run_sections : told ? &Consequence::sections : &Consequence::pseudo_values;
    double value = 0.0;
    std::vector<double> sections(told || !of_run ? (first.*list).size() : 0, 0.0);
    for (const Term& term : terms) {
        value += term.weight * term.consequence->all[index];
        for (std::size_t s = 0; s < sections.size(); ++s) {
            sections[s] += term.weight * (term.consequence->*list)[s][index];
        }
    }
    return section_estimate(value, sections, confidence);
}

std::vector<Consequence> consequences(const Problem& problem, const ParallelPlan& plan, const std::vector<WhatIf>& what_ifs,
                                      const DrawRange& range, const SamplerOptions& options)
{
    std::vector<Consequence> result(what_ifs.size());
    std::vector<std::optional<Problem>> problems;
    std::vector<NoiseFree> bounds(what_ifs.size());
    std::map<std::string, std::vector<std::size_t>> together;
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        problems.push_back(changed(problem, what_ifs[i]));
        if (!problems[i]) {
            result[i].infeasible = Infeasible{"no such hardware", "the groups of its tiers do not nest", 0.0};
            continue;
        }
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
        sample(of_members, plan, range, options, drawn);
    }
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        if (!result[i].infeasible) {
            result[i] = consequence_of(*problems[i], plan, bounds[i], draws[i], range, options);
        }
    }
    return result;
}

}  // namespace prismopt
