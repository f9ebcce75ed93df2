#pragma once

/// Settings of a job that are no axes of a plan, and change its memory: of its
/// optimizer, its loss, its stored weights.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct SettingChange {
    std::string text;   // as in the scenario: "[workload] loss = \"chunked\""
    std::string price;  // what it costs beside time; empty: nothing
    Scenario scenario;  // with it
};

/// Returns the settings that would need less memory than those of the scenario.
std::vector<SettingChange> setting_changes(const Scenario& scenario);

}  // namespace prismopt
