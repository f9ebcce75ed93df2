#pragma once

/// Section [space] of a starter scenario: degrees that fit the network and the nodes, and
/// the levers that the software has.

#include "io/authoring/starter_machine.hpp"
#include "io/authoring/starter_scenario.hpp"
#include "io/toml/catalog.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// What the section depends on. Network and choice belong to the caller, and must outlive this.
struct StarterSpace {
    const Workload& workload;
    const StarterChoice& choice;  // complete
    UnitsInUse units;
    std::string sample;       // what a batch consists of
    std::string software;     // of the catalog
    std::string trainer;      // of trainers(), which runs the plans: of --for or of the software; empty: any
    std::vector<int> spares;  // nodes; empty: not searched
    bool offloads = false;    // whether the accelerator has a link to host memory
};
std::string starter_space(const StarterSpace& of, const Catalog& catalog);

}  // namespace prismopt
