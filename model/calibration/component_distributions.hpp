#pragma once

/// Distributions of the variance components of a calibration.

#include "model/calibration/calibration.hpp"

#include <functional>
#include <string>

namespace prismopt {

/// Returns the source of a distribution: what was measured, and in which files.
std::string source_of(const std::string& what, const Calibration& calibration);

/// Returns the lognormal distribution of a component without values of its own to fit, as
/// several operations share a draw.
DistributionFit lognormal_of(const Component& component, const std::string& source);

/// A variance component as a distribution of [variability]. `between`: what varies.
struct ComponentKey {
    const char* key;
    const char* between;
};

/// Adds the distribution of a component: that of `fit` if the component is there, a constant if it is known
/// to be as good as zero. Otherwise the distribution is left to the profile, with the reason.
void add_component(const ComponentKey& key, const Component& component,
                   const std::function<DistributionFit()>& fit, Calibration& result);

/// Adds the steps in which a GPU throttles, as the slow mode of "stage": as often as
/// they are among all GPUs' steps.
void add_slow_steps(const SlowMode& slow_steps, Calibration& result);

}  // namespace prismopt
