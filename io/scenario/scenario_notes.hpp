#pragma once

/// What the user of a scenario should read before its results.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Notes on deprecated keys, placeholders, unnamed software, idle nodes, batches and biased comparisons of
/// variants, a sentence each.
std::vector<std::string> scenario_notes(const Scenario& scenario);

/// Note on idle nodes of the cluster that do not replace failed ones; empty if there are none.
std::string idle_nodes_text(const Scenario& scenario);

/// "megatron-bridge 26.04", or "megatron-bridge 26.04 (assumed)".
std::string software_words(const Cluster& cluster);

/// Note on a scenario that does not name the training software; empty if it does.
std::string software_text(const Scenario& scenario);

/// Degrees of parallelism that the software does not have, as the plan has them: "tp=8". Empty: it has all of
/// them, or the catalog does not say.
std::vector<std::string> lacking(const ParallelPlan& plan, const SpaceSettings& levers);

/// Note on degrees of the space that its software does not have; empty if there are none.
std::string lacking_text(const Scenario& scenario);

/// Note on entries of the user in the catalog; empty if there are none.
std::string own_entries_text(const Scenario& scenario);

/// Note on figures that stand for ones nobody has given; empty if there are none.
std::string placeholders_text(const Scenario& scenario);

}  // namespace prismopt
