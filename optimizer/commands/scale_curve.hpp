#pragma once

/// How variability grows with the number of GPUs: the same work per GPU on 8 to 131,072 of them.

#include "io/scenario/scenario.hpp"
#include "model/prediction.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// More than so much slower than without noise.
inline constexpr std::array slower_by{0.01, 0.02, 0.05, 0.10, 0.20};

struct ScalePoint {
    ParallelPlan plan;
    int gpus = 0;
    double nominal_s = 0.0;  // the step without noise
    double p5_s = 0.0;
    double p50_s = 0.0;
    double p95_s = 0.0;
    double p99_s = 0.0;
    std::array<double, slower_by.size()> slower{};  // probability that a step takes longer than (1 + slower_by[i]) * nominal_s
};

struct ScaleLeftOut {
    int gpus = 0;
    std::string why;
};

struct ScaleCurve {
    bool nodes_known = false;
    std::vector<ScalePoint> points;
    std::vector<ScaleLeftOut> left_out;  // sizes that the plan cannot have
};

/// Weak scaling: replicas of the plan with as many microbatches each; on fewer GPUs than a replica has, a pipeline of fewer stages with
/// as many layers each. Sizes that do not divide so are left out with the reason, and so are those beyond a cluster whose nodes are known.
/// The last tier of the network grows with the job. Memory is not judged.
ScaleCurve scale_curve(const Scenario& scenario, const ParallelPlan& plan, const Rung& rung);

/// Tables for people and machines, with the published spread of a job on more than 64,000 GPUs beside ours.
std::string scale_curve_text(const ScaleCurve& curve);
std::string scale_curve_json(const ScaleCurve& curve);

}  // namespace prismopt
