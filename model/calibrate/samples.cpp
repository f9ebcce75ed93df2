#include "model/calibrate/samples.hpp"

#include "model/calibrate/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace prismopt {

namespace {

using Series = std::map<std::string, std::vector<double>>;

}  // namespace

Calibration calibrate_collectives(const std::vector<CollectiveTime>& times, const std::string& source)
{
    Series series;
    int iterations = 1;
    for (const CollectiveTime& time : times) {
        series[time.series].push_back(time.seconds);
        iterations = std::max(iterations, time.iterations);
    }
    Calibration result;
    result.source = source;
    result.operations = times.size();
    std::map<std::string, std::vector<double>> ratios;  // by the law's key
    for (const auto& [name, seconds] : series) {
        Signature signature{name, mean_of(seconds), {}};
        constexpr std::size_t least = 5;
        if (seconds.size() >= least) {
            const double median = median_of(seconds);
            const OpKind kind = op_kind(name);
            const KernelClass kernel = kind.role == OpRole::compute ? KernelClass::dp_collective : kind.kernel;
            std::vector<double>& pool = ratios[std::string("residual.") + kernel_class_names[static_cast<std::size_t>(kernel)]];
            for (const double value : seconds) {
                pool.push_back(value / median);
            }
            signature.fit = fit_law(seconds, "");
        } else {
            signature.fit = constant_law("");
            signature.fit.values = seconds.size();
        }
        result.signatures.push_back(signature);
    }
    // Where iterations are independent a mean of n varies by 1 / sqrt(n) of what one does; what lasts through a run is in both.
    char means[160] = "";
    if (iterations > 1) {
        std::snprintf(means, sizeof means,
                      " (means of %d iterations: one collective varies at least so much, at most %.2g times as much)", iterations,
                      std::sqrt(static_cast<double>(iterations)));
    }
    for (const auto& [key, pool] : ratios) {
        result.laws.push_back({key, fit_law(pool, "collectives over the median of their series" + std::string(means) +
                                                      "; prismopt calibrate, " + source)});
    }
    return result;
}

void merge(Calibration& calibration, const Calibration& other)
{
    calibration.source += (calibration.source.empty() || other.source.empty() ? "" : ", ") + other.source;
    calibration.operations += other.operations;
    for (const CalibratedLaw& law : other.laws) {
        add_law(calibration, law);
    }
    for (const LeftToProfile& left : other.left) {
        const auto same = [&](const auto& there) { return there.key == left.key; };
        if (std::none_of(calibration.laws.begin(), calibration.laws.end(), same) &&
            std::none_of(calibration.left.begin(), calibration.left.end(), same)) {
            calibration.left.push_back(left);
        }
    }
    calibration.signatures.insert(calibration.signatures.end(), other.signatures.begin(), other.signatures.end());
    calibration.slow.insert(calibration.slow.end(), other.slow.begin(), other.slow.end());
    calibration.notes.insert(calibration.notes.end(), other.notes.begin(), other.notes.end());
}

}  // namespace prismopt
