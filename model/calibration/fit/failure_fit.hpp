#pragma once

/// Failure rates from a list of outages.

#include <string>
#include <vector>

namespace prismopt {

struct Outage {
    std::string node;
    std::string cause;  // empty: not told
    double start_s = 0.0;
    double end_s = -1.0;  // before the start: not told
};

/// What was watched.
struct Watch {
    int nodes = 0;
    double seconds = 0.0;  // zero: from the first to the last start
};

struct CauseFit {
    std::string name;
    std::size_t count = 0;
    double per_node_day = 0.0;
    double low = 0.0;  // 95 % limits of the rate, exact for a Poisson process
    double high = 0.0;
    double gap_cv = 1.0;     // of the gaps between its failures
    bool clustered = false;  // gaps vary more than a Poisson process' beyond chance
    double repair_s = 0.0;   // mean; zero: not told
    double repair_cv = 0.0;
};

struct FailureFit {
    std::vector<CauseFit> causes;  // most frequent first; rare ones together as "other"
    double node_cv = 0.0;          // of the nodes' own rates: counts by node are negative binomial
    Watch watch;
    std::size_t together = 0;  // outages that start with another
};

/// Intervals: chi-squared, Garwood, Biometrika 28 (1936) 437-442. Clusters: gaps' cv above 1 by more than two standard errors, 1/sqrt(n)
/// of exponential gaps. node_cv: moments of the negative binomial, (variance - mean) / mean^2.
FailureFit fit_failures(const std::vector<Outage>& outages, const Watch& watch);

}  // namespace prismopt
