#include "model/noise/variability.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {

namespace {

std::vector<const Law*> all_laws(const Variability& v, std::span<const NetworkTier> tiers)
{
    std::vector<const Law*> laws{
        &v.gpu,   &v.node,       &v.site,      &v.common_step,     &v.common_compute, &v.common_communication,
        &v.stage, &v.microbatch, &v.operation, &v.expert_imbalance};
    for (const std::optional<Law>& law : v.residual) {
        if (law) {
            laws.push_back(&*law);
        }
    }
    for (const NetworkTier& tier : tiers) {
        laws.push_back(&tier.regime);
    }
    return laws;
}

}  // namespace

const Law& residual_law(const Variability& variability, KernelClass kernel)
{
    const std::optional<Law>& own = variability.residual[static_cast<std::size_t>(kernel)];
    const KernelClass outer = row_of(kernel).within;
    static const Law constant;
    return own ? *own : outer == kernel ? constant : residual_law(variability, outer);
}

bool quantiles_reach_means(const Variability& variability, double probability, std::span<const NetworkTier> tiers)
{
    const std::vector<const Law*> laws = all_laws(variability, tiers);
    return std::all_of(laws.begin(), laws.end(), [probability](const Law* law) {
        const LawQuantile quantile(*law);
        constexpr double rounding = 1e-9;
        return quantile.constant() || quantile(1.0 - probability, true) >= 1.0 - rounding;
    });
}

double largest_skewness(const Variability& variability, std::span<const NetworkTier> tiers)
{
    double largest = 0.0;
    for (const Law* law : all_laws(variability, tiers)) {
        const LawQuantile quantile(*law);
        if (!quantile.constant()) {
            const Moments moments = quantile.moments();
            largest = std::max(largest, moments.third / (moments.variance * std::sqrt(moments.variance)));
        }
    }
    return largest;
}

}  // namespace prismopt
