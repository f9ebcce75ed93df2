#include "io/scenario/batch_stability.hpp"

#include "io/scenario/catalog.hpp"
#include "io/toml/reading_units.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

double largest_batch(const Learning& learning)
{
    int most = learning.as_given.global_batch;
    for (const int batch : learning.global_batch) {
        most = std::max(most, batch);
    }
    for (const RampStage& stage : learning.ramp) {
        most = std::max(most, stage.global_batch);
    }
    return static_cast<double>(learning.as_given.sequence) * most;
}

/// Octaves between two runs.
double distance(const BatchRun& run, double parameters, double batch, double learning_rate)
{
    const auto octaves = [](double a, double b) { return a > 0.0 && b > 0.0 ? std::log2(a / b) : 0.0; };
    return std::hypot(octaves(run.parameters, parameters), octaves(run.batch, batch), octaves(run.learning_rate, learning_rate));
}

std::string run_text(const BatchRun& run)
{
    const std::string rate = run.learning_rate > 0.0 ? fmt::format(", learning rate {:.2g}", run.learning_rate) : "";
    return fmt::format("{} ({} parameters, batches of {} tokens{}): {} ({})", run.name, short_count(run.parameters),
                       short_count(run.batch), rate, run.report, run.source);
}

}  // namespace

std::string batch_stability_text(const Scenario& scenario)
{
    if (!scenario.learning || scenario.learning->limited) {
        return "";
    }
    const Learning& learning = *scenario.learning;
    if (learning.global_batch.empty() && learning.ramp.empty()) {
        return "";
    }
    double parameters = 0.0;
    for (const Workload* network : networks(scenario)) {
        parameters = std::max(parameters, parameters_of(network_of(*network)));
    }
    const double batch = largest_batch(learning);
    const auto nearest = [&](bool stable) {
        std::vector<BatchRun> runs = batch_runs();
        std::erase_if(runs, [stable](const BatchRun& run) { return run.stable != stable; });
        return *std::min_element(runs.begin(), runs.end(), [&](const BatchRun& a, const BatchRun& b) {
            return distance(a, parameters, batch, learning.learning_rate) <
                   distance(b, parameters, batch, learning.learning_rate);
        });
    };
    return fmt::format(
        "the largest batch, {} tokens for {} parameters, is not checked for stability: nearest stable run: {}; nearest unstable "
        "run: {}; Molybog et al. (arXiv 2304.09871) saw Adam become unstable at 65 B and 546 B parameters, not at 7 B and 30 B, "
        "where "
        "gradients fell to its epsilon of 1e-8, and state no threshold; max_global_batch in [learning] states the largest batch "
        "that "
        "you trust",
        short_count(batch), short_count(parameters), run_text(nearest(true)), run_text(nearest(false)));
}

}  // namespace prismopt
