#pragma once

/// Sources of step-time variability, and tables with one source removed.

#include "model/distribution/noise_tables.hpp"
#include "model/distribution/variability.hpp"
#include "model/hardware/hardware.hpp"

#include <span>
#include <string>
#include <vector>

namespace prismopt {

enum class NoiseKind {
    residual,
    common_step,
    common_compute,
    common_communication,
    microbatch,
    operation,
    expert_imbalance,
    gpu,
    node,
    stage,
    site,
    lengths,
    tier
};

/// One source of variability.
struct NoiseSource {
    NoiseKind kind = NoiseKind::residual;
    std::size_t index = 0;  // of residual: the kernel class; of tier: its index
    std::string name;       // as in scenarios: "gemm", "common_compute", "rack.variability"
};

/// Returns all sources on a network with these tiers, in order of declaration, whether they vary or not.
std::vector<NoiseSource> noise_sources(std::span<const NetworkTier> tiers);

/// Returns the distribution of a source; constant if none is given, and for lengths of
/// samples, which are no factors.
const Distribution& distribution_of(const NoiseSource& source, const Variability& variability);

/// Returns the tables with the source's distribution replaced by its mean, one. All else is unchanged.
/// Without that of lengths, all microbatches have the mean tokens and the mean attention.
NoiseTables without(NoiseTables tables, const NoiseSource& source);

/// Returns whether the source acts through a plan's graph or its summary alone, so that steps without it
/// use the same tables and draws.
bool is_of_graph(const NoiseSource& source);

}  // namespace prismopt
