#pragma once

/// What readers of results must know of the study beside its figures, from the scenario that they hold.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "model/base/units.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace prismopt {

struct StudyNotes {
    int phases = 0;        // of the training run; 0: not known, as this program does not read the scenario
    std::string mixtures;  // what the model interval of a mixture of experts rests on; empty: nothing to say
    std::string price;     // of a GPU-hour, and where it is from; empty: not known
    // What is trained, on what; empty and zero: not known.
    std::string model;
    double parameters = 0.0;
    double tokens = 0.0;
    std::string accelerator;
    std::optional<std::chrono::sys_days> start;  // the day on which the training begins
    Seconds deadline;                            // zero: none
    std::string idle_nodes;                      // that do not replace failed ones; empty: none
};
StudyNotes study_notes(const Results& results);

/// A job that waits for repairs while the cluster has idle nodes surprises whoever reads its time. Empty where there is none.
std::string idle_nodes_text(const Scenario& scenario);

/// "of the first of 2 phases", for what is of a step; empty where there is one, or it is not known.
std::string of_first_phase(int phases);

/// The same as a sentence on the figures of a front.
std::string first_phase_text(int phases);

}  // namespace prismopt
