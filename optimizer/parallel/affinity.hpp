#pragma once

/// Check that this rank may use the cores that its threads need (ranks that share cores: launch.hpp).

#include <string>

namespace prismopt {

/// Processors that a process may use. A core with simultaneous multithreading counts once in `cores` and
/// once per thread in `processors`.
struct CoreSet {
    int processors = 0;
    int cores = 0;
};

struct CoreBinding {
    CoreSet rank;     // available to this rank
    CoreSet machine;  // available to its parent process: the machine, or the share of a batch job
    int ranks = 0;    // started by mpirun on this machine; 0: not started by mpirun
    int threads = 1;  // of this rank
};

/// What is wrong with the binding and how to start the program instead; empty if nothing is wrong.
std::string binding_advice(const CoreBinding& binding);

/// binding_advice() for this process. `threads` = 0: the OpenMP default, OMP_NUM_THREADS
/// or all processors of the rank.
std::string affinity_warning(int threads);

}  // namespace prismopt
