#include "model/calibrate/samples.hpp"

#include "model/calibrate/goodness.hpp"
#include "model/calibrate/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

namespace {

using Series = std::map<std::string, std::vector<double>>;

}  // namespace

Calibration calibrate_gpu_runs(const std::vector<GpuRun>& runs, const std::string& source)
{
    std::map<std::string, Series> benchmarks;  // benchmark, GPU: seconds
    for (const GpuRun& run : runs) {
        benchmarks[run.benchmark][run.gpu].push_back(run.seconds);
    }
    Calibration result;
    result.source = source;
    result.operations = runs.size();
    if (benchmarks.empty()) {
        return result;
    }
    const auto widest = std::max_element(benchmarks.begin(), benchmarks.end(),
                                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::vector<double> medians;
    std::vector<double> errors;
    std::vector<double> ratios;
    std::vector<std::string> names;
    for (const auto& [gpu, seconds] : widest->second) {
        const double median = median_of(seconds);
        names.push_back(gpu);
        medians.push_back(median);
        errors.push_back(std::sqrt(variance_of(seconds) / static_cast<double>(seconds.size())) / median);
        for (const double value : seconds) {
            if (seconds.size() > 1) {
                ratios.push_back(value / median);
            }
        }
    }
    const double centre = median_of(medians);
    std::vector<double> logs;
    for (double& median : medians) {
        median /= centre;
        logs.push_back(std::log(median));
    }
    const std::string from = "; prismopt calibrate, " + source + ", " + widest->first;
    result.laws.push_back({"gpu", fit_law(medians, "medians of the GPUs over their median" + from)});
    if (!ratios.empty()) {
        result.laws.push_back({"residual.gemm", fit_law(ratios, "runs over the median of their GPU" + from)});
    }
    for (const Outlier& outlier : outliers(logs, errors)) {
        result.slow.push_back(
            {"GPU " + names[outlier.index] + ", " + widest->first, std::expm1(logs[outlier.index]), outlier.probability});
    }
    for (const auto& [name, gpus] : benchmarks) {
        Signature signature{name, 0.0, {}};
        std::vector<double> factors;
        for (const auto& [gpu, seconds] : gpus) {
            factors.push_back(median_of(seconds));
            signature.mean_s += factors.back() / static_cast<double>(gpus.size());
        }
        signature.fit = fit_law(factors, "");
        result.signatures.push_back(signature);
    }
    return result;
}

Calibration calibrate_collectives(const std::vector<CollectiveTime>& times, const std::string& source)
{
    Series series;
    for (const CollectiveTime& time : times) {
        series[time.series].push_back(time.seconds);
    }
    Calibration result;
    result.source = source;
    result.operations = times.size();
    std::vector<double> ratios;
    for (const auto& [name, seconds] : series) {
        Signature signature{name, mean_of(seconds), {}};
        constexpr std::size_t least = 5;
        if (seconds.size() >= least) {
            const double median = median_of(seconds);
            for (const double value : seconds) {
                ratios.push_back(value / median);
            }
            signature.fit = fit_law(seconds, "");
        } else {
            signature.fit = constant_law("");
            signature.fit.values = seconds.size();
        }
        result.signatures.push_back(signature);
    }
    if (!ratios.empty()) {
        result.laws.push_back({"residual.dp_collective",
                               fit_law(ratios, "collectives over the median of their series; prismopt calibrate, " + source)});
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
    calibration.signatures.insert(calibration.signatures.end(), other.signatures.begin(), other.signatures.end());
    calibration.slow.insert(calibration.slow.end(), other.slow.begin(), other.slow.end());
}

}  // namespace prismopt
