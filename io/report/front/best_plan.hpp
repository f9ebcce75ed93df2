#pragma once

/// Which plan is the best, given the error of the model.

#include "io/results/results.hpp"
#include "model/network/workload.hpp"

#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// The contenders of one number of GPUs in one objective. They belong to the posterior of the results, which
/// must outlive this.
struct Contest {
    int gpus = 0;
    int objective = 0;                         // position
    std::vector<const PlanChance*> plans;      // by decreasing probability
    std::vector<const PlanChance*> shortlist;  // that holds the best with 90 %, in its order
};

/// The contests of the results, by objective and number of GPUs.
std::vector<Contest> contests(const Posterior& posterior);

/// Of the first objective, one line per number of GPUs of the front; empty if nothing was computed.
std::string best_plan_section(const Results& results, WorkloadTask task);

}  // namespace prismopt
