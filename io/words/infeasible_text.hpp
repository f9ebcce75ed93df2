#pragma once

/// Sentences for what makes plans infeasible: one row per conflict. The facts
/// are in model/plan/infeasible.hpp.

#include "model/plan/infeasible.hpp"

#include <string>

namespace prismopt {

/// The conflict with the offending values: "tp=12 on nodes of 8 GPUs". Throws a
/// std::exception if the conflict lacks a fact.
std::string detail_text(const Infeasible& why);

/// The category with this detail: "tp does not fit the nodes in phase 2: tp=12 on nodes of 8 GPUs".
std::string infeasible_text(const Infeasible& why);

/// What to write instead of a value that fits no plan; empty for conflicts of several values.
std::string remedy_text(const Infeasible& why);

}  // namespace prismopt
