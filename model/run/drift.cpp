#include "model/run/drift.hpp"

#include <cmath>

namespace prismopt {

double mean_drift_cv(const Drift& drift, double length_s)
{
    if (drift.cv == 0.0) {
        return 0.0;
    }
    const double x = length_s / drift.time.si;
    // beyond, the difference below loses its digits; before, nothing averages out
    constexpr double short_run = 1e-4;
    return x < short_run ? drift.cv : drift.cv * std::sqrt(2.0 * (x + std::expm1(-x))) / x;
}

double drift_factor(double cv, const NormalScores& scores, std::uint64_t seed, Purpose purpose,
                    std::uint32_t fleet)
{
    const auto words = philox(seed, {fleet, 0, 0, use(Stream::drift, purpose)});
    return 1.0 + cv * static_cast<double>(scores(words[0]));
}

}  // namespace prismopt
