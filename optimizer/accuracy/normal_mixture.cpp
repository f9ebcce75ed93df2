#include "optimizer/accuracy/normal_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

double below_normal(const NormalPart& part, double value)
{
    if (part.deviation == 0.0) {
        const double at_most = part.mean <= value ? 0.5 : 0.0;
        return at_most + (part.mean < value ? 0.5 : 0.0);
    }
    return 0.5 * std::erfc((part.mean - value) / (part.deviation * std::sqrt(2.0)));
}

double weight_below(std::span<const NormalPart> parts, double value)
{
    double sum = 0.0;
    for (const NormalPart& part : parts) {
        sum += part.weight * below_normal(part, value);
    }
    return sum;
}

}  // namespace

double mixture_probability(std::span<const NormalPart> parts, double below)
{
    double weights = 0.0;
    for (const NormalPart& part : parts) {
        weights += part.weight;
    }
    return weight_below(parts, below) / weights;
}

double mixture_quantile(std::span<const NormalPart> parts, double probability)
{
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double weights = 0.0;
    constexpr double beyond = 9.0;  // deviations: 1e-19 lies outside
    for (const NormalPart& part : parts) {
        low = std::min(low, part.mean - beyond * part.deviation);
        high = std::max(high, part.mean + beyond * part.deviation);
        weights += part.weight;
    }
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (weight_below(parts, middle) < probability * weights ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace prismopt
