#pragma once

/// Machines that serve several networks, as JSON.

#include "io/results/results.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

/// Null for studies of one network. The keys are in results/README.md.
nlohmann::ordered_json machines_json(const Results& results);

}  // namespace prismopt
