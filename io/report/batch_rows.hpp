#pragma once

/// Global batches of a study beside each other: what each costs in tokens, steps, time and money.

#include "io/report/plans_by_choice.hpp"
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

/// By batch, ascending; of a ramp by stage, then the rest of the phase. Empty if the space does not choose the batch and there is
/// no ramp.
std::vector<BatchRow> batch_rows(const Scenario& scenario, const Results& results);

/// The rows as text, beneath what they are about.
struct BatchTable {
    std::string title{};                            // with the critical batch and its source
    std::vector<std::vector<std::string>> cells{};  // the first row has the names of the columns; empty without rows
    std::string note{};
};
BatchTable batch_table(const Scenario& scenario, const Results& results);
std::string batches_text(const BatchTable& table);

/// What [learning] makes of the tokens of the scenario's phases, as a sentence; empty without it.
std::string learning_text(const Scenario& scenario);

}  // namespace prismopt
