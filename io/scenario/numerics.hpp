#pragma once

/// What the precision of linear layers and the attention kernel do to learning: deviations measured by
/// `prismopt numerics`, and published gaps of the loss.

#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/run/loss_gap.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct Scenario;

/// How a network is computed.
struct NumericChoice {
    Precision precision = Precision::bf16;  // of the products of linear layers
    AttentionPrecision attention = AttentionPrecision::bf16;
    AttentionKernel kernel = AttentionKernel::flash;
};
NumericChoice numeric_choice(const Workload& workload);  // plain if some attention block is

/// What a scenario states about such choices.
struct Numerics {
    NumericChoice reference{};                                       // deviations are relative to it
    double max_deviation = std::numeric_limits<double>::infinity();  // of the choices
    // of a choice over the precision of the workload; none: no gap
    std::map<std::string, LossGap> loss_gap{};
    bool priced = false;     // loss_gap is given
    bool published = false;  // by publications
    bool accepted = false;   // choices are searched without price and limit

    bool judges_kernels() const { return accepted || std::isfinite(max_deviation); }
    bool judged() const { return priced || judges_kernels(); }
};

/// Returns the loss gap of a choice of precision; nothing if it has none.
std::optional<LossGap> loss_gap_of(const Numerics& numerics, const PrecisionChoice* choice);

/// Returns the largest ratio, over classes of operators (attention and linear layers, each forward and
/// backward), of the RMS deviation from FP64 of this choice to that of the reference:
/// model/catalog/numerics.toml. fp8 is E4M3 with a factor per tensor; attention has bf16 operands unless the
/// precision is wider. Linear layers that stay in bf16 change nothing in it, as long as others do not.
double deviation_from(const NumericChoice& reference, const NumericChoice& choice);

/// Returns the tokens that reach the loss of the run in the reference batch and
/// the precision of the workload.
double tokens_to_the_loss(const Scenario& scenario);
/// Returns by which factor a run needs more tokens to that loss despite a gap; nothing if
/// no number of tokens is enough.
std::optional<double> factor_of_gap(const Scenario& scenario, const Workload& workload, double gap);
/// Returns the phases of a run that is longer by this factor, in whole steps unless it is one: with this
/// batch, if it is chosen, in the phase of [learning]. Stages of a ramp stay as they are.
std::vector<Phase> longer_phases(const Scenario& scenario, std::optional<int> global_batch, double factor);

/// A choice of the space, with the precision and the kernel of the workload where it has none.
struct ChoiceOfSpace {
    PrecisionChoice precision;
    AttentionKernel kernel = AttentionKernel::flash;

    NumericChoice numeric() const { return {precision.precision, precision.attention, kernel}; }
};
std::vector<ChoiceOfSpace> choices_of_space(const Scenario& scenario);

/// What each choice of precision and attention kernel costs and deviates; empty if the space has no choice.
std::string numerics_text(const Scenario& scenario);

}  // namespace prismopt
