#pragma once

/// Where results come from: the build that made them, and the legs of their study.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A build of the program. Results of two builds are never mixed: not in a journal,
/// nor between the ranks of a job.
struct BuildIdentity {
    std::string version;  // "0.2.0"
    std::string commit;   // of its sources, or a digest of them
    std::string catalog;  // digest of the catalog in the program; empty: of a file before schema 1.15

    bool operator==(const BuildIdentity&) const = default;
};

/// "prismopt 0.2.0 (a9ba02b2c5d1, catalog 0123456789abcdef)".
std::string build_text(const BuildIdentity& build);

/// What differs: "version", "commit" or "catalog"; empty: they are equal.
std::string_view difference(const BuildIdentity& one, const BuildIdentity& other);

/// How a leg ended. Lost: it was killed, or is still running; its times are those of its last record.
enum class LegEnd : std::uint8_t { lost, stopped, complete };
inline constexpr std::array<std::string_view, 3> leg_ends{"lost", "stopped", "complete"};
constexpr std::string_view name(LegEnd end) { return leg_ends[static_cast<std::size_t>(end)]; }

/// One run of the program for a study, from its start to its end, a stop or a kill.
struct Leg {
    std::string started;  // ISO 8601, UTC
    std::string job;      // of the batch system ("Slurm 42"), or empty
    int nodes = 1;
    int ranks = 1;
    int threads = 1;       // of all ranks
    double seconds = 0.0;  // wall-clock time
    // answers, steps of a tuning and blocks of draws, from which the next leg goes on
    std::uint64_t saved = 0;
    LegEnd end = LegEnd::lost;

    bool operator==(const Leg&) const = default;
};

/// Threads times wall-clock hours of all legs.
double core_hours(const std::vector<Leg>& legs);

}  // namespace prismopt
