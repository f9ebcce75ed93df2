#pragma once

/// Reference page of scenarios (docs/scenario.md) in Markdown, generated from the tables of fields.

#include <string>

namespace prismopt {

std::string scenario_reference();

}  // namespace prismopt
