#include "optimizer/study/learning_error.hpp"

#include "io/scenario/variants.hpp"
#include "model/base/statistics.hpp"
#include "model/network/network.hpp"
#include "model/run/loss_gap.hpp"

#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// The d-th of as many probabilities, in an order of its own for each stride.
double probability(std::size_t draw, std::size_t stride, std::size_t draws)
{
    return (static_cast<double>(draw * stride % draws) + 0.5) / static_cast<double>(draws);
}

/// By the critical batch.
std::vector<double> longer_by_batch(const Learning& learning, const std::vector<Phase>& phases,
                                    int global_batch, std::size_t draws)
{
    constexpr std::size_t stride = 101;
    const double others = tokens_of(phases) - tokens_of(phases_of(learning, learning.as_given.global_batch));
    const double expected = others + tokens_of(phases_of(learning, global_batch));
    std::vector<double> longer;
    for (std::size_t d = 0; d < draws; ++d) {
        const double factor = std::exp(learning.spread * normal_quantile(probability(d, stride, draws)));
        const std::vector<Phase> drawn =
            phases_of(with_larger_critical_batches(learning, factor), global_batch);
        longer.push_back((others + tokens_of(drawn)) / expected);
    }
    return longer;
}

/// Infinite where no number of tokens makes up for the gap.
std::vector<double> longer_by_gap(const LossGap& gap, double parameters, double tokens, std::size_t draws)
{
    constexpr std::size_t stride = 211;
    const auto needed = [&](double relative) {
        return tokens_despite_gap(parameters, tokens, relative)
            .value_or(std::numeric_limits<double>::infinity());
    };
    const double expected = needed(gap.expected());
    std::vector<double> longer;
    for (std::size_t d = 0; d < draws; ++d) {
        longer.push_back(needed(gap.low + probability(d, stride, draws) * (gap.high - gap.low)) / expected);
    }
    return longer;
}

}  // namespace

bool varies_by_learning(const Scenario& scenario)
{
    return scenario.learning.has_value() || !scenario.numerics.loss_gap.empty();
}

std::vector<double> longer_by_learning(const Scenario& scenario, std::span<const ChoiceValue> values,
                                       std::size_t draws)
{
    std::vector<double> longer(draws, 1.0);
    const auto multiply = [&longer](const std::vector<double>& by) {
        for (std::size_t d = 0; d < longer.size(); ++d) {
            longer[d] *= by[d];
        }
    };
    if (scenario.learning) {
        const int batch = global_batch_at(values).value_or(scenario.learning->as_given.global_batch);
        multiply(longer_by_batch(*scenario.learning, scenario.phases, batch, draws));
    }
    const Workload workload = workload_at(scenario, values);
    if (const auto gap = loss_gap_of(scenario.numerics, precision_at(scenario, values))) {
        multiply(
            longer_by_gap(*gap, parameters_of(network_of(workload)), tokens_to_the_loss(scenario), draws));
    }
    return longer;
}

}  // namespace prismopt
