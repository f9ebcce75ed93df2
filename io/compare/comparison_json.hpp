#pragma once

/// The studies of a comparison as JSON, for files and for the page.

#include "io/compare/compare.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

/// A list of objects, one per study, with the best value of each objective by its name.
nlohmann::ordered_json compared_studies(const Comparison& comparison);

}  // namespace prismopt
