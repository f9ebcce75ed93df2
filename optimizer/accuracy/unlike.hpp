#pragma once

/// How far the numbers of machines are from those that were measured, and from each other.

#include "model/hardware/hardware.hpp"

namespace prismopt {

struct FittedModel;

/// The cluster as the catalog has its accelerator and links, with what was learned of them.
Cluster as_in_catalog(const Cluster& cluster);

/// Distance of the numbers that determine kernel times, 0 to 1, as
/// unlike_catalog() (model_interval.hpp) says.
double unlike(const Accelerator& a, const Accelerator& b);

/// Constants of links whose distances count together.
enum class LinkConstants { bandwidth, latency };

/// The same distance of a tier; one if `link` has no entry in the catalog.
double unlike_link(const NetworkTier& tier, const NetworkTier& link, LinkConstants of);

/// Whether runs on the accelerator are in the fit.
bool knows(const FittedModel& model, const Accelerator& accelerator);

/// No measured run had the software that a user describes.
bool has_own_software(const Cluster& cluster);

/// How much slower a tier with other numbers than its link, or without a link, may be.
inline constexpr double slower_tier = 2.0;

}  // namespace prismopt
