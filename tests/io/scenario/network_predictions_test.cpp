/// Noise-free steps and memory of every network of the catalog under every way to run a layer, beside a
/// stored table: what a change of the model's structure must keep. `PRISMOPT_WRITE_PREDICTIONS=FILE` writes
/// the table anew; say why in the commit.

#include "io/base/csv.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/plan_rules.hpp"
#include "model/step/graph/mean_step.hpp"
#include "tests/support/example_problem.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

namespace prismopt {
namespace {

constexpr int gpus = 64;
constexpr int global_batch = 64;
constexpr int sequence = 4096;

/// Ways to run a layer, each with what it alone is about.
const std::vector<std::pair<std::string, std::function<void(ParallelPlan&)>>>& ways()
{
    static const std::vector<std::pair<std::string, std::function<void(ParallelPlan&)>>> all{
        {"tp1", [](ParallelPlan& p) { p.tp = 1; }},
        {"tp8", [](ParallelPlan&) {}},
        {"tp8, whole sequences", [](ParallelPlan& p) { p.sequence_parallel = SequenceParallel::off; }},
        {"tp8, overlap", [](ParallelPlan& p) { p.tp_overlap = TensorParallelOverlap::on; }},
        {"tp2 pp4", [](ParallelPlan& p) { p.tp = 2, p.pp = 4; }},
        {"tp2 pp4 slots", [](ParallelPlan& p) { p.tp = 2, p.pp = 4, p.split = LayerSplit::slots; }},
        {"tp4 selective", [](ParallelPlan& p) { p.tp = 4, p.recompute = Recompute::selective; }},
        {"tp4 full", [](ParallelPlan& p) { p.tp = 4, p.recompute = Recompute::full; }},
        {"tp2 cp4", [](ParallelPlan& p) { p.tp = 2, p.cp = 4; }},
        {"cp4 gathered",
         [](ParallelPlan& p) { p.tp = 2, p.cp = 4, p.context_exchange = ContextExchange::all_gather; }},
        {"cp4 heads", [](ParallelPlan& p) { p.tp = 2, p.cp = 4, p.ulysses = 0; }},
        {"cp4 heads and ring", [](ParallelPlan& p) { p.tp = 2, p.cp = 4, p.ulysses = 2; }},
        {"zero3", [](ParallelPlan& p) { p.tp = 1, p.sharding = Sharding::zero3; }},
        {"zero2 without overlap",
         [](ParallelPlan& p) {
             p.tp = 1, p.sharding = Sharding::zero2, p.dp_overlap = DataParallelOverlap::off;
         }},
        {"zb-h1", [](ParallelPlan& p) { p.tp = 2, p.pp = 4, p.schedule = Schedule::zb_h1; }},
        {"dualpipe-v",
         [](ParallelPlan& p) { p.tp = 2, p.pp = 4, p.chunks = 2, p.schedule = Schedule::dualpipe_v; }},
        {"offload", [](ParallelPlan& p) { p.tp = 2, p.offload = Offload::activations; }},
        {"ep8", [](ParallelPlan& p) { p.tp = 1, p.ep = 8; }},
        {"ep4 etp2", [](ParallelPlan& p) { p.tp = 2, p.ep = 4, p.etp = 2; }},
    };
    return all;
}

struct Row {
    std::string network;
    std::string way;
    double step_s = 0.0;
    double memory_bytes = 0.0;
};

Scenario scenario_of(const std::string& network)
{
    // learned ones are as many as the sequence has
    const int positions = catalog_workload(network).positions;
    const std::string learned =
        positions > 0 ? fmt::format("positions = {}", std::max(positions, sequence)) : "";
    return parse_scenario(fmt::format(R"(name = "predictions"
[workload]
model = "{}"
{}
[[phase]]
tokens = 1e9
sequence_length = {}
global_batch = {}
[software]
name = "reference"
[cluster]
accelerator = "h100-sxm"
gpus = {}
[[cluster.tier]]
name = "node"
link = "nvlink4"
group = 8
[[cluster.tier]]
name = "cluster"
link = "ib-ndr"
[variability]
profile = "hpc-2024"
[reliability]
node_failure_rate = "3.79e-3 /day"
restart = "5 min"
checkpoint_interval = "0 s"
checkpoint_write = "5 s"
[objectives]
minimise = ["training_time_p99"]
[space]
gpus = [{}]
tp = [1]
pp = [1]
[search]
strategy = "exact"
)",
                                      network, learned, sequence, global_batch, gpus, gpus),
                          "predictions.toml");
}

std::vector<Row> rows()
{
    constexpr std::array widths{1, 2, 4, 8};
    const Problem example = example_problem(lively_variability(), global_batch, widths);
    std::vector<Row> all;
    for (const std::string& network : catalog_workloads()) {
        Scenario scenario = scenario_of(network);
        scenario.cluster.accelerator.memory = Bytes{1e15};  // all fit
        for (const auto& [name, change] : ways()) {
            ParallelPlan plan;
            plan.tp = 8;
            plan.order = PlacementOrder::tp_pp_dp;
            change(plan);
            plan.dp = gpus / (plan.tp * plan.cp * plan.pp);
            const Phase phase = scenario.phases.front();
            if (structural_problem(plan, scenario)) {
                continue;
            }
            PlanCompiler compiler({scenario.workload, phase, scenario.cluster, example.noise});
            const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
            if (const auto* plan_and_memory = std::get_if<CompiledPlan>(&compiled)) {
                all.push_back({network, name, noise_free_step(plan_and_memory->graph).step_s,
                               plan_and_memory->memory.total().si});
            }
        }
    }
    return all;
}

const char* const table = PRISMOPT_SOURCE_DIR "/tests/io/network_predictions.csv";

TEST(NetworkPredictions, AreThoseOfTheTable)
{
    const std::vector<Row> found = rows();
    if (const char* path = std::getenv("PRISMOPT_WRITE_PREDICTIONS")) {
        std::ofstream out(path);
        out << "network,way,step_s,memory_bytes\n";
        for (const Row& row : found) {
            out << fmt::format("{},\"{}\",{:.6g},{:.6g}\n", row.network, row.way, row.step_s,
                               row.memory_bytes);
        }
    }
    std::map<std::pair<std::string, std::string>, CsvRow> stored;
    for (const CsvRow& line : read_csv(table)) {
        stored.emplace(std::pair{line.text("network"), line.text("way")}, line);
    }
    EXPECT_EQ(found.size(), stored.size());
    for (const Row& row : found) {
        const auto line = stored.find({row.network, row.way});
        ASSERT_NE(line, stored.end()) << row.network << ", " << row.way;
        EXPECT_NEAR(row.step_s / line->second.number("step_s"), 1.0, 0.003)
            << row.network << ", " << row.way << ": step";
        EXPECT_NEAR(row.memory_bytes / line->second.number("memory_bytes"), 1.0, 0.003)
            << row.network << ", " << row.way << ": memory";
    }
}

}  // namespace
}  // namespace prismopt
