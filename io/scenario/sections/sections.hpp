#pragma once

/// Sections of a scenario: a table of fields each, and readers of sections that depend on others. The
/// tables of catalog entries serve both the catalog, where all keys are required (Keys::all), and
/// scenarios, where keys override the entry.

#include "io/scenario/question.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/fields.hpp"
#include "io/toml/toml.hpp"
#include "model/plan/phase.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

// Entries of the catalog.
const Fields<Accelerator>& accelerator_fields();
const Fields<NetworkTier>& link_fields();
const Fields<SoftwareStack>& stack_fields();
const Fields<CollectiveLibrary>& library_fields();
const Fields<Power>& power_profile_fields();
const Fields<Variability>& variability_profile_fields();

// Sections of a scenario.
const Fields<Phase>& phase_fields();
const Fields<Variability>& variability_fields();
const Fields<Power>& power_fields();
const Fields<SearchSettings>& search_fields();
const SectionTable& workload_table();
const SectionTable& cluster_table();
const SectionTable& reliability_table();
const SectionTable& space_table();
const SectionTable& local_updates_table();
void read_local_updates(Table table, Scenario& scenario);  // after [space]
const SectionTable& numerics_table();
void read_numerics(Table table, Scenario& scenario);  // after [space]
const SectionTable& learning_table();
const SectionTable& objectives_table();
const SectionTable& hardware_parameter_table();
const SectionTable& bundle_table();

/// A distribution: a table whose keys depend on its family.
inline constexpr std::string_view distribution_example = "{ family = \"lognormal\", cv = 0.02 }";
const SectionTable& distribution_table();
ValueShape distribution_shape();
/// `default_source`: source of the numbers if the file gives none; empty: the file must give it.
Distribution read_distribution(const Value& value, const std::string& default_source);

Workload read_workload(Table table);
/// Networks by name, among which [space] chooses.
const SectionTable& networks_table();
std::vector<Workload> read_networks(Table table);
/// Networks that each machine is to serve; [data] is read before.
const SectionTable& served_table();
void read_served_networks(const Value& list, Keys keys, Scenario& scenario);
/// Refuses sections that are of one network, and objectives that cannot be weighed. The
/// whole scenario is read before.
void refuse_unclear_served(const Scenario& scenario, Table& top);
/// Reads an entry of the catalog.
Workload read_network(Table& table);
/// Warning about deprecated keys of [workload]; empty: none are used.
std::string older_keys_text(Table table);
const SectionTable& data_table();
DataSet read_data(Table table);
/// Keys::some: a phase may have no length, and is then one step.
std::vector<Phase> read_phases(const Value& phases, const DataSet& data, Keys keys);
Variability read_variability(Table table);
/// `software`: that of the scenario; without a name it is assumed, by the accelerator and the network.
/// Keys::some: the price and the power of its accelerator may be missing.
Cluster read_cluster(Table table, Keys keys, const SoftwareChoice& software, const Workload& workload);
/// Warning about deprecated keys of [cluster]; empty: none are used.
std::string older_cluster_text(Table cluster);
/// Warning about memory in GB, where cards that are sold with as many have more;
/// empty: none, or that of the catalog.
std::string memory_units_text(const Accelerator& accelerator);
/// The same for the memories that [[knob]]s give its accelerator.
std::string memory_units_text(const std::vector<StudyChoice>& choices, const Cluster& cluster);
/// Distributions of the per-step factors of [[cluster.tier]], by tier.
std::vector<Distribution> read_tier_variability(Table cluster);
/// Default power profile.
inline constexpr const char* usual_power = "us-hyperscale";
Reliability read_reliability(Table table, const Cluster& cluster, WorkloadTask task);
/// Reads the space, including the networks to choose from and the layouts of split = given.
/// Values of axes as in [space], for any network and cluster; empty lists for
/// axes that the table does not have.
SpaceSettings read_axes(Table table);
void read_space(Table table, Scenario& scenario);
/// Defaults that the software brought yield where [search] names a trainer whose export does
/// not write them. After [search].
void yield_to_exports(Scenario& scenario);
/// The key and the values of the precisions of [space].
KeyInfo precision_key();
std::vector<PrecisionChoice> read_precisions(const Value& value,
                                             const std::vector<const Workload*>& networks);
/// Reads what the global batch costs; the space is read before.
void read_learning(Table table, Scenario& scenario);
const Fields<Question>& question_fields();
/// Refuses a day that has no start, or is before it.
void check_start(Table& table, const Question& question, const std::optional<std::chrono::sys_days>& start);

/// Reads the objectives, and the deadline if there is one.
std::vector<std::string> read_objectives(Table table, Seconds& deadline);
/// Adds the choices of [[knob]] and [[bundle]]; `hardware`: that of [cluster], which they change.
void read_hardware_parameters(const Value& list, const Hardware& hardware, std::vector<StudyChoice>& choices);
void read_bundles(const Value& list, const Hardware& hardware, std::vector<StudyChoice>& choices);

}  // namespace prismopt
