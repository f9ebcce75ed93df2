#include "io/scenario/scenario.hpp"

#include "io/toml/catalog.hpp"

#include <algorithm>

namespace prismopt {

const Catalog& catalog_of(const Scenario& scenario)
{
    return scenario.catalog ? *scenario.catalog : Catalog::built_in();
}

bool has_priced_hardware(const Scenario& scenario)
{
    return std::any_of(scenario.choices.begin(), scenario.choices.end(), [](const StudyChoice& choice) {
        const auto has_price = [](const HardwareOption& option) { return option.added.price.si != 0.0; };
        return (choice.hardware && choice.hardware->price_per_unit.si != 0.0) ||
               std::any_of(choice.options.begin(), choice.options.end(), has_price);
    });
}

namespace {

/// All of the choices, or the only one.
template <class Kind>
std::vector<const Kind*> all_or_one(const std::vector<Kind>& choices, const Kind& only)
{
    std::vector<const Kind*> all;
    for (const Kind& choice : choices) {
        all.push_back(&choice);
    }
    if (all.empty()) {
        all.push_back(&only);
    }
    return all;
}

}  // namespace

std::vector<const Cluster*> clusters(const Scenario& scenario)
{
    return all_or_one(scenario.machines, scenario.cluster);
}

std::vector<const Workload*> networks(const Scenario& scenario)
{
    return all_or_one(scenario.workloads, scenario.workload);
}

const std::vector<Phase>& phases_for(const Scenario& scenario, std::size_t network)
{
    return scenario.served.empty() ? scenario.phases : scenario.served.phases[network];
}

std::vector<Phase> every_phase(const Scenario& scenario)
{
    if (scenario.served.empty()) {
        return scenario.phases;
    }
    std::vector<Phase> all;
    for (const std::vector<Phase>& phases : scenario.served.phases) {
        all.insert(all.end(), phases.begin(), phases.end());
    }
    return all;
}

}  // namespace prismopt
