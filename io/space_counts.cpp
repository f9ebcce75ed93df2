#include "io/space_counts.hpp"

#include "model/plan.hpp"

namespace prismopt {

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected)
{
    SpaceCounts counts{feasible, feasible, feasible};
    for (const Rejected& reason : rejected) {
        counts.looked_at += reason.count;
        counts.plans += names_no_plan(reason.reason) ? 0 : reason.count;
    }
    return counts;
}

}  // namespace prismopt
