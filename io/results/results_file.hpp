#pragma once

/// Reads and writes HDF5 results files. The schema is in results/README.md.

#include "io/results/results.hpp"

#include <string>

namespace prismopt {

inline constexpr int results_schema_major = 1;
inline constexpr int results_schema_minor = 19;

/// Writes a file as replace_file() does, with a seal (io/base/checksum.hpp) as
/// HDF5's user block. Throws FileError.
void write_results(const Results& results, const std::string& path);

/// Reads a results file: first its seal, which files of schema 1.4 and later have, then its datasets,
/// whose values must be in range. Throws InputError when the file is not a results file, is damaged, or
/// has another major schema version.
Results read_results(const std::string& path);

}  // namespace prismopt
