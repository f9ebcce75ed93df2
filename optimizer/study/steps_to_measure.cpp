#include "optimizer/study/steps_to_measure.hpp"

#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

StepsToMeasure steps_to_measure(std::span<const double> draws, int fleets, int steps, double precision)
{
    double variance = 0.0;
    double mean = 0.0;
    for (int fleet = 0; fleet < fleets; ++fleet) {
        const auto begin = draws.begin() + static_cast<std::ptrdiff_t>(fleet) * steps;
        const double own = std::accumulate(begin, begin + steps, 0.0) / steps;
        mean += own / fleets;
        for (auto step = begin; step != begin + steps; ++step) {
            variance += (*step - own) * (*step - own) / (fleets * (steps - 1));
        }
    }
    const double count = std::ceil(std::pow(two_sided_95 / precision, 2.0) * variance / (mean * mean));
    return {mean, static_cast<std::size_t>(std::max(2.0, count))};
}

}  // namespace prismopt
