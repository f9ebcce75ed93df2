#pragma once

/// Readers of the parts of a scenario, one a section. Those that take `Keys` also read the catalog, where every key must be there;
/// in a scenario they change what they name. Each refuses keys that it does not know.

#include "io/scenario.hpp"
#include "io/toml.hpp"
#include "model/phase.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Shape of a network; checks that heads divide it.
void read_workload_fields(Table& table, Keys keys, Workload& workload);
void read_accelerator_fields(Table& table, Keys keys, Accelerator& accelerator);
/// Bandwidth, efficiency and latency of a tier.
void read_link_fields(Table& table, Keys keys, NetworkTier& tier);
void read_stack_fields(Table& table, Keys keys, SoftwareStack& stack);
/// `default_source`: what a law says of its origin when the file does not; empty: the file must.
Law read_law(const Value& value, const std::string& default_source);
void read_variability_fields(Table& table, Keys keys, const std::string& default_source, Variability& variability);

Workload read_workload(Table table);
std::vector<Phase> read_phases(const Value& phases);
Cluster read_cluster(Table table);
Variability read_variability(Table table);
/// What a scenario without [power] takes.
inline constexpr const char* usual_power = "us-hyperscale";
Power read_power(Table table);
void read_power_fields(Table& table, Keys keys, Power& power);
/// Nodes that wait to replace others: fewer than the cluster has.
int read_spare_nodes(const Value& value, const Cluster& cluster);
Reliability read_reliability(Table table, const Cluster& cluster);
SpaceSettings read_space(Table table, const Workload& workload, const Cluster& cluster);
/// Sets the deadline where there is one.
std::vector<std::string> read_objectives(Table table, Seconds& deadline);
SearchSettings read_search(Table table);
std::vector<Knob> read_knobs(const Value& list, const Cluster& cluster);

}  // namespace prismopt
