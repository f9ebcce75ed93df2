#pragma once

/// Global batches of a study beside each other: what each costs in tokens, steps, time and money.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The best plan of one global batch by the first objective, among all plans of the results.
struct BatchRow {
    int global_batch = 0;  // sequences
    double tokens = 0.0;   // of the phase, to the same loss
    double steps = 0.0;
    bool drawn = false;            // otherwise the values are lower bounds of a plan that limits excluded
    std::vector<double> values{};  // [objective], in SI units; empty: no plan is stored
    bool on_front = false;
};

/// By batch, ascending; empty if the space does not choose the batch.
std::vector<BatchRow> batch_rows(const Scenario& scenario, const Results& results);

/// The table, with the critical batch and its source; empty without rows.
std::string batches_text(const Scenario& scenario, const Results& results);

}  // namespace prismopt
