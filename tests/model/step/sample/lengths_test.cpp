#include "model/step/sample/sampler.hpp"

#include "model/distribution/noise_source.hpp"
#include "model/network/network.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "tests/support/draw_statistics.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/pipeline_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace prismopt {
namespace {

/// Distributions of lengths against closed forms, and against a simulation that shares nothing with
/// the sampler but the two factors.

constexpr PipelineNoise no_noise{.compute = 1e-5, .stage = 0.0, .spatial = 0.0, .transfer = 0.0};

/// Microbatches of `low` or `high` times the mean tokens, and of the squares of these in attention.
constexpr double low = 0.5;
constexpr double high = 1.5;
constexpr double mean_square = 0.5 * (low * low + high * high);

ExecutionGraph graph_with_lengths(const ScheduleShape& shape, int replicas, std::vector<LengthShares> shares)
{
    ExecutionGraph graph = pipeline_graph(shape, replicas, no_noise);
    graph.lengths = std::make_shared<const LengthFactors>(
        length_factors({{0.5, low, low * low}, {0.5, high, high * high}}));
    graph.length_shares = std::move(shares);
    return graph;
}

double factor_of(const LengthShares& shares, double tokens)
{
    return 1.0 + static_cast<double>(shares.tokens) * (tokens - 1.0) +
           static_cast<double>(shares.attention) * (tokens * tokens / mean_square - 1.0);
}

TEST(LengthFactors, HaveMeanOne)
{
    const LengthFactors factors = length_factors({{0.2, 10.0, 30.0}, {0.5, 20.0, 100.0}, {0.3, 50.0, 900.0}});
    EXPECT_NEAR(factors.tokens.mean(), 1.0, 1e-6);
    EXPECT_NEAR(factors.attention.mean(), 1.0, 1e-6);
    const double mean = 0.2 * 30.0 + 0.5 * 100.0 + 0.3 * 900.0;
    EXPECT_NEAR(factors.attention(0x10000000U), 30.0 / mean, 1e-6);
    EXPECT_NEAR(factors.attention(0x80000000U), 100.0 / mean, 1e-6);
    EXPECT_NEAR(factors.attention(0xF0000000U), 900.0 / mean, 1e-6);
    EXPECT_NEAR(factors.tokens(0xF0000000U), 50.0 / 27.0, 1e-6);
}

/// A network of scans or tables has no attention whose time could follow the lengths.
TEST(LengthFactors, AreOneWithoutAttention)
{
    const LengthFactors factors = length_factors({{0.5, 10.0, 0.0}, {0.5, 30.0, 0.0}});
    EXPECT_EQ(factors.attention(0x10000000U), 1.0);
    EXPECT_EQ(factors.attention(0xF0000000U), 1.0);
    EXPECT_NEAR(factors.tokens(0xF0000000U), 1.5, 1e-6);
}

/// Of n replicas with one microbatch each, all are short with probability 2^-n.
TEST(Lengths, TheSlowestReplicaSetsTheStep)
{
    const LengthShares shares{.tokens = 0.6F, .attention = 0.3F};
    for (const int replicas : {1, 2, 4}) {
        const ExecutionGraph graph = graph_with_lengths({Schedule::one_f_one_b, 1, 1, 1}, replicas, {shares});
        const int draws = 1 << 15;
        const SampleMoments steps(
            sample_steps(graph, pipeline_tables(no_noise), {0, draws, 1}, {.replicas_simulated = 4}));
        const double all_short = std::pow(0.5, replicas);
        const double expected =
            all_short * factor_of(shares, low) + (1.0 - all_short) * factor_of(shares, high);
        EXPECT_NEAR(steps.mean / (forward_s + backward_s), expected, 4.0 * steps.error / 3.0 + 1e-4)
            << replicas;
    }
}

/// One forward, one backward on two stages, in the plainest terms.
double plain_step(int microbatches, int replicas, const std::vector<LengthShares>& shares,
                  std::mt19937_64& random)
{
    std::bernoulli_distribution coin(0.5);
    double step = 0.0;
    for (int replica = 0; replica < replicas; ++replica) {
        std::vector<double> tokens;
        for (int mb = 0; mb < microbatches; ++mb) {
            tokens.push_back(coin(random) ? high : low);
        }
        const auto seconds = [&](int stage, int mb, double mean) {
            return mean * factor_of(shares[stage], tokens[mb]);
        };
        std::vector<double> forward(microbatches);   // ends on the first stage,
        std::vector<double> gradient(microbatches);  // and of the backward passes of the second
        double first = 0.0;
        double second = 0.0;
        const auto run_second = [&](int mb) {
            second = std::max(second, forward[mb] + transfer_s) + seconds(1, mb, forward_s);
            second += seconds(1, mb, backward_s);
            gradient[mb] = second;
        };
        const auto run_forward = [&](int mb) {
            first += seconds(0, mb, forward_s);
            forward[mb] = first;
            run_second(mb);
        };
        run_forward(0);
        for (int mb = 1; mb < microbatches; ++mb) {
            run_forward(mb);
            first = std::max(first, gradient[mb - 1] + transfer_s) + seconds(0, mb - 1, backward_s);
        }
        first = std::max(first, gradient[microbatches - 1] + transfer_s) +
                seconds(0, microbatches - 1, backward_s);
        step = std::max({step, first, second});
    }
    return step;
}

TEST(Lengths, PipelinesMatchAPlainSimulation)
{
    const std::vector<LengthShares> shares{{.tokens = 0.7F, .attention = 0.3F},
                                           {.tokens = 0.5F, .attention = 0.4F}};
    constexpr int microbatches = 4;
    constexpr int draws = 1 << 14;
    for (const int replicas : {1, 2, 4, 16}) {
        const ExecutionGraph graph =
            graph_with_lengths({Schedule::one_f_one_b, 2, microbatches, 1}, replicas, shares);
        std::mt19937_64 random(7);
        std::vector<double> truth(draws);
        std::generate(truth.begin(), truth.end(),
                      [&] { return plain_step(microbatches, replicas, shares, random); });
        const SampleMoments expected(truth);
        for (const int simulated : {4, 16}) {
            const auto steps = sample_steps(graph, pipeline_tables(no_noise), {0, draws, 1},
                                            {.replicas_simulated = simulated});
            const SampleMoments found(steps);
            // Ranked: a path length plus a residual that knows no longest microbatch.
            const bool ranked = simulated < replicas;
            EXPECT_NEAR(found.mean, expected.mean,
                        4.0 * std::hypot(found.error, expected.error) +
                            (ranked ? 0.01 * expected.mean : 1e-3))
                << replicas << " replicas, " << simulated;
            EXPECT_NEAR(sorted_quantile(sorted(steps), 0.95) / sorted_quantile(sorted(truth), 0.95), 1.0,
                        ranked ? 0.07 : 0.015)
                << replicas << " replicas, " << simulated;
        }
    }
}

Problem problem_of(const SampleLengths& lengths, const Variability& variability = {}, int sequence = 2048)
{
    constexpr std::array widths{1, 2, 4};
    Problem problem = example_problem(variability, 64, widths);
    Phase& phase = problem.phases.front();
    phase.sequence = sequence;
    phase.lengths = std::make_shared<const SampleLengths>(lengths);
    phase.filled = filled_share(lengths, sequence);
    return problem;
}

SampleLengths of_one_length(double tokens, Batching batching)
{
    return {{{0.0, tokens}, {1.0, tokens}}, batching};
}

CompiledPlan compiled(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler(setting_of(problem, problem.phases.front()));
    return std::get<CompiledPlan>(compiler.compile(plan));
}

/// Samples of half a sequence take as long as sequences of that length, and memory as for whole sequences.
TEST(Lengths, PaddedSamplesOfOneLengthAreShorterSequences)
{
    constexpr std::array widths{1, 2, 4};
    const Problem padded = problem_of(of_one_length(1024.0, Batching::padded));
    Problem shorter = example_problem({}, 64, widths);
    Problem whole = shorter;
    shorter.phases.front().sequence = 1024;
    for (ParallelPlan plan : {plan_of(1, 1, 8), plan_of(2, 2, 4), plan_of(4, 4, 2)}) {
        plan.microbatch = 2;
        const CompiledPlan of_padded = compiled(padded, plan);
        const CompiledPlan of_shorter = compiled(shorter, plan);
        EXPECT_NEAR(noise_free_step(of_padded.graph).step_s / noise_free_step(of_shorter.graph).step_s, 1.0,
                    1e-6);
        EXPECT_EQ(of_padded.memory.total().si, compiled(whole, plan).memory.total().si);
    }
    Phase phase = padded.phases.front();
    EXPECT_DOUBLE_EQ(phase.tokens_of_step(), 64.0 * 1024.0);
}

/// Packed sequences of two samples have half the attention, and the same products.
TEST(Lengths, PackedSamplesAttendWithinThemselves)
{
    constexpr std::array widths{1, 2, 4};
    const ParallelPlan plan = plan_of(1, 1, 8);
    const Problem packed = problem_of(of_one_length(1024.0, Batching::packed));
    Problem whole = example_problem({}, 64, widths);
    whole.phases.front().sequence = 2048;
    const Network network = network_of(whole.workload);
    // A tile's diagonal beside a quarter.
    EXPECT_NEAR(attention_flops(network, 1024) / attention_flops(network, 2048), 0.26, 0.01);
    const double with = noise_free_step(compiled(packed, plan).graph).step_s;
    const double without = noise_free_step(compiled(whole, plan).graph).step_s;
    EXPECT_LT(with, 0.99 * without);
    EXPECT_GT(with, 0.80 * without);
    EXPECT_DOUBLE_EQ(packed.phases.front().filled, 1.0);
}

/// FSDP waits for the slowest microbatch of all replicas in each pass, other data
/// parallelism for the slowest sum.
TEST(Lengths, ShardedReplicasWaitInEachMicrobatch)
{
    const SampleLengths lengths{{{0.0, 256.0}, {0.5, 256.0}, {0.5, 2048.0}, {1.0, 2048.0}}, Batching::padded};
    const Problem problem = problem_of(lengths);
    ParallelPlan plan = plan_of(1, 1, 4);
    plan.microbatch = 1;
    constexpr int microbatches = 16;
    const auto mean_step = [&](Sharding sharding) {
        plan.sharding = sharding;
        const CompiledPlan result = compiled(problem, plan);
        const ExecutionGraph& graph = result.graph;
        EXPECT_NE(graph.lengths, nullptr);
        double compute = 0.0;
        for (const OpDistribution& op : graph.distribution) {
            compute += static_cast<double>(op.compute_s);
        }
        const double all = noise_free_step(graph).step_s;
        const SampleMoments steps(sample_steps(graph, problem.noise, {0, 4096, 1}, {}));
        EXPECT_GT(steps.mean, all) << "a bound";
        return std::pair(steps.mean - all, compute);
    };
    const auto [coupled, compute] = mean_step(Sharding::zero3);
    const LengthShares shares = compiled(problem, plan).graph.length_shares.front();
    const double mean = 0.5 * (256.0 + 2048.0);
    const auto factor = [&](double tokens) {
        const Network network = network_of(problem.workload);
        const double attention = attention_flops(network, static_cast<int>(tokens));
        const double both = 0.5 * (attention_flops(network, 256) + attention_flops(network, 2048));
        return 1.0 + static_cast<double>(shares.tokens) * (tokens / mean - 1.0) +
               static_cast<double>(shares.attention) * (attention / both - 1.0);
    };
    // One short of four only if all are: 1/16.
    const auto with_gathers = [&](double tokens) {
        return static_cast<double>(shares.beside_gathers(static_cast<float>(factor(tokens))));
    };
    const double slowest = with_gathers(256.0) / 16.0 + with_gathers(2048.0) * 15.0 / 16.0;
    EXPECT_NEAR(coupled / (microbatches * compute * (slowest - 1.0)), 1.0, 0.02);
    const auto free = mean_step(Sharding::none).first;
    EXPECT_LT(free, 0.5 * coupled);
    EXPECT_GT(free, 0.1 * coupled);
}

/// Without the source all microbatches have the mean, so that nothing varies.
TEST(Lengths, WithoutTheSourceTheStepIsNoiseFree)
{
    Problem problem = problem_of({lognormal_lengths(300.0, 0.9), Batching::padded});
    const std::vector<NoiseSource> sources = noise_sources(problem.cluster.tiers);
    const auto source = std::find_if(sources.begin(), sources.end(),
                                     [](const NoiseSource& of) { return of.kind == NoiseKind::lengths; });
    ASSERT_NE(source, sources.end());
    EXPECT_TRUE(is_of_graph(*source));
    const ParallelPlan plan = plan_of(1, 2, 8);
    const double bound = noise_free_step(compiled(problem, plan).graph).step_s;
    const SampleMoments with(sample_steps(compiled(problem, plan).graph, problem.noise, {0, 1024, 1}, {}));
    problem.noise = without(problem.noise, *source);
    const ExecutionGraph graph = compiled(problem, plan).graph;
    EXPECT_EQ(graph.lengths, nullptr);
    EXPECT_NEAR(noise_free_step(graph).step_s, bound, 1e-12);
    for (const double step_s : sample_steps(graph, problem.noise, {0, 64, 1}, {})) {
        EXPECT_NEAR(step_s / bound, 1.0, 1e-5);
    }
    EXPECT_GT(with.mean, 1.02 * bound);
    const NoiseTables copy = NoiseTables::decode(problem.noise.encode());
    EXPECT_FALSE(copy.lengths_vary);
}

/// Replicas that are ranked by their paths against all simulated.
TEST(Lengths, RankedReplicasMatchAllSimulated)
{
    const Problem problem =
        problem_of({lognormal_lengths(300.0, 0.9), Batching::packed}, lively_variability());
    const ExecutionGraph graph = compiled(problem, plan_of(1, 2, 16)).graph;
    const auto some = sorted(sample_steps(graph, problem.noise, {0, 4096, 1}, {.replicas_simulated = 4}));
    const auto all = sorted(sample_steps(graph, problem.noise, {0, 4096, 1}, {.replicas_simulated = 16}));
    for (const double p : {0.5, 0.95, 0.99}) {
        EXPECT_NEAR(sorted_quantile(some, p) / sorted_quantile(all, p), 1.0, 0.01) << p;
    }
}

}  // namespace
}  // namespace prismopt
