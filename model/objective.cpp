#include "model/objective.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

// A median may lie below the mean, so the noise-free step does not bound it.
constexpr std::array<Objective, 13> rows{{
    {"training_time_p99", "s", "99th percentile of the training time", [](const Prediction& p) { return p.training.p99; },
     [](const NoiseFree& b) { return b.training_s; }, 0.99},
    {"training_time_p95", "s", "95th percentile of the training time", [](const Prediction& p) { return p.training.p95; },
     [](const NoiseFree& b) { return b.training_s; }, 0.95},
    {"training_time_p50", "s", "median training time", [](const Prediction& p) { return p.training.p50; }, nullptr},
    {"training_time_mean", "s", "mean training time", [](const Prediction& p) { return p.training.mean; },
     [](const NoiseFree& b) { return b.training_s; }},
    {"step_time_p99", "s", "99th percentile of the step time", [](const Prediction& p) { return p.step.p99; },
     [](const NoiseFree& b) { return b.step_s; }, 0.99},
    {"step_time_p95", "s", "95th percentile of the step time", [](const Prediction& p) { return p.step.p95; },
     [](const NoiseFree& b) { return b.step_s; }, 0.95},
    {"step_time_p50", "s", "median step time", [](const Prediction& p) { return p.step.p50; }, nullptr},
    {"step_time_mean", "s", "mean step time", [](const Prediction& p) { return p.step.mean; },
     [](const NoiseFree& b) { return b.step_s; }},
    {"cost", "USD", "GPUs times price times p99 training time", [](const Prediction& p) { return p.cost_usd; },
     [](const NoiseFree& b) { return b.cost_usd; }, 0.99},
    {"expected_cost", "USD", "GPUs times price times mean training time", [](const Prediction& p) { return p.expected_cost_usd; },
     [](const NoiseFree& b) { return b.cost_usd; }},
    {"gpu_hours", "h", "GPUs times mean training time", [](const Prediction& p) { return p.gpus / 3600.0 * p.training.mean; },
     [](const NoiseFree& b) { return b.gpus * b.training_s / 3600.0; }},
    {"memory", "B", "memory of the fullest GPU", [](const Prediction& p) { return Estimate::exact(p.memory.total().si); },
     [](const NoiseFree& b) { return b.memory_bytes; }},
    {"gpus", "1", "GPUs that the job uses", [](const Prediction& p) { return Estimate::exact(p.gpus); },
     [](const NoiseFree& b) { return b.gpus; }},
}};

}  // namespace

std::span<const Objective> objectives() { return rows; }

const Objective* find_objective(std::string_view name)
{
    const auto* found = std::find_if(rows.begin(), rows.end(), [name](const Objective& row) { return row.name == name; });
    return found == rows.end() ? nullptr : found;
}

}  // namespace prismopt
