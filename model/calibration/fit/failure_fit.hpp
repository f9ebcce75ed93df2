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
    double low = 0.0;  // 95 % interval of the rate: RatePosterior
    double high = 0.0;
    double rate_cv = 0.0;    // standard deviation of the rate, over the rate
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

/// What the starts of failures say about their rate, if gaps are gamma or Weibull: clustered failures say
/// less than a Poisson process of as many.
struct RatePosterior {
    double low = 0.0;  // 2.5 and 97.5 % quantiles
    double high = 0.0;
    double cv = 0.0;
};
/// Returns the posterior of a stationary renewal process that is watched from `begin_s` to `end_s`: both
/// families equally likely, the cv of gaps lognormal around 1 with deviation 0.75, all magnitudes of the rate
/// equally likely. Failures that start together count as one, of random size. docs/methods/calibration.md.
RatePosterior rate_posterior(std::vector<double> starts_s, double begin_s, double end_s);

/// Fits rates, clusters and repairs. Intervals of rates: rate_posterior(). Clusters: a cv of
/// gaps above 1 by more than two standard errors, 1/sqrt(n) for exponential gaps. node_cv: moments of the
/// negative binomial, (variance - mean) / mean^2.
FailureFit fit_failures(const std::vector<Outage>& outages, const Watch& watch);

}  // namespace prismopt
