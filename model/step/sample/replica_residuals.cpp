#include "model/step/sample/replica_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

ReplicaResidualDistribution fit_replica_residuals(std::span<const ReplicaResidual> residuals)
{
    const auto replicas = static_cast<int>(residuals.size()) / lanes;
    const double n = replicas;
    Lanes<double> path{};
    Lanes<double> beyond{};
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        path.at[i % lanes] += residuals[i].path / n;
        beyond.at[i % lanes] += residuals[i].beyond / n;
    }
    double spread = 0.0;
    double together = 0.0;
    double scale = 0.0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double d = residuals[i].path - path.at[i % lanes];
        spread += d * d;
        together += d * (residuals[i].beyond - beyond.at[i % lanes]);
        scale += residuals[i].path * residuals[i].path;
    }
    const double slope = spread > 1e-12 * scale ? std::clamp(together / spread, -1.0, 1.0) : 0.0;
    const double freedom = lanes * (n - 1.0);
    double second = 0.0;
    double third = 0.0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double rest =
            residuals[i].beyond - beyond.at[i % lanes] - slope * (residuals[i].path - path.at[i % lanes]);
        second += rest * rest / freedom;
        third += rest * rest * rest / freedom;
    }
    third *= n > 2.0 ? n / (n - 2.0) : 0.0;  // deviations from a mean of n keep (n - 2) / n of it
    double level = 0.0;
    for (int l = 0; l < lanes; ++l) {
        level += (beyond.at[l] - slope * path.at[l]) / lanes;
    }
    double level_variance = 0.0;
    for (int l = 0; l < lanes; ++l) {
        const double d = beyond.at[l] - slope * path.at[l] - level;
        level_variance += d * d / (lanes - 1);
    }
    const double real = level_variance > 0.0 ? std::max(0.0, 1.0 - second / n / level_variance) : 0.0;
    ReplicaResidualDistribution distribution{};
    for (int l = 0; l < lanes; ++l) {
        distribution.at_zero.at[l] =
            static_cast<float>(level + real * (beyond.at[l] - slope * path.at[l] - level));
    }
    distribution.slope = static_cast<float>(slope);
    distribution.deviation = static_cast<float>(std::sqrt(second));
    distribution.skewness = second > 0.0 ? std::clamp(third / (second * std::sqrt(second)), 0.0, 2.0) : 0.0;
    return distribution;
}

}  // namespace prismopt
