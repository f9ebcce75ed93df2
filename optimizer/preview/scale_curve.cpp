#include "optimizer/preview/scale_curve.hpp"

#include "io/report/report.hpp"
#include "io/results/results.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <variant>

namespace prismopt {

namespace {

constexpr int fewest_gpus = 8;
constexpr int most_gpus = 131072;

/// p5, p50 and p95 of a production step on more than 64,000 GPUs. PRISM v2, arXiv 2510.15596.
struct PublishedSpread {
    int gpus = 65536;
    double p5_s = 18.6;
    double p50_s = 18.8;
    double p95_s = 19.3;
};

struct Scaled {
    Scenario scenario;
    ParallelPlan plan;
};

/// The scenario and the plan scaled to this number of GPUs, or why that is impossible.
std::variant<Scaled, std::string> scaled(const Scenario& scenario, const ParallelPlan& plan, int gpus)
{
    Scaled result{scenario, plan};
    auto& [s, p] = result;
    const int stage = plan.tp * plan.cp;
    const int replica = stage * plan.pp;
    if (gpus % stage != 0 || (gpus >= replica && gpus % replica != 0)) {
        return gpus < replica ? fmt::format("not a multiple of the tp*cp = {} GPUs of a stage", stage)
                              : fmt::format("not a multiple of the tp*cp*pp = {} GPUs of a replica", replica);
    }
    p.dp = std::max(1, gpus / replica);
    if (gpus < replica && s.workload.captured) {
        return "the number of layers of a captured network is fixed";
    }
    if (gpus < replica) {
        p.pp = gpus / stage;
        const int ends = plan.split == LayerSplit::slots ? 2 : 0;  // embedding and loss head
        const int slots = (scenario.workload.layers() + ends) * p.pp;
        if (plan.pp % p.pp != 0 || slots % plan.pp != 0 || slots / plan.pp <= ends) {
            return fmt::format("{} of the plan's {} stages would not hold a whole number of layers", p.pp,
                               plan.pp);
        }
        s.workload.cut(slots / plan.pp - ends);
    }
    if (p.pp == 1) {
        p.chunks = 1;
        p.group = 0;
        p.schedule = Schedule::one_f_one_b;
    }
    s.phases.resize(1);  // the curve is about its steps
    s.phases.front().global_batch = s.phases.front().global_batch / plan.dp * p.dp;
    if (gpus > s.cluster.gpus) {
        if (s.cluster.nodes_listed()) {
            return fmt::format("the cluster with known nodes has only {} GPUs", s.cluster.gpus);
        }
        s.cluster.gpus = gpus;
        s.cluster.tiers.back().group_gpus = gpus;
    }
    s.memory_limit = without_limit(s.memory_limit);
    s.reliability = {};  // the curve is about steps, not about the run
    p.checkpoint_interval = {};
    if (!s.cluster.nodes_listed()) {
        p.spares = as_configured;
    }
    return result;
}

/// Probability that a factor exceeds `limit`, given its ascending quantiles
/// `values` at the probabilities `nodes`.
double share_above(const std::vector<double>& values, const std::vector<TailProbability>& nodes, double limit)
{
    const auto above = std::upper_bound(values.begin(), values.end(), limit);
    if (above == values.begin() || above == values.end()) {
        return above == values.begin() ? 1.0 : 0.0;
    }
    const auto i = static_cast<std::size_t>(above - values.begin());
    const double weight = (limit - values[i - 1]) / (values[i] - values[i - 1]);
    return 1.0 - (nodes[i - 1].below() + weight * (nodes[i].below() - nodes[i - 1].below()));
}

double probability_above(const std::vector<double>& draws, const NoiseTables& noise, double limit)
{
    const std::vector<TailProbability> nodes = NoiseTables::step_node_probabilities();
    double sum = 0.0;
    for (const double seconds : draws) {
        if (noise.step_varies) {
            sum += share_above(noise.common_step, nodes, limit / seconds);
        } else {
            sum += seconds > limit ? 1.0 : 0.0;
        }
    }
    return sum / static_cast<double>(draws.size());
}

double quantile(const TimeDistribution& d, double probability)
{
    const auto* const at =
        std::find(reported_probabilities.begin(), reported_probabilities.end(), probability);
    return d.quantiles[static_cast<std::size_t>(at - reported_probabilities.begin())];
}

}  // namespace

ScaleCurve scale_curve(const Scenario& scenario, const ParallelPlan& plan, const Rung& rung)
{
    ScaleCurve curve;
    curve.nodes_known = scenario.cluster.nodes_known();
    const NoiseTables noise = build_noise_tables(scenario.variability, std::array{plan.tp * plan.cp});
    for (int gpus = fewest_gpus; gpus <= most_gpus; gpus *= 2) {
        const auto at = scaled(scenario, plan, gpus);
        if (const auto* why = std::get_if<std::string>(&at)) {
            curve.refused.push_back({gpus, *why});
            continue;
        }
        const auto& [there, scaled_plan] = std::get<Scaled>(at);
        const StudyModel model(there, noise);
        Predictor predictor(model.problem);
        const auto bound = predictor.bound(scaled_plan);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            curve.refused.push_back({gpus, infeasible_text(*refusal)});
            continue;
        }
        const SamplerOptions sampler = model.sampler({Purpose::confirm});
        const PhaseDraws draws = predictor.sample(scaled_plan, {0, rung.fleets, rung.steps}, sampler);
        const Prediction p = predictor.summarise(scaled_plan, draws, rung.steps, sampler, Confidence{});
        ScalePoint point{scaled_plan,         gpus,
                         p.noise_free_step_s, quantile(p.step, 0.05),
                         p.step.p50.value,    p.step.p95.value,
                         p.step.p99.value,    {}};
        for (std::size_t i = 0; i < slower_by.size(); ++i) {
            point.slower[i] = probability_above(draws.front(), noise, (1.0 + slower_by[i]) * point.nominal_s);
        }
        curve.points.push_back(point);
    }
    return curve;
}

namespace {

std::string row_text(const ScalePoint& p)
{
    std::string text =
        fmt::format("\n{:>7} {:>4} {:>6} {:>10.4g} {:>8.4g} {:>8.4f} {:>8.4f} {:>8.4f} ", p.gpus, p.plan.pp,
                    p.plan.dp, p.nominal_s, p.p50_s, p.p5_s / p.p50_s, p.p95_s / p.p50_s, p.p99_s / p.p50_s);
    for (const double share : p.slower) {
        text += fmt::format(" {:>7.4f}", share);
    }
    return text;
}

std::string published_text()
{
    const PublishedSpread published;
    return fmt::format(
        "\n{:>7} {:>4} {:>6} {:>10} {:>8.4g} {:>8.4f} {:>8.4f}   published: PRISM, arXiv 2510.15596, another "
        "job",
        "64k+", "", "", "", published.p50_s, published.p5_s / published.p50_s,
        published.p95_s / published.p50_s);
}

}  // namespace

std::string scale_curve_text(const ScaleCurve& curve)
{
    std::string text = fmt::format(
        "quantiles over {}; the same work per GPU at every size\n"
        "nominal: step time without noise, which grows with the number of GPUs because larger collectives "
        "take longer\n",
        population(curve.nodes_known));
    text += fmt::format(
        "{:>7} {:>4} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8}  probability of being slower than nominal by more "
        "than\n",
        "GPUs", "pp", "dp", "nominal s", "p50", "p5/p50", "p95/p50", "p99/p50");
    text += fmt::format("{:>67}", "");
    for (const double by : slower_by) {
        text += fmt::format(" {:>6.0f}%", 100.0 * by);
    }
    auto point = curve.points.begin();
    auto missing = curve.refused.begin();
    for (int gpus = fewest_gpus; gpus <= most_gpus; gpus *= 2) {
        if (point != curve.points.end() && point->gpus == gpus) {
            text += row_text(*point++);
        } else if (missing != curve.refused.end() && missing->gpus == gpus) {
            text += fmt::format("\n{:>7} skipped: {}", gpus, missing->why);
            ++missing;
        }
        text += gpus == PublishedSpread{}.gpus ? published_text() : "";
    }
    return text;
}

std::string scale_curve_json(const ScaleCurve& curve)
{
    const PublishedSpread published;
    nlohmann::json json{{"quantiles_of", quantiles_of(curve.nodes_known)},
                        {"slower_by", slower_by},
                        {"published",
                         {{"gpus", published.gpus},
                          {"p5_s", published.p5_s},
                          {"p50_s", published.p50_s},
                          {"p95_s", published.p95_s}}},
                        {"points", nlohmann::json::array()},
                        {"left_out", nlohmann::json::array()}};
    for (const ScalePoint& p : curve.points) {
        json["points"].push_back({{"gpus", p.gpus},
                                  {"nominal_s", p.nominal_s},
                                  {"p5_s", p.p5_s},
                                  {"p50_s", p.p50_s},
                                  {"p95_s", p.p95_s},
                                  {"p99_s", p.p99_s},
                                  {"probability_slower", p.slower}});
    }
    for (const RefusedScale& size : curve.refused) {
        json["left_out"].push_back({{"gpus", size.gpus}, {"why", size.why}});
    }
    return json.dump(2);
}

}  // namespace prismopt
