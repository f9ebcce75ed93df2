#pragma once

/// Failure rates from a list of outages. docs/methods/calibration.md.

#include <string>
#include <vector>

namespace prismopt {

/// One outage of a node.
struct Outage {
    std::string node;
    std::string cause;  // empty: unknown
    double start_s = 0.0;
    double end_s = -1.0;  // before the start: unknown
};

/// Nodes and time that the list covers.
struct Watch {
    int nodes = 0;
    double seconds = 0.0;  // zero: from the first to the last start
};

/// Fit of one cause.
struct CauseFit {
    std::string name;
    std::size_t count = 0;
    double per_node_day = 0.0;
    double low = 0.0;  // 95 % confidence interval of the rate, exact for a Poisson process
    double high = 0.0;
    double gap_cv = 1.0;     // of the gaps between its failures
    bool clustered = false;  // gaps vary significantly more than those of a Poisson process
    double repair_s = 0.0;   // mean; zero: unknown
    double repair_cv = 0.0;
};

/// Fit of all causes.
struct FailureFit {
    std::vector<CauseFit> causes;  // most frequent first; rare ones joined as "other"
    double node_cv = 0.0;          // cv of the nodes' rates: counts by node are negative binomial
    Watch watch;
    std::size_t together = 0;  // outages that start at the same time as another
};

/// Fits rates, clusters and repairs. Confidence intervals: chi-squared (Garwood, Biometrika 28 (1936) 437-442). Clusters: a cv of
/// gaps above 1 by more than two standard errors, 1/sqrt(n) for exponential gaps. node_cv: moments of the negative binomial,
/// (variance - mean) / mean^2.
FailureFit fit_failures(const std::vector<Outage>& outages, const Watch& watch);

}  // namespace prismopt
