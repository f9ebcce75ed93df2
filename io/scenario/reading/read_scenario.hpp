#pragma once

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

class SectionTable;

/// What a scenario is read for. Measured steps need neither [variability], [reliability], [objectives], a
/// name nor prices; [space], where it is absent, is the job's number of GPUs with what the software brings,
/// and a phase without a length is one step.
enum class ScenarioUse { study, measured_steps };

/// Reads and validates a scenario file. `catalogs`: files with entries of the catalog, beside those
/// that it names. Throws InputError.
Scenario read_scenario(const std::string& path, const std::vector<std::string>& catalogs = {},
                       ScenarioUse use = ScenarioUse::study);
/// The same from text already in memory that refers to no other files (`path` is for messages).
Scenario parse_scenario(const std::string& text, const std::string& path);

/// The keys of the whole file.
const SectionTable& scenario_table();

}  // namespace prismopt
