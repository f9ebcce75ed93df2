#include "optimizer/accuracy/normal_mixture.hpp"

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
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double weights = 0.0;
    constexpr double beyond = 9.0;  // deviations: 1e-19 lies outside
    for (const NormalComponent& component : components) {
        low = std::min(low, component.mean - beyond * component.deviation);
        high = std::max(high, component.mean + beyond * component.deviation);
        weights += component.weight;
    }
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (weight_below(components, middle) < probability * weights ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace prismopt
