#pragma once

/// How a run was launched: its batch job, and what its ranks report when it starts.

#include "io/results/provenance.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "optimizer/parallel/communicator.hpp"

#include <bitset>
#include <functional>
#include <string>
#include <vector>

namespace prismopt {

template <Of<BuildIdentity> T>
auto members(T& build)
{
    return std::tie(build.version, build.commit, build.catalog);
}

/// A job of a batch system; both texts are empty outside of one.
struct BatchJob {
    std::string system;  // "Slurm"
    std::string id;
};
BatchJob batch_job();

/// Processors of a node, by number.
using Processors = std::bitset<1024>;

struct RankFacts {
    BuildIdentity build;
    std::string node;       // its host name
    int threads = 1;        // that it starts
    Processors processors;  // that it may use
};

/// Facts of this process.
RankFacts facts_of_this_rank();

/// On rank 0: the facts of all ranks, by rank. On other ranks: sends `own`, and returns nothing. Call it
/// before any other message. Calls `poll` repeatedly while waiting.
std::vector<RankFacts> gather(Communicator& team, const RankFacts& own, const std::function<void()>& poll);

/// Throws InputError if a rank runs another build than rank 0.
void refuse_other_builds(const std::vector<RankFacts>& ranks);

/// Nodes, ranks, threads and job of a leg.
Leg leg_of(const std::vector<RankFacts>& ranks);

/// Warning about a launcher that started several processes of which MPI joins none, because it belongs to
/// another MPI; empty: it did not, or MPI joins them in a team of `ranks`.
std::string unjoined_processes(int ranks);

/// Warning about the first node on which several ranks have more threads than
/// processors; empty: there is none.
std::string oversubscription(const std::vector<RankFacts>& ranks);

}  // namespace prismopt
