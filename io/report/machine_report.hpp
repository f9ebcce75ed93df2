#pragma once

/// Reports of studies whose machines serve several networks: which machine, what it costs
/// each network, and by which plan.

#include "io/report/study_notes.hpp"
#include "io/results/results.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace prismopt {

/// Whether the study is one of machines.
inline bool has_machines(const Results& results) { return !results.machines.machines.empty(); }

/// By how much each network has more on each machine than on its best one: [machine * networks + network].
std::vector<Known> regrets_of(const MachineTable& table);

/// Machines in the order of reports: the front by its weighted objective, then the
/// others by theirs or its bound.
std::vector<std::size_t> machines_in_order(const MachineTable& table);

/// "96 machines for dense, mixture, video".
std::string machines_title(const Results& results);
/// The first paragraph: the best machine by the weighted objective, its bound and its worst regret.
std::string best_machine_text(const Results& results);

/// The best machine, all machines that may be on the front, the others by their bounds, and the best plans.
std::string machines_text(const Results& results, const StudyNotes& notes);

/// One line for each machine and network.
std::string machines_csv(const Results& results, const std::string& file);

}  // namespace prismopt
