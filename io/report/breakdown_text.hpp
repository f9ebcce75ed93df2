#pragma once

/// Where the step of a plan and the memory of its GPUs go, in words and as JSON.

#include "model/step/step_components.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

namespace prismopt {

/// The parts of the busiest stage, largest first. `mean_step_s`: of draws; what it takes longer than mean
/// durations is a part of its own.
std::string step_components_text(std::span<const StageBreakdown> stages, double mean_step_s);
/// The parts of the fullest GPU.
std::string memory_components_text(std::span<const StageBreakdown> stages, Bytes of_accelerator);
/// A line for each stage; empty for one stage.
std::string stage_components_text(std::span<const StageBreakdown> stages);

/// A plan taken apart. The stages must outlive it.
struct PlanBreakdown {
    std::span<const StageBreakdown> stages;
    double mean_step_s = 0.0;
};
/// Where the second plan takes more or less time and memory, the largest difference first.
std::string difference_text(const PlanBreakdown& first, const PlanBreakdown& second);
/// The largest differences of time and memory in one line: "recompute -1.2 s, waiting for other
/// stages +0.3 s; activations +21 GB".
std::string reason_text(const PlanBreakdown& first, const PlanBreakdown& second);

nlohmann::ordered_json breakdown_json(std::span<const StageBreakdown> stages);

}  // namespace prismopt
