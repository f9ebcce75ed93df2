#pragma once

/// Effect of the model error on the probability of missing a deadline.

#include "model/base/units.hpp"
#include "model/prediction.hpp"

#include <optional>
#include <string>

namespace prismopt {

/// Probabilities of missing the deadline, given the model error.
struct DeadlineRisk {
    double low = 0.0;   // with all times at the lower limit of the model interval
    double high = 0.0;  // at its upper limit
    double mean = 0.0;  // over the model error, a normal logarithm of the factor of all times, of which the interval holds 95 %
};

/// From the tabulated distribution, by linear interpolation; 0 and 1 mean below the lowest and above the highest tabulated
/// probability. Empty without a deadline, a model interval or a table.
std::optional<DeadlineRisk> deadline_risk(const TimeDistribution& training, Seconds deadline, double model_low,
                                          double model_high);

/// "0.39 %".
std::string probability_text(double probability);

/// "including the model error, 34 % (less than 0.1 % to 92 % at the limits of its interval)".
std::string deadline_risk_text(const DeadlineRisk& risk);

}  // namespace prismopt
