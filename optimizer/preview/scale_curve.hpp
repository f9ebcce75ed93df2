#pragma once

/// Growth of step-time variability with the number of GPUs: the same work per GPU on 8 to 131,072 GPUs.

#include "io/scenario/scenario.hpp"
#include "model/prediction.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Slowdowns relative to the noise-free step whose probabilities are reported.
inline constexpr std::array slower_by{0.01, 0.02, 0.05, 0.10, 0.20};

struct ScalePoint {
    ParallelPlan plan;
    int gpus = 0;
    double nominal_s = 0.0;  // the step without noise
    double p5_s = 0.0;
    double p50_s = 0.0;
    double p95_s = 0.0;
    double p99_s = 0.0;
    // Probability that a step takes longer than (1 + slower_by[i]) * nominal_s.
    std::array<double, slower_by.size()> slower{};
};

struct RefusedScale {
    int gpus = 0;
    std::string why;
};

struct ScaleCurve {
    bool nodes_known = false;
    std::vector<ScalePoint> points;
    std::vector<RefusedScale> refused;  // sizes to which the plan cannot be scaled
};

/// Weak scaling: replicas of the plan with the same number of microbatches each; below one replica, a
/// pipeline with fewer stages of the same number of layers. Skips, with the reason, sizes for which this
/// does not divide, and sizes beyond a cluster with known nodes. The last tier of the network grows with
/// the job. Memory is not checked.
ScaleCurve scale_curve(const Scenario& scenario, const ParallelPlan& plan, const Rung& rung);

/// The curve as a text table and as JSON, with the published spread of a job on more
/// than 64,000 GPUs for comparison.
std::string scale_curve_text(const ScaleCurve& curve);
std::string scale_curve_json(const ScaleCurve& curve);

}  // namespace prismopt
