#include "io/scenario/batch_stability.hpp"

#include "io/scenario/catalog_facts.hpp"
#include "io/toml/reading_units.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// A training, or a published one. Zero: not known.
struct TrainedBatch {
    double parameters = 0.0;
    double batch = 0.0;  // tokens
    double learning_rate = 0.0;
    double epsilon = 0.0;
};

/// What the scenario is about anyway.
double accepted_batch(const Learning& learning)
{
    return std::max(learning.reference_batch,
                    learning.as_given.tokens_of_sequence() * learning.as_given.global_batch);
}

/// In octaves, but decades of epsilon, whose usual values are 1e-8 and 1e-5. An assumption.
double distance(const BatchRun& run, const TrainedBatch& from)
{
    const auto octaves = [](double a, double b) { return a > 0.0 && b > 0.0 ? std::log2(a / b) : 0.0; };
    return std::hypot(std::hypot(octaves(run.parameters, from.parameters), octaves(run.batch, from.batch)),
                      std::hypot(octaves(run.learning_rate, from.learning_rate),
                                 octaves(run.epsilon, from.epsilon) / octaves(10.0, 1.0)));
}

std::string run_text(const BatchRun& run)
{
    const auto known = [](const char* what, double value) {
        return value > 0.0 ? fmt::format(", {} {:.2g}", what, value) : "";
    };
    return fmt::format("{} ({} parameters, batches of {} tokens{}{}): {} ({})", run.name,
                       short_count(run.parameters), short_count(run.batch),
                       known("learning rate", run.learning_rate), known("epsilon", run.epsilon), run.report,
                       run.source);
}

/// Of runs that are comparable in size.
std::string nearest_text(const TrainedBatch& to, bool stable)
{
    constexpr double comparable = 10.0;  // in parameters; an assumption
    std::vector<BatchRun> runs = batch_runs();
    std::erase_if(runs, [&](const BatchRun& run) {
        return run.stable != stable || run.parameters > comparable * to.parameters ||
               run.parameters < to.parameters / comparable;
    });
    const auto nearest =
        std::min_element(runs.begin(), runs.end(), [&to](const BatchRun& a, const BatchRun& b) {
            return distance(a, to) < distance(b, to);
        });
    return fmt::format("nearest {} run: {}", stable ? "stable" : "unstable",
                       nearest == runs.end() ? fmt::format("none with {} to {} parameters",
                                                           short_count(to.parameters / comparable),
                                                           short_count(to.parameters * comparable))
                                             : run_text(*nearest));
}

}  // namespace

std::string batch_stability_text(const Scenario& scenario)
{
    if (!scenario.learning || scenario.learning->limited) {
        return "";
    }
    const Learning& learning = *scenario.learning;
    TrainedBatch largest{.batch = learning.as_given.tokens_of_sequence() * learning.largest_choice(),
                         .learning_rate = learning.learning_rate,
                         .epsilon = learning.epsilon};
    if (largest.batch <= accepted_batch(learning)) {
        return "";
    }
    for (const Workload* network : networks(scenario)) {
        largest.parameters = std::max(largest.parameters, parameters_of(network_of(*network)));
    }
    return fmt::format(
        "the largest batch, {} tokens for {} parameters, is not checked for stability; among published runs, "
        "{}; {}; Molybog et "
        "al. (arXiv 2304.09871) saw Adam become unstable at 65 B and 546 B parameters, not at 7 B and 30 B, "
        "where gradients fell "
        "to its epsilon of 1e-8, and state no threshold; max_global_batch in [learning] states the largest "
        "batch that you trust",
        short_count(largest.batch), short_count(largest.parameters), nearest_text(largest, true),
        nearest_text(largest, false));
}

}  // namespace prismopt
