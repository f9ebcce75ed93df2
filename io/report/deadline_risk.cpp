#include "io/report/deadline_risk.hpp"

#include "io/base/percent.hpp"
#include "model/base/root.hpp"
#include "model/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace prismopt {

namespace {

double probability_beyond(double seconds, const std::vector<double>& quantiles)
{
    const auto above = std::upper_bound(quantiles.begin(), quantiles.end(), seconds);
    if (above == quantiles.begin()) {
        return reported_probabilities.back();
    }
    if (above == quantiles.end()) {
        return reported_probabilities.front();
    }
    const auto i = static_cast<std::size_t>(above - quantiles.begin());
    const double along = (seconds - quantiles[i - 1]) / (quantiles[i] - quantiles[i - 1]);
    return 1.0 - std::lerp(reported_probabilities[i - 1], reported_probabilities[i], along);
}

/// Between the tabulated probabilities linear, and none beyond them.
double tabulated_quantile(double probability, const std::vector<double>& quantiles)
{
    const auto* const above =
        std::lower_bound(reported_probabilities.begin() + 1, reported_probabilities.end() - 1, probability);
    const auto i = static_cast<std::size_t>(above - reported_probabilities.begin());
    const double begin = i == 1 ? 0.0 : reported_probabilities[i - 1];
    const double end = i + 1 == reported_probabilities.size() ? 1.0 : reported_probabilities[i];
    return std::lerp(quantiles[i - 1], quantiles[i], (probability - begin) / (end - begin));
}

/// The factors of all times in draws of equal probability of the model error.
std::vector<double> error_factors(const ModelError& error)
{
    const double middle = 0.5 * (std::log(error.low) + std::log(error.high));
    const double deviation = 0.5 * (std::log(error.high) - std::log(error.low)) / normal_quantile(0.975);
    constexpr int points = 200;
    std::vector<double> factors;
    for (int i = 0; i < points; ++i) {
        const double probability = (i + 0.5) / points;
        factors.push_back(error.quantiles.size() == reported_probabilities.size()
                              ? tabulated_quantile(probability, error.quantiles)
                              : std::exp(middle + deviation * normal_quantile(probability)));
    }
    return factors;
}

double mean_risk(double seconds, const std::vector<double>& quantiles, const std::vector<double>& factors)
{
    double sum = 0.0;  // above the least, which is then exact
    for (const double factor : factors) {
        sum += probability_beyond(seconds / factor, quantiles) - reported_probabilities.front();
    }
    return reported_probabilities.front() + sum / static_cast<double>(factors.size());
}

bool is_known(const TimeDistribution& training, const ModelError& error)
{
    return std::isfinite(error.low) && std::isfinite(error.high) &&
           training.quantiles.size() == reported_probabilities.size();
}

}  // namespace

std::string tabulated_text(double probability)
{
    constexpr double rounding = 1e-9;  // of sums over draws of the model error
    if (probability <= reported_probabilities.front() + rounding) {
        return fmt::format("less than {}", probability_text(reported_probabilities.front()));
    }
    if (probability >= reported_probabilities.back() - rounding && probability < 1.0) {
        return fmt::format("more than {}", probability_text(reported_probabilities.back()));
    }
    return probability_text(probability);
}

ModelError model_error_of(const PlanResults& results)
{
    return {results.model_low, results.model_high, results.model_quantiles};
}

std::optional<DeadlineRisk> deadline_risk(const TimeDistribution& training, Seconds deadline,
                                          const ModelError& error)
{
    if (!(deadline.si > 0.0) || !is_known(training, error)) {
        return std::nullopt;
    }
    const auto risk = [&](double factor) {
        return probability_beyond(deadline.si / factor, training.quantiles);
    };
    return DeadlineRisk{risk(error.low), risk(error.high),
                        mean_risk(deadline.si, training.quantiles, error_factors(error))};
}

std::optional<DeadlineRisk> deadline_risk(const PlanResults& results, Seconds deadline)
{
    return deadline_risk(results.prediction.training, deadline, model_error_of(results));
}

double time_kept_with(double probability, const TimeDistribution& training, const ModelError& error)
{
    if (!is_known(training, error)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const std::vector<double> factors = error_factors(error);
    const Bracket range{training.quantiles.front() * factors.front(),
                        training.quantiles.back() * factors.back()};
    const auto is_too_short = [&](double time) {  // the risk falls with the time
        return mean_risk(time, training.quantiles, factors) > 1.0 - probability;
    };
    return bisect(range, {.relative_width = 1e-6}, is_too_short).high;
}

double time_kept_with(double probability, const PlanResults& results)
{
    return time_kept_with(probability, results.prediction.training, model_error_of(results));
}

std::string probability_text(const Estimate& probability)
{
    if (probability.value <= 0.0 && probability.high > 0.0) {
        return "less than " + probability_text(probability.high);
    }
    if (probability.value >= 1.0 && probability.low < 1.0) {
        return "more than " + probability_text(probability.low);
    }
    return probability_text(probability.value);
}

std::string risk_with_error_text(const DeadlineRisk& risk) { return tabulated_text(risk.mean); }

Estimate stated(std::string_view name, const Estimate& estimate)
{
    if (name != "miss_probability") {
        return estimate;
    }
    Estimate shown = estimate;
    if (estimate.value <= 0.0) {
        shown.value = estimate.high;
    } else if (estimate.value >= 1.0) {
        shown.value = estimate.low;
    }
    return shown;
}

std::string deadline_risk_text(const DeadlineRisk& risk)
{
    const std::string low = tabulated_text(risk.low);
    const std::string high = tabulated_text(risk.high);
    const std::string mean = tabulated_text(risk.mean);
    if (low == high && low == mean) {
        return fmt::format("including the model error, {}", mean);
    }
    const std::string limits = low == high ? low : fmt::format("{} to {}", low, high);
    return fmt::format("including the model error, {} ({} at the limits of its interval{})", mean, limits,
                       risk.mean > risk.high ? ", more beyond them" : "");
}

}  // namespace prismopt
