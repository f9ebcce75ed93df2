#include "model/calibrate/samples.hpp"

#include "model/calibrate/goodness.hpp"

#include <algorithm>
#include <map>

namespace prismopt {

namespace {

using Series = std::map<std::string, std::vector<double>>;

}  // namespace

Calibration calibrate_collectives(const std::vector<CollectiveTime>& times, const std::string& source)
{
    Series series;
    for (const CollectiveTime& time : times) {
        series[time.series].push_back(time.seconds);
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
    for (const auto& [key, pool] : ratios) {
        result.laws.push_back({key, fit_law(pool, "collectives over the median of their series; prismopt calibrate, " + source)});
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
    calibration.notes.insert(calibration.notes.end(), other.notes.begin(), other.notes.end());
}

}  // namespace prismopt
