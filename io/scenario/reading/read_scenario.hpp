#pragma once

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

class SectionTable;

/// Reads and validates a scenario file. Throws InputError.
Scenario read_scenario(const std::string& path);
/// The same from text already in memory (`path` is for messages).
Scenario parse_scenario(const std::string& text, const std::string& path);

/// The keys of the whole file.
const SectionTable& scenario_table();

}  // namespace prismopt
