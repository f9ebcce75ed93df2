#pragma once

/// The legs of a study as text and as JSON.

#include "io/results/provenance.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace prismopt {

/// "2 nodes, 8 ranks, 64 threads, job Slurm 42".
std::string launch_text(const Leg& leg);

/// A line with the core-hours of the study and a line for each leg; empty without legs.
std::string legs_text(const std::vector<Leg>& legs);

nlohmann::ordered_json legs_json(const std::vector<Leg>& legs);

}  // namespace prismopt
