#include "optimizer/nodes/assignment_guide.hpp"

#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

AssignmentGuide::AssignmentGuide(const ExecutionGraph& graph, float fastest) : graph_(graph)
{
    std::fill(graph_.node.begin(), graph_.node.end(), fastest);
    fastest_s_ = step(0);
    known_.clear();
}

double AssignmentGuide::operator()(std::span<const float> nodes)
{
    // a replica 1 % slower counts as 20; noise of whole replicas is some tenths of a per cent
    constexpr double power = 300.0;
    std::copy(nodes.begin(), nodes.end(), graph_.node.begin());
    const int replicas = static_cast<int>(graph_.placement.replicas * nodes.size() / graph_.node.size());
    double sum = 0.0;
    for (int replica = 0; replica < replicas; ++replica) {
        sum += std::pow(step(replica), power);
    }
    return sum;
}

double AssignmentGuide::step(int replica)
{
    std::vector<double> factors(graph_.stages());
    for (int stage = 0; stage < graph_.stages(); ++stage) {
        factors[stage] = graph_.mean_factor(replica, stage);
    }
    const auto known = known_.find(factors);
    if (known != known_.end()) {
        return known->second;
    }
    MeanRun run(graph_, -1, 1.0, replica);
    run.run([](std::size_t, const ProgramOp&, double, double, bool) {});
    double last = 0.0;
    for (int stage = 0; stage < graph_.stages(); ++stage) {
        last = std::max(last, run.step_end(stage));
    }
    return known_.emplace(std::move(factors), last / fastest_s_).first->second;
}

}  // namespace prismopt
