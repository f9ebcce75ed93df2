#include "optimizer/accuracy/normal_mixture.hpp"

#include "model/base/root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

double below_normal(const NormalComponent& component, double value)
{
    if (component.deviation == 0.0) {
        const double at_most = component.mean <= value ? 0.5 : 0.0;
        return at_most + (component.mean < value ? 0.5 : 0.0);
    }
    return 0.5 * std::erfc((component.mean - value) / (component.deviation * std::sqrt(2.0)));
}

double weight_below(std::span<const NormalComponent> components, double value)
{
    double sum = 0.0;
    for (const NormalComponent& component : components) {
        sum += component.weight * below_normal(component, value);
    }
    return sum;
}

}  // namespace

double mixture_probability(std::span<const NormalComponent> components, double below)
{
    double weights = 0.0;
    for (const NormalComponent& component : components) {
        weights += component.weight;
    }
    return weight_below(components, below) / weights;
}

double mixture_quantile(std::span<const NormalComponent> components, double probability)
{
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Bracket range{infinite, -infinite};
    double weights = 0.0;
    constexpr double beyond = 9.0;  // deviations: 1e-19 lies outside
    for (const NormalComponent& component : components) {
        range.low = std::min(range.low, component.mean - beyond * component.deviation);
        range.high = std::max(range.high, component.mean + beyond * component.deviation);
        weights += component.weight;
    }
    const auto is_less = [&](double x) { return weight_below(components, x) < probability * weights; };
    return bisect(range, {.halvings = 60}, is_less).middle();
}

}  // namespace prismopt
