#include "model/calibration/fit/drift_fit.hpp"

#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace prismopt {

DriftFit fit_drift(const std::vector<double>& series, const std::vector<std::int32_t>& places,
                   double seconds_per_place)
{
    constexpr std::size_t least = 50;
    const std::size_t n = series.size();
    DriftFit fit;
    if (n < least) {
        return fit;
    }
    constexpr std::size_t most = 5000;  // pairs are looked at
    if (n > most) {
        std::vector<double> means;
        std::vector<std::int32_t> at;
        for (std::size_t i = 0; i < most;
             ++i) {  // of neighbours, whose noise averages out and whose drift does not
            const std::size_t begin = i * n / most;
            means.push_back(mean_of(std::span(series).subspan(begin, (i + 1) * n / most - begin)));
            at.push_back(places[begin]);
        }
        return fit_drift(means, at, seconds_per_place);
    }
    const double mean = mean_of(series);
    // Mean products at distances by powers of the square root of two, up to a quarter of the series.
    struct Bin {
        double product = 0.0, distance = 0.0, pairs = 0.0;
    };
    std::vector<Bin> bins;
    const std::int32_t farthest = (places.back() - places.front()) / 4;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n && places[j] - places[i] <= farthest; ++j) {
            const double distance = places[j] - places[i];
            const auto bin = static_cast<std::size_t>(2.0 * std::log2(std::max(1.0, distance)));
            bins.resize(std::max(bins.size(), bin + 1));
            bins[bin].product += (series[i] - mean) * (series[j] - mean);
            bins[bin].distance += distance;
            bins[bin].pairs += 1.0;
        }
    }
    const double variance = variance_of(series);
    if (bins.empty() || bins.front().pairs < 1.0 || !(variance > 0.0)) {
        return fit;
    }
    fit.lag_one = bins.front().product / bins.front().pairs / variance;
    if (fit.lag_one < 2.0 / std::sqrt(bins.front().pairs)) {
        return fit;
    }
    // An Ornstein-Uhlenbeck process: covariance cv^2 exp(-distance / time). For
    // each time the best cv^2 is linear.
    double least_error = std::numeric_limits<double>::infinity();
    for (double time = 1.0; time <= farthest; time *= 1.1) {
        double top = 0.0;
        double bottom = 0.0;
        for (const Bin& bin : bins) {
            const double shape = bin.pairs > 0.0 ? std::exp(-bin.distance / bin.pairs / time) : 0.0;
            top += shape * bin.product;
            bottom += shape * shape * bin.pairs;
        }
        const double square = std::clamp(top / bottom, 0.0, variance);
        double error = 0.0;
        for (const Bin& bin : bins) {
            if (bin.pairs > 0.0) {
                const double off =
                    bin.product / bin.pairs - square * std::exp(-bin.distance / bin.pairs / time);
                error += bin.pairs * off * off;
            }
        }
        if (error < least_error) {
            least_error = error;
            fit.cv = std::sqrt(square);
            fit.time_s = time * seconds_per_place;
            fit.found = true;
        }
    }
    return fit;
}

}  // namespace prismopt
