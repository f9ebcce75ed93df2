#include "optimizer/placement_study/report.hpp"

#include "io/plots/line_charts.hpp"
#include "io/results/posix_file.hpp"
#include "io/scenario/scenario.hpp"
#include "model/plan/node_order.hpp"
#include "optimizer/commands/scale_curve.hpp"
#include "optimizer/nodes/node_assignment.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr double hot = 1.35;  // how many times as long the hot node takes: PRISM's largest effect on a step

struct Quantiles {
    double p50 = 0.0;
    double p95 = 0.0;
    double p99 = 0.0;
};

/// A plan on nodes that are known.
class KnownNodes {
public:
    KnownNodes(const Scenario& scenario, const NoiseTables& noise, const ParallelPlan& plan)
        : scenario_(scenario), noise_(noise), plan_(plan)
    {
    }

    ExecutionGraph graph(const std::vector<double>& factors, NodeOrder order = NodeOrder::as_listed, int spares = 0) const
    {
        Cluster cluster = scenario_.cluster;
        cluster.node_factors = factors;
        ParallelPlan plan = plan_;
        plan.node_order = order;
        plan.spares = spares;
        PlanCompiler compiler({scenario_.workload, scenario_.phases.front(), cluster, noise_, no_memory_limit});
        auto compiled = compiler.compile(plan);
        if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
            throw InputError("the plan of the study is infeasible: " + refusal->detail);
        }
        return std::get<CompiledPlan>(std::move(compiled)).graph;
    }

    Quantiles step(const ExecutionGraph& graph) const
    {
        const auto draws = sample_steps(graph, noise_, range(), sampler());
        const Clusters clusters{static_cast<std::size_t>(range().steps), static_cast<std::size_t>(block_fleets) * range().steps};
        const auto quantile = [&](double p) { return quantile_estimate(draws, clusters, p, Confidence{}).value; };
        return {quantile(0.5), quantile(0.95), quantile(0.99)};
    }

    /// The best that moves, or all ways, find.
    NodeAssignment best(const std::vector<double>& factors, const std::vector<std::vector<float>>& starts, std::size_t most) const
    {
        const std::vector<float> all(factors.begin(), factors.end());
        SeatingOptions options;
        options.most_judged = most;
        options.seed = scenario_.seed;
        return best_nodes(graph(factors), noise_, all, starts, range(), sampler(), options);
    }

    const ParallelPlan& plan() const { return plan_; }
    int nodes() const { return scenario_.cluster.nodes(); }
    int used() const { return nodes_used(plan_, scenario_.cluster); }

private:
    static constexpr double no_memory_limit = -1e3;

    DrawRange range() const { return {0, scenario_.search.confirm.fleets, scenario_.search.confirm.steps}; }
    SamplerOptions sampler() const { return {scenario_.seed, Purpose::confirm, scenario_.search.replicas_simulated}; }

    const Scenario& scenario_;
    const NoiseTables& noise_;
    ParallelPlan plan_;
};

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100.0 * (ratio - 1.0)); }

/// One hot node at each stage of the first replica.
std::string hot_node(const Scenario& scenario, const NoiseTables& noise, const ParallelPlan& plan, Chart& panel)
{
    std::string text = fmt::format(
        "## One hot node\n\n"
        "Effect on p95 and p99 of one node that takes {:g} times as long, at each stage of one replica (all other nodes alike). "
        "PRISM: +9 to +35 % by one hot\n"
        "node, 8.0 to 15.6 % of p95 between stages.\n"
        "The last stage also has the loss head (layers), or layers are uneven (slots): on the longest stage the slowdown counts "
        "in full, elsewhere part of it is hidden.\n\n",
        hot);
    text += table_head({"schedule, split", "", "none hot", "stage 0", "stage 1", "stage 2", "stage 3", "stage 4", "stage 5",
                        "stage 6", "stage 7", "worst over best stage"});
    ParallelPlan interleaved = plan;
    interleaved.schedule = Schedule::interleaved;
    interleaved.chunks = 2;
    ParallelPlan uneven = plan;
    uneven.split = LayerSplit::slots;
    for (const ParallelPlan& p : {plan, uneven, interleaved}) {
        const KnownNodes job(scenario, noise, p);
        std::vector<double> factors(job.nodes(), 1.0);
        const Quantiles none = job.step(job.graph(factors));
        std::vector<Quantiles> by_stage;
        for (int stage = 0; stage < p.pp; ++stage) {
            ExecutionGraph graph = job.graph(factors);
            graph.node.at(static_cast<std::size_t>(graph.placement.group(0, stage)) * graph.placement.tp /
                          graph.placement.gpus_per_node) = static_cast<float>(hot);
            by_stage.push_back(job.step(graph));
        }
        const std::string label = fmt::format("{}, {}", name(p.schedule), name(p.split));
        for (const auto& [title, of] : {std::pair{"p95", &Quantiles::p95}, {"p99", &Quantiles::p99}}) {
            std::vector<std::string> row{label, title, fmt::format("{:.3f} s", none.*of)};
            double best = by_stage.front().*of;
            double worst = best;
            for (const Quantiles& q : by_stage) {
                row.push_back(percent(q.*of / (none.*of)));
                best = std::min(best, q.*of);
                worst = std::max(worst, q.*of);
            }
            row.push_back(percent(worst / best));
            text += table_row(row);
        }
        ChartLine& curve = panel.lines.emplace_back(ChartLine{label, {}});
        for (const Quantiles& q : by_stage) {
            curve.values.push_back(100.0 * (q.p95 / none.p95 - 1.0));
        }
    }
    for (int stage = 0; stage < plan.pp; ++stage) {
        panel.ticks.push_back(std::to_string(stage));
    }
    return text + '\n';
}

/// The ways to place several slow nodes, and what the assignment optimiser finds.
std::string several(const KnownNodes& job, const std::vector<double>& factors, std::size_t most)
{
    std::string text = table_head({"placement", "p50, s", "p95, s", "p99, s", "p99 over the best"});
    std::vector<std::pair<std::string, Quantiles>> rows;
    std::vector<std::vector<float>> starts;
    const int spares = job.nodes() - job.used();
    for (const NodeOrder order :
         {NodeOrder::as_listed, NodeOrder::packed, NodeOrder::spread, NodeOrder::first_stage, NodeOrder::last_stage}) {
        const ExecutionGraph graph = job.graph(factors, order);
        rows.emplace_back(std::string(name(order)), job.step(graph));
        starts.push_back(graph.node);
    }
    if (spares > 0) {
        for (const NodeOrder order : {NodeOrder::as_listed, NodeOrder::packed}) {
            const ExecutionGraph graph = job.graph(factors, order, spares);
            rows.emplace_back(fmt::format("{}, {} spares", name(order), spares), job.step(graph));
            starts.push_back(graph.node);
        }
    }
    const NodeAssignment found = job.best(factors, starts, most);
    ExecutionGraph graph = job.graph(factors);
    graph.node = found.node;
    rows.emplace_back(found.exact ? fmt::format("optimised (all {} assignments)", found.judged)
                                  : fmt::format("optimised (local search, {} evaluated)", found.judged),
                      job.step(graph));
    double worst = 0.0;
    for (const auto& [label, q] : rows) {
        worst = std::max(worst, q.p99);
        text += table_row({label, fmt::format("{:.3f}", q.p50), fmt::format("{:.3f}", q.p95), fmt::format("{:.3f}", q.p99),
                           percent(q.p99 / found.p99_s)});
    }
    return text +
           fmt::format(
               "\nWorst over best of these: {:.3f}x; of all assignments evaluated: {:.3f}x. PRISM: up to 1.26x potential.\n\n",
               worst / found.p99_s, found.worst_p99_s / found.p99_s);
}

/// Slow nodes scattered over the list, so that no placement gets them by chance.
std::vector<double> with_slow(int nodes, int slow, double factor)
{
    std::vector<double> factors(nodes, 1.0);
    for (int i = 0; i < slow; ++i) {
        factors[static_cast<std::size_t>(i) * 37 % nodes] = factor;  // 37 is prime to the 68 and 8 nodes of the study
    }
    return factors;
}

/// Two replicas of four stages on eight nodes.
Scenario small(const Scenario& scenario)
{
    Scenario result = scenario;
    result.cluster.gpus = 64;
    result.cluster.tiers.back().group_gpus = 64;
    result.phases.front().global_batch /= 4;
    return result;
}

}  // namespace

void placement_study(const std::string& path, const std::string& folder)
{
    const Scenario scenario = read_scenario(path);
    const NoiseTables noise = tables_of(scenario);
    const ParallelPlan plan = parse_design("", scenario);
    Chart by_stage{"One hot node: p95 of the step, % longer, by its stage", {}, {}};
    std::string text = fmt::format(
        "# Placement of known slow nodes\n\n"
        "Written by `bash jobs/placement_study` from jobs/scenarios/placement.toml: Llama 3 70B, {}, on {} of {} nodes of 8 "
        "H100, {} draws\n"
        "with the same random numbers for every placement. p95 and p99 are quantiles over steps on this cluster: the compute "
        "slowdown factors of its nodes are known, so neither nodes\n"
        "nor GPUs are drawn. The last section is over random samples of GPUs.\n\n"
        "![by stage](placement.svg)\n\n",
        design_text(plan), nodes_used(plan, scenario.cluster), scenario.cluster.nodes(),
        scenario.search.confirm.fleets * scenario.search.confirm.steps);
    text += hot_node(scenario, noise, plan, by_stage);
    const KnownNodes job(scenario, noise, plan);
    constexpr std::size_t most_judged = 2000;
    text += "## Eight slow nodes of 1.2\n\n" + several(job, with_slow(job.nodes(), 8, 1.2), most_judged);
    text += "## Nodes drawn from the spatial distributions\n\n" +
            several(job,
                    drawn_node_factors(scenario.variability, scenario.cluster.nodes(), scenario.cluster.gpus_per_node(),
                                       scenario.seed),
                    most_judged);
    const Scenario few = small(scenario);
    ParallelPlan small_plan = plan;
    small_plan.pp = 4;
    small_plan.dp = 2;
    std::vector<double> two = with_slow(few.cluster.nodes(), 3, 1.2);
    two[0] = hot;
    const KnownNodes small_job(few, noise, small_plan);
    text += fmt::format("## All assignments: two replicas of four stages, one node of {:g} and two of 1.2\n\n", hot) +
            several(small_job, two, most_judged);
    const ScaleCurve curve = scale_curve(scenario, plan, scenario.search.confirm);
    Chart scale{"How likely a step is to be slower than nominal, by GPUs", {}, {}};
    for (std::size_t i = 1; i < slower_by.size(); ++i) {
        ChartLine& line = scale.lines.emplace_back(ChartLine{fmt::format("more than {:.0f} %", 100.0 * slower_by[i]), {}});
        for (const ScalePoint& p : curve.points) {
            line.values.push_back(p.slower[i]);
        }
    }
    for (const ScalePoint& p : curve.points) {
        scale.ticks.push_back(p.gpus < 1024 ? std::to_string(p.gpus) : fmt::format("{}k", p.gpus / 1024));
    }
    text += "## Variability by job size\n\nOutput of `prismopt predict jobs/scenarios/placement.toml --scale-curve`:\n\n```\n" +
            scale_curve_text(curve) + "\n```\n";
    replace_file(folder + "/placement.md", text);
    replace_file(folder + "/placement.svg", charts_svg({by_stage, scale}));
}

}  // namespace prismopt
