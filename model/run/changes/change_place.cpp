#include "model/run/changes/change_place.hpp"

#include "model/base/median.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Log likelihood ratio at the 95 % limit of one parameter: half of chi squared, 3.84.
constexpr double likelihood_drop = 1.92;

/// Innovations of a series that was zero before.
std::vector<double> innovations_of(const std::vector<double>& values, const std::vector<double>& coefficients)
{
    std::vector<double> innovations = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t lag = 1; lag <= std::min(i, coefficients.size()); ++lag) {
            innovations[i] -= coefficients[lag - 1] * values[i - lag];
        }
    }
    return innovations;
}

}  // namespace

ChangePlace likeliest_shift(const std::vector<double>& deviations, const Autoregression& noise)
{
    const std::vector<double> innovations = innovations_of(deviations, noise.coefficients);
    const std::vector<double> response =
        innovations_of(std::vector<double>(deviations.size(), 1.0), noise.coefficients);
    const double variance = noise.innovation_deviation * noise.innovation_deviation;
    std::vector<double> likelihoods;  // logarithms of their ratios to no change
    for (std::size_t place = 0; place < innovations.size(); ++place) {
        double product = 0.0;
        double information = 0.0;
        for (std::size_t i = place; i < innovations.size(); ++i) {
            product += response[i - place] * innovations[i];
            information += response[i - place] * response[i - place];
        }
        likelihoods.push_back(product * product / (2.0 * information * variance));
    }
    const auto best = std::max_element(likelihoods.begin(), likelihoods.end());
    ChangePlace result{static_cast<std::size_t>(best - likelihoods.begin()), innovations.size() - 1, 0};
    for (std::size_t i = 0; i < likelihoods.size(); ++i) {
        if (likelihoods[i] >= *best - likelihood_drop) {
            result.low = std::min(result.low, i);
            result.high = std::max(result.high, i);
        }
    }
    return result;
}

Split best_split(const std::vector<double>& values, std::size_t least, double clip)
{
    const double median = median_of(values);
    std::vector<double> sums{0.0};
    for (const double value : values) {
        sums.push_back(sums.back() + std::clamp(value - median, -clip, clip));
    }
    const auto all = static_cast<double>(values.size());
    Split split;
    double most = -1.0;
    for (std::size_t first = least; first + least <= values.size(); ++first) {
        const auto before = static_cast<double>(first);
        const double distance = sums[first] - sums.back() * before / all;
        const double between = distance * distance / (before * (all - before));
        if (between > most) {
            most = between;
            split.first = first;
        }
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(split.first);
    split.before = median_of({values.begin(), middle});
    split.after = median_of({middle, values.end()});
    return split;
}

bool separates(const std::vector<double>& values, const Split& split)
{
    constexpr double least_share = 0.75;
    const double middle = (split.before + split.after) / 2.0;
    const auto holds = [&](auto first, auto end, bool above) {
        const auto own = std::count_if(first, end, [&](double value) { return (value > middle) == above; });
        return static_cast<double>(own) >= least_share * static_cast<double>(end - first);
    };
    const auto second = values.begin() + static_cast<std::ptrdiff_t>(split.first);
    const bool rises = split.after > split.before;
    return holds(values.begin(), second, !rises) && holds(second, values.end(), rises);
}

}  // namespace prismopt
