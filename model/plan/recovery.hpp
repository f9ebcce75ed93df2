#pragma once

/// What a job does when a node fails.

#include "model/base/names.hpp"

#include <array>

namespace prismopt {

/// Restart: the job ends and starts again. Hot spares: waiting nodes have the program loaded, and
/// one that is ready takes the place of the failed node without a restart of the job. Fewer
/// replicas: the same, and without such a node the job continues with those data-parallel replicas
/// that are whole. docs/methods/failures.md.
enum class Recovery { restart, hot_spares, fewer_replicas };
template <>
inline constexpr auto names_of<Recovery> =
    std::to_array<Named<Recovery>>({{Recovery::restart, "restart"},
                                    {Recovery::hot_spares, "hot_spares"},
                                    {Recovery::fewer_replicas, "fewer_replicas"}});

}  // namespace prismopt
