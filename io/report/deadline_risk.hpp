#pragma once

/// The probability of missing a deadline, as draws and as the model error leave it. What is below the
/// resolution of the draws, or beyond the tabulated distribution, is stated as a limit, never as 0 or 1.

#include "io/results/results.hpp"
#include "model/base/estimate.hpp"
#include "model/base/units.hpp"
#include "model/prediction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// What is known of measured over predicted time: 95 % limits, and quantiles at reported_probabilities.
/// Without these (files before schema 1.16), its logarithm is taken to be normal.
struct ModelError {
    double low = 1.0;
    double high = 1.0;
    std::vector<double> quantiles = {};
};
ModelError model_error_of(const PlanResults& results);

/// Probabilities of missing the deadline, given the model error.
struct DeadlineRisk {
    double low = 0.0;   // with all times at the lower limit of the model interval
    double high = 0.0;  // at its upper limit
    double mean = 0.0;  // over the model error
};

/// From the tabulated distribution, by linear interpolation; what lies beyond its first and last probability
/// counts as these. Empty without a deadline, a model interval or a table.
std::optional<DeadlineRisk> deadline_risk(const TimeDistribution& training, Seconds deadline,
                                          const ModelError& error);
std::optional<DeadlineRisk> deadline_risk(const PlanResults& results, Seconds deadline);

/// The training time that is kept with a probability, given the model error: the inverse of
/// DeadlineRisk::mean. NaN where that is unknown.
double time_kept_with(double probability, const TimeDistribution& training, const ModelError& error);
double time_kept_with(double probability, const PlanResults& results);

/// "0.39 %"; "less than 0.15 %" where no draw missed the deadline, by the upper limit;
/// "more than 99.8 %" where all did.
std::string probability_text(const Estimate& probability);

/// "34 %"; "less than 0.1 %" and "more than 99.9 %" at the ends of the table of times; "100 %" of 1, where
/// there is no limit.
std::string tabulated_text(double probability);

/// "34 %": the mean over the model error.
std::string risk_with_error_text(const DeadlineRisk& risk);

/// What files state of an estimate of this name: a probability of missing the deadline that no draw, or each
/// draw, missed is given by its limit.
Estimate stated(std::string_view name, const Estimate& estimate);

/// "including the model error, 34 % (less than 0.1 % to 92 % at the limits of its interval)".
std::string deadline_risk_text(const DeadlineRisk& risk);

}  // namespace prismopt
