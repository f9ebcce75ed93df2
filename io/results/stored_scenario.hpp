#pragma once

/// The scenario of stored results.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"

namespace prismopt {

/// Returns the scenario as the program that wrote the results read it: with the order of parallel
/// dimensions that was the default then, and the seed of the study. Throws InputError where this
/// version does not read its text.
Scenario scenario_of(const StudyInfo& study);

}  // namespace prismopt
