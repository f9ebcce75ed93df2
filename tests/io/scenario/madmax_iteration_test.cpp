/// A recommendation network on 8 and 128 A100, component by component and as an iteration, beside MAD-Max
/// (Hsia et al., arXiv 2310.02784; figures from the notebook of facebookresearch/ScaleExplorer, madmax): its
/// constants, and where its counts are not ours, why.

#include "io/scenario/sections/catalog.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/hardware/collective.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/network.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace prismopt {
namespace {

constexpr int samples = 512;  // of a GPU
constexpr double tf32_flops = 0.705 * 156e12;
constexpr double memory_rate = 0.836 * 1555e9;
constexpr double columns = 94.0;
constexpr double tables = 4096.0;
constexpr double lookups = 61'440.0;
constexpr double gradients = 20.0 * 3994.0 * 3994.0 * 4.0;  // bytes
constexpr double node_rate = 200e9;
constexpr double network_rate = 7e9;
constexpr double direct_between_nodes = 0.59;  // of what rings reach: 16 B200, docs/methods/collectives.md

/// Seconds of the components of an iteration.
struct ComponentTimes {
    double products = 0.0;
    double lookups = 0.0;
    double exchanges = 0.0;  // of tables, there and back
    double reduction = 0.0;  // of gradients
};

struct MeasuredJob {
    int gpus;
    ComponentTimes published;
    double iteration;   // as published
    double here;        // the compiled plan's, as docs/methods/recommendation.md prints it
    double in_streams;  // our components in MAD-Max's two streams, the same
};

const std::array jobs{
    MeasuredJob{128, {8.91e-3, 9.10e-3, 26.40e-3, 21.27e-3}, 54.00e-3, 301.71e-3, 292.49e-3},
    MeasuredJob{8, {8.91e-3, 9.10e-3, 14.78e-3, 6.38e-3}, 28.86e-3, 55.22e-3, 40.44e-3}};

bool one_node(int gpus) { return gpus == 8; }

/// ZionEX as its system file has it, with its rate of 32-bit products for numbers sent in 16 bits: effective
/// shares in the rates, no latencies, 200 GB/s in a node and 7 GB/s out of it for each GPU.
Cluster zionex(int gpus)
{
    Cluster c;
    c.accelerator.peak_bf16 = FlopsPerSecond{tf32_flops};
    c.accelerator.multiprocessors = 108;
    c.accelerator.memory_bandwidth = BytesPerSecond{memory_rate};
    c.accelerator.memory = Bytes{40e9};
    c.accelerator.efficiency = {1.0, 1.0, 1.0, 1.0};
    c.gpus = gpus;
    c.library.all_to_all_between_nodes = direct_between_nodes;
    c.tiers = {{"node", 8, BytesPerSecond{node_rate}, 1.0, Seconds{0.0}, 1.0}};
    if (!one_node(gpus)) {
        c.tiers.push_back({"cluster", gpus, BytesPerSecond{network_rate}, 1.0, Seconds{0.0}, 1.0});
    }
    return c;
}

/// DLRM-A; on 8 GPUs with tables of 130,000 rows, which fit there (dlrm_a_small.json).
Workload dlrm(int gpus)
{
    Workload w = catalog_workload("dlrm-a");
    if (one_node(gpus)) {
        w.change<TablesBlock>([](TablesBlock& own) { own.rows = tables * 130'000.0; });
    }
    return w;
}

ParallelPlan plan_of(int gpus)
{
    ParallelPlan plan;
    plan.dp = gpus;
    plan.ep = gpus;
    plan.microbatch = samples;
    plan.sharding = Sharding::none;
    return plan;
}

/// Seconds of all layers, forward and backward, of one class of kernels.
double seconds_of(KernelClass kernel, const Workload& network, int gpus)
{
    const LayerShape shape = layer_shape(plan_of(gpus), 1, gpus * samples);
    const LayerCosts costs = layer_costs(network_of(network), Precision::bf16, shape, zionex(gpus));
    double sum = 0.0;
    for (const int layer : costs.layers) {
        for (const PassCost* pass : {&costs.kinds[layer].forward, &costs.kinds[layer].backward}) {
            for (const Segment& segment : pass->segments) {
                for (const Kernel& own : segment) {
                    sum += own.kind == kernel ? own.seconds : 0.0;
                }
            }
            for (const Exposed& message : pass->exposed) {
                sum += message.shares.front().kind == kernel ? message.seconds : 0.0;
            }
        }
    }
    return sum;
}

ComponentTimes ours(int gpus)
{
    const Workload w = dlrm(gpus);
    const double reduction =
        collective_time(Collective::all_reduce, Bytes{gradients}, {gpus, 1}, zionex(gpus)).time.si;
    return {seconds_of(KernelClass::gemm, w, gpus), seconds_of(KernelClass::lookup, w, gpus),
            seconds_of(KernelClass::expert_all_to_all, w, gpus), reduction};
}

/// MAD-Max's iteration: computing and sending are a stream each. Forward: lookups, then the exchange beside
/// the bottom layers, then the top ones. Backward, after the forward pass: the top layers with their
/// reductions beside them, the exchange after these, the bottom layers beside it, their reductions after it,
/// and the update of rows after the exchange. `exchange_there`: of the forward pass.
double in_two_streams(const ComponentTimes& times, double exchange_there)
{
    constexpr int layers = 10;  // each of bottom and top
    const double exchange_back = times.exchanges - exchange_there;
    // of bottom or top: a third of the products is forward
    const double forward_layers = times.products / 6.0;
    const double forward =
        std::max(0.5 * times.lookups + forward_layers, 0.5 * times.lookups + exchange_there) + forward_layers;
    double computed = 0.0;
    double sent = 0.0;
    for (const bool bottom : {false, true}) {
        if (bottom) {
            sent = std::max(sent, computed) + exchange_back;
        }
        const double exchanged = sent;
        for (int layer = 0; layer < layers; ++layer) {
            computed += 2.0 * forward_layers / layers;
            sent = std::max(sent, computed) + times.reduction / (2.0 * layers);
        }
        if (bottom) {
            computed = std::max(computed, exchanged) + 0.5 * times.lookups;
        }
    }
    return forward + std::max(computed, sent);
}

/// The noise-free iteration of the compiled plan, and what of it is the update of the dense parameters.
struct Iteration {
    double seconds = 0.0;
    double update = 0.0;
    double exposed_reduction = 0.0;
    double elementwise = 0.0;
};
Iteration compiled_iteration(int gpus)
{
    const Workload w = dlrm(gpus);
    const Phase phase{.tokens = 1e9, .sequence = 1, .global_batch = gpus * samples};
    const Cluster cluster = zionex(gpus);
    const std::array widths{1, gpus};
    const NoiseTables noise = build_noise_tables(Variability{}, widths);
    PlanCompiler compiler({w, phase, cluster, noise});
    auto compiled = compiler.compile(plan_of(gpus), CompileFor::noise_free_step);
    const auto* refusal = std::get_if<Infeasible>(&compiled);
    EXPECT_EQ(refusal, nullptr) << detail_text(*refusal);
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    return {noise_free_step(graph).step_s, static_cast<double>(graph.optimizer_s.front()),
            static_cast<double>(graph.reduction.front().exposed()),
            seconds_of(KernelClass::elementwise, w, gpus)};
}

class MadMax : public testing::TestWithParam<MeasuredJob> {};
INSTANTIATE_TEST_SUITE_P(Jobs, MadMax, testing::ValuesIn(jobs),
                         [](const auto& job) { return std::to_string(job.param.gpus) + "Gpus"; });

/// The same FLOPs. Ours takes longer: half the rate where 3994 columns are not aligned
/// to 8, and partial waves of tiles.
TEST_P(MadMax, ProductsAreOfTheSameFlops)
{
    const int gpus = GetParam().gpus;
    const double flops = 3.0 * 20.0 * 2.0 * samples * 3994.0 * 3994.0;
    EXPECT_NEAR(flops / tf32_flops, GetParam().published.products, 1e-5);
    Workload aligned = dlrm(gpus);
    aligned.hidden = 4000;
    const double misaligned = ours(gpus).products / seconds_of(KernelClass::gemm, aligned, gpus);
    EXPECT_NEAR(misaligned, 2.0, 0.02);
    const double waves = ours(gpus).products / misaligned / GetParam().published.products;
    EXPECT_GT(waves, 1.2);
    EXPECT_LT(waves, 1.3);
}

/// It reads the rows once each way. Ours also writes the sums, and in the backward pass reads
/// their gradients and writes rows.
TEST_P(MadMax, LookupsMoveMoreHere)
{
    const double read_once = 2.0 * samples * lookups * columns * 2.0 / memory_rate;
    EXPECT_NEAR(read_once, GetParam().published.lookups, 1e-5);
    const double more = (4.0 * lookups + tables) / (2.0 * lookups);
    EXPECT_NEAR(ours(GetParam().gpus).lookups, more * read_once, 1e-3 * read_once);
}

/// It sends twice the bytes of the rows read over the number of GPUs, each way: on 128 GPUs 92 MB, on 8 GPUs
/// 1.48 GB. What a GPU has to get are the sums of all tables for its own samples, 394 MB each way on any
/// number of GPUs and for any number of rows in a sum, and first come the indices, 252 MB. So ours takes
/// longer on many GPUs and less on few.
TEST_P(MadMax, ExchangesCarrySumsAndIndicesHere)
{
    const int gpus = GetParam().gpus;
    const double rate = one_node(gpus) ? node_rate : network_rate;
    const double bytes = 2.0 * samples * lookups * columns * 2.0 / gpus;
    EXPECT_NEAR(2.0 * bytes / rate, GetParam().published.exchanges, 5e-5);
    const double sums = samples * tables * columns * 2.0;
    EXPECT_NEAR(sums, 394e6, 1e6);
    EXPECT_NEAR(samples * lookups * 8.0, 252e6, 1e6);
    const double leaving = one_node(gpus) ? 7.0 / 8.0 : (gpus - 8.0) / gpus;  // of a GPU's messages
    const double direct = one_node(gpus) ? 1.0 : direct_between_nodes;
    const double expected = leaving * (2.0 * sums + samples * lookups * 8.0) / (direct * rate);
    EXPECT_NEAR(ours(gpus).exchanges, expected, 0.05 * expected);
}

/// It moves all gradients once, at 60 GB/s (a share of the node's bandwidth and the rest of what leaves it)
/// or at 200 GB/s in a node. Ours takes each number over all members twice: through a ring in a node, and
/// through trees over sixteen, whose channels leave a node by its eight ports together.
TEST_P(MadMax, GradientsGoThroughRingsOrTreesHere)
{
    const int gpus = GetParam().gpus;
    EXPECT_NEAR(gradients / (one_node(gpus) ? node_rate : 60e9), GetParam().published.reduction, 1e-5);
    const double units = one_node(gpus) ? gpus : gpus / 8.0;
    const double twice =
        2.0 * (units - 1.0) / units * gradients / (one_node(gpus) ? node_rate : 8.0 * network_rate);
    EXPECT_NEAR(ours(gpus).reduction, twice, 1e-3 * twice);
}

/// Its components in its two streams are its iteration.
TEST_P(MadMax, ItsComponentsOverlapInTwoStreams)
{
    const ComponentTimes& theirs = GetParam().published;
    EXPECT_NEAR(in_two_streams(theirs, 0.5 * theirs.exchanges), GetParam().iteration, 2e-5);
}

/// Ours: passes run their components one after the other; only the reduction of gradients is beside the
/// backward pass, its exchange included, but for the last bucket. And the dense parameters are
/// updated, and activation functions run.
TEST_P(MadMax, ComponentsFollowEachOtherHere)
{
    const int gpus = GetParam().gpus;
    const ComponentTimes times = ours(gpus);
    const Iteration here = compiled_iteration(gpus);
    const double in_order = times.products + times.lookups + times.exchanges + here.elementwise +
                            here.exposed_reduction + here.update;
    EXPECT_NEAR(here.seconds, in_order, 1e-3 * in_order);
    const double dense = 20.0 * 3994.0 * 3994.0;
    EXPECT_NEAR(here.update, dense * OptimizerSettings{}.update_traffic(true) / memory_rate,
                1e-3 * here.update);
    // What our components would take in its two streams; the indices go ahead of the lookups, with
    // the exchange of the forward pass.
    const double sums = samples * tables * columns * 2.0;
    const double there =
        times.exchanges * (sums + samples * lookups * 8.0) / (2.0 * sums + samples * lookups * 8.0);
    const double streams = in_two_streams(times, there);
    EXPECT_NEAR(streams, GetParam().in_streams, 5e-6);
    EXPECT_NEAR(here.seconds, GetParam().here, 5e-6);
}

}  // namespace
}  // namespace prismopt
