#pragma once

/// What a GPU costs in a study, and where that is from: all costs are as good as this.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// "12.29 USD/h", as scenarios write it.
std::string hourly(DollarsPerSecond price);

/// "12.29 USD per GPU-hour (catalog list price: ...)", or "(given)" by the scenario.
std::string gpu_price_text(const Scenario& scenario);

/// The same for hardware that the scenario's knobs make.
std::string gpu_price_text(const Scenario& scenario, const Cluster& hardware);

}  // namespace prismopt
