#include "model/step/graph/mean_step.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace prismopt {

namespace {

/// Ends of the last ops, by the index of the op.
class RecentEnds {
public:
    explicit RecentEnds(std::size_t at_least) : ends_(std::bit_ceil(at_least)), mask_(ends_.size() - 1) {}

    double& operator[](std::size_t op) { return ends_[op & mask_]; }

    /// Whether the last `count` ends before op `i` are all later by the same time than those `distance`
    /// ops before; returns that time.
    std::optional<double> shift(std::size_t i, std::size_t count, std::size_t distance)
    {
        constexpr double rounding = 1e-12;
        const double later = (*this)[i - 1] - (*this)[i - 1 - distance];
        const double allowed = rounding * (*this)[i - 1];
        for (std::size_t op = i - count; op < i; ++op) {
            if (std::abs((*this)[op] - (*this)[op - distance] - later) > allowed) {
                return std::nullopt;
            }
        }
        return later;
    }

    /// Makes the last `count` ends before op `from` those before op `to`, `later` seconds later.
    void move(std::size_t from, std::size_t to, std::size_t count, double later)
    {
        std::vector<double> moved;
        for (std::size_t k = count; k > 0; --k) {
            moved.push_back((*this)[from - k] + later);
        }
        for (std::size_t k = count; k > 0; --k) {
            (*this)[to - k] = moved[count - k];
        }
    }

private:
    std::vector<double> ends_;
    std::size_t mask_;
};

/// A number of repetitions after which all ends are later by the same time.
struct Cycle {
    std::size_t ops = 0;
    double later = 0.0;
};

/// Most repetitions of a cycle: those that fill the pipeline, because stages that are nearly equal
/// take turns as the slowest, or two.
std::size_t longest_cycle(const Program& program, std::size_t period)
{
    return std::max<std::size_t>(2, program.ops_of_pipeline() / period + 1);
}

/// Ops whose ends decide all later ones within repetitions: each stage has one in a period, and
/// no op waits for an earlier one.
std::size_t deciding_ops(const Program& program, std::size_t period)
{
    return std::max<std::size_t>(program.longest_wait, period);
}

/// The shortest cycle that ends before op `i`; `known`: the number of ends from the first repetition on.
std::optional<Cycle> cycle_before(RecentEnds& ends, std::size_t i, std::size_t known, const Program& program,
                                  std::size_t period)
{
    const std::size_t count = deciding_ops(program, period);
    const std::size_t longest = longest_cycle(program, period) * period;
    for (std::size_t ops = period; ops <= longest && ops + count <= known; ops += period) {
        if (const auto later = ends.shift(i, count, ops)) {
            return Cycle{ops, *later};
        }
    }
    return std::nullopt;
}

/// Of the replicas that no lead makes faster, the one whose known nodes take longest in sum;
/// any one bounds the step of all.
int slowest_replica(const ExecutionGraph& graph)
{
    int slowest = 0;
    double most = 0.0;
    for (int replica = 0; !graph.node.empty() && replica < graph.placement.replicas; ++replica) {
        if (!graph.is_slowest(replica)) {
            continue;
        }
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
        longest = std::max(longest,
                           static_cast<double>(graph.optimizer_s[stage]) * graph.mean_factor(replica, stage));
    }
    return longest;
}

std::vector<StageEnds> stage_ends(const ExecutionGraph& graph)
{
    MeanRun run(graph, -1, 1.0, slowest_replica(graph));
    run.run([](auto&&...) {});
    const std::vector<double> factors = mean_factors(graph);
    std::vector<StageEnds> ends;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        ends.push_back({.gathering_s = run.gate(stage * graph.chunks()),
                        .reduction_s = std::max(0.0, run.gradients_end(stage) - run.stage_end(stage)),
                        .optimizer_s = static_cast<double>(graph.optimizer_s[stage]) * factors[stage]});
    }
    return ends;
}

std::vector<double> mean_factors(const ExecutionGraph& graph)
{
    const int replica = slowest_replica(graph);
    std::vector<double> factors;
    factors.reserve(static_cast<std::size_t>(graph.stages()));
    for (int stage = 0; stage < graph.stages(); ++stage) {
        factors.push_back(graph.mean_factor(replica, stage));
    }
    return factors;
}

std::optional<std::size_t> MeanRun::run_skipping()
{
    const Program& program = *graph_.program;
    std::size_t kept = program.longest_wait + 1;
    for (const Repeats& repeats : program.repeats) {
        const std::size_t period = repeats.period;
        kept = std::max(kept, deciding_ops(program, period) + longest_cycle(program, period) * period);
    }
    begin();
    RecentEnds ends(kept);
    std::size_t i = 0;
    std::size_t ran = 0;
    const auto run_until = [&](std::size_t stop) {
        ran += stop - i;
        for (; i < stop; ++i) {
            const std::uint32_t distance = program.fed_by[i];
            const double feeder_end = distance > 0 ? ends[i - distance] : 0.0;
            ends[i] = run_op(program.ops[i], distance > 0 ? &feeder_end : nullptr).end;
        }
    };
    // Goes on where `rest` ops of the repetitions are left.
    const auto skip = [&](const Cycle& cycle, std::size_t times, const Repeats& repeats, std::size_t rest) {
        const double in_all = static_cast<double>(times) * cycle.later;
        ends.move(i, repeats.end - rest, deciding_ops(program, repeats.period), in_all);
        for (double& end : stage_end_) {
            end += in_all;
        }
        i = repeats.end - rest;
    };
    for (const Repeats& repeats : program.repeats) {
        bool lacks = repeats.omitted > 0;
        run_until(repeats.first);
        while (i + repeats.period <= repeats.end) {
            run_until(i + repeats.period);
            const auto cycle = cycle_before(ends, i, i - repeats.first, program, repeats.period);
            if (cycle) {
                const std::size_t left = repeats.end - i + repeats.omitted * repeats.period;
                const std::size_t rest = left % cycle->ops;
                lacks = rest > repeats.end - i;
                if (!lacks) {
                    skip(*cycle, left / cycle->ops, repeats, rest);
                }
                break;
            }
        }
        if (lacks) {
            return std::nullopt;
        }
    }
    run_until(program.ops.size());
    finish();
    return ran;
}

std::vector<double> MeanRun::busy() const
{
    std::vector<double> seconds(graph_.stages(), 0.0);
    for (std::size_t i = 0; i < duration_.size(); ++i) {
        seconds[i / graph_.passes() / graph_.chunks()] += graph_.program->op_count[i] * duration_[i];
    }
    return seconds;
}

NoiseFreeStep noise_free_step(const ExecutionGraph& graph)
{
    MeanRun run(graph, -1, 1.0, slowest_replica(graph));
    if (!run.run_skipping()) {
        ExecutionGraph whole = graph;
        whole.program = std::get<std::shared_ptr<const Program>>(compiled_program(graph.program->shape));
        return noise_free_step(whole);
    }
    const std::vector<double> busy = run.busy();
    std::vector<double> communication(graph.stages(), 0.0);
    std::vector<double> host(graph.stages(), 0.0);
    const std::vector<double> factors = mean_factors(graph);
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        const std::size_t stage = i / graph.passes() / graph.chunks();
        const OpDistribution& op = graph.distribution[i];
        communication[stage] += graph.program->op_count[i] * static_cast<double>(op.communication_s);
        host[stage] += graph.program->op_count[i] * static_cast<double>(op.host_s) * factors[stage];
    }
    const double optimizer = optimizer_time(graph);
    double last = 0.0;
    int busiest = 0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        last = std::max(last, run.step_end(stage));
        if (busy[stage] > busy[busiest]) {
            busiest = stage;
        }
    }
    NoiseFreeStep result;
    const auto outer = static_cast<double>(graph.outer_s);
    result.step_s = last + optimizer + outer;
    // Of the busiest stage: exposed are its collectives in ops, the gather before its first op, and the
    // reduction after its last; the remainder of the step is waiting.
    const double reduction = std::max(0.0, run.gradients_end(busiest) - run.stage_end(busiest));
    const auto gathering =
        static_cast<double>(graph.gathering[static_cast<std::size_t>(busiest) * graph.chunks()].exposed());
    result.shares.exposed_communication =
        (communication[busiest] + reduction + gathering + outer) / result.step_s;
    result.shares.host = host[busiest] / result.step_s;
    result.shares.bubble =
        std::max(0.0, 1.0 - (busy[busiest] + reduction + gathering + optimizer + outer) / result.step_s);
    return result;
}

std::vector<float> MeanRun::idle_before()
{
    const Program& program = *graph_.program;
    std::vector<float> idle(graph_.stages(), 0.0F);
    std::vector<bool> begun(graph_.stages(), false);
    std::vector<double> ends;
    begin();
    for (int left = graph_.stages(); left > 0;) {
        const std::size_t i = ends.size();
        const ProgramOp& op = program.ops[i];
        const OpTimes times = run_op(op, program.fed_by[i] > 0 ? &ends[i - program.fed_by[i]] : nullptr);
        ends.push_back(times.end);
        if (!begun[op.stage]) {
            begun[op.stage] = true;
            idle[op.stage] = static_cast<float>(times.start - gate_[op.stage_chunk]);
            --left;
        }
    }
    return idle;
}

std::vector<float> idle_before(const ExecutionGraph& graph) { return MeanRun(graph, -1, 1.0).idle_before(); }

}  // namespace prismopt
