#pragma once

/// What the global batch costs: tokens and steps to the same loss.
///
/// Steps S and tokens E to a fixed loss follow (S/S_min - 1)(E/E_min - 1) = 1 with the critical batch B_crit = E_min/S_min (McCandlish et
/// al., arXiv 1812.06162), so at a batch of B tokens
///
///     E(B) = E_min (1 + B/B_crit),    S(B) = S_min (1 + B_crit/B).
///
/// E_min follows from the tokens that a run needs at its reference batch.

#include "model/plan/phase.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A published law of the critical batch of language models.
struct CriticalBatchLaw {
    /// What the critical batch depends on, and what tells how far a run is beyond the runs that the law was fitted to.
    enum class Variable { final_tokens, loss };
    enum class Range { final_tokens, parameters };

    std::string_view name;  // in scenarios
    Variable variable = Variable::final_tokens;
    double (*critical_batch)(double variable);  // tokens
    Range range = Range::final_tokens;
    double range_end = 0.0;
    std::string_view definition;
    std::string_view source;
};
std::span<const CriticalBatchLaw> critical_batch_laws();

/// What is known of learning in one phase of a run.
struct Learning {
    std::size_t phase = 0;            // of the run, from 0
    Phase as_given{};                 // this phase with the tokens that belong to the reference batch
    double reference_batch = 0.0;     // tokens
    double critical_batch = 0.0;      // tokens
    double spread = 0.0;              // standard deviation of the logarithm of the critical batch
    std::string source;               // of the critical batch
    double extrapolated = 1.0;        // beyond the range of the law, by this factor; 1: inside
    int max_global_batch = 0;         // sequences; 0: no limit
    std::vector<int> global_batch{};  // choices of [space], sequences; empty: that of the phase
};

/// Returns the tokens to the loss that the given phase reaches at the reference batch, at a batch of `batch` tokens.
double tokens_at(const Learning& learning, double batch);
/// Returns d log(tokens) / d log(critical batch) at a batch of `batch` tokens.
double effect_of_critical_batch(const Learning& learning, double batch);
/// Returns the phase at a global batch (sequences), with whole steps; at the reference batch as given.
Phase at_batch(const Learning& learning, int global_batch);

}  // namespace prismopt
