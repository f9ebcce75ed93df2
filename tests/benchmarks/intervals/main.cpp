/// interval_study: measures how often 95 % confidence intervals contain the truth, and how wide they
/// are; writes results/intervals.md.
///   interval_study SEEDS FILE [ROW]

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace prismopt::bench {
namespace {

struct StudiedPlan {
    std::string scenario;
    std::string design;
    Rung draws;
};

const std::string small_plan = "gpus=16 tp=2 pp=2 microbatch=1 schedule=1f1b";
const std::string llama_plan =
    "gpus=16384 tp=8 pp=16 v=8 microbatch=1 schedule=interleaved recompute=selective split=slots "
    "order=tp-pp-dp";
const std::vector<StudiedPlan> plans{
    {"small", small_plan, {1024, 2}},
    {"small", small_plan, {2048, 2}},
    {"small", small_plan, {2048, 8}},
    {"llama3-405b-16k", llama_plan, {2048, 4}},
};

/// Draws of the truth: 64 times as many fleets as intervals are made from, with little noise in their means.
constexpr Rung true_draws{8192, 32};
constexpr int true_runs = 16;
constexpr std::uint64_t first_true_seed = 1'000'000;

struct Quantity {
    const char* name;
    Estimate (*of)(const Prediction&);
};
const std::vector<Quantity> quantities{
    {"step mean", [](const Prediction& p) { return p.step.mean; }},
    {"step p50", [](const Prediction& p) { return p.step.p50; }},
    {"step p95", [](const Prediction& p) { return p.step.p95; }},
    {"step p99", [](const Prediction& p) { return p.step.p99; }},
    {"training mean", [](const Prediction& p) { return p.training.mean; }},
    {"training p50", [](const Prediction& p) { return p.training.p50; }},
    {"training p95", [](const Prediction& p) { return p.training.p95; }},
    {"training p99", [](const Prediction& p) { return p.training.p99; }},
};

Prediction predict(Predictor& predictor, const StudyModel& model, const ParallelPlan& plan, const Rung& rung,
                   std::uint64_t seed)
{
    SamplerOptions options = model.sampler({Purpose::confirm});
    options.seed = seed;
    const PhaseDraws draws = predictor.sample(plan, {0, rung.fleets, rung.steps}, options);
    return predictor.summarise(plan, draws, rung.steps, options, Confidence{});
}

/// Intervals of one quantity over seeds.
struct Coverage {
    double truth = 0.0;
    std::vector<Estimate> estimates;

    std::string row(const std::string& name) const
    {
        const auto seeds = static_cast<double>(estimates.size());
        double mean = 0.0;
        double width = 0.0;
        double below = 0.0;
        double above = 0.0;
        for (const Estimate& e : estimates) {
            mean += e.value / seeds;
            width += (e.high - e.low) / seeds;
            below += truth < e.low ? 1.0 / seeds : 0.0;
            above += truth > e.high ? 1.0 / seeds : 0.0;
        }
        double squares = 0.0;
        for (const Estimate& e : estimates) {
            squares += std::pow(e.value - mean, 2);
        }
        const double deviation = std::sqrt(squares / (seeds - 1.0));
        constexpr double normal_95 = 1.96;
        return fmt::format("| {} | {:.1f} % | {:.1f} % | {:.1f} % | {:+.2f} | {:.2f} |\n", name,
                           100.0 * (1.0 - below - above), 100.0 * below, 100.0 * above,
                           (mean - truth) / deviation, width / (2.0 * normal_95 * deviation));
    }
};

std::string table_of(const StudiedPlan& studied, int seeds)
{
    const Scenario scenario = read_scenario("jobs/scenarios/" + studied.scenario + ".toml");
    const ParallelPlan plan = parse_design(studied.design, scenario);
    const StudyModel model(scenario, tables_of(scenario, {plan}));
    Predictor predictor(model.problem);
    std::vector<Coverage> coverage(quantities.size());
    for (int run = 0; run < true_runs; ++run) {
        const Prediction p =
            predict(predictor, model, plan, true_draws, first_true_seed + static_cast<std::uint64_t>(run));
        for (std::size_t q = 0; q < quantities.size(); ++q) {
            coverage[q].truth += quantities[q].of(p).value / true_runs;
        }
    }
    for (int seed = 1; seed <= seeds; ++seed) {
        const Prediction p = predict(predictor, model, plan, studied.draws, static_cast<std::uint64_t>(seed));
        for (std::size_t q = 0; q < quantities.size(); ++q) {
            coverage[q].estimates.push_back(quantities[q].of(p));
        }
    }
    std::string text = fmt::format(
        "## `{}`, {} fleets of {} steps\n\nPlan: `{}`.\n\n"
        "| quantity | inside | truth below | truth above | bias | width |\n|---|---|---|---|---|---|\n",
        studied.scenario, studied.draws.fleets, studied.draws.steps, studied.design);
    for (std::size_t q = 0; q < quantities.size(); ++q) {
        text += coverage[q].row(quantities[q].name);
    }
    return text;
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    using namespace prismopt::bench;
    if (argc != 3 && argc != 4) {
        fmt::print(stderr, "usage: interval_study SEEDS FILE [ROW]\n");
        return 2;
    }
    const int seeds = std::atoi(argv[1]);
    std::string text = fmt::format(
        "# Coverage of confidence intervals\n\n"
        "Written by `bash jobs/interval_study {}`. What the columns mean: "
        "[docs/methods/result-pages.md](../docs/methods/result-pages.md#intervalsmd).\n\n"
        "95 % confidence intervals over {} seeds.\n",
        seeds, seeds);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (argc == 3 || i == static_cast<std::size_t>(std::atoi(argv[3]))) {
            text += "\n" + table_of(plans[i], seeds);
        }
    }
    std::ofstream(argv[2]) << text;
    return 0;
}
