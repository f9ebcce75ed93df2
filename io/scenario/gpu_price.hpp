#pragma once

/// GPU price of a study and its source.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// "12.29 USD/h", as in scenarios.
std::string hourly(DollarsPerSecond price);

/// "12.29 USD per GPU-hour (catalog list price: ...)", or "(given)" if the scenario sets it.
std::string gpu_price_text(const Scenario& scenario);

/// The same for a hardware variant.
std::string gpu_price_text(const Scenario& scenario, const Cluster& hardware);

}  // namespace prismopt
