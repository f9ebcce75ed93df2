#pragma once

/// Why a plan takes its time and its memory, what would change that, and why another plan is better.

#include "io/compare/pairs.hpp"
#include "model/base/parallel.hpp"
#include "model/step/step_components.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/predict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct PlanBreakdown;

/// A change of a plan, or of a setting of the job, verified by a prediction.
struct ExplainedChange {
    std::vector<std::string> values;  // "recompute=full"; "[workload] loss = \"chunked\""
    int count = 1;                    // of changes, without what they force
    bool setting = false;             // it changes the scenario, not the plan
    std::string price;    // "changes the updates of parameters"; empty: what is learnt stays the same
    double step_s = 0.0;  // mean
    double ratio = 1.0;   // of the mean step to that of the plan, by common draws
    double low = 1.0;     // its 95 % interval, with the error of the model
    double high = 1.0;
    double chance_faster = 0.0;  // that its mean step is shorter
    double fits = 0.0;           // probability
    double memory_bytes = 0.0;
    std::string reason;  // the largest differences
};

struct Explanation {
    PlanPrediction prediction;
    // of the first phase; empty: the plan is infeasible, and not for want of memory
    std::vector<StageBreakdown> stages;
    Bytes memory;  // of the accelerator, as far as plans may use it
    // that make it fit; of a plan that fits, faster. By number of changes; first those that leave what is
    // learnt, the fastest first
    std::vector<ExplainedChange> changes;

    /// It does not fit, or may not.
    bool lacks_memory() const { return prediction.prediction.infeasible || prediction.may_not_fit; }
};

/// The stages and the mean step. Refers to `of`.
PlanBreakdown breakdown_of(const Explanation& of);

/// `changes`: whether to look for some.
Explanation explain(
    const ChosenPlan& chosen, bool changes = true, const Pause& pause = [] {});
std::string explanation_text(const Explanation& of);
std::string explanation_json(const Explanation& of);

/// Two plans of one job or of two.
struct Versus {
    Explanation first;
    Explanation second;
    std::optional<ComparedPair> pair;  // nothing: one of them is infeasible
};
Versus explain_against(
    const ChosenPlan& first, const ChosenPlan& second, const Pause& pause = [] {});
/// Returns the plan that differs from this one by these values: "tp=4 recompute=full". Throws InputError.
ChosenPlan changed_plan(const ChosenPlan& chosen, const std::string& words);
std::string versus_text(const Versus& of);
std::string versus_json(const Versus& of);

}  // namespace prismopt
