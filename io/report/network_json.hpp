#pragma once

/// The size of a network as JSON (network_size.hpp has no JSON, so that programs can include it).

#include "io/report/network_size.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

nlohmann::json network_json(const NetworkSize& size);

}  // namespace prismopt
