#pragma once

/// Machine of a starter scenario: what the catalog knows of the accelerator or
/// the instance that a user names.

#include "io/authoring/starter_scenario.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/toml/catalog.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct StarterMachine {
    std::string accelerator;  // of the catalog
    UsualCluster cluster;     // its nodes, and their network
    std::string remark;       // comment lines on the instance; empty: none is named
    std::string figures;      // lines with the price, and with what no public source states
    bool priced = true;       // the price is no placeholder
};

/// Throws InputError for names that the catalog does not have.
StarterMachine starter_machine(const StarterChoice& choice, const Catalog& catalog);

/// Warns of an instance without a list price, whose costs are at the list price of its accelerator elsewhere;
/// empty for other choices.
std::string other_price_text(const StarterChoice& choice, const Catalog& catalog);

/// GPUs of a starter's cluster, in the units (nodes, NVLink domains) in which jobs use them.
struct UnitsInUse {
    int gpus = 0;
    int unit = 0;      // GPUs that jobs use of each; the last may hold fewer
    std::string note;  // what stays idle, or filled in part; empty: nothing
};
/// Of domains of 72 GPUs, of which degrees that are powers of two divide 64, those where
/// the GPUs or the batch ask for it.
UnitsInUse units_in_use(const StarterChoice& choice, const UsualCluster& cluster);

/// Numbers of GPUs that starters search: all, and whole units of a half and a quarter of them, or
/// those without the unit in part.
std::vector<int> gpu_choices(const UnitsInUse& units, int global_batch);
/// Those of starters with a question: from an eighth on, whole units whose replicas can share the batch:
/// powers of two, times 3 or 9, and eighths of all.
std::vector<int> asked_gpu_choices(const UnitsInUse& units, int global_batch);

/// Numbers of spare nodes that starters with a question search, ascending: the cluster has the most of them
/// beside the job. Only 0 where nodes are not replaced one by one.
std::vector<int> spare_choices(const UnitsInUse& units, const UsualCluster& cluster);

/// What is left of a number without its factors of two.
int odd_factor(int number);

/// Comment lines that show how to join pairs of cards by a bridge; empty for nodes that have none.
std::string bridge_lines(const UsualCluster& cluster);

/// Line that says how the GPUs of a node share its ports.
std::string network_share_line(const UsualCluster& cluster, const Catalog& catalog);

/// What the numbers of an accelerator rest on.
std::string evidence_of(const std::string& accelerator, const Catalog& catalog);

/// The name among these that was asked for, whatever its case and separators.
/// Throws InputError with suggestions.
std::string chosen_name(const std::string& option, const std::string& asked,
                        const std::vector<std::string>& names);

}  // namespace prismopt
