#pragma once

/// What makes a step vary, source by source, and a step without one of them.

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
    tier
};

struct NoiseSource {
    NoiseKind kind = NoiseKind::residual;
    std::size_t index = 0;  // of residual: its kernel class; of tier: its place
    std::string name;       // as scenarios spell it: "gemm", "common_compute", "rack.variability"
};

/// All there are on such a network, in the order of their declarations, whether they vary or not.
std::vector<NoiseSource> noise_sources(std::span<const NetworkTier> tiers);

/// The distribution; constant where none is given.
const Law& law_of(const NoiseSource& source, const Variability& variability);

/// The tables with the source's law made its mean, always one. Nothing else is computed again.
NoiseTables without(NoiseTables tables, const NoiseSource& source);

/// Whether the source acts through a plan's graph or its summary alone, so that such steps are drawn from the tables with it, and share their draws.
bool is_of_graph(const NoiseSource& source);

}  // namespace prismopt
