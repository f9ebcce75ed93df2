#include "io/results/completion.hpp"

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

std::array<Completion, 3> completions(const TimeDistribution& training, const std::optional<std::chrono::sys_days>& start)
{
    std::array<Completion, 3> list{
        {{"p50", training.p50.value, ""}, {"p90", ninetieth(training), ""}, {"p99", training.p99.value, ""}}};
    for (Completion& completion : list) {
        completion.date = start && std::isfinite(completion.seconds) ? end_date(*start, completion.seconds) : "";
    }
    return list;
}

}  // namespace prismopt
