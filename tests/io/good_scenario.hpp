#pragma once

/// A scenario with every section, for tests to change.

#include <gtest/gtest.h>

#include <string>

namespace prismopt {

inline const std::string good = R"(name = "test"
seed = 7

[workload]
model = "gpt-22b"

[[phase]]
tokens = 3e11
sequence_length = 2048
global_batch = 512

[software]
name = "reference"

[cluster]
accelerator = "a100-sxm-80gb"
gpus = 64
gpu_price = "3.60 USD/h"

[[cluster.tier]]
name = "node"
link = "nvlink3"
group = 8

[[cluster.tier]]
name = "cluster"
link = "ib-hdr"
oversubscription = 2

[memory]
headroom = 0.05

[variability]
profile = "hpc-2024"
node = { family = "gamma", cv = 0.01, slow_probability = 0.001, slow_excess = 0.5, cap = 5, source = "our cluster" }

[variability.residual]
p2p = { family = "empirical", values = [1.0, 2, 3.5] }

[reliability]
node_failure_rate = "8.64e-3 /day"
restart = "10 min"
checkpoint_interval = "0 s"
checkpoint_write = "30 s"
source = "assumption"

[space]
gpus = { from = 16, to = 64, step = 16 }
tp = [8, 1, 2]
pp = [1, 2]
schedule = ["1f1b", "interleaved"]
order = ["tp-dp-pp", "tp-pp-dp"]

[objectives]
minimise = ["training_time_p99", "cost"]

[search]
rungs = [{ fleets = 64, steps = 2 }, { fleets = 256, steps = 2 }]
confirm = { fleets = 512, steps = 4 }
)";

/// The good scenario with the first `from` replaced by `to`.
inline std::string with(const std::string& from, const std::string& to)
{
    const auto at = good.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(good).replace(at, from.size(), to);
}

}  // namespace prismopt
