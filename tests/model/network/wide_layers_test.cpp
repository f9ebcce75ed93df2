/// Linear layers that stay in 16 bits where the others have fewer: Workload::wide.

#include "model/network/call_times.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/passes.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// With casts and messages that take time.
Cluster cluster_with_fp8()
{
    Cluster c = products_only();
    c.accelerator.memory_bandwidth = BytesPerSecond{3e12};
    c.accelerator.peak_fp8 = FlopsPerSecond{200e12};
    c.stack.dispatch_bytes = 1.0;
    return c;
}

Workload decoder(Precision precision, WideLayers wide = {})
{
    Workload w = workload_of(llama(6, 4096, 32, 16384));
    w.precision = precision;
    w.wide = std::move(wide);
    w.activation_storage = precision == Precision::fp8 ? ActivationStorage::fp8 : ActivationStorage::bf16;
    return w;
}

LayerCosts costs_of_layers(const Workload& w, const LayerShape& shape = {{.tp = 2}, 2048})
{
    return layer_costs(network_of(w), w.precision, shape, cluster_with_fp8());
}

const LayerCost& layer(const LayerCosts& costs, int index) { return costs.kinds[costs.layers[index]]; }

void expect_same(const LayerCost& a, const LayerCost& b)
{
    EXPECT_EQ(a.forward.compute_s, b.forward.compute_s);
    EXPECT_EQ(a.forward.communication_s, b.forward.communication_s);
    EXPECT_EQ(a.backward.compute_s, b.backward.compute_s);
    EXPECT_EQ(a.weight_gradient.compute_s, b.weight_gradient.compute_s);
    EXPECT_EQ(a.saved_bytes, b.saved_bytes);
    EXPECT_EQ(a.held_bytes, b.held_bytes);
    EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
    EXPECT_EQ(a.parameters.all, b.parameters.all);
}

TEST(WideLayers, AllBlocksInSixteenBitsAreTheNetworkInSixteenBits)
{
    const LayerCosts wide = costs_of_layers(decoder(Precision::fp8, {.blocks = {"attention", "mlp"}}));
    const LayerCosts bf16 = costs_of_layers(decoder(Precision::bf16));
    expect_same(layer(wide, 0), layer(bf16, 0));
    expect_same(wide.head, bf16.head);
    expect_same(wide.embedding, bf16.embedding);
}

/// Each block is faster by itself; what remains is one launch of casts, which takes no time here.
/// The denominator of MFU: linear layers at the peak of 8 bits, attention, head
/// and wide layers at that of 16.
TEST(WideLayers, PeakOfProductsCountsEachInItsPrecision)
{
    constexpr int sequence = 2048;
    Accelerator gpu = cluster_with_fp8().accelerator;
    gpu.peak_fp8 = 2.0 * gpu.peak_bf16;
    const auto peak = [&](const Workload& w) {
        return peak_of_products(network_of(w), sequence, w.precision, gpu) / gpu.peak_bf16;
    };
    EXPECT_NEAR(peak(decoder(Precision::bf16)), 1.0, 1e-12);
    EXPECT_NEAR(peak(decoder(Precision::fp8, {.blocks = {"attention", "mlp"}})), 1.0, 1e-12);
    const double narrow = peak(decoder(Precision::fp8));
    EXPECT_GT(peak(decoder(Precision::fp8, {.blocks = {"attention"}})), 1.0);
    EXPECT_LT(peak(decoder(Precision::fp8, {.blocks = {"attention"}})), narrow);
    // By hand: half the time for the share of the operations that layers' products have.
    const Network network = network_of(decoder(Precision::fp8));
    double narrow_flops = 0.0;
    const Calls calls = forward_calls(network.kinds[0], {{}, sequence});
    for (const AnyCall& call : calls.list()) {
        const auto* kernel = std::get_if<KernelCall>(&call);
        narrow_flops +=
            kernel != nullptr && kernel->roof == Roof::product ? 3.0 * 6.0 * kernel->needed_flops : 0.0;
    }
    const double share = narrow_flops / model_flops_per_sequence(network, sequence);
    EXPECT_NEAR(narrow, 1.0 / (1.0 - 0.5 * share), 1e-9);
}

TEST(WideLayers, EachBlockAddsItsOwn)
{
    const auto forward = [](const LayerCosts& costs) { return layer(costs, 0).forward.compute_s; };
    const double narrow = forward(costs_of_layers(decoder(Precision::fp8)));
    const double attention = forward(costs_of_layers(decoder(Precision::fp8, {.blocks = {"attention"}})));
    const double mlp = forward(costs_of_layers(decoder(Precision::fp8, {.blocks = {"mlp"}})));
    const double wide = forward(costs_of_layers(decoder(Precision::bf16)));
    EXPECT_LT(narrow, attention);
    EXPECT_LT(attention, mlp) << "12 h^2 weights instead of 2.5 h^2";
    EXPECT_NEAR(attention + mlp, narrow + wide, 1e-9 * wide);
    const auto saved = [](const LayerCosts& costs) { return layer(costs, 0).saved_bytes; };
    EXPECT_NEAR(saved(costs_of_layers(decoder(Precision::fp8, {.blocks = {"attention"}}))) +
                    saved(costs_of_layers(decoder(Precision::fp8, {.blocks = {"mlp"}}))),
                saved(costs_of_layers(decoder(Precision::fp8))) +
                    saved(costs_of_layers(decoder(Precision::bf16))),
                1.0);
}

TEST(WideLayers, TheFirstAndLastLayersAreKindsOfTheirOwn)
{
    const Workload w = decoder(Precision::fp8, {.first = 1, .last = 2});
    const LayerCosts costs = costs_of_layers(w);
    const LayerCosts fp8 = costs_of_layers(decoder(Precision::fp8));
    const LayerCosts bf16 = costs_of_layers(decoder(Precision::bf16));
    ASSERT_EQ(costs.layers.size(), 6U);
    for (int i = 0; i < 6; ++i) {
        expect_same(layer(costs, i), layer(i < 1 || i >= 4 ? bf16 : fp8, i));
    }
    EXPECT_EQ(parameters_of(w), parameters_of(decoder(Precision::fp8)));
    EXPECT_EQ(model_flops_per_sequence(network_of(w), 2048),
              model_flops_per_sequence(network_of(decoder(Precision::bf16)), 2048));
    EXPECT_TRUE(has_narrow_products(network_of(w)));
    EXPECT_FALSE(has_narrow_products(network_of(decoder(Precision::fp8, {.first = 3, .last = 3}))));
    EXPECT_FALSE(has_narrow_products(network_of(decoder(Precision::fp8, {.first = 9}))));
}

/// Attention in 8 bits is a part of the block, which stays in 16 bits where the block does.
TEST(WideLayers, AttentionMayHave8Bits)
{
    const auto with = [](AttentionPrecision attention, WideLayers wide) {
        Workload w = decoder(Precision::fp8, std::move(wide));
        w.attention_precision = attention;
        return layer(costs_of_layers(w), 0);
    };
    using Of = AttentionPrecision;
    const LayerCost fp8 = with(Of::fp8, {});
    const LayerCost bf16 = with(Of::bf16, {});
    EXPECT_LT(fp8.forward.compute_s, bf16.forward.compute_s);
    EXPECT_LT(fp8.backward.compute_s, bf16.backward.compute_s);
    EXPECT_LT(fp8.saved_bytes, bf16.saved_bytes) << "what the products read is kept as they read it";
    expect_same(with(Of::fp8, {.blocks = {"attention"}}), with(Of::bf16, {.blocks = {"attention"}}));
    Workload plain = decoder(Precision::fp8);
    plain.attention_precision = Of::fp8;
    plain.set_attention_kernel(AttentionKernel::plain);
    Workload wide = plain;
    wide.attention_precision = Of::bf16;
    expect_same(layer(costs_of_layers(plain), 0), layer(costs_of_layers(wide), 0));
}

/// Kernels that hold the activation of gated experts, and its casts, run with MXFP8
/// in graphs of whole iterations.
TEST(WideLayers, ExpertsFuseTheirActivation)
{
    const auto time = [](bool fused, Precision precision, ModuleSet graphs, Activation activation) {
        Transformer mixture = llama(6, 4096, 32, 14336);
        mixture.experts = {.count = 8, .active = 2, .feed_forward = 14336};
        mixture.activation = activation;
        Workload w = workload_of(mixture);
        w.precision = precision;
        LayerShape shape{{}, 4096};
        shape.cuda_graphs = graphs;
        Cluster c = cluster_with_fp8();
        c.accelerator.peak_fp4 = FlopsPerSecond{400e12};
        c.stack.fused_experts = fused;
        const LayerCosts costs = layer_costs(network_of(w), precision, shape, c);
        return layer(costs, 0).forward.compute_s + layer(costs, 0).backward.compute_s;
    };
    const ModuleSet whole{Module::full_iteration};
    EXPECT_LT(time(true, Precision::mxfp8, whole, Activation::swiglu),
              time(false, Precision::mxfp8, whole, Activation::swiglu));
    EXPECT_EQ(time(true, Precision::mxfp8, {}, Activation::swiglu),
              time(false, Precision::mxfp8, {}, Activation::swiglu));
    EXPECT_EQ(time(true, Precision::fp8_current, whole, Activation::swiglu),
              time(false, Precision::fp8_current, whole, Activation::swiglu));
    EXPECT_EQ(time(true, Precision::mxfp8, whole, Activation::squared_relu),
              time(false, Precision::mxfp8, whole, Activation::squared_relu));
}

/// With tensor-parallel overlap, messages are hidden by wide products as well.
TEST(WideLayers, HideMessagesAsOthers)
{
    LayerShape shape{{.tp = 2}, 2048};
    shape.tp_overlap = TensorParallelOverlap::on;
    expect_same(layer(costs_of_layers(decoder(Precision::fp8, {.blocks = {"attention", "mlp"}}), shape), 0),
                layer(costs_of_layers(decoder(Precision::bf16), shape), 0));
}

/// Experts in 16 bits are sent tokens of 16 bits.
TEST(WideLayers, ExpertsReceiveWhatTheyCompute)
{
    LayerShape shape{{}, 4096};
    shape.ep = 8;
    const auto exchanged = [&shape](Precision precision, const WideLayers& wide) {
        Transformer mixture = llama(6, 4096, 32, 14336);
        mixture.experts = {.count = 8, .active = 2, .feed_forward = 14336};
        Workload w = workload_of(mixture);
        w.precision = precision;
        w.wide = wide;
        return layer(costs_of_layers(w, shape), 0);
    };
    const LayerCost narrow = exchanged(Precision::fp8, {});
    const LayerCost attention = exchanged(Precision::fp8, {.blocks = {"attention"}});
    const LayerCost experts = exchanged(Precision::fp8, {.blocks = {"experts"}});
    const LayerCost wide = exchanged(Precision::bf16, {});
    EXPECT_LT(narrow.forward.communication_s, wide.forward.communication_s);
    EXPECT_EQ(attention.forward.communication_s, narrow.forward.communication_s);
    EXPECT_EQ(experts.forward.communication_s, wide.forward.communication_s);
    EXPECT_GT(experts.forward.compute_s, attention.forward.compute_s);
    EXPECT_LT(experts.forward.compute_s, wide.forward.compute_s);
}

}  // namespace
}  // namespace prismopt
