#pragma once

/// What the constants of collectives and kernels rest on, as a page.

#include "optimizer/fit/components.hpp"

#include <string>

namespace prismopt {

/// Errors in the sample, and with each family of links or of shapes excluded, and the constants. Markdown; `command` made it.
std::string component_page(const Components& components, const std::string& command);

}  // namespace prismopt
