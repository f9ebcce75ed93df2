#include "io/scenario/scenario.hpp"

namespace prismopt {

const Catalog& catalog_of(const Scenario& scenario) { return scenario.catalog ? *scenario.catalog : Catalog::built_in(); }

std::vector<const Workload*> networks(const Scenario& scenario)
{
    std::vector<const Workload*> all;
    for (const Workload& workload : scenario.workloads) {
        all.push_back(&workload);
    }
    if (all.empty()) {
        all.push_back(&scenario.workload);
    }
    return all;
}

}  // namespace prismopt
