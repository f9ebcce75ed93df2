#pragma once

/// The texts of an HDF5 file, checked before HDF5 reads them.
///
/// HDF5 1.10 walks through the objects of a global heap without a check: an object of zero bytes keeps it in
/// an endless loop, and a size beyond the heap makes it read foreign memory.

#include <cstddef>
#include <span>
#include <string>

namespace prismopt {

/// Throws std::runtime_error if an object of a global heap in these bytes of a file does not end within its
/// heap. Source: HDF5 File Format Specification 3.0, III.E "Disk Format: Level 1E - Global Heap".
void check_global_heaps(std::span<const char> file);

/// The same for the file at `path`.
void check_global_heaps(const std::string& path);

}  // namespace prismopt
