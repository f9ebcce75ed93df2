#pragma once

/// What Megatron Core can run, for those that launch it: Megatron-LM and Megatron-Bridge.

#include "io/export/launch.hpp"

#include <string>

namespace prismopt {

/// Why Megatron Core cannot run the plan; empty: it can.
Refusals megatron_refusals(const Launch& launch);

/// Whether it needs --use-tp-pp-dp-mapping: without, it has replicas inside and stages outermost.
bool replicas_outermost(const ParallelPlan& plan);

/// How the layers go to the stages.
struct MegatronLayers {
    bool account_for_ends = false;  // embedding and loss head count as a layer each, and all divides evenly
    std::string layout;             // else, as --pipeline-model-parallel-layout takes it; empty: all divides evenly
};
MegatronLayers megatron_layers(const Launch& launch);

/// Layers that each chunk recomputes with recompute = full; 0: all.
int recomputed_per_chunk(const Launch& launch);

}  // namespace prismopt
