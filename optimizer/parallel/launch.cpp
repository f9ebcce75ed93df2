#include "optimizer/parallel/launch.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>

namespace prismopt {

namespace {

struct BatchSystem {
    const char* name;
    const char* variable;  // that holds the number of the job
};
// The variables as the manuals of sbatch(1), qsub (PBS Professional), bsub (LSF) and
// flux-environment(7) list them.
constexpr std::array batch_systems{BatchSystem{"Slurm", "SLURM_JOB_ID"}, BatchSystem{"PBS", "PBS_JOBID"},
                                   BatchSystem{"LSF", "LSB_JOBID"}, BatchSystem{"Flux", "FLUX_JOB_ID"}};

/// What launchers report to each process about the number of processes that they started: mpirun of Open MPI
/// ("Environment variables set for MPI applications"), Hydra of MPICH and Intel MPI and srun --mpi=pmi2
/// (PMI-2), srun of any --mpi (srun(1)).
constexpr std::array process_counts{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

std::string host_name()
{
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? escape_controls(name.data()) : "unknown";
}

Processors processors_of_this_process()
{
    static_assert(CPU_SETSIZE == Processors{}.size());
    Processors processors;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
        for (std::size_t cpu = 0; cpu < processors.size(); ++cpu) {
            processors[cpu] = CPU_ISSET(cpu, &mask);
        }
    }
    return processors;
}

struct NodeUse {
    int ranks = 0;
    int threads = 0;
    Processors processors;  // that any of its ranks may use
};

std::map<std::string, NodeUse> use_by_node(const std::vector<RankFacts>& ranks)
{
    std::map<std::string, NodeUse> nodes;
    for (const RankFacts& rank : ranks) {
        NodeUse& node = nodes[rank.node];
        ++node.ranks;
        node.threads += rank.threads;
        node.processors |= rank.processors;
    }
    return nodes;
}

}  // namespace

template <Of<RankFacts> T>
auto members(T& facts)
{
    return std::tie(facts.build, facts.node, facts.threads, facts.processors);
}

BatchJob batch_job()
{
    for (const BatchSystem& system : batch_systems) {
        if (const char* id = std::getenv(system.variable); id != nullptr && *id != '\0') {
            return {system.name, escape_controls(id)};
        }
    }
    return {};
}

RankFacts facts_of_this_rank()
{
    return {.build = this_build(),
            .node = host_name(),
            .threads = parallel_threads(),
            .processors = processors_of_this_process()};
}

std::vector<RankFacts> gather(Communicator& team, const RankFacts& own, const std::function<void()>& poll)
{
    if (team.rank() != 0) {
        team.send(0, encode(own));
        return {};
    }
    std::vector<RankFacts> ranks(static_cast<std::size_t>(team.size()));
    ranks[0] = own;
    for (int missing = team.size() - 1; missing > 0; --missing) {
        const std::optional<Arrival> arrival = team.receive([&poll] {
            poll();
            return false;
        });
        ranks[static_cast<std::size_t>(arrival->first)] = decode<RankFacts>(arrival->second);
    }
    return ranks;
}

void refuse_other_builds(const std::vector<RankFacts>& ranks)
{
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
        if (ranks[rank].build != ranks[0].build) {
            throw InputError(fmt::format(
                "rank {} on {} runs {}, but rank 0 on {} runs {}; results of different builds cannot be "
                "mixed: start one program "
                "on all nodes, from a file system that they share, or copy it to all of them again",
                rank, ranks[rank].node, build_text(ranks[rank].build), ranks[0].node,
                build_text(ranks[0].build)));
        }
    }
}

Leg leg_of(const std::vector<RankFacts>& ranks)
{
    const std::map<std::string, NodeUse> nodes = use_by_node(ranks);
    const BatchJob job = batch_job();
    Leg leg;
    leg.job = job.id.empty() ? "" : job.system + " " + job.id;
    leg.nodes = static_cast<int>(nodes.size());
    leg.ranks = static_cast<int>(ranks.size());
    leg.threads = 0;
    for (const auto& [name, node] : nodes) {
        leg.threads += node.threads;
    }
    return leg;
}

std::string unjoined_processes(int ranks)
{
    for (const char* variable : process_counts) {
        const char* text = std::getenv(variable);
        const int started = text != nullptr ? std::atoi(text) : 0;
        if (ranks == 1 && started > 1) {
            return fmt::format(
                "its launcher started {} processes ({}), but MPI joins none of them, so each one searches on "
                "its own; start the "
                "search with "
                "the launcher of {}, with which prismopt was built (under Slurm: srun --mpi=pmix, or as srun "
                "--mpi=list names "
                "it)",
                started, variable, Communicator::library_version());
        }
    }
    return {};
}

std::string oversubscription(const std::vector<RankFacts>& ranks)
{
    for (const auto& [name, node] : use_by_node(ranks)) {
        const auto processors = static_cast<int>(node.processors.count());
        if (processors > 0 && node.ranks > 1 && node.threads > node.ranks && node.threads > processors) {
            return fmt::format(
                "{} ranks with {} threads in all share {} processor{} of {}, which oversubscribes them; set "
                "OMP_NUM_THREADS={}",
                node.ranks, node.threads, processors, processors == 1 ? "" : "s", name,
                std::max(1, processors / node.ranks));
        }
    }
    return {};
}

}  // namespace prismopt
