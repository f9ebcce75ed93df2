#include "model/calibration/fit/drift_fit.hpp"

#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace prismopt {

namespace {

/// Products of deviations from the mean at similar distances: sums.
struct DistanceBin {
    double product = 0.0;
    double distance = 0.0;
    double pairs = 0.0;
};

/// Bins of distances by powers of the square root of two, up to `farthest`.
std::vector<DistanceBin> products_by_distance(const std::vector<double>& series,
                                              const std::vector<std::int32_t>& places, std::int32_t farthest)
{
    const double mean = mean_of(series);
    std::vector<DistanceBin> bins;
    for (std::size_t i = 0; i < series.size(); ++i) {
        for (std::size_t j = i + 1; j < series.size() && places[j] - places[i] <= farthest; ++j) {
            const double distance = places[j] - places[i];
            const auto bin = static_cast<std::size_t>(2.0 * std::log2(std::max(1.0, distance)));
            bins.resize(std::max(bins.size(), bin + 1));
            bins[bin].product += (series[i] - mean) * (series[j] - mean);
            bins[bin].distance += distance;
            bins[bin].pairs += 1.0;
        }
    }
    return bins;
}

/// A variance that fits products of deviations, and the squared error of that fit.
struct FittedVariance {
    double variance = 0.0;
    double error = 0.0;
};

/// The best variance, up to `most`, of a process with this correlation time.
FittedVariance variance_at(double time, const std::vector<DistanceBin>& bins, double most)
{
    double top = 0.0;
    double bottom = 0.0;
    for (const DistanceBin& bin : bins) {
        const double shape = bin.pairs > 0.0 ? std::exp(-bin.distance / bin.pairs / time) : 0.0;
        top += shape * bin.product;
        bottom += shape * shape * bin.pairs;
    }
    FittedVariance fitted{.variance = std::clamp(top / bottom, 0.0, most), .error = 0.0};
    for (const DistanceBin& bin : bins) {
        if (bin.pairs > 0.0) {
            const double off =
                bin.product / bin.pairs - fitted.variance * std::exp(-bin.distance / bin.pairs / time);
            fitted.error += bin.pairs * off * off;
        }
    }
    return fitted;
}

/// The drift of means of neighbours, whose noise averages out and whose drift does not.
DriftFit drift_of_means(std::size_t count, const std::vector<double>& series,
                        const std::vector<std::int32_t>& places, double seconds_per_place)
{
    const std::size_t n = series.size();
    std::vector<double> means;
    std::vector<std::int32_t> at;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * n / count;
        means.push_back(mean_of(std::span(series).subspan(begin, (i + 1) * n / count - begin)));
        at.push_back(places[begin]);
    }
    return fit_drift(means, at, seconds_per_place);
}

}  // namespace

DriftFit fit_drift(const std::vector<double>& series, const std::vector<std::int32_t>& places,
                   double seconds_per_place)
{
    constexpr std::size_t least = 50;
    constexpr std::size_t most = 5000;  // longer series are averaged first, as all pairs are examined
    DriftFit fit;
    if (series.size() < least) {
        return fit;
    }
    if (series.size() > most) {
        return drift_of_means(most, series, places, seconds_per_place);
    }
    const std::int32_t farthest = (places.back() - places.front()) / 4;
    const std::vector<DistanceBin> bins = products_by_distance(series, places, farthest);
    const double variance = variance_of(series);
    if (bins.empty() || bins.front().pairs < 1.0 || !(variance > 0.0)) {
        return fit;
    }
    fit.lag_one = bins.front().product / bins.front().pairs / variance;
    if (fit.lag_one < 2.0 / std::sqrt(bins.front().pairs)) {
        return fit;
    }
    // An Ornstein-Uhlenbeck process: covariance cv^2 exp(-distance / time). For each time the best cv^2 is
    // linear.
    double least_error = std::numeric_limits<double>::infinity();
    double time = 1.0;
    while (time <= farthest) {
        const FittedVariance fitted = variance_at(time, bins, variance);
        if (fitted.error < least_error) {
            least_error = fitted.error;
            fit.cv = std::sqrt(fitted.variance);
            fit.time_s = time * seconds_per_place;
            fit.found = true;
        }
        time *= 1.1;
    }
    return fit;
}

}  // namespace prismopt
