/// Launches by the host: which come from Python, which from C++ back to back,
/// and how long they are waited for.

#include "model/network/call_times.hpp"
#include "model/network/passes.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

namespace prismopt {
namespace {

constexpr double on_gpu = 16.0;  // experts

Workload layers_of_experts(double capacity = 0.0)
{
    Workload w;
    w.hidden = 1024;
    w.vocabulary = 32000;
    w.kinds = {{.name = "moe",
                .blocks = {AttentionBlock{.heads = 8, .kv_heads = 8},
                           ExpertsBlock{.count = 16, .active = 4, .inner = 512, .capacity = capacity}}}};
    w.sequence = {{0, 2}};
    return w;
}

/// Of a forward and a backward pass of a layer of experts.
Launches launches_of_layer(const Workload& workload, Precision precision, const SoftwareStack& stack,
                           const ModuleSet& graphs = {})
{
    Cluster cluster = products_only();
    cluster.stack = stack;
    LayerShape shape{{}, 2048};
    shape.cuda_graphs = graphs;
    const LayerGroups groups{};
    const CallTimes times(precision, cluster, groups);
    const Network network = network_of(workload);
    Launches sum;
    for (const Calls& calls : {forward_calls(network.kinds.front(), shape),
                               backward_calls(network.kinds.front(), shape, Gradients::both)}) {
        for (const AnyCall& call : calls.list()) {
            if (const auto* kernel = std::get_if<KernelCall>(&call)) {
                const Launches own = times.launches_of(*kernel);
                sum.python += own.python;
                sum.native += own.native;
            }
        }
    }
    return sum;
}

/// Two linear layers: six products an expert, and casts of the input and the gradient of each (Transformer
/// Engine to 2.16: none in 16 bits; one kernel for blocks; maximum, scale and cast with a current scale; one
/// kernel for all experts with a delayed one; two for all in 4 bits).
TEST(HostLaunches, OfExpertsOneByOneFollowFromThePrecision)
{
    const auto native = [](Precision precision, const SoftwareStack& stack) {
        return launches_of_layer(layers_of_experts(), precision, stack).native;
    };
    EXPECT_EQ(native(Precision::bf16, {}), 6.0 * on_gpu);
    EXPECT_EQ(native(Precision::mxfp8, {}), 10.0 * on_gpu);
    EXPECT_EQ(native(Precision::fp8_blockwise, {}), 10.0 * on_gpu);
    EXPECT_EQ(native(Precision::fp8_current, {}), 18.0 * on_gpu);
    EXPECT_EQ(native(Precision::fp8_delayed, {}), 6.0 * on_gpu + 4.0);
    EXPECT_EQ(native(Precision::fp8, {.fp8 = Precision::mxfp8}), 10.0 * on_gpu);
    EXPECT_EQ(native(Precision::nvfp4, {}), 6.0 * on_gpu + 8.0);
}

/// One kernel for all experts: as many as of a single one.
TEST(HostLaunches, OfGroupedExpertsDoNotGrowWithTheirNumber)
{
    const auto native = [](Precision precision, const SoftwareStack& stack) {
        return launches_of_layer(layers_of_experts(), precision, stack).native;
    };
    EXPECT_EQ(native(Precision::bf16, {.grouped_experts = true}), 6.0);
    EXPECT_EQ(native(Precision::mxfp8, {.grouped_experts = true}), 10.0);
    EXPECT_EQ(native(Precision::fp8_current, {.grouped_experts = true}), 18.0);
    EXPECT_EQ(native(Precision::nvfp4, {.grouped_experts = true}), 14.0);
}

/// Padded to a capacity, experts are one batch. In a graph of the whole iteration the
/// host launches nothing by itself.
TEST(HostLaunches, OfBatchesAndGraphsAreNone)
{
    EXPECT_EQ(launches_of_layer(layers_of_experts(1.5), Precision::bf16, {}).native, 0.0);
    const Launches inside =
        launches_of_layer(layers_of_experts(), Precision::fp8, {}, {Module::full_iteration});
    EXPECT_EQ(inside.native, 0.0);
    EXPECT_EQ(inside.python, 0.0);
    const double alone = launches_of_layer(layers_of_experts(), Precision::fp8, {}).python;
    EXPECT_GT(alone, 0.0);
    EXPECT_LT(launches_of_layer(layers_of_experts(), Precision::fp8, {}, {Module::attn}).python, alone);
}

/// A kernel of one second from Python with six more from C++: 2 + 6 * 0.5 seconds of the host. The
/// wait is a kernel of its own class.
TEST(HostLaunches, AreWaitedForByTheirKind)
{
    const SoftwareStack stack{.host = Seconds{2.0}, .host_native = Seconds{0.5}};
    PassBuilder pass(stack);
    const PassCost cost = pass.kernel(KernelClass::grouped_gemm, Seconds{1.0}, {.python = 1.0, .native = 6.0})
                              .wait_for_host()
                              .done();
    const double both = std::cbrt(1.0 + 125.0);
    EXPECT_NEAR(cost.compute_s, both, 1e-12);
    EXPECT_NEAR(cost.host_s, both - 1.0, 1e-12);
    ASSERT_EQ(cost.segments.size(), 1U);
    EXPECT_EQ(cost.segments.front().back().kind, KernelClass::host_wait);
    PassBuilder faster(stack);
    EXPECT_NEAR(faster.kernel(KernelClass::gemm, Seconds{1.0}, {.python = 1.0, .native = 6.0})
                    .wait_for_host(5.0)
                    .done()
                    .compute_s,
                std::cbrt(2.0), 1e-12);
    PassBuilder one_cost(SoftwareStack{.host = Seconds{2.0}});  // launches from C++ cost what others do
    EXPECT_NEAR(one_cost.kernel(KernelClass::gemm, Seconds{1.0}, {.python = 1.0, .native = 6.0})
                    .wait_for_host()
                    .done()
                    .compute_s,
                std::cbrt(1.0 + 14.0 * 14.0 * 14.0), 1e-9);
}

TEST(HostLaunches, CostNothingWithoutAHost)
{
    PassBuilder pass(SoftwareStack{});
    const PassCost cost = pass.kernel(KernelClass::gemm, Seconds{1.0}).wait_for_host().done();
    EXPECT_EQ(cost.compute_s, 1.0);
    EXPECT_EQ(cost.host_s, 0.0);
    EXPECT_EQ(cost.segments.front().size(), 1U);
}

}  // namespace
}  // namespace prismopt
