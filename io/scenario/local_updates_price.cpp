#include "io/scenario/local_updates_price.hpp"

#include "io/scenario/scenario.hpp"
#include "model/network/network.hpp"
#include "model/run/loss_gap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

std::string more_text(double factor)
{
    if (factor == 1.0) {
        return "no more tokens";
    }
    return std::isfinite(factor) ? fmt::format("{:.3g} % more tokens", 100.0 * (factor - 1.0))
                                 : "no number of tokens is enough";
}

}  // namespace

int most_buildings(const Scenario& scenario)
{
    const int building = scenario.cluster.building_gpus();
    if (building == 0) {
        return 1;
    }
    int most = *std::max_element(scenario.space.gpus.begin(), scenario.space.gpus.end());
    for (const Phase& phase : scenario.phases) {
        most = std::max(most, phase.own.gpus);
    }
    return (most + building - 1) / building;
}

LocalUpdates local_updates_of(const Scenario& scenario, const Workload& workload, double tokens)
{
    if (!scenario.local_updates.published) {
        return scenario.local_updates.given;
    }
    const double parameters = parameters_of(network_of(workload));
    LocalUpdates price{.by_groups = {1.0, 1.0}};
    for (int groups = 2; groups <= most_buildings(scenario); ++groups) {
        const auto needed = tokens_despite_gap(parameters, tokens, published_local_gap(parameters, groups));
        price.by_groups.push_back(needed ? *needed / tokens : std::numeric_limits<double>::infinity());
    }
    return price;
}

std::string local_updates_text(const Scenario& scenario)
{
    std::string steps;
    for (const int local : scenario.space.local_steps) {
        steps += local > 1 ? fmt::format("{}{}", steps.empty() ? "" : ", ", local) : "";
    }
    if (steps.empty()) {
        return "";
    }
    std::string text = fmt::format("Local updates: buildings exchange every {} steps: ", steps);
    const LocalUpdates price = local_updates_of(scenario, scenario.workload, tokens_to_the_loss(scenario));
    std::string of_each;
    if (scenario.local_updates.published) {
        const double parameters = parameters_of(network_of(scenario.workload));
        for (int groups = 2; groups <= most_buildings(scenario); ++groups) {
            const double gap = published_local_gap(parameters, groups);
            of_each += fmt::format("{}{} buildings: {} {}", of_each.empty() ? "" : "; ", groups,
                                   more_text(price.by_groups[static_cast<std::size_t>(groups)]),
                                   gap > 0.0 ? fmt::format("for a loss gap of {:.2g} %", 100.0 * gap)
                                             : "as there is no loss gap");
        }
        const double largest =
            most_buildings(scenario) > 4 ? largest_published_network : largest_published_network_of_four;
        of_each += "; arXiv 2503.09799";
        of_each += parameters > largest
                       ? fmt::format(", extrapolated by x{:.3g} in parameters", parameters / largest)
                       : "";
        return text + of_each + ".";
    }
    for (const int local : scenario.space.local_steps) {
        if (local > 1) {
            of_each += fmt::format("{}every {}: {}", of_each.empty() ? "" : "; ", local,
                                   more_text(price.tokens_factor(local, 2)));
        }
    }
    return text + of_each + " (given).";
}

}  // namespace prismopt
