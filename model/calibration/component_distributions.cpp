#include "model/calibration/component_distributions.hpp"

#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

std::string source_of(const std::string& what, const Calibration& calibration)
{
    return what + "; prismopt calibrate, " + calibration.source;
}

DistributionFit lognormal_of(const Component& component, const std::string& source)
{
    DistributionFit fit = constant_distribution(source);
    fit.distribution.family = LogNormal{std::sqrt(std::expm1(component.variance))};
    fit.family = "lognormal";
    fit.values = static_cast<std::size_t>(component.units);
    fit.claims_to = highest_claim(fit.values);
    return fit;
}

void add_component(const ComponentKey& key, const Component& component,
                   const std::function<DistributionFit()>& fit, Calibration& result)
{
    // standard deviation of logarithms that moves no quantile by half a per cent
    constexpr double nothing = 0.001;
    constexpr double no_spread = 0.01;  // upper limit of one that is as good as zero
    const double highest = std::sqrt(component.high);
    if (component.present && highest > nothing) {
        add_distribution(result, {key.key, fit()});
    } else if (component.unknown) {
        result.left.push_back({key.key, *component.unknown});
    } else if (highest > no_spread) {
        result.left.push_back({key.key, FewUnits{key.between}});
    } else {
        const std::string what = std::string("no significant differences between ") + key.between;
        DistributionFit none = constant_distribution(source_of(what, result));
        none.values = static_cast<std::size_t>(component.units);
        add_distribution(result, {key.key, none});
    }
}

void add_slow_steps(const SlowMode& slow_steps, Calibration& result)
{
    if (slow_steps.probability == 0.0) {
        return;
    }
    const auto is_stage = [](const CalibratedDistribution& d) { return d.key == "stage"; };
    if (std::none_of(result.distributions.begin(), result.distributions.end(), is_stage)) {
        add_distribution(result, {"stage", constant_distribution(source_of("GPUs in a step", result))});
    }
    DistributionFit& fit =
        std::find_if(result.distributions.begin(), result.distributions.end(), is_stage)->fit;
    fit.distribution.slow = slow_steps;
    fit.distribution.source += "; slow: steps in which a GPU throttles";
}

}  // namespace prismopt
