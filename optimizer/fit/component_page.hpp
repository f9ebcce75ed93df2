#pragma once

/// What the constants of collectives and kernels rest on, as a page.

#include "optimizer/fit/components.hpp"

#include <string>

namespace prismopt {

/// Errors in the sample, and where each family of links or of shapes is left out, and the constants. Markdown; `command` made it.
std::string component_page(const Components& components, const std::string& command);

}  // namespace prismopt
