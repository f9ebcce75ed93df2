#include "io/measured/published_runs.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr Range positive_count{"a count", 1.0, 1e6, "8"};

/// Variability of a well-kept cluster, which a measured run already contains.
constexpr const char* variability = "hpc-2024";

Cluster read_run_cluster(Table& run, int gpus)
{
    Cluster cluster;
    cluster.accelerator = catalog_accelerator(run.at("accelerator", "accelerator = \"h100-sxm\"").text("h100-sxm"));
    cluster.stack = catalog_stack(run.at("stack", "stack = \"megatron-core\"").text("megatron-core"));
    cluster.library = library_of(cluster.stack);
    cluster.accelerator = under(cluster.accelerator, cluster.stack);
    const auto links = run.at("links", R"(links = ["nvlink4", "ib-ndr"])").list(R"(["nvlink4", "ib-ndr"])");
    NetworkTier node = under(catalog_link(links.front().text("nvlink4")), cluster.stack);
    NetworkTier network = under(catalog_link(links.back().text("ib-ndr")), cluster.stack);
    node.group_gpus = 8;  // all accelerators of the table come in servers of eight
    cluster.tiers.push_back(node);
    if (const auto pod = run.find("pod")) {
        network.group_gpus = pod->count(positive_count);
        cluster.tiers.push_back(network);
        network.oversubscription = run.at("oversubscription", "oversubscription = 7").number({"a ratio", 1.0, 100.0, "7"});
    }
    // The last tier covers the job; the smallest is one node.
    network.group_gpus = std::max({gpus, cluster.tiers.back().group_gpus, 8});
    cluster.gpus = network.group_gpus;
    cluster.tiers.push_back(network);
    return cluster;
}

int gpus_of(const std::string& design)
{
    constexpr std::string_view key = "gpus=";
    return std::stoi(design.substr(design.find(key) + key.size()));
}

PublishedRun read_run(const std::string& name, Table run)
{
    PublishedRun result;
    result.name = name;
    result.source = run.at("source", "source = \"...\"").text("a citation");
    result.assumed = run.at("assumed", "assumed = \"...\"").text("what the source does not say");
    result.design = run.at("design", "design = \"gpus=8 tp=8\"").text("gpus=8 tp=8");
    Scenario& scenario = result.scenario;
    scenario.name = name;
    scenario.workload = catalog_workload(run.at("workload", "workload = \"gpt3-175b\"").text("gpt3-175b"));
    scenario.cluster = read_run_cluster(run, gpus_of(result.design));
    scenario.variability = catalog_variability(variability);
    scenario.space.gpus = {scenario.cluster.gpus};
    scenario.phases = {{1e12, run.at("sequence_length", "sequence_length = 2048").count(positive_count),
                        run.at("global_batch", "global_batch = 64").count(positive_count)}};
    if (const auto flag = run.find("sequence_parallel")) {
        result.sequence_parallel = flag->boolean();
    }
    if (const auto time = run.find("step_time")) {
        result.step_time = time->quantity<Seconds>("1.1 s");
    } else {
        result.compute_rate = run.at("compute_rate", "compute_rate = \"400 TFLOP/s\"").quantity<FlopsPerSecond>("400 TFLOP/s");
    }
    run.refuse_unknown_keys();
    return result;
}

}  // namespace

std::vector<PublishedRun> published_runs()
{
    std::vector<PublishedRun> runs;
    const TomlFile& file = catalog_file("published_runs.toml");
    Table all(file.root, file);
    for (const std::string& name : all.keys()) {
        runs.push_back(read_run(name, all.section(name, "a run")));
    }
    return runs;
}

}  // namespace prismopt
