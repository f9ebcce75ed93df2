#pragma once

/// How well the model predicts measured runs like those of a study: by families of runs, each
/// predicted by a fit without it.

#include "io/results/results.hpp"
#include "io/scenario/constants/fitted_model.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Measured runs of one kind of network.
struct KindAccuracy {
    std::string kind;                       // "mixtures of experts"
    std::string machine;                    // of the study: "h100-sxm with megatron-bridge"
    std::string accelerator;                // "h100-sxm"
    std::string stack;                      // "megatron-bridge"; empty: none in particular
    std::vector<HeldOutErrors> on_machine;  // families with runs on this machine
    int other_rows = 0;                     // of the other families
    FamilyErrors others;                    // their means, by rows
};

/// One entry for each kind of network that the study trains; empty where this
/// program cannot read its scenario.
std::vector<KindAccuracy> study_accuracy(const Results& results);

/// The same for a kind and a machine. `stack`: empty: any software.
KindAccuracy kind_accuracy(const FittedModel& model, RunKind kind, const std::string& accelerator,
                           const std::string& stack);

}  // namespace prismopt
