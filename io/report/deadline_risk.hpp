#pragma once

/// How the error of the model changes the probability of missing a deadline.

#include "model/base/units.hpp"
#include "model/prediction.hpp"

#include <optional>
#include <string>

namespace prismopt {

/// Probabilities that the training takes longer than the deadline with all times at the lower and the upper limit of the model interval.
struct DeadlineRisk {
    double low = 0.0;
    double high = 0.0;
};

/// By the tabulated distribution, linear between its entries; 0 and 1 stand for less than the lowest and more than the highest of them.
/// Empty without a deadline, a model interval or a table.
std::optional<DeadlineRisk> deadline_risk(const TimeDistribution& training, Seconds deadline, double model_low,
                                          double model_high);

/// "0.39 %".
std::string probability_text(double probability);

/// "with the model's error between less than 0.1 % and 92 %".
std::string deadline_risk_text(const DeadlineRisk& risk);

}  // namespace prismopt
