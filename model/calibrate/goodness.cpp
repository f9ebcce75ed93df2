#include "model/calibrate/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

double ks_distance(std::span<const double> rising, const std::function<double(double)>& probability)
{
    const auto n = static_cast<double>(rising.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < rising.size();) {
        std::size_t next = i;
        while (next < rising.size() && rising[next] == rising[i]) {
            ++next;
        }
        const double p = probability(rising[i]);
        const double before = probability(std::nextafter(rising[i], 0.0));  // a law may have an atom here
        largest = std::max({largest, std::abs(static_cast<double>(next) / n - p), std::abs(before - static_cast<double>(i) / n)});
        i = next;
    }
    return largest;
}

double ks_distance(std::span<const double> rising, std::span<const double> others)
{
    double largest = 0.0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < rising.size() || j < others.size();) {
        const double x = j == others.size() || (i < rising.size() && rising[i] <= others[j]) ? rising[i] : others[j];
        while (i < rising.size() && rising[i] <= x) {
            ++i;
        }
        while (j < others.size() && others[j] <= x) {
            ++j;
        }
        largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(rising.size()) -
                                             static_cast<double>(j) / static_cast<double>(others.size())));
    }
    return largest;
}

double ks_probability(double distance, double n)
{
    const double root = std::sqrt(n);
    const double x = distance * (root + 0.12 + 0.11 / root);
    if (x < 0.2) {
        return 1.0;  // the series does not converge there; the probability is above 1 - 1e-12
    }
    double sum = 0.0;
    for (int k = 1; k <= 100; ++k) {
        sum += (k % 2 == 1 ? 2.0 : -2.0) * std::exp(-2.0 * k * k * x * x);
    }
    return std::clamp(sum, 0.0, 1.0);
}

double quantile_of(std::span<const double> rising, double p)
{
    const double at = p * static_cast<double>(rising.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const double next = rising[std::min(below + 1, rising.size() - 1)];
    return rising[below] + (at - static_cast<double>(below)) * (next - rising[below]);
}

double mean_of(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values)
{
    const double mean = mean_of(values);
    double sum = 0.0;
    for (const double value : values) {
        sum += (value - mean) * (value - mean);
    }
    return values.size() < 2 ? 0.0 : sum / static_cast<double>(values.size() - 1);
}

double median_of(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return quantile_of(values, 0.5);
}

Otsu otsu(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const double total = std::accumulate(values.begin(), values.end(), 0.0);
    const auto n = static_cast<double>(values.size());
    Otsu best;
    double most = 0.0;
    double low_sum = 0.0;
    for (std::size_t i = 1; i < values.size(); ++i) {
        low_sum += values[i - 1];
        const auto low = static_cast<double>(i);
        const double low_mean = low_sum / low;
        const double high_mean = (total - low_sum) / (n - low);
        const double between = low / n * (n - low) / n * (high_mean - low_mean) * (high_mean - low_mean);
        if (between > most && values[i] > values[i - 1]) {
            most = between;
            best = {0.5 * (values[i - 1] + values[i]), 0.0, low_mean, high_mean};
        }
    }
    const double variance = variance_of(values) * (n - 1.0) / n;
    best.separation = variance > 0.0 ? most / variance : 0.0;
    return best;
}

std::size_t steady_from(std::span<const double> series)
{
    constexpr std::size_t least = 8;  // fewer values say nothing of a beginning
    if (series.size() < least) {
        return 0;
    }
    // From the end: sums of all that is kept.
    double sum = 0.0;
    double squares = 0.0;
    double lowest = 0.0;
    std::size_t best = 0;
    const double shift = mean_of(series);  // squares of differences keep their digits
    for (std::size_t d = series.size(); d-- > 0;) {
        sum += series[d] - shift;
        squares += (series[d] - shift) * (series[d] - shift);
        const auto kept = static_cast<double>(series.size() - d);
        const double error = (squares - sum * sum / kept) / (kept * kept);
        if (d <= series.size() / 2 && (d == series.size() / 2 || error <= lowest)) {
            lowest = error;
            best = d;
        }
    }
    return best;
}

}  // namespace prismopt
