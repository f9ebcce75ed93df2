#include "model/network/optimizer.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// Bytes a parameter beside the 16-bit parameter: Megatron-Core, docs/user-guide/features/dist_optimizer.md
/// (18 in all with AdamW and 32-bit gradients, 16 with 16-bit ones); bitsandbytes,
/// docs/source/explanations/optimizers.mdx (two bytes of moments and a 32-bit scale of 256); Liu et al.,
/// arXiv 2502.16982 (half of AdamW's moments).
TEST(Optimizer, HoldsThePublishedBytes)
{
    const OptimizerSettings adamw;
    EXPECT_EQ(2.0 + adamw.gradient_bytes() + adamw.state_bytes(true), 18.0);
    const OptimizerSettings reduced{.gradients = NumberType::bf16};
    EXPECT_EQ(2.0 + reduced.gradient_bytes() + reduced.state_bytes(true), 16.0);
    const OptimizerSettings blocks{.states = NumberType::int8};
    EXPECT_DOUBLE_EQ(blocks.state_bytes(true), 4.0 + 2.0 + 2.0 * 4.0 / 256.0);
    // All in 16 bits: 8 bytes, 43.47 GB of Mistral 7B as foundation-model-stack/fms-acceleration
    // measured (6.00 without gradients).
    const OptimizerSettings pure{
        .states = NumberType::bf16, .master = MasterCopy::none, .gradients = NumberType::bf16};
    EXPECT_EQ(2.0 + pure.gradient_bytes() + pure.state_bytes(true), 8.0);
    EXPECT_EQ(pure.update_traffic(true), 3.0 * 2.0 + 2.0 * 4.0 + 2.0 * 2.0);  // the parameter is read, too
    // bitsandbytes and torchao: 2.03 and 1.06 bytes of two moments with their scales. Lion has one
    // moment, Adafactor next to none.
    const auto states = [](Optimizer kind, NumberType type) {
        return OptimizerSettings{.kind = kind, .states = type, .master = MasterCopy::none}.state_bytes(true);
    };
    EXPECT_NEAR(states(Optimizer::adamw, NumberType::int8), 2.03, 0.005);
    EXPECT_NEAR(states(Optimizer::adamw, NumberType::int4), 1.06, 0.005);
    EXPECT_EQ(states(Optimizer::lion, NumberType::bf16), 2.0);
    EXPECT_EQ(states(Optimizer::adafactor, NumberType::fp32), 0.0);
    const OptimizerSettings muon{.kind = Optimizer::muon};
    EXPECT_EQ(2.0 + muon.gradient_bytes() + muon.state_bytes(true), 14.0);
    EXPECT_EQ(2.0 + muon.gradient_bytes() + muon.state_bytes(false), 18.0);
    EXPECT_EQ(OptimizerSettings{.kind = Optimizer::sgd}.state_bytes(true), 8.0);
}

/// AdamW reads gradient, two moments and master copy (16), writes moments, copy and parameter
/// (14), and gradients twice more (8).
TEST(Optimizer, MovesItsStates) { EXPECT_EQ(OptimizerSettings{}.update_traffic(true), 38.0); }

/// Without a copy: gradient, two moments and parameter (16) read, moments and parameter (12)
/// written, and gradients twice more (8).
TEST(Optimizer, Updates32BitParametersInPlace)
{
    const OptimizerSettings wide{.parameters = NumberType::fp32};
    EXPECT_EQ(wide.state_bytes(true), 8.0);
    EXPECT_EQ(wide.update_traffic(true), 36.0);
    EXPECT_EQ(wide.offloaded_traffic(), 8.0);
    EXPECT_EQ(OptimizerSettings{}.offloaded_traffic(), 4.0);
}

/// 20 r^2 c + 10 r^3 a matrix of r x c (arXiv 2502.16982): on hardware that runs products at
/// their peak, a layer of h and f.
TEST(Optimizer, MuonComputesItsIterations)
{
    Transformer t = llama(2, 8192, 64, 28672);
    t.latent = {};
    Workload w = workload_of(t);
    w.optimizer.kind = Optimizer::muon;
    const Cluster cluster = products_only();
    const LayerCosts costs = layer_costs(network_of(w), Precision::bf16, {{}, 4096}, cluster);
    const auto flops = [](double r, double c) { return 20.0 * r * r * c + 10.0 * r * r * r; };
    const double expected =
        flops(8192.0, 10240.0) + flops(8192.0, 8192.0) + flops(8192.0, 57344.0) + flops(8192.0, 28672.0);
    EXPECT_NEAR(costs.kinds[0].orthogonal_s / (expected / 100e12), 1.0, 0.03);  // tiles at the edges
    EXPECT_EQ(costs.head.orthogonal_s, 0.0);
}

}  // namespace
}  // namespace prismopt
