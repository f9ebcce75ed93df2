#include "optimizer/parallel/affinity.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace prismopt {

namespace {

/// "2 cores"
std::string counted(int count, const char* noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string launch_remedy(int ranks, int cores)
{
    const std::string mpirun =
        ranks <= 1 ? fmt::format("`mpirun --bind-to none ...` or `mpirun --map-by slot:PE={} ...`", cores)
                   : fmt::format("`mpirun --map-by slot:PE={} ...`", cores);
    return fmt::format("start it as {}, under Slurm `srun --cpus-per-task={} ...`", mpirun, cores);
}

/// Processors of one core share the list of its siblings.
CoreSet cores_of(pid_t process)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(process, sizeof mask, &mask) != 0) {
        return {};
    }
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mask)) {
            std::ifstream file(
                fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
            std::string siblings;
            cores.insert(std::getline(file, siblings) ? siblings : fmt::format("cpu{}", cpu));
        }
    }
    return {.processors = CPU_COUNT(&mask), .cores = static_cast<int>(cores.size())};
}

/// The number at the beginning of an environment variable (OMP_NUM_THREADS may be a
/// list, outermost level first), or 0.
int environment_number(const char* name)
{
    const char* text = std::getenv(name);
    return text != nullptr ? std::max(0, std::atoi(text)) : 0;
}

}  // namespace

std::string binding_advice(const CoreBinding& binding)
{
    const CoreSet& rank = binding.rank;
    const CoreSet& machine = binding.machine;
    const int ranks = std::max(1, binding.ranks);
    const int cores_each = std::max(1, machine.cores / ranks);
    if (rank.processors == 0 || machine.processors == 0) {
        return {};  // unknown
    }
    if (binding.threads > rank.processors && cores_each > rank.cores) {
        return fmt::format("this rank may use {} of {} but runs {}: {} set this binding; {}", rank.cores,
                           counted(machine.cores, "core"), counted(binding.threads, "thread"),
                           binding.ranks > 0 ? "mpirun" : "its launcher",
                           launch_remedy(ranks, std::min(binding.threads, cores_each)));
    }
    if (binding.threads > rank.processors) {
        return fmt::format("this rank runs {} on {}, which oversubscribes them; set OMP_NUM_THREADS={}",
                           counted(binding.threads, "thread"), counted(rank.cores, "core"), rank.cores);
    }
    if (binding.ranks > 0 && rank.cores == 1 && ranks < machine.cores) {
        return fmt::format("mpirun bound {} to one core each and leaves {} of {} idle; use more ranks, or {}",
                           counted(ranks, "rank"), machine.cores - ranks, counted(machine.cores, "core"),
                           launch_remedy(ranks, cores_each));
    }
    return {};
}

std::string affinity_warning(int threads)
{
    const CoreSet rank = cores_of(0);
    if (threads == 0) {
        threads = environment_number("OMP_NUM_THREADS");
    }
    return binding_advice({.rank = rank,
                           .machine = cores_of(getppid()),
                           .ranks = environment_number("OMPI_COMM_WORLD_LOCAL_SIZE"),
                           .threads = threads > 0 ? threads : rank.processors});
}

}  // namespace prismopt
