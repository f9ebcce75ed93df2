#include "model/step/graph/mean_step.hpp"

namespace prismopt {

namespace {

/// The replica whose known nodes take longest in sum; any one bounds the step of all.
int slowest_replica(const ExecutionGraph& graph)
{
    int slowest = 0;
    double most = 0.0;
    for (int replica = 0; !graph.node.empty() && replica < graph.placement.replicas; ++replica) {
        double sum = 0.0;
        for (int stage = 0; stage < graph.stages(); ++stage) {
            sum += graph.mean_factor(replica, stage);
        }
        if (sum > most) {
            most = sum;
            slowest = replica;
        }
    }
    return slowest;
}

}  // namespace

double optimizer_time(const ExecutionGraph& graph)
{
    const int replica = slowest_replica(graph);
    double longest = 0.0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        longest = std::max(longest, static_cast<double>(graph.optimizer_s[stage]) * graph.mean_factor(replica, stage));
    }
    return longest;
}

std::vector<double> mean_factors(const ExecutionGraph& graph)
{
    const int replica = slowest_replica(graph);
    std::vector<double> factors;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        factors.push_back(graph.mean_factor(replica, stage));
    }
    return factors;
}

NoiseFreeStep noise_free_step(const ExecutionGraph& graph)
{
    MeanRun run(graph, -1, 1.0, slowest_replica(graph));
    std::vector<double> busy(graph.stages(), 0.0);
    std::vector<double> communication(graph.stages(), 0.0);
    run.run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
        busy[op.stage] += end - start;
        communication[op.stage] += static_cast<double>(graph.distribution_of(op).communication_s);
    });
    const double optimizer = optimizer_time(graph);
    double last = 0.0;
    int busiest = 0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        last = std::max(last, run.step_end(stage));
        busiest = busy[stage] > busy[busiest] ? stage : busiest;
    }
    NoiseFreeStep result;
    const auto outer = static_cast<double>(graph.outer_s);
    result.step_s = last + optimizer + outer;
    // Of the busiest stage: exposed are its collectives in ops, the gather before its first op, and the reduction after its
    // last; what is left of the step is waiting.
    const double reduction = std::max(0.0, run.gradients_end(busiest) - run.stage_end(busiest));
    const auto gathering = static_cast<double>(graph.gathering[static_cast<std::size_t>(busiest) * graph.chunks()].exposed());
    result.shares.exposed_communication = (communication[busiest] + reduction + gathering + outer) / result.step_s;
    result.shares.bubble = std::max(0.0, 1.0 - (busy[busiest] + reduction + gathering + optimizer + outer) / result.step_s);
    return result;
}

std::vector<float> idle_before(const ExecutionGraph& graph)
{
    MeanRun run(graph, -1, 1.0);
    constexpr float unknown = -1.0F;
    std::vector<float> idle(graph.stages(), unknown);
    run.run([&](std::size_t, const ProgramOp& op, double start, double, bool) {
        if (idle[op.stage] == unknown) {
            idle[op.stage] = static_cast<float>(start - run.gate(op.part));
        }
    });
    return idle;
}

}  // namespace prismopt
