#include "optimizer/schedule_study/gpt_on_a100.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr const char* scenario = R"(name = "schedules"
seed = 1
[workload]
name = "gpt"
layers = {layers}
hidden = {hidden}
heads = {heads}
kv_heads = {heads}
feed_forward = {feed_forward}
vocabulary = 51200
activation = "gelu"
normalisation = "layer_norm"
attention = "{attention}"
causal = true
tied_embedding = true
dropout = false
[[phase]]
tokens = 1e10
sequence_length = 1024
global_batch = {global_batch}
[cluster]
accelerator = "a100-sxm-80gb"
{stack}
gpus = 16
gpu_price = "1.50 USD/h"
[[cluster.tier]]
name = "node"
link = "nvlink3"
group = {node}
[[cluster.tier]]
name = "cluster"
link = "roce-200g"
[variability]
profile = "hpc-2024"
[reliability]
node_failure_rate = "6.5e-3 /day"
restart = "5 min"
checkpoint_interval = "30 min"
checkpoint_write = "5 s"
[space]
gpus = [{stages}]
pp = [{stages}]
[objectives]
minimise = ["training_time_p99"]
[search]
rungs = [{{ fleets = 64, steps = 1 }}]
confirm = {{ fleets = 64, steps = 1 }}
)";

}  // namespace

Scenario gpt_on_a100(const GptOnA100& job)
{
    using namespace fmt::literals;
    const std::string stack = job.stack.empty() ? "" : fmt::format("stack = \"{}\"", job.stack);
    return parse_scenario(fmt::format(scenario, "layers"_a = job.layers, "hidden"_a = job.hidden, "heads"_a = job.heads,
                                      "feed_forward"_a = 4 * job.hidden, "attention"_a = job.attention,
                                      "global_batch"_a = job.global_batch, "stack"_a = stack, "node"_a = job.node,
                                      "stages"_a = job.stages),
                          "the study of schedules");
}

}  // namespace prismopt
