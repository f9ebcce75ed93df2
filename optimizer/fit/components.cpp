#include "optimizer/fit/components.hpp"

namespace prismopt {

namespace {

/// A system of collectives counts as a source of steps: deviations of the fit of collectives are those of
/// systems that are 5 % off, where steps count as 1.5 % off (least_squares.cpp).
constexpr double of_a_source = 0.3;

/// Rate of backward passes of fused attention over that of forward ones. Assumption, within what the
/// papers on FlashAttention-2 and 3 plot (Dao, arXiv 2307.08691; Shah et al., arXiv 2407.08608): no table
/// of kernels has backward passes.
constexpr double backward_over_forward = 0.8;
constexpr double backward_deviation = 0.15;

void observe(std::vector<FitConstant>& constants, const FitConstant& component, double deviation)
{
    for (FitConstant& constant : constants) {
        if (constant.is(component)) {
            constant.observations.push_back({component.value, deviation});
        }
    }
}

}  // namespace

Components fit_components(const std::string& folder)
{
    Components components;
    components.collectives = read_measured_collectives(folder).rows;
    components.kernels = read_measured_kernels(folder).rows;
    components.network = fit_network(components.collectives);
    components.shares = fit_kernels(components.kernels);
    return components;
}

FitConstant constant_of(const KernelShare& share)
{
    return {accelerators_file, share.accelerator, {share.accelerator}, share.key, share.value, 0.0, 1.0};
}

std::vector<FitConstant> observed(std::vector<FitConstant> constants, const Components& components)
{
    const NetworkFit& network = components.network;
    for (std::size_t k = 0; k < network.constants.size(); ++k) {
        observe(constants, network.constants[k], of_a_source * network.deviation[k]);
    }
    for (const KernelShare& share : components.shares) {
        observe(constants, constant_of(share), share.deviation);
        if (share.key == "attention") {
            FitConstant backward = constant_of(share);
            backward.key = "attention_backward";
            backward.value *= backward_over_forward;
            observe(constants, backward, backward_deviation);
        }
    }
    return constants;
}

}  // namespace prismopt
