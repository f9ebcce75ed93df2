#pragma once

/// Notes on a study for readers of its results, derived from the scenario in the results file.

#include "io/report/front/batch_rows.hpp"
#include "io/results/results.hpp"
#include "io/scenario/choices.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/scenario/question.hpp"
#include "model/base/units.hpp"
#include "model/network/workload.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace prismopt {

struct StudyNotes {
    int phases = 0;        // of the training run; 0: unknown, because this program cannot read the scenario
    std::string moe_note;  // note on the model interval of a mixture of experts; empty: none
    std::string price;     // per GPU-hour, with its source; empty: unknown
    // as the power's, where this program cannot read the scenario
    FigureOrigin price_origin = FigureOrigin::unknown;
    FigureOrigin power_origin = FigureOrigin::unknown;
    FigureOrigin electricity_origin = FigureOrigin::unknown;  // as well where the price of GPUs includes it
    std::string electricity;  // its price, with its origin; empty: that of GPUs includes it, or unknown
    std::string power;        // what it is computed from, with the origin of each figure; empty: unknown
    // why the question has no answer: a placeholder decides; empty: none does
    std::string ranked_placeholder;
    std::string software;     // note on training software that is not named; empty: it is, or unknown
    std::string omitted;      // what its jobs do that is not modelled; empty: nothing
    std::string own_entries;  // of the catalog, which the user added; empty: none
    VariantCounts variants;   // of the choices, and why some are excluded
    // Workload and accelerator; empty and zero: unknown.
    std::string model;
    WorkloadTask task = WorkloadTask::training;
    double parameters = 0.0;
    double tokens = 0.0;
    std::string accelerator;
    std::string trained_with;                    // software; says if it is assumed
    std::optional<std::chrono::sys_days> start;  // start date of the training
    Seconds deadline;                            // zero: none
    std::optional<Question> searched;            // the question that the search looked for
    std::optional<Question> question;            // what to answer first
    std::string idle_nodes;  // note on idle nodes that do not replace failed ones; empty: none
    std::string energy;      // note on power that energy and carbon exclude; empty: none
    // Where the space chooses the global batch, or a ramp changes it:
    std::vector<BatchRow> batches;
    // What choices that change learning cost, with the best plan of each; empty: none.
    ChoiceTable batch_table;
    ChoiceTable numerics;       // precision and attention kernel
    ChoiceTable local_updates;  // local updates between two exchanges
};
StudyNotes study_notes(const Results& results);

/// "of the first of 2 phases", for per-step figures; empty with a single phase, or if the number is unknown.
std::string of_first_phase(int phases);

/// The same as a sentence.
std::string first_phase_text(int phases);

}  // namespace prismopt
