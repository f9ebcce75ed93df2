#include "model/calibration/fit/failure_fit.hpp"

#include "model/base/root.hpp"
#include "model/base/units.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

using namespace literals;

namespace {

constexpr double day_s = (1_day).si;

/// Gaps of mean one in a family: what the likelihood of a stationary renewal process needs.
struct GapDensity {
    bool weibull = false;
    double shape = 1.0;
    double scale = 1.0;  // so that the mean is one

    double log_density(double log_x, double x) const
    {
        const double log_ratio = log_x - std::log(scale);
        return weibull ? std::log(shape / scale) + (shape - 1.0) * log_ratio - std::pow(x / scale, shape)
                       : (shape - 1.0) * log_ratio - x / scale - std::log(scale) - std::lgamma(shape);
    }
    double log_survival(double x) const
    {
        constexpr double least = 1e-300;
        return weibull ? -std::pow(x / scale, shape)
                       : std::log(std::max(least, boost::math::gamma_q(shape, x / scale)));
    }
};

/// Shape of Weibull gaps of this cv: variance over squared mean is Gamma(1 + 2 / k) / Gamma(1 + 1 / k)^2 - 1.
double weibull_shape(double cv)
{
    const auto varies_more = [cv](double k) {
        const double square = std::expm1(std::lgamma(1.0 + 2.0 / k) - 2.0 * std::lgamma(1.0 + 1.0 / k));
        return square > cv * cv;
    };
    return bisect({0.15, 30.0}, {.halvings = 60, .middle = Bisection::Middle::geometric}, varies_more).low;
}

GapDensity gap_density(bool weibull, double cv)
{
    if (!weibull) {
        return {false, 1.0 / (cv * cv), cv * cv};
    }
    const double shape = weibull_shape(cv);
    return {true, shape, 1.0 / std::tgamma(1.0 + 1.0 / shape)};
}

/// Failures that start together are one event.
struct Events {
    std::vector<double> starts;
    std::vector<double> sizes;
};
Events events_of(std::vector<double> starts)
{
    std::sort(starts.begin(), starts.end());
    Events events;
    for (const double start : starts) {
        if (events.starts.empty() || start > events.starts.back()) {
            events.starts.push_back(start);
            events.sizes.push_back(0.0);
        }
        events.sizes.back() += 1.0;
    }
    return events;
}

/// Probabilities of the logarithm of the rate at even places, relative to one event per mean gap.
struct RateGrid {
    std::vector<double> log_rate;
    std::vector<double> probability;
};

RateGrid rate_grid(const std::vector<double>& starts, double begin, double end)
{
    constexpr int rates = 161;
    constexpr int cvs = 25;
    constexpr double least_cv = 0.25;
    constexpr double most_cv = 6.0;
    constexpr double prior_deviation = 0.75;  // of the logarithm of the cv
    const auto n = static_cast<double>(starts.size());
    std::vector<double> gaps;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        gaps.push_back(starts[i] - starts[i - 1]);
    }
    const double mean = (end - begin) / n;
    double cv = 1.0;
    if (gaps.size() > 1) {
        cv = std::max(cv, std::sqrt(variance_of(gaps)) / mean_of(gaps));
    }
    const double half_width = std::min(6.0, 8.0 * cv / std::sqrt(n));
    RateGrid grid{std::vector<double>(rates), std::vector<double>(rates, 0.0)};
    std::vector<double> logs;
    for (int r = 0; r < rates; ++r) {
        grid.log_rate[static_cast<std::size_t>(r)] = half_width * (2.0 * r / (rates - 1) - 1.0);
    }
    for (const bool weibull : {false, true}) {
        for (int c = 0; c < cvs; ++c) {
            const double gap_cv = least_cv * std::pow(most_cv / least_cv, static_cast<double>(c) / (cvs - 1));
            const GapDensity density = gap_density(weibull, gap_cv);
            const double prior = -0.5 * std::pow(std::log(gap_cv) / prior_deviation, 2);
            for (const double log_rate : grid.log_rate) {
                const double rate = std::exp(log_rate) / mean;
                double log = prior + std::log(rate) + density.log_survival(rate * (starts.front() - begin)) +
                             density.log_survival(rate * (end - starts.back()));
                for (const double gap : gaps) {
                    const double x = rate * gap;
                    log += density.log_density(std::log(x), x) + std::log(rate);
                }
                logs.push_back(log);
            }
        }
    }
    const double most = *std::max_element(logs.begin(), logs.end());
    double total = 0.0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        const double probability = std::exp(logs[i] - most);
        grid.probability[i % rates] += probability;
        total += probability;
    }
    for (double& probability : grid.probability) {
        probability /= total;
    }
    return grid;
}

double quantile_of_grid(const RateGrid& grid, double p)
{
    double below = 0.0;
    for (std::size_t i = 0; i < grid.probability.size(); ++i) {
        const double here = grid.probability[i];
        if (below + here >= p) {
            const double step = grid.log_rate[1] - grid.log_rate[0];
            return grid.log_rate[i] + step * ((p - below) / here - 0.5);
        }
        below += here;
    }
    return grid.log_rate.back();
}

CauseFit fit_cause(const std::string& name, const std::vector<Outage>& outages, const Watch& watch,
                   double begin_s)
{
    CauseFit fit;
    fit.name = name;
    fit.count = outages.size();
    const auto n = static_cast<double>(outages.size());
    const double node_days = watch.nodes * watch.seconds / day_s;
    fit.per_node_day = n / node_days;
    std::vector<double> starts;
    std::vector<double> repairs;
    for (const Outage& outage : outages) {
        starts.push_back(outage.start_s);
        if (outage.end_s > outage.start_s) {
            repairs.push_back(outage.end_s - outage.start_s);
        }
    }
    std::sort(starts.begin(), starts.end());
    if (watch.seconds > 0.0) {
        const RatePosterior rate =
            rate_posterior(starts, begin_s, std::max(begin_s + watch.seconds, starts.back()));
        fit.low = rate.low * day_s / watch.nodes;
        fit.high = rate.high * day_s / watch.nodes;
        fit.rate_cv = rate.cv;
    }
    std::vector<double> gaps;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        gaps.push_back(starts[i] - starts[i - 1]);
    }
    constexpr std::size_t least = 10;
    if (gaps.size() >= least && mean_of(gaps) > 0.0) {
        fit.gap_cv = std::sqrt(variance_of(gaps)) / mean_of(gaps);
        fit.clustered = fit.gap_cv > 1.0 + 2.0 / std::sqrt(static_cast<double>(gaps.size()));
    }
    if (!repairs.empty()) {
        fit.repair_s = mean_of(repairs);
        fit.repair_cv = std::sqrt(variance_of(repairs)) / fit.repair_s;
    }
    return fit;
}

}  // namespace

RatePosterior rate_posterior(std::vector<double> starts_s, double begin_s, double end_s)
{
    const Events events = events_of(std::move(starts_s));
    const RateGrid grid = rate_grid(events.starts, begin_s, end_s);
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < grid.log_rate.size(); ++i) {
        const double rate = std::exp(grid.log_rate[i]);
        mean += rate * grid.probability[i];
        square += rate * rate * grid.probability[i];
    }
    // The mean size of events, from as many: independent of how often they come.
    const auto n = static_cast<double>(events.starts.size());
    const double size = mean_of(events.sizes);
    const double size_error = n > 1.0 ? std::sqrt(variance_of(events.sizes) / n) / size : 0.0;
    constexpr double in_95 = 1.96;
    const double unit = n / (end_s - begin_s) * size;
    const double low = quantile_of_grid(grid, 0.025);
    const double high = quantile_of_grid(grid, 0.975);
    return {.low = unit * std::exp(low < 0.0 ? -std::hypot(low, in_95 * size_error) : low),
            .high = unit * std::exp(high > 0.0 ? std::hypot(high, in_95 * size_error) : high),
            .cv = std::hypot(std::sqrt(std::max(0.0, square / (mean * mean) - 1.0)), size_error)};
}

FailureFit fit_failures(const std::vector<Outage>& outages, const Watch& watch)
{
    FailureFit fit;
    fit.watch = watch;
    if (outages.empty()) {
        return fit;
    }
    const auto [first, last] =
        std::minmax_element(outages.begin(), outages.end(),
                            [](const Outage& a, const Outage& b) { return a.start_s < b.start_s; });
    const double span_s = last->start_s - first->start_s;
    if (fit.watch.seconds <= 0.0) {
        fit.watch.seconds = span_s;
    }
    // When the watch began is not known: half of the rest was before the first outage.
    const double begin_s = first->start_s - 0.5 * std::max(0.0, fit.watch.seconds - span_s);
    std::map<std::string, std::vector<Outage>> by_cause;
    std::map<std::string, double> by_node;
    std::map<double, std::size_t> by_start;
    for (const Outage& outage : outages) {
        by_cause[outage.cause.empty() ? "node failure" : outage.cause].push_back(outage);
        by_node[outage.node] += 1.0;
        ++by_start[outage.start_s];
    }
    for (const auto& [start, count] : by_start) {
        fit.together += count > 1 ? count : 0;
    }
    constexpr std::size_t rare = 5;
    std::vector<Outage> others;
    for (const auto& [name, list] : by_cause) {
        if (list.size() < rare && by_cause.size() > 1) {
            others.insert(others.end(), list.begin(), list.end());
        } else {
            fit.causes.push_back(fit_cause(name, list, fit.watch, begin_s));
        }
    }
    std::sort(fit.causes.begin(), fit.causes.end(),
              [](const CauseFit& a, const CauseFit& b) { return a.count > b.count; });
    if (!others.empty()) {
        fit.causes.push_back(fit_cause("other", others, fit.watch, begin_s));
    }
    const double mean = static_cast<double>(outages.size()) / watch.nodes;
    double squares = (watch.nodes - static_cast<double>(by_node.size())) * mean * mean;
    for (const auto& [node, count] : by_node) {
        squares += (count - mean) * (count - mean);
    }
    const double variance = watch.nodes > 1 ? squares / (watch.nodes - 1.0) : 0.0;
    fit.node_cv = std::sqrt(std::max(0.0, variance - mean)) / mean;
    return fit;
}

}  // namespace prismopt
