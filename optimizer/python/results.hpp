#pragma once

#include "io/results/results.hpp"

#include <mutex>
#include <string>

namespace prismopt::python {

/// Results and the file that has them.
struct StudyResults {
    std::string path;
    Results of;
};

/// Held while files of results are read or written: HDF5 may be used by one thread of a process at a time.
std::mutex& results_files();

}  // namespace prismopt::python
