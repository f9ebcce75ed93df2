#pragma once

/// What the host's launches cost a plan, what CUDA graphs of modules would save, and what is assumed of
/// updates on hosts.

#include "model/predictor.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// Notes that a mixture of experts waits for the host in a noticeable share of its step, and
/// the key that would change it. Empty where it does not, the plan has CUDA graphs, or they are
/// not for its network or machine.
std::string host_wait_text(const Problem& problem, const ParallelPlan& plan);

/// Of plans whose optimizer updates run on hosts (update_time() in model/network/layer_cost.hpp).
inline constexpr std::string_view host_update_words =
    "updates on hosts are timed at half the peak bandwidth of their memory, an assumption: no measured step "
    "has "
    "them";

/// Both notes that apply to the plan; empty: none.
std::string host_text(const Problem& problem, const ParallelPlan& plan);

}  // namespace prismopt
