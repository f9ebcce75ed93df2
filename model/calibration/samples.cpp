#include "model/calibration/samples.hpp"

#include "model/base/median.hpp"
#include "model/base/root.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace prismopt {

namespace {

using Series = std::map<std::string, std::vector<double>>;

constexpr std::size_t least_times = 5;  // of a series; fewer carry no information about a spread

/// `kind`: the member that must be equal for times to compare.
template <class Row>
void exclude(std::vector<Row>& rows, std::string Row::*kind, std::vector<Fault>& faults)
{
    Series series;
    for (const Row& row : rows) {
        series[row.*kind].push_back(row.seconds);
    }
    double longest = 0.0;
    for (const auto& [name, seconds] : series) {
        if (seconds.size() >= least_times) {
            longest = std::max(longest, median_of(seconds));
        }
    }
    std::map<std::string, double> limits;
    for (const auto& [name, seconds] : series) {
        limits[name] = longest_credible(seconds, longest);
    }
    const auto absurd = [&](const Row& row) { return row.seconds > limits.at(row.*kind); };
    for (const Row& row : rows) {
        if (absurd(row)) {
            add_fault(faults, FaultReason::absurd_for_its_series, row.line, row.*kind);
        }
    }
    std::erase_if(rows, absurd);
}

/// Times of one series beyond a limit, of all.
struct RareTimes {
    double members = 0.0;
    double count = 0.0;
    double rare = 0.0;
};

std::vector<RareTimes> rare_times(const std::vector<CollectiveRun>& times)
{
    std::map<std::string, std::vector<double>> ratios;
    std::map<std::string, double> members;
    for (const CollectiveRun& time : times) {
        if (time.members > 0.0) {
            ratios[time.series].push_back(time.seconds);
            members[time.series] = time.members;
        }
    }
    std::erase_if(ratios, [](const auto& series) { return series.second.size() < least_times; });
    std::vector<double> all;
    for (auto& [name, values] : ratios) {
        const double median = median_of(values);
        for (double& value : values) {
            value /= median;
        }
        all.insert(all.end(), values.begin(), values.end());
    }
    std::sort(all.begin(), all.end());
    constexpr double usual = 0.99;
    constexpr double deviations = 6.0;  // beyond what the bulk of the times varies by
    std::vector<double> distance(all.size());
    std::transform(all.begin(), all.end(), distance.begin(),
                   [](double ratio) { return std::abs(ratio - 1.0); });
    const double limit =
        all.empty() ? 0.0
                    : std::max(quantile_of(all, usual), 1.0 + deviations * 1.4826 * median_of(distance));
    std::vector<RareTimes> result;
    for (const auto& [name, values] : ratios) {
        const auto rare =
            std::count_if(values.begin(), values.end(), [limit](double x) { return x > limit; });
        result.push_back({members[name], static_cast<double>(values.size()), static_cast<double>(rare)});
    }
    return result;
}

/// Likeliest exponent of a Poisson process with rate ~ members^exponent, without those of one series.
double likeliest_growth(const std::vector<RareTimes>& series, std::size_t excluded)
{
    const auto is_less = [&](double exponent) {  // the likelihood still rises
        double rare = 0.0;
        double logs = 0.0;
        double weight = 0.0;
        double weighted_logs = 0.0;
        for (std::size_t s = 0; s < series.size(); ++s) {
            if (s != excluded) {
                const double log = std::log(series[s].members);
                const double expected = series[s].count * std::exp(exponent * log);
                rare += series[s].rare;
                logs += series[s].rare * log;
                weight += expected;
                weighted_logs += expected * log;
            }
        }
        return logs * weight > rare * weighted_logs;
    };
    return bisect({-3.0, 4.0}, {.halvings = 60}, is_less).low;
}

std::string carried_from(const TailGrowth& growth, double members)
{
    char text[120];
    std::snprintf(text, sizeof text, "carried from %.3g to %.6g members by an exponent of %.2g; ",
                  growth.members, members, std::max(0.0, growth.exponent));
    return text;
}

void note_growth(const TailGrowth& growth, double members, Calibration& result)
{
    if (!growth.measured && !(members > 0.0 && growth.members > 0.0)) {
        return;
    }
    const bool carried = members > 0.0;
    result.notes.emplace_back(GrowthNote{.exponent = growth.exponent,
                                         .low = growth.low,
                                         .high = growth.high,
                                         .measured = growth.measured,
                                         .members = carried ? members : growth.members,
                                         .carried = carried});
}

}  // namespace

TailGrowth tail_growth(const std::vector<CollectiveRun>& times)
{
    constexpr double prior = 0.5;
    constexpr double prior_error = 0.5;
    constexpr double in_95 = 1.96;
    TailGrowth growth{
        .exponent = prior, .low = prior - in_95 * prior_error, .high = prior + in_95 * prior_error};
    const std::vector<RareTimes> series = rare_times(times);
    if (series.empty()) {
        return growth;
    }
    const auto [least, most] =
        std::minmax_element(series.begin(), series.end(),
                            [](const RareTimes& a, const RareTimes& b) { return a.members < b.members; });
    double count = 0.0;
    for (const RareTimes& one : series) {
        count += one.count;
    }
    constexpr std::size_t least_series = 4;
    growth.measured = most->members > least->members && series.size() >= least_series;
    if (growth.measured) {
        const double all = likeliest_growth(series, series.size());
        double squares = 0.0;
        for (std::size_t s = 0; s < series.size(); ++s) {
            const double without = likeliest_growth(series, s);
            squares += (without - all) * (without - all);
        }
        const auto n = static_cast<double>(series.size());
        const double variance = squares * (n - 1.0) / n;
        const double trust = 1.0 / (variance + 1e-6);
        const double trust_before = 1.0 / (prior_error * prior_error);
        const double error = std::sqrt(1.0 / (trust + trust_before));
        growth.exponent = (all * trust + prior * trust_before) / (trust + trust_before);
        growth.low = growth.exponent - in_95 * error;
        growth.high = growth.exponent + in_95 * error;
    }
    double power = 0.0;
    double logs = 0.0;
    for (const RareTimes& one : series) {
        power += one.count / count * std::pow(one.members, growth.exponent);
        logs += one.count / count * std::log(one.members);
    }
    constexpr double flat = 1e-3;
    growth.members =
        std::abs(growth.exponent) < flat ? std::exp(logs) : std::pow(power, 1.0 / growth.exponent);
    return growth;
}

void exclude_absurd(std::vector<GpuRun>& runs, std::vector<Fault>& faults)
{
    exclude(runs, &GpuRun::benchmark, faults);
}
void exclude_absurd(std::vector<CollectiveRun>& times, std::vector<Fault>& faults)
{
    exclude(times, &CollectiveRun::series, faults);
}

Calibration calibrate_collectives(const std::vector<CollectiveRun>& times, const std::string& source,
                                  const KernelNames& names, double members)
{
    Series series;
    int iterations = 1;
    for (const CollectiveRun& time : times) {
        series[time.series].push_back(time.seconds);
        iterations = std::max(iterations, time.iterations);
    }
    Calibration result;
    result.source = source;
    result.operations = times.size();
    ClassPools pools;
    for (const auto& [name, seconds] : series) {
        Signature signature{name, mean_of(seconds), {}};
        const OpKind kind = op_kind(name, names);
        const KernelClass kernel = kind.role == OpRole::compute ? KernelClass::dp_collective : kind.kernel;
        signature.kernel = kernel;
        if (seconds.size() >= least_times) {
            const double median = median_of(seconds);
            std::vector<double> ratios;
            for (const double value : seconds) {
                ratios.push_back(value / median);
            }
            add_to_pools(kernel, ratios, pools);
            signature.fit = fit_distribution(seconds, "");
        } else {
            signature.fit = constant_distribution("");
            signature.fit.values = seconds.size();
        }
        result.signatures.push_back(signature);
    }
    // Where iterations are independent a mean of n varies by 1 / sqrt(n) of what one does; what
    // lasts through a run is in both.
    char means[160] = "";
    if (iterations > 1) {
        std::snprintf(means, sizeof means,
                      " (means of %d iterations: a single collective varies at least this much, at most %.2g "
                      "times as much)",
                      iterations, std::sqrt(static_cast<double>(iterations)));
    }
    const TailGrowth growth = tail_growth(times);
    note_growth(growth, members, result);
    for (const KernelClassRow& row : kernel_class_rows) {
        if (has_own_distribution(row.kernel, pools)) {
            const std::string from = "collectives over the median of their series" + std::string(means) +
                                     "; prismopt calibrate, " + source;
            DistributionFit fit = fit_distribution(pools[static_cast<std::size_t>(row.kernel)], from);
            if (members > 0.0 && growth.members > 0.0) {
                const double times_as_many =
                    std::pow(members / growth.members, std::max(0.0, growth.exponent));
                fit = longest_of_fit(fit, times_as_many, carried_from(growth, members) + from);
            }
            result.distributions.push_back({residual_key(row.kernel), fit});
        }
    }
    return result;
}

void merge(Calibration& calibration, const Calibration& other)
{
    calibration.source += (calibration.source.empty() || other.source.empty() ? "" : ", ") + other.source;
    calibration.operations += other.operations;
    for (const CalibratedDistribution& distribution : other.distributions) {
        add_distribution(calibration, distribution);
    }
    for (const LeftToProfile& left : other.left) {
        const auto same = [&](const auto& there) { return there.key == left.key; };
        if (std::none_of(calibration.distributions.begin(), calibration.distributions.end(), same) &&
            std::none_of(calibration.left.begin(), calibration.left.end(), same)) {
            calibration.left.push_back(left);
        }
    }
    calibration.signatures.insert(calibration.signatures.end(), other.signatures.begin(),
                                  other.signatures.end());
    calibration.slow.insert(calibration.slow.end(), other.slow.begin(), other.slow.end());
    calibration.slow_shares.insert(calibration.slow_shares.end(), other.slow_shares.begin(),
                                   other.slow_shares.end());
    if (calibration.components.empty()) {
        calibration.components = other.components;
    }
    calibration.notes.insert(calibration.notes.end(), other.notes.begin(), other.notes.end());
}

}  // namespace prismopt
