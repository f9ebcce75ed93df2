#pragma once

/// The HDF5 results file: the only door to HDF5. Schema in results/README.md.

#include "io/results.hpp"

#include <string>

namespace prismopt {

inline constexpr int results_schema_major = 1;
inline constexpr int results_schema_minor = 3;

/// Writes to a temporary name beside `path`, flushes, syncs, renames: a reader never sees half a file.
/// Throws std::runtime_error with the path and the system's reason.
void write_results(const Results& results, const std::string& path);

/// Reads a results file. Throws InputError when it is not one, is damaged, or has a newer major schema.
Results read_results(const std::string& path);

}  // namespace prismopt
