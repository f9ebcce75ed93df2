#include "model/calibration/trace/waiting.hpp"

#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace prismopt {

double waiting_threshold(std::span<const double> seconds)
{
    constexpr double none = std::numeric_limits<double>::infinity();
    constexpr std::size_t least = 20;
    constexpr double deviations = 4.0;      // a normal distribution has 3e-5 above
    constexpr double finest = 0.01;         // clocks tick: transfers that seem equal are not
    constexpr double least_waiting = 0.01;  // part of all
    constexpr double least_ratio = 3.0;     // transfers of two sizes are nearer
    if (seconds.size() < least) {
        return none;
    }
    std::vector<double> logs(seconds.size());
    std::transform(seconds.begin(), seconds.end(), logs.begin(), [](double x) { return std::log(x); });
    std::sort(logs.begin(), logs.end());
    const Otsu split = otsu(logs);
    if (!(split.separation > 0.0)) {
        return none;  // all equal
    }
    std::size_t kept = 0;
    double threshold = split.threshold;
    constexpr int most_rounds = 50;
    for (int round = 0; round < most_rounds; ++round) {
        const auto below =
            static_cast<std::size_t>(std::upper_bound(logs.begin(), logs.end(), threshold) - logs.begin());
        if (below == kept || below == 0) {
            break;
        }
        kept = below;
        const std::span<const double> transfers = std::span<const double>(logs).first(kept);
        constexpr double one_below = 0.158655;  // probability of less than a standard deviation below
        const double median = quantile_of(transfers, 0.5);
        threshold = median + deviations * std::max(finest, median - quantile_of(transfers, one_below));
    }
    const std::size_t waiting = logs.size() - kept;
    const auto mean_of_exponentials = [&](std::size_t from, std::size_t to) {
        double sum = 0.0;
        for (std::size_t i = from; i < to; ++i) {
            sum += std::exp(logs[i]);
        }
        return sum / static_cast<double>(to - from);
    };
    if (static_cast<double>(waiting) < least_waiting * static_cast<double>(logs.size()) ||
        mean_of_exponentials(kept, logs.size()) < least_ratio * mean_of_exponentials(0, kept)) {
        return none;
    }
    return std::exp(threshold);
}

}  // namespace prismopt
