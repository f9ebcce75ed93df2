#pragma once

/// What hardware is worth to a plan, as text, JSON, CSV and a figure.

#include "optimizer/sensitivity/hardware_worth.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace prismopt {

/// Table of the break-evens, with the knobs that interact; empty without parameters.
std::string worth_text(const HardwareWorth& worth, const Scenario& scenario);
nlohmann::json worth_json(const HardwareWorth& worth, const Scenario& scenario);
/// One line per parameter and value.
std::string worth_csv(const HardwareWorth& worth);
/// Worth and stated price over the values of each knob, a panel each. Throws InputError without knobs.
std::string worth_svg(const HardwareWorth& worth);

}  // namespace prismopt
