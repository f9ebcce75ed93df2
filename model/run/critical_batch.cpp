#include "model/run/critical_batch.hpp"

#include <boost/math/tools/toms748_solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace prismopt {

namespace {

/// B_crit(L) = B* / L^(1/alpha), L in nats per token: Kaplan et al., arXiv 2001.08361, section 5.1.
double of_loss(double loss) { return 2e8 / std::pow(loss, 4.762); }

/// Of their largest network, 1.5e9 parameters, by their L(N) = (8.8e13 / N)^0.076 (equation 1.1).
constexpr double kaplan_least_loss = 2.3;

/// The largest batch that needs at most 20 % more steps than linear scaling, 22.91 D^0.47 sequences of 512
/// tokens: Zhang et al., arXiv 2410.21676. Two assumptions: D is in millions of tokens, for which this agrees
/// with their formula in parameters at 20 tokens each (93.2 N^0.47 with N in millions); and linear scaling is
/// that of small batches, so S = S_min (1 + B_crit/B) is 1.2 times S_min B_crit/B at B = B_crit/5.
double of_tokens(double tokens)
{
    constexpr double sequence = 512.0;
    constexpr double critical_over_largest = 5.0;
    return critical_over_largest * sequence * 22.91 * std::pow(tokens / 1e6, 0.47);
}

constexpr auto formulas = std::to_array<CriticalBatchFormula>({
    {"kaplan-2020",
     CriticalBatchFormula::Variable::loss,
     of_loss,
     {.least = kaplan_least_loss},
     {.most = 1.5e9},
     "steps and tokens are twice their minimum",
     "Kaplan et al., arXiv 2001.08361: up to 1.5e9 parameters, WebText2"},
    {"zhang-2024",
     CriticalBatchFormula::Variable::final_tokens,
     of_tokens,
     {.least = 20.0 * 85e6, .most = 20.0 * 1.2e9},
     {.least = 85e6, .most = 1.2e9},
     "20 % more steps than linear scaling, times five",
     "Zhang et al., arXiv 2410.21676: 85e6 to 1.2e9 parameters, 20 tokens each, C4, sequences of 512"},
});

double critical_batch_after(const Learning& learning, double tokens)
{
    const std::vector<CriticalBatch>& known = learning.critical;
    const auto after = std::find_if(known.begin(), known.end(),
                                    [tokens](const CriticalBatch& at) { return at.tokens > tokens; });
    if (after == known.begin()) {
        return after->batch;
    }
    const CriticalBatch& before = *(after - 1);
    if (after == known.end()) {
        return before.batch;
    }
    return before.batch +
           (after->batch - before.batch) * (tokens - before.tokens) / (after->tokens - before.tokens);
}

/// Tokens in batches of `batch` that advance a run from one point to another, both in
/// tokens at the reference batch.
double tokens_between(const Learning& learning, double from, double to, double batch)
{
    // The integral of (C + B) / (C + B0) = 1 + (B - B0) / (C + B0) over a part in which C + B0
    // goes linearly from `a` to `b`.
    const auto of_range = [&](double begin, double end) {
        const double a = critical_batch_after(learning, begin) + learning.reference_batch;
        const double b = critical_batch_after(learning, end) + learning.reference_batch;
        const double rise = (b - a) / a;
        const double mean_of_inverse = (rise == 0.0 ? 1.0 : std::log1p(rise) / rise) / a;
        return (end - begin) * (1.0 + (batch - learning.reference_batch) * mean_of_inverse);
    };
    double sum = 0.0;
    for (const CriticalBatch& at : learning.critical) {
        if (at.tokens > from && at.tokens < to) {
            sum += of_range(from, at.tokens);
            from = at.tokens;
        }
    }
    return sum + of_range(from, to);
}

/// The point that a run reaches from `from` with this number of tokens in batches of `batch`.
double point_after(const Learning& learning, double from, double tokens, double batch)
{
    // (C + B) / (C + B0) is between 1 and B / B0.
    const double ratio = batch / learning.reference_batch;
    const double nearest = from + tokens / std::max(1.0, ratio);
    const double farthest = from + tokens / std::min(1.0, ratio);
    if (nearest == farthest) {
        return nearest;
    }
    const auto missing = [&](double to) { return tokens_between(learning, from, to, batch) - tokens; };
    if (missing(nearest) >= 0.0 || missing(farthest) <= 0.0) {
        return missing(nearest) >= 0.0 ? nearest : farthest;  // up to rounding
    }
    std::uintmax_t rounds = 100;
    return boost::math::tools::toms748_solve(missing, nearest, farthest,
                                             boost::math::tools::eps_tolerance<double>(48), rounds)
        .second;
}

}  // namespace

std::span<const CriticalBatchFormula> critical_batch_formulas() { return formulas; }

int Learning::largest_choice() const
{
    int most = 0;
    for (const int batch : global_batch) {
        most = std::max(most, batch);
    }
    for (const RampStage& stage : ramp) {
        most = std::max(most, stage.global_batch);
    }
    return most;
}

Learning with_larger_critical_batches(Learning learning, double factor)
{
    for (CriticalBatch& at : learning.critical) {
        at.batch *= factor;
    }
    return learning;
}

std::vector<Phase> phases_of(const Learning& learning, int global_batch)
{
    std::vector<Phase> phases;
    double reached = 0.0;  // tokens at the reference batch
    const double end = learning.as_given.tokens;
    const auto add = [&](double tokens, int sequences) {
        Phase phase = learning.as_given;
        phase.global_batch = sequences;
        const double batch = phase.tokens_of_sequence() * sequences;
        const double left = tokens_between(learning, reached, end, batch);
        phase.tokens = std::ceil(std::min(tokens, left) / batch) * batch;
        reached = phase.tokens < left ? point_after(learning, reached, phase.tokens, batch) : end;
        phases.push_back(phase);
    };
    for (const RampStage& stage : learning.ramp) {
        if (reached < end) {
            add(stage.tokens, stage.global_batch);
        }
    }
    if (phases.empty() && learning.as_given.tokens_of_sequence() * global_batch == learning.reference_batch) {
        phases.push_back(learning.as_given);
        phases.back().global_batch = global_batch;
    } else if (reached < end) {
        add(std::numeric_limits<double>::infinity(), global_batch);
    }
    return phases;
}

}  // namespace prismopt
