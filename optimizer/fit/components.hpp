#pragma once

/// What measured components, collectives and kernels, say of constants that training
/// steps determine too, and of others.

#include "optimizer/accuracy/kernel_fit.hpp"
#include "optimizer/fit/network_constants.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct Components {
    std::vector<MeasuredCollective> collectives;
    std::vector<MeasuredKernel> kernels;
    NetworkFit network;
    std::vector<KernelShare> shares;
};

/// Fits the constants of the collectives and kernels of a folder.
Components fit_components(const std::string& folder);

/// The constant of a share that kernels determine.
FitConstant constant_of(const KernelShare& share);

/// Adds what components measure, as observations, to the constants that training steps also have.
std::vector<FitConstant> observed(std::vector<FitConstant> constants, const Components& components);

}  // namespace prismopt
