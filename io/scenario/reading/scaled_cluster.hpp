#pragma once

/// Clusters whose constants are multiplied by factors.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Whether the cluster uses a constant: that of its stack, its library of collectives, its
/// accelerator or one of its links.
bool uses(const Cluster& cluster, const FittedConstant& constant);

/// The cluster with a constant multiplied by `factor`, if the cluster uses that constant: of its accelerator
/// or stack by name, of a tier by its link or its numbers. Otherwise the cluster unchanged.
Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor);

/// The link that a tier was made from, or whose numbers it has: a scenario names its
/// tiers as it likes. Empty: of none.
std::string link_of(const NetworkTier& tier, const SoftwareStack& stack);

/// The cluster with all times of a step multiplied by `factor`: kernels, launches,
/// transfers, and what a step takes once.
Cluster slowed(Cluster cluster, double factor);

/// The cluster with learned factors of its constants, and of all times.
Cluster with_learned(Cluster cluster, const std::vector<LearnedConstant>& constants, double time);
/// Its inverse: the cluster with the constants of the catalog.
Cluster without_learned(Cluster cluster);

}  // namespace prismopt
