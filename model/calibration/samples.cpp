#include "model/calibration/samples.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace prismopt {

namespace {

using Series = std::map<std::string, std::vector<double>>;

constexpr std::size_t least_times = 5;  // of a series; fewer say nothing of a spread

/// `kind`: the member that must be equal for times to compare.
template <class Row>
void leave_out(std::vector<Row>& rows, std::string Row::*kind, std::vector<Fault>& faults)
{
    Series series;
    for (const Row& row : rows) {
        series[row.*kind].push_back(row.seconds);
    }
    double longest = 0.0;
    for (const auto& [name, seconds] : series) {
        longest = seconds.size() < least_times ? longest : std::max(longest, median_of(seconds));
    }
    std::map<std::string, double> limits;
    for (const auto& [name, seconds] : series) {
        limits[name] = longest_credible(seconds, longest);
    }
    const auto absurd = [&](const Row& row) { return row.seconds > limits.at(row.*kind); };
    for (const Row& row : rows) {
        if (absurd(row)) {
            const std::string& name = row.*kind;
            add_fault(faults,
                      "a time above 100 times the median" + (name.empty() ? "" : " of " + name) +
                          " and above 10 times the longest median",
                      row.line);
        }
    }
    std::erase_if(rows, absurd);
}

}  // namespace

void leave_out_absurd(std::vector<GpuRun>& runs, std::vector<Fault>& faults) { leave_out(runs, &GpuRun::benchmark, faults); }
void leave_out_absurd(std::vector<CollectiveRun>& times, std::vector<Fault>& faults)
{
    leave_out(times, &CollectiveRun::series, faults);
}

Calibration calibrate_collectives(const std::vector<CollectiveRun>& times, const std::string& source, const KernelNames& names)
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
    // Where iterations are independent a mean of n varies by 1 / sqrt(n) of what one does; what lasts through a run is in both.
    char means[160] = "";
    if (iterations > 1) {
        std::snprintf(means, sizeof means,
                      " (means of %d iterations: a single collective varies at least this much, at most %.2g times as much)",
                      iterations, std::sqrt(static_cast<double>(iterations)));
    }
    for (const KernelClassRow& row : kernel_class_rows) {
        if (has_own_distribution(row.kernel, pools)) {
            result.distributions.push_back(
                {residual_key(row.kernel), fit_distribution(pools[static_cast<std::size_t>(row.kernel)],
                                                            "collectives over the median of their series" + std::string(means) +
                                                                "; prismopt calibrate, " + source)});
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
    calibration.signatures.insert(calibration.signatures.end(), other.signatures.begin(), other.signatures.end());
    calibration.slow.insert(calibration.slow.end(), other.slow.begin(), other.slow.end());
    calibration.notes.insert(calibration.notes.end(), other.notes.begin(), other.notes.end());
}

}  // namespace prismopt
