#pragma once

/// CUSUM charts, upwards and downwards (Page, Biometrika 41 (1954) 100-115). docs/methods/watch.md.

#include <array>
#include <cstdint>
#include <optional>

namespace prismopt {

/// Limit of a one-sided chart with this allowance (k) for a mean run length to a false alarm, in scores; by
/// Siegmund's approximation (Sequential Analysis, Springer 1985).
double cusum_limit(double allowance, double run_length);

/// Two charts of scores with mean 0 and standard deviation 1.
class CusumCharts {
public:
    /// What a score over the allowance adds at most, so that few scores cannot raise
    /// an alarm however large they are.
    static constexpr double most = 3.0;

    CusumCharts() = default;
    /// `run_length`: mean number of scores to a false alarm of either chart.
    CusumCharts(double allowance, double run_length);

    /// Changes allowance and limit; the sums stay.
    void set(double allowance, double run_length);
    /// Adds a score; of an alarm, returns the number of scores since the sum was
    /// zero. Both charts begin again then.
    std::optional<std::int64_t> add(double score);

private:
    struct Chart {
        double direction = 1.0;
        double sum = 0.0;
        std::int64_t length = 0;  // scores since the sum was zero
    };
    double allowance_ = 0.0;
    double limit_ = 0.0;
    std::array<Chart, 2> charts_{{{.direction = 1.0}, {.direction = -1.0}}};
};

}  // namespace prismopt
