#pragma once

#include "optimizer/study/worker.hpp"

#include <vector>

namespace prismopt::bench {

/// The shipped scenario of Llama 3 405B with many choices on each axis: about four million feasible
/// plans, of which upper limits near the best plans exclude nearly all. A sweep bounds what it cannot
/// refuse by the rules of its axes.
class WideSpace {
public:
    WideSpace();

    /// Plans bounded a second, in 64 parts of the space, 1/64 of each; one thread.
    double bounds_per_s();

private:
    Scenario scenario_;
    StudyModel model_;
    Worker worker_;
    std::vector<std::vector<double>> limits_;
};

}  // namespace prismopt::bench
