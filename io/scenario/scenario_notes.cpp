#include "io/scenario/scenario_notes.hpp"

#include "io/scenario/batch_stability.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/scenario/variants.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

namespace prismopt {

namespace {

std::string learned_times_text(const Scenario& scenario)
{
    return scenario.learned.times.empty() || scenario.workloads.size() < 2
               ? ""
               : "[cluster] learned has times of single networks, which a study of several networks does not "
                 "use; it uses the "
                 "learned constants alone";
}

/// Of images and videos the catalog knows how many tokens one has.
std::string other_samples_text(const Scenario& scenario)
{
    const Catalog& catalog = catalog_of(scenario);
    for (const Workload* network : networks(scenario)) {
        const bool known = catalog.has("workloads", network->name);
        if (network->vocabulary > 0 || !known) {
            continue;
        }
        const UsualSample usual = usual_sample(network->name, catalog);
        const int here = scenario.phases.front().sequence;
        if (here != usual.tokens) {
            return fmt::format(
                "a {} has {} tokens in the training of {}, and {} here: write sequence_length = {}, unless "
                "yours are of "
                "another size",
                usual.name, usual.tokens, network->name, here, usual.tokens);
        }
    }
    return "";
}

/// Padding is computed and trains nothing.
std::string padding_text(const Scenario& scenario)
{
    const Phase& first = scenario.phases.front();
    if (!first.lengths || first.lengths->batching != Batching::padded) {
        return "";
    }
    return fmt::format(
        "samples have {:.0f} tokens in the mean, and are padded to the longest of their microbatch, up to "
        "{}; "
        "batching = \"flattened\" or \"packed\" in [data] computes no padding (docs/data.md)",
        first.tokens_of_sequence(), first.sequence);
}

/// Whether some network of the study computes with the peak of this precision.
bool computes_in(const Scenario& scenario, Precision precision)
{
    const auto same_peak = [precision](Precision used) {
        return used == precision || (has_8_bits(used) && has_8_bits(precision));
    };
    const auto uses = [&](Precision products, AttentionPrecision attention) {
        return same_peak(products) || (attention == AttentionPrecision::fp8 && has_8_bits(precision));
    };
    const bool chosen = std::ranges::any_of(scenario.space.precision, [&](const PrecisionChoice& choice) {
        return uses(choice.precision, choice.attention);
    });
    return chosen || std::ranges::any_of(networks(scenario), [&](const Workload* network) {
               return uses(network->precision, network->attention_precision);
           });
}

/// Hardware parameters of a precision with fewer than 16 bits that no network uses.
std::string unused_precisions_text(const Scenario& scenario)
{
    std::vector<std::string> names;
    const auto add = [&](const HardwareParameter& parameter) {
        const auto& precision = parameter.precision;
        const bool unused =
            precision && has_fewer_than_16_bits(*precision) && !computes_in(scenario, *precision);
        if (unused && std::ranges::find(names, parameter.name) == names.end()) {
            names.push_back(parameter.name);
        }
    };
    for (const StudyChoice& choice : scenario.choices) {
        if (choice.hardware) {
            add(*choice.hardware);
        }
        for (const HardwareOption& option : choice.options) {
            std::ranges::for_each(option.parameters, add);
        }
    }
    return names.empty() ? ""
                         : fmt::format(
                               "{} changes no time, because no network computes in that precision; "
                               "add it to precision in [space], or remove the hardware parameter",
                               fmt::join(names, " and "));
}

/// Failure rates are of the nodes of the first cluster.
std::string failures_text(const Scenario& scenario)
{
    std::string text;
    for (const Cluster& machine : scenario.machines) {
        if (machine.gpus_per_node() != scenario.cluster.gpus_per_node()) {
            text += fmt::format("{}{} ({} GPUs a node)", text.empty() ? "" : ", ", machine.name,
                                machine.gpus_per_node());
        }
    }
    return text.empty() ? ""
                        : fmt::format(
                              "failure rates of nodes in [reliability] are those of {} ({} GPUs a node), the "
                              "first cluster; "
                              "{}: the same rate per GPU",
                              scenario.cluster.name, scenario.cluster.gpus_per_node(), text);
}

int largest(const std::vector<int>& values) { return *std::max_element(values.begin(), values.end()); }

/// The nodes of some variants are too large for DeepEP, which those of others use. Without an equal for large
/// nodes, the comparison of the variants is biased.
std::string dispatch_text(const Scenario& scenario)
{
    const SpaceSettings& space = scenario.space;
    const auto lists = [&](Dispatch dispatch) {
        return std::ranges::find(space.dispatch, dispatch) != space.dispatch.end();
    };
    if (scenario.variants.size() < 2 || !lists(Dispatch::deepep) || lists(Dispatch::hybridep)) {
        return "";
    }
    const auto rule = std::ranges::find(plan_rules(), Reason::dispatch, &PlanRule::reason);
    const ParallelPlan plan{.tp = largest(space.tp),
                            .ep = largest(space.ep),
                            .etp = largest(space.etp),
                            .dispatch = Dispatch::deepep};
    std::set<int> node_sizes;
    std::string reason;  // of the smallest
    bool some_have_it = false;
    for (const ChosenValues& values : scenario.variants) {
        const auto variant = variant_at(scenario, values);
        if (!variant) {
            continue;
        }
        const PlannedPhase planned{plan, scenario.phases.front(), *variant};
        if (rule->holds(planned)) {
            some_have_it = true;
            continue;
        }
        const int size = variant->cluster.gpus_per_node();
        if (node_sizes.empty() || size < *node_sizes.begin()) {
            reason = infeasible_text(rule->problem(planned));
        }
        node_sizes.insert(size);
    }
    return node_sizes.empty() || !some_have_it
               ? ""
               : fmt::format(
                     "the comparison of variants is biased against nodes of {} GPUs, because many of their "
                     "plans lack a dispatch that those of smaller nodes have: {}",
                     fmt::join(node_sizes, ", "), reason);
}

}  // namespace

std::string own_entries_text(const Scenario& scenario)
{
    std::string text;
    for (const std::string_view kind : catalog_kinds()) {
        const std::vector<std::string> names = catalog_of(scenario).own_names(kind);
        if (!names.empty()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, fmt::join(names, " and "));
        }
    }
    return text.empty()
               ? ""
               : fmt::format("entries of your own catalog, which no measured run confirms: {}", text);
}

std::string idle_nodes_text(const Scenario& scenario)
{
    if (scenario.space.spares.size() > 1 || !scenario.machines.empty()) {
        return "";  // who compares numbers of spares knows of them; clusters have several numbers of nodes
    }
    const int spares = scenario.space.spares.front();
    const std::vector<Cause> causes = all_causes(scenario.reliability);
    const bool replaced =
        spares != enough_spares &&
        std::any_of(causes.begin(), causes.end(), [](const Cause& cause) { return cause.repair.si > 0.0; });
    const int smallest = *std::min_element(scenario.space.gpus.begin(), scenario.space.gpus.end());
    const int node = scenario.cluster.gpus_per_node();
    const int idle = scenario.cluster.nodes() - (smallest + node - 1) / node - spares;
    return replaced && idle > 0
               ? fmt::format(
                     "jobs of {} GPUs and {} spares leave {} nodes of the cluster idle, which do not replace "
                     "failed nodes; raise spares if they should",
                     smallest, spares, idle)
               : "";
}

std::string software_words(const Cluster& cluster)
{
    const std::string name =
        cluster.software.name == Software{}.name ? "no software in particular" : cluster.software.text();
    return name + (cluster.possible.empty() ? "" : " (assumed)");
}

namespace {

std::string assumed_software_text(const Cluster& cluster)
{
    std::vector<std::string> others;
    for (std::size_t i = 1; i < cluster.possible.size(); ++i) {
        others.push_back(cluster.possible[i].software.text());
    }
    return cluster.software.text() +
           (others.empty()
                ? ""
                : fmt::format("; intervals and probabilities also draw {}", fmt::join(others, ", ")));
}

}  // namespace

std::string software_text(const Scenario& scenario)
{
    struct Assumption {
        std::string software;
        std::vector<std::string> machines;
    };
    std::vector<Assumption> assumptions;  // each once
    for (const Cluster* cluster : clusters(scenario)) {
        if (cluster->possible.empty()) {
            continue;
        }
        const std::string software = assumed_software_text(*cluster);
        const auto known =
            std::find_if(assumptions.begin(), assumptions.end(),
                         [&](const Assumption& assumption) { return assumption.software == software; });
        if (known == assumptions.end()) {
            assumptions.push_back({software, {cluster->name}});
        } else {
            known->machines.push_back(cluster->name);
        }
    }
    std::string text;
    for (const Assumption& assumption : assumptions) {
        text += fmt::format(
            "{}software assumed{}: {}", text.empty() ? "" : "; ",
            scenario.machines.empty() ? "" : fmt::format(" on {}", fmt::join(assumption.machines, ", ")),
            assumption.software);
    }
    return text.empty()
               ? ""
               : text + "; name yours in [software] (docs/software.md, prismopt init --list software)";
}

std::string placeholders_text(const Scenario& scenario)
{
    const std::vector<std::string> keys = placeholders(scenario);
    if (keys.empty()) {
        return "";
    }
    if (keys.size() == 1) {
        return fmt::format("{} is a placeholder: what follows from it means nothing until you give your own",
                           keys.front());
    }
    return fmt::format("{} are placeholders: what follows from them means nothing until you give your own",
                       fmt::join(keys, " and "));
}

std::vector<std::string> scenario_notes(const Scenario& scenario)
{
    std::vector<std::string> notes;
    for (std::string note :
         {scenario.older_keys, scenario.units, placeholders_text(scenario), software_text(scenario),
          lacking_text(scenario), idle_nodes_text(scenario), batch_stability_text(scenario),
          learned_times_text(scenario), other_samples_text(scenario), own_entries_text(scenario),
          failures_text(scenario), padding_text(scenario), unused_precisions_text(scenario),
          dispatch_text(scenario)}) {
        if (!note.empty()) {
            notes.push_back(std::move(note));
        }
    }
    return notes;
}

std::vector<std::string> lacking(const ParallelPlan& plan, const SpaceSettings& levers)
{
    std::vector<std::string> degrees;
    for_each_axis([&](const auto& axis) {
        if constexpr (std::is_same_v<std::decay_t<decltype(plan.*(axis.choice))>, int>) {
            const int degree = plan.*(axis.choice);
            if (levers.*(axis.values) == std::vector{1} && degree > 1) {
                degrees.push_back(fmt::format("{}={}", axis.name, degree));
            }
        }
    });
    return degrees;
}

std::string lacking_text(const Scenario& scenario)
{
    ParallelPlan plan;
    for_each_axis([&](const auto& axis) {
        if constexpr (std::is_same_v<std::decay_t<decltype(plan.*(axis.choice))>, int>) {
            plan.*(axis.choice) = largest(scenario.space.*(axis.values));
        }
    });
    const std::vector<std::string> degrees = lacking(plan, scenario.levers);
    return degrees.empty()
               ? ""
               : fmt::format("[space] has {}, which {} does not have; name other software, or remove them",
                             fmt::join(degrees, ", "), scenario.cluster.software.text());
}

}  // namespace prismopt
