#pragma once

/// A scenario of a few GPUs whose plans are judged in milliseconds, with `[space]` and
/// `[search]` for each test to give.

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// `space`: with the stages of a replica next to each other if it does not say otherwise.
inline Scenario tiny_scenario(const std::string& space, const std::string& search = "", int second_batch = 16)
{
    return parse_scenario(R"(name = "tiny"
seed = 3

[workload]
name = "gpt-tiny"
layers = 4
hidden = 512
heads = 8
kv_heads = 8
feed_forward = 2048
vocabulary = 32000
activation = "gelu"
normalisation = "layer_norm"
attention = "flash"
causal = true
tied_embedding = true
dropout = false

[[phase]]
tokens = 1e9
sequence_length = 512
global_batch = 8

[[phase]]
tokens = 1e8
sequence_length = 1024
global_batch = )" + std::to_string(second_batch) +
                              R"(

[software]
name = "reference"

[cluster]
accelerator = "a100-sxm-40gb"
gpus = 24
gpu_price = "1.50 USD/h"

[[cluster.tier]]
name = "node"
link = "nvlink3"
group = 6

[[cluster.tier]]
name = "cluster"
link = "ib-hdr"

[variability]
profile = "hpc-2024"

[reliability]
node_failure_rate = "6.5e-3 /day"
restart = "5 min"
checkpoint_interval = "1 min"
checkpoint_write = "5 s"

[objectives]
minimise = ["training_time_p99", "step_time_mean", "memory"]

[space]
)" + space + (space.find("order = ") == std::string::npos ? "\norder = [\"tp-pp-dp\"]" : "") +
                              "\n[search]\n" + search,
                          "tiny.toml");
}

}  // namespace prismopt
