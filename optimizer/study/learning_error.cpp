#include "optimizer/study/learning_error.hpp"

#include <boost/math/distributions/normal.hpp>

#include <cmath>

namespace prismopt {

namespace {

double tokens_of(const std::vector<Phase>& phases)
{
    double tokens = 0.0;
    for (const Phase& phase : phases) {
        tokens += phase.tokens;
    }
    return tokens;
}

}  // namespace

std::vector<double> longer_by_learning(const Scenario& scenario, int global_batch, std::size_t draws)
{
    constexpr std::size_t stride = 101;
    const Learning& learning = *scenario.learning;
    const double others = tokens_of(scenario.phases) - tokens_of(phases_of(learning, learning.as_given.global_batch));
    const double expected = others + tokens_of(phases_of(learning, global_batch));
    std::vector<double> longer;
    for (std::size_t d = 0; d < draws; ++d) {
        const double below = (static_cast<double>(d * stride % draws) + 0.5) / static_cast<double>(draws);
        const double factor = std::exp(learning.spread * quantile(boost::math::normal(), below));
        const std::vector<Phase> phases = phases_of(with_larger_critical_batches(learning, factor), global_batch);
        longer.push_back((others + tokens_of(phases)) / expected);
    }
    return longer;
}

}  // namespace prismopt
