#pragma once

/// Settings of Megatron Core that follow from a plan, for its rules and for the exports to
/// Megatron-LM and Megatron-Bridge.

#include "io/trainers/trainer.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Whether the plan needs --use-tp-pp-dp-mapping; without it, Megatron puts stages outermost.
bool replicas_outermost(const PlannedPhase& of);

/// Consecutive microbatches of a chunk with schedule = interleaved.
int interleaved_group(const ParallelPlan& plan, const Phase& phase);

/// Layers that each chunk recomputes with recompute = full; 0: all; negative: they do not
/// divide evenly among the chunks.
int recomputed_per_chunk(const ParallelPlan& plan);

/// Modules that recompute = selective recomputes: --recompute-modules.
std::vector<std::string> recomputed_modules(const ParallelPlan& plan);

/// --cp-comm-type: how context-parallel GPUs exchange.
std::string context_exchange_name(const ParallelPlan& plan);

/// "rope", "learned_absolute" or "none", derived from the network.
std::string position_embedding(const Workload& workload);

/// Whether tokens are dispatched with DeepEP: the plan has it, or leaves it to a software
/// stack that has it, and ep > 1.
bool uses_deepep(const ParallelPlan& plan, const Cluster& cluster);
/// --moe-token-dispatcher-type
std::string token_dispatcher(const ParallelPlan& plan, const Cluster& cluster);

/// A setting of Megatron-LM that a value of an axis needs, and that states no axis itself.
struct NeededSetting {
    std::string_view name;
    std::string_view value;  // empty: a flag
    std::string_view axis;   // whose value needs it
    bool (*needed)(const PlannedPhase&);
    bool exclusive = false;  // it is refused with other plans
};
std::span<const NeededSetting> needed_settings();

/// What a plan needs of CUDA_DEVICE_MAX_CONNECTIONS, the number of queues between host and GPU: `one` keeps
/// kernels in the order of their launches, so that exchanges start before the products that they overlap.
enum class DeviceConnections { any, one, several, many };
DeviceConnections device_connections(const PlannedPhase& of);
/// A value of the variable that fulfils it; empty for any.
std::string_view value_of(DeviceConnections connections);
/// Whether a value of the variable fulfils it.
bool fulfils(std::string_view value, DeviceConnections connections);
/// "CUDA_DEVICE_MAX_CONNECTIONS unset or more than 1"; empty for any.
std::string words_of(DeviceConnections connections);
inline constexpr const char* device_connections_variable = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Whether an accelerator is one of AMD's Instinct series: mi300x.
bool is_instinct(const Accelerator& accelerator);

}  // namespace prismopt
