#pragma once

/// The rejected plan that is nearest to feasibility: its facts in results, messages
/// and journals, and its sentence.

#include "model/plan/infeasible.hpp"
#include "search/space.hpp"

#include <optional>
#include <string>

namespace prismopt {

struct NearestMiss {
    Infeasible why;
    std::string plan;  // as design_text() writes it
};

/// {"conflict":"tp_and_nodes","plan":"tp=12 ...","facts":[["tp",12],["node_gpus",8]]}:
/// Rejected::nearest. The miss is beside it.
std::string facts_json(const NearestMiss& miss);

/// The facts of such a text, with this miss; nothing for the sentences of files before schema
/// 1.19, and for unknown conflicts.
std::optional<NearestMiss> nearest_miss(const Rejected& rejected);

/// "tp=12 on nodes of 8 GPUs (tp=12 ...)"; empty: there is none.
std::string nearest_text(const Rejected& rejected);

}  // namespace prismopt
