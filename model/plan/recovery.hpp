#pragma once

/// What a job does when a node fails.

#include "model/base/names.hpp"

#include <array>

namespace prismopt {

/// Restart: the job ends and starts again. Hot spares: waiting nodes have the program loaded, and one that is ready takes the place of
/// the failed node without a restart of the job. docs/methods/failures.md.
enum class Recovery { restart, hot_spares };
template <>
inline constexpr auto names_of<Recovery> = std::to_array<Named<Recovery>>({{Recovery::restart, "restart"},
                                                                           {Recovery::hot_spares, "hot_spares"}});

}  // namespace prismopt
