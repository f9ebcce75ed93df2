#include "io/report/study_notes.hpp"

#include "io/base/input_error.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/reading/energy_of_work.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "io/scenario/sections/software.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace prismopt {

namespace {

/// What the clusters of a study have, each once.
template <class Words>
std::string of_clusters(const Scenario& scenario, Words&& words)
{
    std::vector<std::string> all;
    for (const Cluster* cluster : clusters(scenario)) {
        if (const std::string text = words(*cluster); std::find(all.begin(), all.end(), text) == all.end()) {
            all.push_back(text);
        }
    }
    return fmt::format("{}", fmt::join(all, " or "));
}

/// Whether the program that wrote the results assumed software where none was given, as
/// programs before schema 1.12 did not.
bool assumed_software(const Results& results)
{
    return !results.study.build.catalog.empty() ||
           std::any_of(results.front.begin(), results.front.end(),
                       [](const FrontPoint& point) { return std::isfinite(point.software_low); });
}

/// Names of the networks: "a and b" of a cluster that serves both, "a or b" of a choice between them.
std::string networks_text(const Scenario& scenario)
{
    const std::string_view separator = scenario.served.empty() ? " or " : " and ";
    std::string text;
    for (const Workload* network : networks(scenario)) {
        text += text.empty() ? "" : separator;
        text += network->name;
    }
    return text;
}

}  // namespace

StudyNotes study_notes(const Results& results)
{
    try {
        const Scenario scenario = scenario_of(results.study);
        const bool has_intervals =
            std::any_of(results.front.begin(), results.front.end(),
                        [](const FrontPoint& point) { return std::isfinite(point.model_low); });
        StudyNotes notes;
        const bool serves = !scenario.served.empty();
        for (std::size_t i = 0; i < networks(scenario).size(); ++i) {
            notes.phases = std::max(notes.phases, static_cast<int>(phases_for(scenario, i).size()));
        }
        const FittedModel model = has_intervals ? fitted_model() : FittedModel{};
        if (has_intervals) {
            notes.moe_note = moe_text(model, networks(scenario), clusters(scenario));
        }
        notes.price = gpu_price_text(scenario);
        notes.price_origin = price_origin(scenario);
        notes.power_origin = power_origin(scenario);
        notes.electricity_origin = electricity_origin(scenario);
        notes.electricity = electricity_text(scenario);
        notes.power = power_text(scenario);
        notes.software = assumed_software(results) ? software_text(scenario) : "";
        notes.omitted = omitted_text(clusters(scenario), catalog_of(scenario));
        notes.own_entries = own_entries_text(scenario);
        notes.variants = scenario.variant_counts;
        notes.model = networks_text(scenario);
        notes.task = networks(scenario).front()->task;
        notes.parameters = scenario.workloads.empty() ? parameters_of(network_of(scenario.workload)) : 0.0;
        notes.tokens = serves ? 0.0 : tokens_of(scenario.phases);  // each network has its own
        notes.accelerator =
            of_clusters(scenario, [](const Cluster& cluster) { return cluster.accelerator.name; });
        notes.trained_with = of_clusters(scenario, [&](const Cluster& cluster) {
            return cluster.possible.empty() || assumed_software(results) ? software_words(cluster)
                                                                         : "no software in particular";
        });
        notes.start = scenario.start;
        notes.deadline = scenario.deadline;
        notes.question = results.question ? results.question : scenario.question;
        notes.searched = scenario.question;
        notes.ranked_placeholder = notes.question ? ranked_placeholder(scenario, *notes.question) : "";
        notes.idle_nodes = idle_nodes_text(scenario);
        notes.energy = energy_note(scenario);
        notes.batches = batch_rows(scenario, results);
        notes.batch_table = batch_table(scenario, results);
        notes.numerics = numerics_table(results, numerics_text(scenario));
        notes.local_updates = local_updates_table(results, local_updates_text(scenario));
        return notes;
    } catch (const InputError&) {
        return {};  // written for another version of this program
    }
}

std::string of_first_phase(int phases)
{
    return phases > 1 ? fmt::format("of the first of {} phases", phases) : "";
}

std::string first_phase_text(int phases)
{
    return phases > 1
               ? fmt::format(
                     "Step times, MFU and step breakdowns are {}; `prismopt predict` prints each phase.",
                     of_first_phase(phases))
               : "";
}

}  // namespace prismopt
