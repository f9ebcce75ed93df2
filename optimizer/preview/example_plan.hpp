#pragma once

/// Example --design for users who give none.

#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"

#include <optional>
#include <string>

namespace prismopt {

/// The plan with the best noise-free first objective among the checked plans of [space] (all of them, up to a
/// million combinations); nothing if each of them is infeasible. With a question, a plan that may meet it is
/// preferred to one that cannot.
struct ExamplePlan {
    ParallelPlan plan;
    std::string variant;  // words of its choices; empty: none
};
/// `pause` is called several times per second; its exceptions pass through.
std::optional<ExamplePlan> example_plan(
    const Scenario& scenario, const Pause& pause = [] {});
/// Its --design, or nothing.
std::string example_design(const Scenario& scenario);

}  // namespace prismopt
