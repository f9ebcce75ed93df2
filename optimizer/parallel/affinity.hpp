#pragma once

/// Whether this rank may use the cores that its threads need.

#include <string>

namespace prismopt {

/// Processors that a process may use; a core with simultaneous multithreading counts once in `cores`, each time in `processors`.
struct CoreSet {
    int processors = 0;
    int cores = 0;
};

struct CoreBinding {
    CoreSet rank;     // what this rank may use
    CoreSet machine;  // what the process that started it may use: the machine, or its share in a batch job
    int ranks = 0;    // that mpirun started on this machine; 0: not started by mpirun
    int threads = 1;  // that this rank will run
};

/// Empty when all is well, else what is wrong and how to start the program instead.
std::string binding_advice(const CoreBinding& binding);

/// The same for this process. `threads` = 0: as many as OpenMP takes, which is OMP_NUM_THREADS, else all that the rank may use.
std::string affinity_warning(int threads);

}  // namespace prismopt
