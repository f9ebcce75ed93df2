#include "optimizer/accuracy/normal_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

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
        double below = 0.0;
        for (const NormalPart& part : parts) {
            below += part.weight * 0.5 * std::erfc((part.mean - middle) / (part.deviation * std::sqrt(2.0)));
        }
        (below < probability * weights ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace prismopt
