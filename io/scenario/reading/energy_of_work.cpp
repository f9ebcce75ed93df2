#include "io/scenario/reading/energy_of_work.hpp"

#include "io/scenario/figure_origin.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/hardware_power.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

bool is_faster(const Accelerator& accelerator, const Accelerator& entry)
{
    constexpr double rounding = 1.01;  // of figures that sources state differently
    bool faster = accelerator.memory_bandwidth > entry.memory_bandwidth * rounding;
    for (const auto& [precision, name] : names_of<Precision>) {
        const FlopsPerSecond known = entry.peak(precision);
        faster = faster || (known.si > 0.0 && accelerator.peak(precision) > known * rounding);
    }
    return faster;
}

/// The entry of the catalog, where accelerator_override makes it faster without a power.
std::optional<Accelerator> entry_without_power(const Scenario& scenario, const Accelerator& accelerator)
{
    if (accelerator.catalog_entry.empty() || power_origin(scenario) != FigureOrigin::catalog) {
        return std::nullopt;
    }
    Accelerator entry = catalog_accelerator(accelerator.catalog_entry, catalog_of(scenario));
    return is_faster(accelerator, entry) ? std::optional(std::move(entry)) : std::nullopt;
}

/// Whether the predicate holds for a parameter that some value of the choice sets.
template <class Predicate>
bool sets_any(const StudyChoice& choice, const Predicate& holds)
{
    return (choice.hardware && holds(*choice.hardware)) ||
           std::any_of(choice.options.begin(), choice.options.end(), [&](const HardwareOption& option) {
               return std::any_of(option.parameters.begin(), option.parameters.end(), holds);
           });
}

bool changes_work(const StudyChoice& choice)
{
    return sets_any(choice,
                    [](const HardwareParameter& parameter) { return row_of(parameter.target).changes_work; });
}

bool follows_work(const Scenario& scenario)
{
    const std::vector<const Cluster*> all = clusters(scenario);
    return std::any_of(scenario.choices.begin(), scenario.choices.end(), changes_work) ||
           std::any_of(all.begin(), all.end(), [&](const Cluster* cluster) {
               const Accelerator& accelerator = cluster->accelerator;
               return accelerator.energy != WorkEnergy{} ||
                      entry_without_power(scenario, accelerator).has_value();
           });
}

void settle(const Scenario& scenario, Accelerator& accelerator)
{
    const auto entry = entry_without_power(scenario, accelerator);
    if (!entry) {
        accelerator = with_energy_of_work(std::move(accelerator), scenario.power);
        return;
    }
    const Accelerator before = with_energy_of_work(*entry, scenario.power);
    Accelerator energies = before;
    energies.energy = accelerator.energy;
    if (accelerator.energy.memory.si == 0.0) {
        energies.energy.memory = before.energy.memory;
    }
    if (accelerator.energy.bf16.si == 0.0) {
        energies.energy.bf16 = before.energy.bf16;
    }
    // Those of other precisions follow from the peaks of the entry.
    accelerator.energy = with_energy_of_work(energies, scenario.power).energy;
    accelerator.energy_follows_work = true;
    accelerator = with_board_for_rates(std::move(accelerator), before);
}

bool changes_links(const StudyChoice& choice)
{
    return sets_any(choice, [](const HardwareParameter& parameter) {
        return parameter.target == HardwareTarget::bandwidth ||
               parameter.target == HardwareTarget::link_energy;
    });
}

std::string links_text(const Scenario& scenario)
{
    if (std::none_of(scenario.choices.begin(), scenario.choices.end(), changes_links)) {
        return "";
    }
    std::string text;
    for (std::size_t tier = 0; tier < scenario.cluster.tiers.size(); ++tier) {
        text += fmt::format("{}{} {:.3g} pJ/bit", text.empty() ? "" : ", ", scenario.cluster.tiers[tier].name,
                            link_energy(scenario.cluster, tier).si / row_of(HardwareTarget::link_energy).si);
    }
    return fmt::format("Links draw power in proportion to their bandwidth, beyond those of [cluster]: {}",
                       text);
}

}  // namespace

void settle_energy_of_work(Scenario& scenario)
{
    if (!follows_work(scenario)) {
        return;
    }
    settle(scenario, scenario.cluster.accelerator);
    for (Cluster& cluster : scenario.machines) {
        settle(scenario, cluster.accelerator);
    }
}

std::string energy_note(const Scenario& scenario)
{
    std::string note;
    const Accelerator& accelerator = scenario.cluster.accelerator;
    if (accelerator.energy_follows_work) {
        note = fmt::format(
            "Energy and carbon follow the work: beyond waiting, {} draws {:.3g} pJ/FLOP in 16 bits and "
            "{:.3g} pJ/bit of memory "
            "traffic (docs/methods/hardware-power.md)",
            accelerator.name, accelerator.energy.bf16.si / row_of(HardwareTarget::compute_energy).si,
            accelerator.energy.memory.si / row_of(HardwareTarget::memory_energy).si);
    }
    const std::string links = links_text(scenario);
    return note + (note.empty() || links.empty() ? "" : ". ") + links;
}

}  // namespace prismopt
