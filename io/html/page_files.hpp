#pragma once

/// Files of the HTML report, embedded in the program.

#include "io/base/embedded_file.hpp"

#include <vector>

namespace prismopt {

/// io/html/page: the page with its style and program.
std::vector<EmbeddedFile> page_files();
/// The charting library first, then its licences.
std::vector<EmbeddedFile> chart_library_files();

}  // namespace prismopt
