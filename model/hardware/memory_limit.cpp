#include "model/hardware/memory_limit.hpp"

#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

MemoryLimit with_probability(MemoryLimit limit, double probability)
{
    limit.probability = probability;
    return limit;
}

MemoryLimit least_limit(const MemoryLimit& limit)
{
    return with_probability(limit, std::min(limit.probability, least_fit_probability));
}

Bytes usable_memory(const MemoryLimit& limit, Bytes memory) { return memory * (1.0 - limit.headroom); }

Bytes memory_capacity(const MemoryLimit& limit, Bytes memory)
{
    if (limit.probability <= 0.0) {
        return Bytes{std::numeric_limits<double>::infinity()};
    }
    const double margin = limit.deviation > 0.0 ? limit.deviation * normal_quantile(limit.probability) : 0.0;
    return usable_memory(limit, memory) * std::exp(-limit.bias - margin);
}

double fit_probability(const MemoryLimit& limit, Bytes predicted, Bytes memory)
{
    const double distance = std::log(usable_memory(limit, memory) / predicted) - limit.bias;
    if (limit.deviation <= 0.0) {
        return distance >= 0.0 ? 1.0 : 0.0;
    }
    return normal_probability(distance / limit.deviation);
}

PeakInterval interval_of_peak(const MemoryLimit& limit)
{
    return {std::exp(limit.bias - two_sided_95 * limit.deviation),
            std::exp(limit.bias + two_sided_95 * limit.deviation)};
}

}  // namespace prismopt
