#include "model/run/batch_law.hpp"

#include <array>
#include <cmath>

namespace prismopt {

namespace {

/// B_crit(L) = B* / L^(1/alpha), L in nats per token: Kaplan et al., arXiv 2001.08361, section 5.1.
double of_loss(double loss) { return 2e8 / std::pow(loss, 4.762); }

/// The largest batch that needs at most 20 % more steps than linear scaling, 22.91 D^0.47 sequences of 512 tokens with D in millions of
/// tokens: Zhang et al., arXiv 2410.21676. S = S_min (1 + B_crit/B) is 1.2 times S_min B_crit/B, linear scaling, at B = B_crit/5.
double of_tokens(double tokens)
{
    constexpr double sequence = 512.0;
    constexpr double critical_over_largest = 5.0;
    return critical_over_largest * sequence * 22.91 * std::pow(tokens / 1e6, 0.47);
}

constexpr std::array<CriticalBatchLaw, 2> laws{{
    {"kaplan-2020", CriticalBatchLaw::Variable::loss, of_loss, CriticalBatchLaw::Range::parameters, 1.5e9,
     "steps and tokens are twice their minimum", "Kaplan et al., arXiv 2001.08361: up to 1.5e9 parameters, WebText2"},
    {"zhang-2024", CriticalBatchLaw::Variable::final_tokens, of_tokens, CriticalBatchLaw::Range::final_tokens, 24e9,
     "20 % more steps than linear scaling, times five",
     "Zhang et al., arXiv 2410.21676: 85e6 to 1.2e9 parameters, 20 tokens each, C4, sequences of 512"},
}};

}  // namespace

std::span<const CriticalBatchLaw> critical_batch_laws() { return laws; }

double tokens_at(const Learning& learning, double batch)
{
    return learning.as_given.tokens * (1.0 + batch / learning.critical_batch) /
           (1.0 + learning.reference_batch / learning.critical_batch);
}

double effect_of_critical_batch(const Learning& learning, double batch)
{
    const auto share = [&](double of) { return of / (learning.critical_batch + of); };
    return share(learning.reference_batch) - share(batch);
}

Phase at_batch(const Learning& learning, int global_batch)
{
    Phase phase = learning.as_given;
    phase.global_batch = global_batch;
    const double batch = static_cast<double>(phase.sequence) * global_batch;
    if (batch != learning.reference_batch) {
        phase.tokens = std::ceil(tokens_at(learning, batch) / batch) * batch;
    }
    return phase;
}

}  // namespace prismopt
