#pragma once

/// Quantile tables for histories of failures, compiled on first use.

#include "model/distribution/quantile_table.hpp"
#include "model/run/reliability.hpp"

#include <map>
#include <utility>

namespace prismopt {

/// Tables by family and cv. All except first gaps have mean one. References stay valid as
/// long as this object. Its functions may add tables: call them from one thread at a time.
class FailureTables {
public:
    /// `exponential`: table of mean one (NoiseTables::exponential), which must outlive this object.
    explicit FailureTables(const QuantileTable& exponential) : exponential_(&exponential) {}

    /// Gaps between failures.
    const QuantileTable& gaps(const GapDistribution& distribution);
    /// Time from the start of a run to a cause's first failure, in mean gaps: the residual gap of a
    /// stationary process. Timetables begin with the run.
    const QuantileTable& first_gaps(const GapDistribution& distribution);
    const QuantileTable& repair(double cv);  // lognormal
    // Gamma: of the nodes' rates together, or of what is known of a cause's rate.
    const QuantileTable& rate(double cv);

private:
    const QuantileTable* exponential_;
    std::map<std::pair<GapFamily, double>, QuantileTable> gaps_;
    std::map<std::pair<GapFamily, double>, QuantileTable> first_gaps_;
    std::map<double, QuantileTable> repair_;
};

}  // namespace prismopt
