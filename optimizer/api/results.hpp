#pragma once

/// Results files and journals, also of searches that were stopped.

#include "io/results/results.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Reads a results file; warns if it has no checksum. Results::provisional: the search was stopped, and its
/// front is the one so far. Throws InputError.
Results open_results(const std::string& path);
/// The same, for what has a meaning for the plans of one job alone. Throws InputError for a study of
/// machines for several networks.
Results open_results_of_one_job(const std::string& path);

/// What a journal holds, from which a search can be resumed. Of a journal of another build, name and path of
/// the scenario may be unknown (empty).
struct JournalSummary {
    BuildIdentity build;       // that wrote it
    std::string command_line;  // of the first leg
    std::string scenario_name;
    std::string scenario_path;
    std::uint64_t seed = 0;
    std::vector<Leg> legs;
    std::size_t answers = 0;  // to requests of the search
    std::size_t tuning = 0;   // steps of the hardware tuning
    std::size_t lost = 0;     // answers missing between intact ones
    std::uint64_t good_bytes = 0;
    std::uint64_t lost_bytes = 0;
    std::string damage;  // empty: none
};
/// Throws InputError.
JournalSummary journal_summary(const std::string& path);

}  // namespace prismopt
