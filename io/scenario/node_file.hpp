#pragma once

/// Nodes that are known: a table of comma separated values with the columns node (from 0, each at most once) and factor (how many times as
/// long it computes as the accelerator of the cluster would). Those left out are as unlisted_nodes of the cluster says.

#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// [node]. Throws InputError for what is no such table, and for one of another cluster.
std::vector<double> read_node_factors(const std::string& path, const Cluster& cluster);
/// The same from text already in memory (`path` is for messages).
std::vector<double> parse_node_factors(const std::string& text, const std::string& path, const Cluster& cluster);

}  // namespace prismopt
