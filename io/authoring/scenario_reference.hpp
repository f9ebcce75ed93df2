#pragma once

/// The reference page of scenarios (docs/scenario.md), in Markdown, from the tables of fields.

#include <string>

namespace prismopt {

std::string scenario_reference();

}  // namespace prismopt
