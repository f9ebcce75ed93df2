#include "model/run/reliability.hpp"

namespace prismopt {

std::vector<Cause> all_causes(const Reliability& reliability)
{
    std::vector<Cause> causes;
    if (reliability.node_failure_rate.si > 0.0) {
        Cause cause;
        cause.name = "node failure";
        cause.rate = reliability.node_failure_rate;
        cause.restart = reliability.restart;
        causes.push_back(cause);
    }
    causes.insert(causes.end(), reliability.causes.begin(), reliability.causes.end());
    return causes;
}

}  // namespace prismopt
