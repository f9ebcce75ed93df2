#include "model/network/blocks.hpp"

#include "model/network/passes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr double hidden = 1024.0;
constexpr double sequence = 2048.0;
const Residual stream{.hidden = hidden, .normalisation = Normalisation::rms_norm};
const Attention grouped{.heads = 16, .key_heads = 8, .key_size = 64, .value_size = 64};
const Attention compressed{.heads = 16, .key_heads = 16, .key_size = 96, .value_size = 64};
const LatentAttention latent{.query_rank = 384, .key_value_rank = 128, .rotary = 32, .plain = 64, .value = 64};
const Routing routing{.experts = 16, .active = 4};

LayerShape shape_of(int tp = 1)
{
    LayerShape shape;
    shape.sequence = static_cast<int>(sequence);
    shape.tp = tp;
    return shape;
}

/// Every kind of block. What holds for all is tested over this list.
const std::vector<LayerKind>& all_blocks()
{
    static const std::vector<LayerKind> all{
        {"attention", hidden, attention_block(stream, grouped, true)},
        {"latent attention", hidden, latent_attention_block(stream, latent, compressed)},
        {"mlp", hidden, mlp_block(stream, 4096, Activation::gelu)},
        {"gated mlp", hidden, mlp_block(stream, 4096, Activation::swiglu)},
        {"experts", hidden, experts_block(stream, routing, 512, 0, Activation::swiglu)},
        {"experts beside a shared one", hidden, experts_block(stream, routing, 512, 1024, Activation::swiglu)},
        {"embedding", hidden, embedding_block(stream, 32768)},
        {"head", hidden, head_block(stream, 32768, false)},
    };
    return all;
}

double forward_flops(const LayerKind& kind, const LayerShape& shape) { return forward_calls(kind, shape).needed_flops(); }

/// The adjoint of a product has two of its size, those of attention four for two.
TEST(Blocks, BackwardNeedsTwiceTheForward)
{
    for (const LayerKind& kind : all_blocks()) {
        const double both = backward_calls(kind, shape_of(), Gradients::both).needed_flops();
        EXPECT_DOUBLE_EQ(both, 2.0 * forward_flops(kind, shape_of())) << kind.name;
    }
}

/// A split backward pass does the same as a whole one.
TEST(Blocks, GradientsOfInputAndWeightsAreTheBackward)
{
    for (const LayerKind& kind : all_blocks()) {
        EXPECT_DOUBLE_EQ(backward_calls(kind, shape_of(4), Gradients::input).needed_flops() +
                             weight_gradient_calls(kind, shape_of(4)).needed_flops(),
                         backward_calls(kind, shape_of(4), Gradients::both).needed_flops())
            << kind.name;
    }
}

/// Members of a tensor, context or expert parallel group together do what one GPU would.
TEST(Blocks, SplitsConserveWork)
{
    for (const LayerKind& kind : all_blocks()) {
        const double whole = forward_flops(kind, shape_of());
        EXPECT_NEAR(4.0 * forward_flops(kind, shape_of(4)), whole, 1e-9 * whole) << kind.name << ", tp";
        LayerShape contexts = shape_of();
        contexts.cp = 4;
        EXPECT_NEAR(4.0 * forward_flops(kind, contexts), whole, 1e-9 * whole) << kind.name << ", cp";
        LayerShape experts = shape_of();
        experts.ep = 8;
        EXPECT_NEAR(forward_flops(kind, experts), whole, 1e-9 * whole) << kind.name << ", ep: tokens are as many";
    }
}

/// Numbers that a group holds: each at least once, all that tensor parallelism divides exactly once.
TEST(Blocks, SplitsConserveParameters)
{
    for (const LayerKind& kind : all_blocks()) {
        const Parameters whole = parameters_of(kind, shape_of());
        const Parameters quarter = parameters_of(kind, shape_of(4));
        double copied = 0.0;  // norms and products on a share of the tokens
        for (const Operator& part : kind.operators) {
            const auto* linear = std::get_if<Linear>(&part);
            if (std::holds_alternative<Elementwise>(part) || (linear != nullptr && linear->split == Linear::Split::none)) {
                copied += parameters_of(part, Extent(shape_of())).all;
            }
        }
        LayerShape shared = shape_of(4);
        shared.ep = 4;
        const double experts = parameters_of(kind, shared).expert;
        EXPECT_NEAR(4.0 * experts, whole.expert, 1e-9) << kind.name;
        EXPECT_NEAR(4.0 * (quarter.dense() - copied), whole.dense() - copied, 1e-6) << kind.name;
    }
}

/// Selective recompute keeps less, brings back what it dropped, and runs no product again.
TEST(Blocks, SelectiveRecomputeRunsNoProduct)
{
    for (const LayerKind& kind : all_blocks()) {
        EXPECT_EQ(recompute_calls(kind, shape_of(), Recompute::selective).needed_flops(), 0.0) << kind.name;
        EXPECT_LE(kept_of(kind, shape_of(), Recompute::selective).numbers, kept_of(kind, shape_of(), Recompute::none).numbers)
            << kind.name;
    }
}

/// By hand: 3 h f weights and a norm; 6 h f operations a token; kept are the norm's input and output, both columns and their product.
TEST(Blocks, GatedMlpByHand)
{
    const LayerKind& kind = all_blocks()[3];
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 3.0 * hidden * 4096.0 + hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), 6.0 * hidden * 4096.0 * sequence);
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers, sequence * (2.0 * hidden + 3.0 * 4096.0));
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::selective).numbers, sequence * (hidden + 2.0 * 4096.0));
}

/// DeepSeek-V2, arXiv 2405.04434, table 1 and section 2.1, per token: r_q (h + a (n + r)) + c (h + a (n + v)) + h r + a v h products,
/// and of a causal half of the pairs 2 a (n + r) + 2 a v.
TEST(Blocks, LatentAttentionByHand)
{
    const LayerKind& kind = all_blocks()[1];
    const double weights =
        384.0 * (hidden + 16.0 * 96.0) + 128.0 * (hidden + 16.0 * 128.0) + hidden * 32.0 + 16.0 * 64.0 * hidden;
    EXPECT_EQ(parameters_of(kind, shape_of()).all, weights + hidden + 384.0 + 128.0);  // and three norms
    EXPECT_NEAR(forward_flops(kind, shape_of()), sequence * (2.0 * weights + 0.5 * sequence * 2.0 * 16.0 * (96.0 + 64.0)), 1.0);
}

/// A token goes to 4 of 16 experts: router, and four times 6 h f.
TEST(Blocks, ExpertsByHand)
{
    const LayerKind& kind = all_blocks()[4];
    EXPECT_EQ(parameters_of(kind, shape_of()).expert, 16.0 * 3.0 * hidden * 512.0);
    EXPECT_EQ(parameters_of(kind, shape_of()).dense(), 16.0 * hidden + hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), sequence * (2.0 * hidden * 16.0 + 4.0 * 6.0 * hidden * 512.0));
}

}  // namespace
}  // namespace prismopt
