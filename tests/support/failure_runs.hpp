#pragma once

/// Many histories of one failure model, for tests.

#include "model/run/histories.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace prismopt {

inline constexpr double minute = 60.0;
inline constexpr double hour = 3600.0;
inline constexpr double day = 86400.0;

inline const QuantileTable& exponential_gaps()
{
    static const QuantileTable table(
        [](double p, bool upper) { return upper ? -std::log(p) : -std::log1p(-p); });
    return table;
}

/// One Poisson process, blocking writes.
inline FailureModel poisson(double rate, double restart_s, double interval_s, double write_s)
{
    FailureModel model;
    if (rate > 0.0) {
        FailureModel::Source source;
        source.rate = rate;
        source.restart_s = restart_s;
        model.sources.push_back(source);
    }
    model.interval_s = interval_s;
    model.stall_s = write_s;
    return model;
}

struct Simulated {
    double mean;
    double error;  // standard error of the mean
    Histories runs;
};
inline Simulated simulate(double productive_s, const FailureModel& model, int histories,
                          std::uint64_t seed = 1)
{
    FailureTables tables(exponential_gaps());
    const RunSegment segment{model, 1,
                             std::vector<double>(static_cast<std::size_t>(histories), productive_s)};
    Simulated result{0.0, 0.0, sample_histories({&segment, 1}, 8, tables, seed, Purpose::search)};
    const std::vector<double>& t = result.runs.seconds;
    result.mean = std::accumulate(t.begin(), t.end(), 0.0) / histories;
    double squares = 0.0;
    for (const double s : t) {
        squares += (s - result.mean) * (s - result.mean);
    }
    result.error = std::sqrt(squares / (histories - 1.0) / histories);
    return result;
}

}  // namespace prismopt
