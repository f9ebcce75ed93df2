#include "model/calibration/fit/failure_fit.hpp"

#include "model/base/units.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

using namespace literals;

namespace {

constexpr double day_s = (1_day).si;

CauseFit fit_cause(const std::string& name, const std::vector<Outage>& outages, const Watch& watch)
{
    CauseFit fit;
    fit.name = name;
    fit.count = outages.size();
    const auto n = static_cast<double>(outages.size());
    const double node_days = watch.nodes * watch.seconds / day_s;
    fit.per_node_day = n / node_days;
    fit.low = quantile(boost::math::chi_squared(2.0 * n), 0.025) / (2.0 * node_days);
    fit.high = quantile(boost::math::chi_squared(2.0 * (n + 1.0)), 0.975) / (2.0 * node_days);
    std::vector<double> starts;
    std::vector<double> repairs;
    for (const Outage& outage : outages) {
        starts.push_back(outage.start_s);
        if (outage.end_s > outage.start_s) {
            repairs.push_back(outage.end_s - outage.start_s);
        }
    }
    std::sort(starts.begin(), starts.end());
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

FailureFit fit_failures(const std::vector<Outage>& outages, const Watch& watch)
{
    FailureFit fit;
    fit.watch = watch;
    if (outages.empty()) {
        return fit;
    }
    const auto [first, last] = std::minmax_element(outages.begin(), outages.end(),
                                                   [](const Outage& a, const Outage& b) { return a.start_s < b.start_s; });
    if (fit.watch.seconds <= 0.0) {
        fit.watch.seconds = last->start_s - first->start_s;
    }
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
            fit.causes.push_back(fit_cause(name, list, fit.watch));
        }
    }
    std::sort(fit.causes.begin(), fit.causes.end(), [](const CauseFit& a, const CauseFit& b) { return a.count > b.count; });
    if (!others.empty()) {
        fit.causes.push_back(fit_cause("other", others, fit.watch));
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
