#include "model/calibration/fit/goodness.hpp"

#include "model/base/median.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

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
        // a distribution may have an atom here
        const double before = probability(std::nextafter(rising[i], 0.0));
        largest = std::max({largest, std::abs(static_cast<double>(next) / n - p),
                            std::abs(before - static_cast<double>(i) / n)});
        i = next;
    }
    return largest;
}

double ks_distance(std::span<const double> rising, std::span<const double> others)
{
    double largest = 0.0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < rising.size() || j < others.size();) {
        const double x =
            j == others.size() || (i < rising.size() && rising[i] <= others[j]) ? rising[i] : others[j];
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

std::vector<double> exponentials(std::vector<double> logs)
{
    std::transform(logs.begin(), logs.end(), logs.begin(), [](double x) { return std::exp(x); });
    return logs;
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

namespace {

/// MSER's cut of at most `most` values, and what it leaves of the squared error of the whole series' mean.
struct Cut {
    std::size_t first = 0;
    double left = 1.0;
};
Cut best_cut(std::span<const double> series, std::size_t most)
{
    // From the end: sums of all that is kept.
    double sum = 0.0;
    double squares = 0.0;
    double lowest = 0.0;
    double whole = 0.0;
    Cut best;
    const double shift = mean_of(series);  // squares of differences keep their digits
    for (std::size_t d = series.size(); d-- > 0;) {
        sum += series[d] - shift;
        squares += (series[d] - shift) * (series[d] - shift);
        const auto kept = static_cast<double>(series.size() - d);
        whole = (squares - sum * sum / kept) / (kept * kept);
        if (d <= most && (d == most || whole <= lowest)) {
            lowest = whole;
            best.first = d;
        }
    }
    best.left = whole > 0.0 ? lowest / whole : 1.0;
    return best;
}

/// Values within which a series forgets: 1 + 2 sum of autocorrelations, up to the first that chance explains.
std::size_t memory_of(std::span<const double> series)
{
    const auto n = static_cast<double>(series.size());
    const double mean = mean_of(series);
    const double variance = variance_of(series);
    double memory = 1.0;
    constexpr std::size_t longest = 1000;
    for (std::size_t lag = 1; lag < std::min(longest, series.size() / 2) && variance > 0.0; ++lag) {
        double sum = 0.0;
        for (std::size_t i = lag; i < series.size(); ++i) {
            sum += (series[i] - mean) * (series[i - lag] - mean);
        }
        const double correlation = sum / (n * variance);
        if (correlation < 2.0 / std::sqrt(n)) {
            break;
        }
        memory += 2.0 * correlation;
    }
    return static_cast<std::size_t>(std::ceil(memory));
}

/// Whether as good a cut is rare among rearrangements of the series.
bool beyond_chance(std::span<const double> series, const Cut& cut, std::size_t most)
{
    constexpr int rearrangements = 199;
    constexpr int most_as_good = 9;  // of 200 with the series itself: 5 %
    const std::size_t length = memory_of(series.subspan(cut.first));
    std::vector<std::size_t> blocks((series.size() + length - 1) / length);
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    std::mt19937_64 generator(1);
    std::vector<double> other;
    int as_good = 0;
    for (int i = 0; i < rearrangements && as_good <= most_as_good; ++i) {
        for (std::size_t k = blocks.size(); k > 1; --k) {
            std::swap(blocks[k - 1], blocks[generator() % k]);
        }
        other.clear();
        for (const std::size_t block : blocks) {
            const std::size_t begin = block * length;
            const std::size_t end = std::min(series.size(), begin + length);
            other.insert(other.end(), series.begin() + static_cast<std::ptrdiff_t>(begin),
                         series.begin() + static_cast<std::ptrdiff_t>(end));
        }
        as_good += best_cut(other, most).left <= cut.left ? 1 : 0;
    }
    return as_good <= most_as_good;
}

/// Most values of the first `most` that are all further from those after them than those are from each other.
std::size_t far_off(std::span<const double> series, std::size_t most)
{
    std::vector<double> low(series.begin(), series.end());  // of this and all later values
    std::vector<double> high = low;
    for (std::size_t i = series.size() - 1; i-- > 0;) {
        low[i] = std::min(low[i], low[i + 1]);
        high[i] = std::max(high[i], high[i + 1]);
    }
    std::size_t found = 0;
    double cut_low = series.front();
    double cut_high = series.front();
    for (std::size_t d = 1; d <= most; ++d) {
        cut_low = std::min(cut_low, series[d - 1]);
        cut_high = std::max(cut_high, series[d - 1]);
        const double range = high[d] - low[d];
        if (cut_low > high[d] + range || cut_high < low[d] - range) {
            found = d;
        }
    }
    return found;
}

/// Means of neighbours, so few that all pairs can be looked at.
std::vector<double> means_of_neighbours(std::span<const double> series)
{
    constexpr std::size_t most = 300;
    const std::size_t count = std::min(most, series.size());
    std::vector<double> means(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * series.size() / count;
        means[i] = mean_of(series.subspan(begin, (i + 1) * series.size() / count - begin));
    }
    return means;
}

/// Change from a value to the next: the median over pairs, which a beginning of less than a quarter does not
/// move. Sen, J. Am. Stat. Assoc. 63 (1968) 1379-1389.
double slope_of(std::span<const double> series)
{
    const std::vector<double> means = means_of_neighbours(series);
    std::vector<double> slopes;
    for (std::size_t i = 0; i < means.size(); ++i) {
        for (std::size_t j = i + 1; j < means.size(); ++j) {
            slopes.push_back((means[j] - means[i]) / static_cast<double>(j - i));
        }
    }
    return slopes.empty()
               ? 0.0
               : median_of(slopes) * static_cast<double>(means.size()) / static_cast<double>(series.size());
}

/// Whether what is cut off differs from the rest by much more than the rest's halves from each other, and
/// than these are known: a trend goes on, a warm-up ends.
bool ends(std::span<const double> series, std::size_t first)
{
    constexpr double times = 3.0;  // of a line the beginning differs by once to twice as much
    const std::span<const double> rest = series.subspan(first);
    const std::size_t half = rest.size() / 2;
    const double draws =
        std::max(1.0, static_cast<double>(rest.size()) / static_cast<double>(memory_of(rest)));
    const double error = 2.0 * std::sqrt(variance_of(rest) / draws);  // of the halves' difference
    const double within = error + std::abs(mean_of(rest.first(half)) - mean_of(rest.subspan(half)));
    return std::abs(mean_of(series.first(first)) - mean_of(rest)) > times * within;
}

}  // namespace

Trend trend_of(std::span<const double> series)
{
    constexpr std::size_t least = 20;
    if (series.size() < least) {
        return {};
    }
    const double slope = slope_of(series);
    std::vector<double> flat(series.begin(), series.end());
    for (std::size_t i = 0; i < flat.size(); ++i) {
        flat[i] -= slope * static_cast<double>(i);
    }
    const std::vector<double> means = means_of_neighbours(series);
    const double memory =
        std::max(1.0, static_cast<double>(memory_of(flat)) * static_cast<double>(means.size()) /
                          static_cast<double>(series.size()));
    double concordant = 0.0;
    for (std::size_t i = 0; i < means.size(); ++i) {
        for (std::size_t j = i + 1; j < means.size(); ++j) {
            const double rises = means[j] > means[i] ? 1.0 : 0.0;
            const double falls = means[j] < means[i] ? 1.0 : 0.0;
            concordant += rises - falls;
        }
    }
    const auto n = static_cast<double>(means.size());
    const double error = std::sqrt(memory * n * (n - 1.0) * (2.0 * n + 5.0) / 18.0);
    constexpr double beyond_chance = 3.29;  // once in a thousand series without
    return {slope * static_cast<double>(series.size() - 1), std::abs(concordant) > beyond_chance * error};
}

std::size_t steady_from(std::span<const double> series)
{
    constexpr std::size_t least = 8;  // fewer values carry no information about a beginning
    if (series.size() < least) {
        return 0;
    }
    const std::size_t half = series.size() / 2;
    const std::size_t far = far_off(series, half);
    const std::span<const double> rest = series.subspan(far);
    const double slope = slope_of(rest);
    std::vector<double> flat(rest.begin(), rest.end());
    for (std::size_t i = 0; i < flat.size(); ++i) {
        flat[i] -= slope * static_cast<double>(i);
    }
    for (const std::span<const double> candidate : {std::span<const double>(flat), rest}) {
        const Cut cut = best_cut(candidate, half - far);
        if (cut.first > 0 && ends(rest, cut.first) && beyond_chance(candidate, cut, half - far)) {
            return far + cut.first;
        }
    }
    return far;
}

}  // namespace prismopt
