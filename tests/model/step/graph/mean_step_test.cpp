#include "model/step/graph/mean_step.hpp"

#include "model/step/sample/sampler.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/schedule_replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {
namespace {

/// The step by relaxation: all tasks end at zero, and are pushed back until nothing violates a dependency.
class RelaxedStep {
public:
    explicit RelaxedStep(const ExecutionGraph& graph)
        : graph_(graph), orders_(std::get<TaskOrders>(task_orders(graph.program->shape))),
          overlapped_(graph.dp_overlap == DataParallelOverlap::on)
    {
        for (const auto& order : orders_) {
            end_.emplace_back(order.size(), 0.0);
        }
    }

    double seconds()
    {
        for (bool moved = true; moved;) {
            moved = false;
            for (int s = 0; s < graph_.stages(); ++s) {
                for (std::size_t i = 0; i < orders_[s].size(); ++i) {
                    const double end = earliest_start(s, i) + duration(s, orders_[s][i]);
                    moved = moved || end > end_[s][i] + 1e-12;
                    end_[s][i] = std::max(end_[s][i], end);
                }
            }
        }
        double last = 0.0;
        for (int s = 0; s < graph_.stages(); ++s) {
            last = std::max(last, reduced(s));
        }
        const float optimizer = *std::max_element(graph_.optimizer_s.begin(), graph_.optimizer_s.end());
        return last + graph_.group_mean * static_cast<double>(optimizer);
    }

private:
    int stage_chunk(int s, const Task& t) const { return s * graph_.chunks() + t.chunk; }
    const OpDistribution& distribution(int s, const Task& t) const
    {
        return graph_.distribution[graph_.distribution_at(stage_chunk(s, t), t.pass)];
    }

    double duration(int s, const Task& t) const
    {
        return static_cast<double>(distribution(s, t).compute_s) * graph_.group_mean +
               static_cast<double>(distribution(s, t).communication_s);
    }

    double end_of(int s, Pass pass, int chunk, int microbatch) const
    {
        std::size_t i = 0;
        while (orders_[s][i].pass != pass || orders_[s][i].chunk != chunk ||
               orders_[s][i].microbatch != microbatch) {
            ++i;
        }
        return end_[s][i];
    }

    /// Parameters of this chunk and those before it; without overlap of all chunks.
    double gathered(int s, int chunk) const
    {
        double sum = 0.0;
        for (int c = 0; c < (overlapped_ ? chunk + 1 : graph_.chunks()); ++c) {
            sum += static_cast<double>(graph_.gathering[s * graph_.chunks() + c].exposed());
        }
        return sum;
    }

    double earliest_start(int s, std::size_t i) const
    {
        const Task& t = orders_[s][i];
        const bool forward = t.pass == Pass::forward;
        const Pass own_input = t.pass == Pass::weight_gradient ? Pass::input_gradient : Pass::forward;
        const double own = forward ? gathered(s, t.chunk) : end_of(s, own_input, t.chunk, t.microbatch);
        double start = std::max(own, i > 0 ? end_[s][i - 1] : 0.0);
        const auto from = neighbour(graph_.program->shape, {s, t.chunk}, forward ? -1 : 1);
        if (from && t.pass != Pass::weight_gradient) {
            start = std::max(start, end_of(from->stage, t.pass, from->chunk, t.microbatch) +
                                        static_cast<double>(distribution(s, t).transfer_s));
        }
        return start;
    }

    /// End of the stage's gradient collectives, one after the other, as chunks finish or after all work.
    double reduced(int s) const
    {
        const auto& order = orders_[s];
        double done = overlapped_ ? 0.0 : end_[s].back();
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Task& t = order[i];
            const bool more = std::any_of(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                                          [&t](const Task& u) {
                                              return gives_weight_gradient(u.pass) && u.chunk == t.chunk;
                                          });
            if (gives_weight_gradient(t.pass) && !more) {
                done = std::max(done, overlapped_ ? end_[s][i] : 0.0) +
                       static_cast<double>(graph_.reduction[stage_chunk(s, t)].exposed());
            }
        }
        return done;
    }

    const ExecutionGraph& graph_;
    TaskOrders orders_;
    bool overlapped_;
    std::vector<std::vector<double>> end_;  // [stage][place in its order]
};

/// Whether a pass gets its input from another stage.
bool neighbour_on_another_stage(const ScheduleShape& shape, int stage_chunk, Pass pass)
{
    const StageChunk position{stage_chunk / shape.chunks, stage_chunk % shape.chunks};
    const auto from = neighbour(shape, position, is_forward(pass) ? -1 : 1);
    return pass != Pass::weight_gradient && from && from->stage != position.stage;
}

/// Equal stages of F = 1 s, B = 2 s: (m + p - 1)(F + B), and what lies before
/// the first and after the last op.
TEST(NoiseFreeStep, OfEqualStagesHasTheClosedForm)
{
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::gpipe}) {
        for (const int p : {1, 2, 4, 8}) {
            for (const int m : {1, 3, 8, 32}) {
                ExecutionGraph graph = empty_graph({schedule, p, m, 1}, DataParallelOverlap::on);
                for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
                    graph.distribution[i].compute_s = i % 2 == 0 ? 0.75F : 1.5F;
                    graph.distribution[i].communication_s = i % 2 == 0 ? 0.25F : 0.5F;
                }
                EXPECT_NEAR(noise_free_step(graph).step_s, (m + p - 1) * 3.0, 1e-9) << p << " " << m;
                graph.gathering[0] = {7.0F};  // the first stage waits for its parameters
                graph.reduction[0] = {5.0F};  // and is the last to finish
                graph.optimizer_s[p - 1] = 4.0F;
                EXPECT_NEAR(noise_free_step(graph).step_s, 7.0 + (m + p - 1) * 3.0 + 5.0 + 4.0, 1e-9)
                    << p << " " << m;
            }
        }
    }
}

/// GPipe with transfers: the first microbatch crosses p - 1 times down and the last p - 1 times up.
TEST(NoiseFreeStep, OfGpipePaysEachTransferOnceEachWay)
{
    const int p = 4;
    const int m = 8;
    ExecutionGraph graph = empty_graph({Schedule::gpipe, p, m, 1}, DataParallelOverlap::on);
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        graph.distribution[i].compute_s = i % 2 == 0 ? 1.0F : 2.0F;
        graph.distribution[i].transfer_s = 0.125F;
    }
    EXPECT_NEAR(noise_free_step(graph).step_s, (m + p - 1) * 3.0 + 2 * (p - 1) * 0.125, 1e-9);
}

TEST(NoiseFreeStep, MatchesRelaxationOnRandomGraphs)
{
    std::mt19937_64 random(4);
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::off, DataParallelOverlap::on}) {
            for (int repeat = 0; repeat < 10; ++repeat) {
                const ExecutionGraph graph = random_graph(shape, overlap, random);
                EXPECT_NEAR(noise_free_step(graph).step_s, RelaxedStep(graph).seconds(), 1e-9)
                    << name(shape.schedule) << " " << repeat;
            }
        }
    }
}

/// What repeats is skipped without an effect on the step, whether stages are
/// equal, nearly equal or different.
TEST(NoiseFreeStep, IsThatOfTheRunThatSkipsNothing)
{
    constexpr double rounding = 1e-9;  // 1e-12 for each of up to a thousand repetitions
    std::mt19937_64 random(21);
    for (const ScheduleShape& shape : long_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::off, DataParallelOverlap::on}) {
            for (const float spread : {0.0F, 0.001F, 0.03F, 0.3F, 1.0F, 1.0F}) {
                ExecutionGraph graph = random_graph(shape, overlap, random);
                for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
                    const float usual = i % static_cast<std::size_t>(graph.passes()) == 0 ? 1.0F : 2.0F;
                    OpDistribution& op = graph.distribution[i];
                    op.compute_s = usual + spread * (op.compute_s - usual);
                    op.communication_s *= spread;
                }
                MeanRun skipping(graph, -1, 1.0);
                MeanRun whole(graph, -1, 1.0);
                ASSERT_TRUE(skipping.run_skipping().has_value());
                std::vector<double> busy(shape.stages, 0.0);
                whole.run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
                    busy[op.stage] += end - start;
                });
                for (int stage = 0; stage < shape.stages; ++stage) {
                    EXPECT_NEAR(skipping.step_end(stage), whole.step_end(stage),
                                rounding * whole.step_end(stage))
                        << name(shape.schedule);
                    EXPECT_NEAR(skipping.stage_end(stage), whole.stage_end(stage),
                                rounding * whole.stage_end(stage));
                    EXPECT_NEAR(skipping.busy()[stage], busy[stage], rounding * busy[stage]);
                }
            }
        }
    }
}

/// To the last bit, also where stages never settle and the whole program must be run.
TEST(NoiseFreeStep, IsThatOfTheShortenedProgram)
{
    std::mt19937_64 random(23);
    int lacking = 0;
    int runs = 0;
    for (ScheduleShape shape : long_shapes()) {
        shape.microbatches *= 4;
        for (const float spread : {0.0F, 0.001F, 0.03F, 0.3F, 1.0F, 1.0F}) {
            ExecutionGraph graph = random_graph(shape, DataParallelOverlap::on, random);
            for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
                OpDistribution& op = graph.distribution[i];
                op.compute_s = 1.0F + spread * (op.compute_s - 1.0F);
                op.communication_s *= spread;
            }
            const NoiseFreeStep whole = noise_free_step(graph);
            graph.program = std::get<std::shared_ptr<const Program>>(shortened_program(shape));
            EXPECT_EQ(noise_free_step(graph).step_s, whole.step_s) << name(shape.schedule) << ' ' << spread;
            EXPECT_EQ(noise_free_step(graph).shares.bubble, whole.shares.bubble) << name(shape.schedule);
            lacking += MeanRun(graph, -1, 1.0).run_skipping() ? 0 : 1;
            ++runs;
        }
    }
    EXPECT_LT(lacking, runs / 3);
}

/// Of 2,048 microbatches it runs at most those that fill the pipeline 16 times, if
/// durations differ by up to a tenth.
TEST(NoiseFreeStep, RunsFewOpsOfManyMicrobatches)
{
    std::mt19937_64 random(22);
    std::uniform_real_distribution<float> uniform(0.9F, 1.1F);
    for (const ScheduleShape& shape : {ScheduleShape{Schedule::one_f_one_b, 16, 2048, 1},
                                       {Schedule::interleaved, 16, 2048, 2},
                                       {Schedule::zb_h1, 16, 2048, 1},
                                       {Schedule::dualpipe_v, 16, 2048, 2}}) {
        ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
        for (OpDistribution& op : graph.distribution) {
            op.compute_s = uniform(random);
        }
        const std::size_t most =
            graph.program->ops.size() / static_cast<std::size_t>(shape.microbatches) * 16 * 16;
        EXPECT_LE(MeanRun(graph, -1, 1.0).run_skipping().value(), most) << name(shape.schedule);
    }
}

TEST(NoiseFreeStep, SharesAreThoseOfTheClosedForm)
{
    const int p = 4;
    const int m = 12;
    ExecutionGraph graph = empty_graph({Schedule::one_f_one_b, p, m, 1}, DataParallelOverlap::on);
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        graph.distribution[i].compute_s = i % 2 == 0 ? 0.75F : 1.5F;
        graph.distribution[i].communication_s = i % 2 == 0 ? 0.25F : 0.5F;
    }
    const StepShares shares = noise_free_step(graph).shares;
    EXPECT_NEAR(shares.bubble, (p - 1.0) / (m + p - 1.0), 1e-9);  // Narayanan et al., SC21, of the total
    EXPECT_NEAR(shares.exposed_communication, 0.25 * m / (m + p - 1.0), 1e-9);  // a quarter of each op
    std::mt19937_64 random(8);
    for (const ScheduleShape& shape : graph_shapes()) {
        for (int repeat = 0; repeat < 10; ++repeat) {
            const StepShares s = noise_free_step(random_graph(shape, DataParallelOverlap::on, random)).shares;
            EXPECT_GE(s.bubble, 0.0);
            EXPECT_GE(s.exposed_communication, 0.0);
            EXPECT_LE(s.bubble + s.exposed_communication, 1.0) << name(shape.schedule);
        }
    }
}

/// The program of every schedule, pairs included, against the replay of its orders; distributions
/// differ by stage, chunk and pass.
TEST(NoiseFreeStep, OfEverySchedulesProgramIsThatOfItsReplay)
{
    std::mt19937_64 random(11);
    std::uniform_real_distribution<float> uniform(0.5F, 1.5F);
    const float transfer = 0.25F;
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const ScheduleShape& also : {shape, ScheduleShape{Schedule::dualpipe, 4, 8, 2},
                                          ScheduleShape{Schedule::dualpipe_v, 3, 7, 2}}) {
            ExecutionGraph graph = empty_graph(also, DataParallelOverlap::on);
            for (int stage_chunk = 0; stage_chunk < also.stages * also.chunks; ++stage_chunk) {
                for (int pass = 0; pass < graph.passes(); ++pass) {
                    OpDistribution& distribution =
                        graph.distribution[graph.distribution_at(stage_chunk, static_cast<Pass>(pass))];
                    distribution.compute_s = uniform(random);
                    const bool crosses =
                        neighbour_on_another_stage(also, stage_chunk, static_cast<Pass>(pass));
                    distribution.transfer_s = crosses ? transfer : 0.0F;
                }
            }
            const auto seconds = [&](int stage, const Task& t) {
                // A pair's time is all in its backward.
                return t.pass == Pass::paired_forward
                           ? 0.0
                           : static_cast<double>(graph
                                                     .distribution[graph.distribution_at(
                                                         stage * also.chunks + t.chunk, t.pass)]
                                                     .compute_s);
            };
            for (int stage_chunk = 0; graph.passes() > static_cast<int>(Pass::paired_forward) &&
                                      stage_chunk < also.stages * also.chunks;
                 ++stage_chunk) {
                graph.distribution[graph.distribution_at(stage_chunk, Pass::paired_forward)].compute_s = 0.0F;
            }
            const TaskOrders orders = std::get<TaskOrders>(task_orders(also));
            const Replayed replayed =
                ScheduleReplay(also, orders).run(seconds, static_cast<double>(transfer));
            EXPECT_NEAR(noise_free_step(graph).step_s, replayed.last_end, 1e-9) << name(also.schedule);
        }
    }
}

/// Stages that need not wait for each other at the end begin their next step early: zero bubbles remain zero,
/// and the step is the longest stage's span. With flushes nothing is won.
TEST(NoiseFreeStep, WithPostValidationIsTheLongestSpan)
{
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::zb_h1, Schedule::zb_h2}) {
        const ScheduleShape shape{schedule, 4, 12, 1};
        ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
        for (OpDistribution& distribution : graph.distribution) {
            distribution.compute_s = 1.0F;
        }
        if (schedule == Schedule::one_f_one_b) {
            graph.distribution[1].compute_s = 2.0F;
        }
        const double together = noise_free_step(graph).step_s;
        graph.ahead_s = idle_before(graph);
        const TaskOrders orders = std::get<TaskOrders>(task_orders(shape));
        const Replayed replayed =
            ScheduleReplay(shape, orders)
                .run(
                    [&](int stage, const Task& t) {
                        return static_cast<double>(
                            graph.distribution[graph.distribution_at(stage, t.pass)].compute_s);
                    },
                    0.0);
        EXPECT_NEAR(together, replayed.last_end, 1e-9) << name(schedule);
        EXPECT_NEAR(noise_free_step(graph).step_s, replayed.longest_span, 1e-9) << name(schedule);
        if (schedule == Schedule::zb_h2) {
            EXPECT_NEAR(replayed.longest_span, 3.0 * 12, 1e-9);
            EXPECT_NEAR(together, 3.0 * 12 + 3.0, 1e-9);
        }
    }
}

constexpr std::array step_widths{1, 2, 4, 8};

/// Plans drawn at random, those that can work.
std::vector<ExecutionGraph> random_plans(const Problem& problem, std::size_t count)
{
    std::mt19937_64 random(6);
    const auto pick = [&random](std::initializer_list<int> list) {
        return *(list.begin() + random() % list.size());
    };
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
    std::vector<ExecutionGraph> graphs;
    while (graphs.size() < count) {
        ParallelPlan plan;
        plan.tp = pick({1, 2, 4, 8});
        plan.pp = pick({1, 2, 4});
        plan.dp = pick({1, 2, 4, 8});
        plan.chunks = pick({1, 2});
        plan.schedule = plan.chunks == 2    ? Schedule::interleaved
                        : pick({0, 1}) == 0 ? Schedule::gpipe
                                            : Schedule::one_f_one_b;
        plan.recompute = pick({0, 1}) == 0 ? Recompute::none : Recompute::full;
        plan.sharding = pick({0, 1}) == 0 ? Sharding::none : Sharding::zero1;
        plan.dp_overlap = pick({0, 1}) == 0 ? DataParallelOverlap::off : DataParallelOverlap::on;
        plan.order = pick({0, 1}) == 0 ? PlacementOrder::tp_pp_dp : PlacementOrder::tp_dp_pp;
        plan.sequence_parallel = pick({0, 1}) == 0 ? SequenceParallel::on : SequenceParallel::off;
        auto compiled = compiler.compile(plan);
        if (auto* feasible = std::get_if<CompiledPlan>(&compiled)) {
            graphs.push_back(std::move(feasible->graph));
        }
    }
    return graphs;
}

/// The bound that prunes: at most the mean over draws, within four standard errors, and not far below.
TEST(NoiseFreeStep, BoundsTheMeanOfTheStep)
{
    const Problem problem = example_problem(lively_variability(), 64, step_widths);
    for (const ExecutionGraph& graph : random_plans(problem, 24)) {
        const auto draws = sample_steps(graph, problem.noise, {0, 512, 1}, {9, Purpose::search, 8});
        double mean = 0.0;
        double squares = 0.0;
        for (const double t : draws) {
            mean += t / 512.0;
            squares += t * t / 512.0;
        }
        const double error = std::sqrt((squares - mean * mean) / 512.0);
        const double bound = noise_free_step(graph).step_s;
        EXPECT_LE(bound, mean + 4.0 * error);
        EXPECT_GE(bound, 0.75 * mean);
    }
}

TEST(NoiseFreeStep, IsEveryDrawWhereNothingVaries)
{
    const Problem problem = example_problem(Variability{}, 64, step_widths);
    for (const ExecutionGraph& graph : random_plans(problem, 8)) {
        const double bound = noise_free_step(graph).step_s;
        for (const double t : sample_steps(graph, problem.noise, {0, 64, 1}, {9, Purpose::search, 8})) {
            EXPECT_NEAR(t, bound, 1e-5 * bound);  // some hundred sums in single precision
        }
    }
}

}  // namespace
}  // namespace prismopt
