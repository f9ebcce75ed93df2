#pragma once

/// The studies of a comparison as JSON, for files and for the page.

#include "io/compare/compare.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

/// A list of objects, one per study, with the best value of each objective by its name.
nlohmann::ordered_json compared_studies(const Comparison& comparison);

/// A list of objects, one per pair; results/README.md documents the keys.
nlohmann::ordered_json pairs_json(const std::vector<ComparedPair>& pairs);

}  // namespace prismopt
