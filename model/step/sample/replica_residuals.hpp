#pragma once

/// What the simulated replicas of a block tell about the others: how a replica's step exceeds its longest critical path.

#include "model/base/random.hpp"

#include <span>

namespace prismopt {

struct ReplicaResidual {
    double path;
    double beyond;  // simulated time beyond the path
};
/// Time beyond the path: at_zero + slope * path + deviation * Z.
struct ReplicaResidualLaw {
    Lanes<float> at_zero;  // by lane: what the replicas of a draw share beyond their paths
    float slope;
    float deviation;
    double skewness;
};

/// Least squares within draws (lanes): slope, deviation and skewness. A draw's own level is the mean of its few simulated
/// replicas, shrunk towards that of all draws by the share of its scatter that is real: the best linear predictor of a
/// random effect (Robinson, Stat. Sci. 6 (1991) 15-32). Sums in order.
/// `residuals`: the same number of replicas (two or more) in each lane, [replica * lanes + lane].
ReplicaResidualLaw fit_replica_residuals(std::span<const ReplicaResidual> residuals);

}  // namespace prismopt
