#pragma once

/// Residuals of replicas: the excess of a replica's step over its longest critical path, fitted to simulated
/// replicas. docs/methods/sampling.md.

#include "model/base/random.hpp"

#include <span>

namespace prismopt {

/// Residual of one simulated replica, in seconds.
struct ReplicaResidual {
    double path;
    double beyond;  // simulated time beyond the path
};
/// Distribution of the time beyond the path: at_zero + slope * path + deviation * Z.
struct ReplicaResidualDistribution {
    Lanes<float> at_zero;  // by lane: level that the replicas of a draw share
    float slope;
    float deviation;
    double skewness;
};

/// Fits slope, deviation and skewness by least squares within draws (lanes). A draw's level is the mean of
/// its few simulated replicas, shrunk towards that of all draws by the share of its variance that is not
/// noise: the best linear predictor of a random effect (Robinson, Stat. Sci. 6 (1991) 15-32). Sums in a fixed
/// order. `residuals`: the same number of replicas (two or more) in each lane, [replica * lanes + lane].
ReplicaResidualDistribution fit_replica_residuals(std::span<const ReplicaResidual> residuals);

}  // namespace prismopt
