#pragma once

/// What the host's launches cost a plan, and what CUDA graphs of modules would save.

#include "model/predictor.hpp"

#include <string>

namespace prismopt {

/// Notes that a mixture of experts waits for the host in a noticeable share of its step, and
/// the key that would change it. Empty where it does not, the plan has CUDA graphs, or they are
/// not for its network or machine.
std::string host_wait_text(const Problem& problem, const ParallelPlan& plan);

}  // namespace prismopt
