/// What makes steps of sharded and of pipelined training vary: writes sensitivity.md and sensitivity.svg (jobs/sensitivity_study).

#include "io/plots/tornado.hpp"
#include "io/results/posix_file.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/sensitivity/effects.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/evaluator.hpp"

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
constexpr std::array<Case, 4> cases{
    {{"Sharded, gathers beside compute", "sharded.toml", "dp_overlap=on"},
     {"Sharded, gathers before compute", "sharded.toml", "dp_overlap=off"},
     {"Sharded, with tensor and sequence parallelism", "sharded.toml", "tp=8 microbatch=8 dp_overlap=on"},
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
double by_p95(const Effect& effect) { return -of(effect, Figure::p95).value; }
double by_p99(const Effect& effect) { return -of(effect, Figure::p99).value; }
double by_spread(const Effect& effect) { return -of(effect, Figure::spread).value; }

/// The mean place of those that are equal.
template <class Key>
double mean_place(const std::vector<Effect>& effects, const Effect& effect, Key&& key)
{
    const auto equal =
        std::count_if(effects.begin(), effects.end(), [&](const Effect& other) { return key(other) == key(effect); });
    return static_cast<double>(place(effects, effect, key)) + 0.5 * static_cast<double>(equal - 1);
}

/// Spearman's rank correlation of cv and effect on p99: the correlation of mean places.
double rank_correlation(const std::vector<Effect>& effects)
{
    const double middle = 0.5 * (static_cast<double>(effects.size()) + 1.0);
    double product = 0.0;
    double of_cv = 0.0;
    double of_p99 = 0.0;
    for (const Effect& effect : effects) {
        const double a = mean_place(effects, effect, by_cv) - middle;
        const double b = mean_place(effects, effect, by_p99) - middle;
        product += a * b;
        of_cv += a * a;
        of_p99 += b * b;
    }
    return product / std::sqrt(of_cv * of_p99);
}

std::string interval(const Estimate& e, double unit) { return fmt::format("{:+.3f} to {:+.3f}", e.low / unit, e.high / unit); }

double percent_of(const Consequence& plan, Figure figure) { return 0.01 * plan.predicted[static_cast<std::size_t>(figure)]; }

std::string table(const std::vector<Effect>& effects, const Consequence& plan)
{
    std::string text =
        "| without the variance of | cv % | place by cv | p95, % | 95 % limits | p99, % | 95 % limits | place by p99 | p99/p50, "
        "1e-3 | 95 % limits | place by p99/p50 |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n";
    const double p95 = percent_of(plan, Figure::p95);
    const double p99 = percent_of(plan, Figure::p99);
    for (const Effect& effect : effects) {
        const Estimate& earlier = of(effect, Figure::p95);
        const Estimate& change = of(effect, Figure::p99);
        const Estimate& spread = of(effect, Figure::spread);
        text += fmt::format("| {} | {:.2f} | {} | {:+.3f} | {} | {:+.3f} | {} | {} | {:+.3f} | {} | {} |\n", effect.name,
                            100.0 * effect.cv, place(effects, effect, by_cv), earlier.value / p95, interval(earlier, p95),
                            change.value / p99, interval(change, p99), place(effects, effect, by_p99), spread.value / 1e-3,
                            interval(spread, 1e-3), place(effects, effect, by_spread));
    }
    return text;
}

constexpr const char* both_kinds = "all_gather and reduce_scatter";

/// The two kinds of collectives of PRISM's finding, in all groups: without their variance, or faster.
Effect gathers_and_scatters(EffectKind kind, const Problem& problem, const ParallelPlan& plan, const SensitivityOptions& options)
{
    Effect effect{kind, both_kinds, {}, 0.0, {}, {}};
    for (const KernelClassRow& row : kernel_class_rows) {
        if (row.kind == Collective::all_gather || row.kind == Collective::reduce_scatter) {
            const NoiseSource source{NoiseKind::residual, static_cast<std::size_t>(row.kernel), std::string(row.name)};
            effect.change.push_back(kind == EffectKind::variance ? Change{Without{source}}
                                                                 : Change{Faster{row.kernel, 1.0 + 0.01 * options.percent}});
        }
    }
    std::vector<Consequence> found = consequences(problem, plan, {{}, effect.change}, options.range, options.sampler);
    effect.consequence = std::move(found[1]);
    for (std::size_t f = 0; f < figure_count; ++f) {
        effect.difference[f] = combined({{1.0, &effect.consequence}, {-1.0, found.data()}}, static_cast<Figure>(f));
    }
    return effect;
}

/// Classes of kernels that a residual law is of; empty: another source of noise.
std::vector<KernelClass> classes_of(const Effect& effect)
{
    std::vector<KernelClass> classes;
    for (const Change& change : effect.change) {
        const NoiseSource& source = std::get<Without>(change).source;
        if (source.kind == NoiseKind::residual) {
            classes.push_back(static_cast<KernelClass>(source.index));
        }
    }
    return classes;
}

bool communicates(KernelClass kernel)
{
    const KernelClass outer = outermost(kernel);
    return outer == KernelClass::tp_collective || outer == KernelClass::dp_collective || outer == KernelClass::p2p;
}

/// Whether the effect is of no class, of all kernels of one outermost class of computing, or of collectives of one class.
bool is_narrow(const Effect& effect, const std::vector<Effect>& all)
{
    const std::vector<KernelClass> classes = classes_of(effect);
    if (classes.size() != 1 || !communicates(classes.front())) {
        return classes.empty() || (classes.size() == 1 && outermost(classes.front()) == classes.front());
    }
    return std::none_of(all.begin(), all.end(), [&](const Effect& other) {
        const std::vector<KernelClass> inner = classes_of(other);
        return inner.size() == 1 && inner.front() != classes.front() && is_within(inner.front(), classes.front());
    });
}

/// Groups and kinds of collectives, with their part of what all communication takes of the median step: what the regime of a step
/// acts through.
std::string collectives_table(const std::vector<Effect>& wide, const std::vector<Effect>& speeds, double communication_s,
                              const Consequence& plan)
{
    std::string text =
        "| without the variance of | p95, % | 95 % limits | p99, % | 95 % limits | p99/p50, 1e-3 | 95 % limits | part of the "
        "exposed communication, % |\n"
        "|---|---|---|---|---|---|---|---|\n";
    const double p95 = percent_of(plan, Figure::p95);
    const double p99 = percent_of(plan, Figure::p99);
    for (const Effect& effect : wide) {
        const auto faster =
            std::find_if(speeds.begin(), speeds.end(), [&](const Effect& speed) { return speed.name == effect.name; });
        text += fmt::format("| {} | {:+.3f} | {} | {:+.3f} | {} | {:+.3f} | {} | {:.1f} |\n", effect.name,
                            of(effect, Figure::p95).value / p95, interval(of(effect, Figure::p95), p95),
                            of(effect, Figure::p99).value / p99, interval(of(effect, Figure::p99), p99),
                            of(effect, Figure::spread).value / 1e-3, interval(of(effect, Figure::spread), 1e-3),
                            100.0 * of(*faster, Figure::p50).value / communication_s);
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

/// What the tables say of the first finding: `both` kinds of collectives against all other residual laws together.
std::string headline(const std::vector<Effect>& classes, const Effect& both, double part)
{
    const std::vector<KernelClass> of_both = classes_of(both);
    std::vector<Effect> others;
    std::copy_if(classes.begin(), classes.end(), std::back_inserter(others), [&](const Effect& effect) {
        return std::count(of_both.begin(), of_both.end(), classes_of(effect).front()) == 0;
    });
    const auto verdict = [&](const char* figure, auto key) {
        const Effect& other = first(others, key);
        return fmt::format("{}: {}", figure, key(both) > key(other) ? "yes" : fmt::format("no, `{}` lowers it more", other.name));
    };
    return fmt::format(
        "Do the distributions of all-gathers and reduce-scatters contribute most of all classes? {}; {}; {}. They account for "
        "{:.0f} % of the exposed communication, through which `common_communication` acts.\n",
        verdict("p95", by_p95), verdict("p99", by_p99), verdict("p99/p50", by_spread), 100.0 * part);
}

/// What the table says of the two findings.
std::string reading(const std::vector<Effect>& effects)
{
    std::vector<Effect> classes;
    std::copy_if(effects.begin(), effects.end(), std::back_inserter(classes),
                 [](const Effect& e) { return !classes_of(e).empty(); });
    const Effect& varied = first(effects, by_cv);
    const Effect& strongest = first(effects, by_p99);
    return fmt::format(
        "Of the kernel classes, removing the variance of `{}` lowers p99/p50 most. Of all sources, `{}` has the largest cv and "
        "rank {} of {} by its effect on p99; the strongest, `{}`, has rank {} by cv. Rank correlation of cv and effect: "
        "{:.2f}.\n",
        first(classes, by_spread).name, varied.name, place(effects, varied, by_p99), effects.size(), strongest.name,
        place(effects, strongest, by_cv), rank_correlation(effects));
}

std::string section(const Case& c, const std::string& folder, Tornado& panel)
{
    const Scenario scenario = read_scenario(folder + "/" + c.scenario);
    const ParallelPlan plan = parse_design(c.design, scenario);
    const StudyModel model(scenario, build_noise_tables(scenario.variability, std::array{plan.tp * plan.cp}));
    SensitivityOptions options;
    options.range = draws;
    options.sampler = model.sampler(Purpose::confirm);
    const Sensitivity found = sensitivity(scenario, model.problem, plan, options);
    std::vector<Effect> all;
    std::copy_if(found.effects.begin(), found.effects.end(), std::back_inserter(all),
                 [](const Effect& e) { return e.kind == EffectKind::variance; });
    std::vector<Effect> variance;
    std::vector<Effect> classes;
    std::vector<Effect> wide;
    for (const Effect& effect : all) {
        const std::vector<KernelClass> own = classes_of(effect);
        if (is_narrow(effect, all)) {
            variance.push_back(effect);
        } else if (communicates(own.front())) {
            wide.push_back(effect);
        }
        if (is_narrow(effect, all) && !own.empty()) {
            classes.push_back(effect);
        }
    }
    std::vector<Effect> speeds;
    double communication_s = 0.0;  // that its classes, faster, save of the median
    for (const Effect& effect : found.effects) {
        if (effect.kind == EffectKind::speed) {
            speeds.push_back(effect);
        }
        const auto same = [&](const Effect& other) {
            return other.name == effect.name && communicates(classes_of(other).front());
        };
        if (effect.kind == EffectKind::speed && std::any_of(classes.begin(), classes.end(), same)) {
            communication_s += of(effect, Figure::p50).value;
        }
    }
    std::copy_if(classes.begin(), classes.end(), std::back_inserter(wide),
                 [](const Effect& e) { return communicates(classes_of(e).front()); });
    const Effect both = gathers_and_scatters(EffectKind::variance, model.problem, plan, options);
    wide.insert(wide.begin(), both);
    speeds.push_back(gathers_and_scatters(EffectKind::speed, model.problem, plan, options));
    const double part = of(speeds.back(), Figure::p50).value / communication_s;
    panel.title = c.title;
    const double p99 = 0.01 * found.plan.predicted[static_cast<std::size_t>(Figure::p99)];
    for (const Effect& effect : variance) {
        const Estimate& change = of(effect, Figure::p99);
        panel.bars.push_back({effect.name, change.value / p99, change.low / p99, change.high / p99});
    }
    const auto value = [&](Figure f) { return found.plan.predicted[static_cast<std::size_t>(f)]; };
    return fmt::format(
               "## {}\n\n"
               "`prismopt sensitivity jobs/scenarios/{} --design \"{}\" --draws {}`\n\n"
               "Step p50 {:.4g} s, p99 {:.4g} s, p99/p50 {:.4f}, cv {:.2f} %.\n\n",
               c.title, c.scenario, c.design, draws.fleets * draws.steps, value(Figure::p50), value(Figure::p99),
               value(Figure::spread), 100.0 * value(Figure::cv)) +
           table(variance, found.plan) + "\n" + reading(variance) + "\nCollectives together, and one by one:\n\n" +
           collectives_table(wide, speeds, communication_s, found.plan) + "\n" + headline(classes, both, part) + "\nPairs:\n\n" +
           pairs_table(found) + "\n";
}

constexpr const char* introduction =
    "# What makes a step vary\n\n"
    "Written by `bash jobs/sensitivity_study`. Each row is the same plan on the same draws with one distribution replaced by its "
    "mean; limits are 95 % confidence intervals of the difference (jackknife over the shared draws). Places count from the "
    "largest.\n\n"
    "PRISM (arXiv 2510.15596) finds that all-gather and reduce-scatter contribute most to the spread of steps (version 1), and "
    "that a ranking of kernels by coefficient of variation does not predict their effect, because the critical path decides and "
    "effects do not add up (version 2). Classes of collectives are named by their group and kind (`[variability.residual]` in "
    "docs/scenario.md): `sharded_all_gather` gathers parameters inside layers, `dp_all_gather` at the beginning of a step; "
    "`all_gather` is that kind in all groups.\n\n"
    "## Do all-gathers and reduce-scatters contribute most?\n\n"
    "In plans that shard their parameters the model agrees: no other class of kernels lowers p99/p50 as much, and none lowers "
    "p99 more. In the pipelined plan it agrees for p99/p50 only; p95 and p99 decrease more without the variance of `gemm` and of "
    "`p2p`. The tables are in the sections below (\"Collectives together\"). There are three reasons:\n\n"
    "- The distribution of a class is drawn independently for each collective, so the collectives of a step average out. The "
    "factor that all communication of a step shares, `common_communication`, is the largest source of p99/p50 in all plans. It "
    "acts through the classes in proportion to their exposed time (last column of those tables), nearly all of which is due to "
    "all-gathers and reduce-scatters. PRISM also draws the communication of a step under one regime; its ablation removes the "
    "whole variance of a class, including the share of the regime, so its finding is closer to the sum of both.\n"
    "- Members of a tensor-parallel group wait for the slowest member at each collective. Without the variance of `gemm` they "
    "wait less, which lowers all quantiles equally: p95 and p99, but not p99/p50. In a pipeline the same holds for `p2p`, whose "
    "delays add up along the critical path.\n"
    "- `hpc-2024` has one cv for all collectives (10 %), because the published measurements behind it do not separate kinds and "
    "groups. Which class contributes more therefore depends on its exposed time and its number of collectives per step; "
    "distributions measured by class (`prismopt calibrate`) may change the ranking.\n\n"
    "Limitations: communication that compute hides is hidden in every draw, so a single late gather is not exposed; and the "
    "distributions are those of the profile `hpc-2024`, whose values for collectives are from other machines.\n\n"
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
