#pragma once

/// What the precision of linear layers does to learning: deviations measured by `prismopt numerics`, and published gaps of the loss.

#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/run/loss_gap.hpp"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct Scenario;

/// What a scenario states about precisions.
struct Numerics {
    Precision reference = Precision::bf16;                           // deviations are relative to it
    double max_deviation = std::numeric_limits<double>::infinity();  // of the choices
    std::map<Precision, LossGap> loss_gap{};                         // over the precision of the workload; none: no gap
    bool judged = false;                                             // choices have a price or a limit, or are accepted without
};

/// Returns the largest ratio, over classes of operators (attention and linear layers, each forward and backward), of the RMS deviation from
/// FP64 in this precision to that in the reference: model/catalog/numerics.toml. fp8 is E4M3 with a factor per tensor; attention has bf16
/// operands unless the precision is wider.
double precision_deviation(Precision precision, Precision reference);

/// Returns the phases with the tokens that reach the same loss despite a gap, in whole steps; nothing if no number of tokens does.
std::optional<std::vector<Phase>> phases_despite_gap(std::vector<Phase> phases, const Workload& workload, double gap);

/// What each choice of precision costs and deviates, a sentence each; empty if the space has no choice.
std::string numerics_text(const Scenario& scenario);

}  // namespace prismopt
