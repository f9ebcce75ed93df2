#include "io/report/completion.hpp"

#include "io/report/deadline_risk.hpp"
#include "io/toml/date.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// From the table; NaN where there is none.
double ninetieth(const TimeDistribution& times)
{
    const auto* at = std::find(reported_probabilities.begin(), reported_probabilities.end(), 0.9);
    const auto place = static_cast<std::size_t>(at - reported_probabilities.begin());
    return place < times.quantiles.size() ? times.quantiles[place] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

const CompletionTime& Completion::known() const
{
    return std::isfinite(with_error.seconds) ? with_error : exact;
}

std::array<Completion, 3> completions(const PlanResults& results,
                                      const std::optional<std::chrono::sys_days>& start)
{
    const auto ended = [&start](double seconds) {
        return CompletionTime{seconds, start && std::isfinite(seconds) ? end_date(*start, seconds) : ""};
    };
    const TimeDistribution& training = results.prediction.training;
    const auto at = [&](std::string_view quantile, double probability, double seconds) {
        return Completion{quantile, ended(seconds), ended(time_kept_with(probability, results))};
    };
    return {at("p50", 0.5, training.p50.value), at("p90", 0.9, ninetieth(training)),
            at("p99", 0.99, training.p99.value)};
}

}  // namespace prismopt
