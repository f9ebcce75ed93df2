/// What makes steps of sharded and of pipelined training vary: writes sensitivity.md and sensitivity.svg (jobs/sensitivity_study).

#include "io/posix_file.hpp"
#include "io/tornado.hpp"
#include "model/phase.hpp"
#include "optimizer/design_text.hpp"
#include "optimizer/evaluator.hpp"
#include "optimizer/sensitivity/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace prismopt;

struct Case {
    const char* title;
    const char* scenario;
    const char* design;
};
/// The last is the plan that Meta published (arXiv 2407.21783, table 4).
constexpr std::array<Case, 3> cases{
    {{"Sharded, gathers beside compute", "sharded.toml", "dp_overlap=on"},
     {"Sharded, gathers before compute", "sharded.toml", "dp_overlap=off"},
     {"Pipelined", "llama3-405b-16k.toml",
      "gpus=16384 tp=8 pp=16 v=8 microbatch=1 schedule=interleaved split=slots recompute=selective order=tp-pp-dp"}}};

constexpr DrawRange draws{0, 32768, 2};  // for limits of interactions

const Estimate& of(const Effect& effect, Figure figure) { return effect.difference[static_cast<std::size_t>(figure)]; }

/// The effect's place when all are sorted by `key`, the largest first, from 1.
template <class Key>
std::size_t place(const std::vector<Effect>& effects, const Effect& effect, Key&& key)
{
    return 1 + static_cast<std::size_t>(
                   std::count_if(effects.begin(), effects.end(), [&](const Effect& other) { return key(other) > key(effect); }));
}

double by_cv(const Effect& effect) { return effect.cv; }
double by_p99(const Effect& effect) { return -of(effect, Figure::p99).value; }
double by_spread(const Effect& effect) { return -of(effect, Figure::spread).value; }

/// Spearman's rank correlation of cv and effect on p99.
double rank_correlation(const std::vector<Effect>& effects)
{
    const auto n = static_cast<double>(effects.size());
    double squares = 0.0;
    for (const Effect& effect : effects) {
        const double d = static_cast<double>(place(effects, effect, by_cv)) - static_cast<double>(place(effects, effect, by_p99));
        squares += d * d;
    }
    return 1.0 - 6.0 * squares / (n * (n * n - 1.0));
}

std::string interval(const Estimate& e, double unit) { return fmt::format("{:+.3f} to {:+.3f}", e.low / unit, e.high / unit); }

std::string table(const std::vector<Effect>& effects, const Consequence& plan)
{
    std::string text =
        "| without the variance of | cv % | place by cv | p99, % | 95 % limits | place by p99 | p99/p50, 1e-3 | 95 % limits | "
        "place by p99/p50 |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
    const double p99 = 0.01 * plan.predicted[static_cast<std::size_t>(Figure::p99)];
    for (const Effect& effect : effects) {
        const Estimate& change = of(effect, Figure::p99);
        const Estimate& spread = of(effect, Figure::spread);
        text +=
            fmt::format("| {} | {:.2f} | {} | {:+.3f} | {} | {} | {:+.3f} | {} | {} |\n", effect.name, 100.0 * effect.cv,
                        place(effects, effect, by_cv), change.value / p99, interval(change, p99), place(effects, effect, by_p99),
                        spread.value / 1e-3, interval(spread, 1e-3), place(effects, effect, by_spread));
    }
    return text;
}

std::string pairs_table(const Sensitivity& found)
{
    std::string text =
        "| pair | first, ms | second, ms | both, ms | interaction, ms | 95 % limits |\n|---|---|---|---|---|---|\n";
    const auto p99 = static_cast<std::size_t>(Figure::p99);
    for (const Pair& pair : found.pairs) {
        if (pair.infeasible) {
            continue;
        }
        const Effect& a = found.effects[pair.a];
        const Effect& b = found.effects[pair.b];
        text += fmt::format("| {}: {} & {} | {:+.2f} | {:+.2f} | {:+.2f} | {:+.2f} | {} |\n",
                            effect_kind_names[static_cast<std::size_t>(a.kind)], a.name, b.name, of(a, Figure::p99).value / 1e-3,
                            of(b, Figure::p99).value / 1e-3, pair.joint[p99].value / 1e-3, pair.interaction[p99].value / 1e-3,
                            interval(pair.interaction[p99], 1e-3));
    }
    return text;
}

template <class Key>
const Effect& first(const std::vector<Effect>& effects, Key&& key)
{
    return *std::max_element(effects.begin(), effects.end(), [&](const Effect& a, const Effect& b) { return key(a) < key(b); });
}

/// What the table says of the two findings.
std::string reading(const std::vector<Effect>& effects)
{
    std::vector<Effect> classes;
    std::copy_if(effects.begin(), effects.end(), std::back_inserter(classes),
                 [](const Effect& e) { return std::get<Without>(e.change).source.kind == NoiseKind::residual; });
    const Effect& varied = first(effects, by_cv);
    const Effect& strongest = first(effects, by_p99);
    return fmt::format(
        "Of the kernel classes, removing the variance of `{}` lowers p99/p50 most. Of all sources `{}` has the largest cv and "
        "place {} "
        "of {} by its effect on p99; the strongest, `{}`, has place {} by cv. Rank correlation of cv and effect: {:.2f}.\n",
        first(classes, by_spread).name, varied.name, place(effects, varied, by_p99), effects.size(), strongest.name,
        place(effects, strongest, by_cv), rank_correlation(effects));
}

std::string section(const Case& c, const std::string& folder, Tornado& panel)
{
    const Scenario scenario = read_scenario(folder + "/" + c.scenario);
    const ParallelPlan plan = parse_design(c.design, scenario);
    const StudyModel model(scenario,
                           build_noise_tables(scenario.variability, std::array{plan.tp * plan.cp}, scenario.cluster.tiers));
    SensitivityOptions options;
    options.range = draws;
    options.sampler = model.sampler(Purpose::confirm);
    const Sensitivity found = sensitivity(scenario, model.problem, plan, options);
    std::vector<Effect> variance;
    std::copy_if(found.effects.begin(), found.effects.end(), std::back_inserter(variance),
                 [](const Effect& e) { return e.kind == EffectKind::variance; });
    panel.title = c.title;
    const double p99 = 0.01 * found.plan.predicted[static_cast<std::size_t>(Figure::p99)];
    for (const Effect& effect : variance) {
        const Estimate& change = of(effect, Figure::p99);
        panel.bars.push_back({effect.name, change.value / p99, change.low / p99, change.high / p99});
    }
    const auto value = [&](Figure f) { return found.plan.predicted[static_cast<std::size_t>(f)]; };
    return fmt::format(
               "## {}\n\n`prismopt sensitivity jobs/scenarios/{} --design \"{}\" --draws {}`\n\n"
               "Step p50 {:.4g} s, p99 {:.4g} s, p99/p50 {:.4f}, cv {:.2f} %.\n\n",
               c.title, c.scenario, c.design, draws.fleets * draws.steps, value(Figure::p50), value(Figure::p99),
               value(Figure::spread), 100.0 * value(Figure::cv)) +
           table(variance, found.plan) + "\n" + reading(variance) + "\nPairs:\n\n" + pairs_table(found) + "\n";
}

constexpr const char* introduction =
    "# What makes a step vary\n\n"
    "Made by `bash jobs/sensitivity_study`. Each line is the same plan on the same draws with one law made its mean; limits are "
    "of the "
    "difference, by the jackknife over the shared draws. Places count from the largest.\n\n"
    "PRISM (arXiv 2510.15596) finds that all-gather and reduce-scatter contribute most to the spread of steps (version 1), and "
    "that "
    "a ranking of kernels by coefficient of variation does not tell their effect, as the critical path decides and effects do "
    "not add up "
    "(version 2). In a plan that shards its parameters (ZeRO-3, FSDP) and has no tensor parallelism, all collectives inside "
    "layers, "
    "`tp_collective`, are gathers of parameters and reductions of gradients.\n\n"
    "Not in the model: what compute hides is hidden in every draw, so a gather that is late once does not show "
    "from behind it; and the laws are those of the profile `hpc-2024`, of which the sizes for collectives are from other "
    "machines.\n\n"
    "![Change of p99](sensitivity.svg)\n\n";

}  // namespace

int main(int count, char** words)
{
    if (count != 3) {
        std::fputs("usage: sensitivity_study SCENARIOS FOLDER\n\nWrites sensitivity.md and sensitivity.svg there.\n", stderr);
        return 2;
    }
    try {
        const std::string folder = words[2];
        std::string text = introduction;
        std::vector<Tornado> panels(cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            text += section(cases[i], words[1], panels[i]);
        }
        text.pop_back();
        replace_file(folder + "/sensitivity.md", text);
        replace_file(folder + "/sensitivity.svg", tornado_svg(panels, "change of p99 without the variance of each, %"));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sensitivity_study: %s\n", error.what());
        return 1;
    }
    return 0;
}
