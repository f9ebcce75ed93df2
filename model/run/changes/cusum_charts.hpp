#pragma once

/// CUSUM charts of normal scores, upwards and downwards (Page, Biometrika 41 (1954) 100-115). docs/methods/watch.md.

#include <vector>

namespace prismopt {

/// Limit of a one-sided chart with this allowance (k) for a mean run length to a false alarm, in scores; by Siegmund's
/// approximation (Sequential Analysis, Springer 1985).
double cusum_limit(double allowance, double run_length);

/// Six charts: three allowances, two directions.
class CusumCharts {
public:
    CusumCharts() = default;
    /// `observations`: mean number to a false alarm of any chart.
    explicit CusumCharts(double observations);

    /// Adds a score; returns whether a chart exceeds its limit. All begin again then.
    bool add(double score);

private:
    struct Chart {
        double allowance = 0.0;
        double limit = 0.0;
        int direction = 1;
        double sum = 0.0;
    };
    std::vector<Chart> charts_;
};

}  // namespace prismopt
