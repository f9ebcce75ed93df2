#include "io/scenario/reading/unknown_power.hpp"

#include "io/scenario/figure_origin.hpp"
#include "io/scenario/sections/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool overrides_without_power(const Scenario& scenario)
{
    const Accelerator& accelerator = scenario.cluster.accelerator;
    return !accelerator.catalog_entry.empty() && power_origin(scenario) == FigureOrigin::catalog &&
           is_faster(accelerator, catalog_accelerator(accelerator.catalog_entry));
}

}  // namespace

std::vector<std::string> changes_of_unknown_power(const Scenario& scenario)
{
    std::vector<std::string> changes;
    for (const HardwareParameter& parameter : scenario.hardware_parameters) {
        if (changes_unknown_power(parameter.target)) {
            changes.push_back(parameter.name);
        }
    }
    if (overrides_without_power(scenario)) {
        changes.emplace_back("accelerator_override");
    }
    return changes;
}

std::string energy_note(const Scenario& scenario)
{
    const std::vector<std::string> changes = changes_of_unknown_power(scenario);
    return changes.empty() ? ""
                           : fmt::format(
                                 "Energy and carbon are those of the accelerator of the catalog: the power of other values of {} "
                                 "is not known",
                                 fmt::join(changes, " and "));
}

}  // namespace prismopt
