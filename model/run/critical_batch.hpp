#pragma once

/// What the global batch costs: tokens and steps to the same loss.
///
/// Steps S and tokens E to a fixed loss follow (S/S_min - 1)(E/E_min - 1) = 1 with the critical batch B_crit
/// = E_min/S_min (McCandlish et al., arXiv 1812.06162), so at a batch of B tokens
///
///     E(B) = E_min (1 + B/B_crit),    S(B) = S_min (1 + B_crit/B).
///
/// E_min follows from the tokens that a run needs at its reference batch. If the critical batch changes
/// during a run, these hold for each part of it.

#include "model/plan/phase.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A published formula of the critical batch of language models.
struct CriticalBatchFormula {
    /// What the critical batch depends on.
    enum class Variable { final_tokens, loss };  // tokens of the run, to the end of the phase
    /// Of the runs that the formula was fitted to. No limits: not published.
    struct Range {
        double least = 0.0;
        double most = std::numeric_limits<double>::infinity();

        /// By which factor a value is beyond it; 1: inside.
        double beyond(double value) const { return std::max({1.0, value / most, least / value}); }
    };

    std::string_view name;  // in scenarios
    Variable variable = Variable::final_tokens;
    double (*critical_batch)(double variable);  // tokens
    Range values{};                             // of the variable
    Range parameters{};
    std::string_view definition;
    std::string_view source;
};
std::span<const CriticalBatchFormula> critical_batch_formulas();

/// The critical batch at one point of a run.
struct CriticalBatch {
    double tokens = 0.0;  // trained so far at the reference batch
    double batch = 0.0;   // tokens
};

/// A part of a phase with a batch of its own.
struct RampStage {
    double tokens = 0.0;   // trained at this batch
    int global_batch = 0;  // sequences
};

/// What is known of learning in one phase of a run.
struct Learning {
    std::size_t phase = 0;         // of the run, from 0; the first one of a ramp
    Phase as_given{};              // this phase with the tokens that belong to the reference batch
    double reference_batch = 0.0;  // tokens
    // by tokens, ascending: linear between two of them, constant before and after all
    std::vector<CriticalBatch> critical{};
    double spread = 0.0;              // standard deviation of the logarithm of all critical batches
    std::string source{};             // of the critical batch
    double extrapolated = 1.0;        // beyond the range of the formula, by this factor; 1: inside
    double learning_rate = 0.0;       // peak; 0: not given
    double epsilon = 0.0;             // of Adam; 0: not given
    bool limited = false;             // the scenario states the largest stable batch
    std::vector<RampStage> ramp{};    // in order, before the rest of the phase
    std::vector<int> global_batch{};  // choices of [space], sequences; empty: that of the phase

    /// Returns the largest batch of the ramp and the choices, in sequences; 0 if there are none.
    int largest_choice() const;
};

/// Returns what is known if all critical batches are larger by this factor.
Learning with_larger_critical_batches(Learning learning, double factor);

/// Returns the phases, in order, that reach the loss of the given phase: those of the ramp, then one with a
/// global batch of `global_batch` sequences. Each has whole steps, unless there is no ramp and the batch is
/// the reference batch: then the phase is as given. A ramp that is longer than the run is cut at its end.
///
/// With a critical batch B_crit(t) after t tokens at the reference batch B0, a run in batches of B advances
/// by dt in dE = (B_crit(t) + B) / (B_crit(t) + B0) dt tokens: both need dE_min (1 + B/B_crit).
std::vector<Phase> phases_of(const Learning& learning, int global_batch);

}  // namespace prismopt
