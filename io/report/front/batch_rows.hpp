#pragma once

/// Global batches of a study beside each other: what each costs in tokens, steps, time and money.

#include "io/report/front/plans_by_choice.hpp"
#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One global batch with its best plan; or a stage of a batch ramp, without one.
struct BatchRow {
    int global_batch = 0;     // sequences
    double tokens = 0.0;      // of the phase or stage, to the same loss
    double tokens_low = 0.0;  // the same with the 95 % limits of the critical batch
    double tokens_high = 0.0;
    double steps = 0.0;
    BestPlan best{};
};

/// By batch, ascending; of a ramp by stage, then the rest of the phase. Empty if the space does not choose
/// the batch and there is no ramp.
std::vector<BatchRow> batch_rows(const Scenario& scenario, const Results& results);

/// The rows as text.
ChoiceTable batch_table(const Scenario& scenario, const Results& results);

/// Tokens and steps of the phases of [learning], and the loss that they reach, as a sentence; empty without
/// [learning]. `phases`: those of the scenario or of a plan.
std::string learning_text(const Scenario& scenario, const std::vector<Phase>& phases);

}  // namespace prismopt
