#pragma once

/// Known nodes: a table of comma-separated values with the columns node (from 0, each at most
/// once) and factor (compute time over that of a nominal node). The key unlisted_nodes of the
/// cluster determines the other nodes.

#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Why nodes of a cluster that fills its last node in part cannot be listed, and what to write instead.
std::string partial_node_text(const Cluster& cluster);
std::string whole_nodes_remedy(const Cluster& cluster);

/// Factors by node. Throws InputError for an invalid table, and for one of another cluster.
std::vector<double> read_node_factors(const std::string& path, const Cluster& cluster);
/// The same from text already in memory (`path` is for messages).
std::vector<double> parse_node_factors(const std::string& text, const std::string& path,
                                       const Cluster& cluster);

}  // namespace prismopt
