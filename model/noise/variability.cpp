#include "model/noise/variability.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

bool quantiles_reach_means(const Variability& v, double probability, std::span<const NetworkTier> tiers)
{
    std::vector<const Law*> laws{&v.gpu,   &v.node,      &v.site, &v.common_step, &v.common_compute, &v.common_communication,
                                 &v.stage, &v.microbatch};
    for (const Law& law : v.residual) {
        laws.push_back(&law);
    }
    for (const NetworkTier& tier : tiers) {
        laws.push_back(&tier.regime);
    }
    return std::all_of(laws.begin(), laws.end(), [probability](const Law* law) {
        const LawQuantile quantile(*law);
        constexpr double rounding = 1e-9;
        return quantile.constant() || quantile(1.0 - probability, true) >= 1.0 - rounding;
    });
}

}  // namespace prismopt
