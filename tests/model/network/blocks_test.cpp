#include "model/network/blocks.hpp"

#include "model/network/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr double hidden = 1024.0;
constexpr double sequence = 2048.0;
const ResidualStream stream{.hidden = hidden, .normalisation = Normalisation::rms_norm};

LayerShape shape_of(int tp = 1)
{
    LayerShape shape;
    shape.sequence = static_cast<int>(sequence);
    shape.tp = tp;
    return shape;
}

struct Case {
    LayerKind kind;
    bool splits = true;  // by tensor parallelism
};

template <class Block>
Case case_of(const char* name, const Block& block)
{
    return {{name, hidden, operators_of(block, stream)}, !undivided(block, 4)};
}

/// Every kind of block. What holds for all is tested over this list.
const std::vector<Case>& all_blocks()
{
    static const std::vector<Case> all{
        case_of("attention", AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64}),
        case_of("latent attention", LatentAttentionBlock{16, 384, 128, 32, 64, 64}),
        case_of("mlp", MlpBlock{4096, Activation::gelu}),
        case_of("gated mlp", MlpBlock{4096, Activation::swiglu}),
        case_of("experts", ExpertsBlock{.count = 16, .active = 4, .inner = 512}),
        case_of("experts beside a shared one",
                ExpertsBlock{.count = 16, .active = 4, .inner = 512, .shared = 1024, .shared_gate = true}),
        case_of("experts with biases", ExpertsBlock{.count = 16, .active = 4, .inner = 512, .bias = true}),
        case_of("latent experts",
                ExpertsBlock{.count = 16, .active = 4, .inner = 512, .shared = 1024, .latent = 256}),
        case_of("window",
                AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64, .window = 256, .sinks = true}),
        case_of("chunks", AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64, .chunk = 512}),
        case_of("gated attention", AttentionBlock{.heads = 16,
                                                  .kv_heads = 8,
                                                  .head = 64,
                                                  .bias = Biases::qkv,
                                                  .query_key_norm = QueryKeyNorm::head,
                                                  .gate = true}),
        case_of(
            "cross attention",
            AttentionBlock{.heads = 16, .kv_heads = 16, .head = 64, .context = 128, .context_width = 512}),
        case_of("latent attention of whole queries", LatentAttentionBlock{16, 0, 128, 32, 64, 64}),
        case_of("sparse latent attention", LatentAttentionBlock{.heads = 16,
                                                                .query_rank = 384,
                                                                .key_value_rank = 128,
                                                                .rotary = 32,
                                                                .plain = 64,
                                                                .value = 64,
                                                                .index_keys = 256,
                                                                .index_heads = 8,
                                                                .index_head = 64}),
        case_of("sparse attention", AttentionBlock{.heads = 16,
                                                   .kv_heads = 8,
                                                   .head = 64,
                                                   .index_keys = 256,
                                                   .index_heads = 8,
                                                   .index_head = 64}),
        case_of("attention of narrow values",
                AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64, .value = 32}),
        case_of("attention of compressed queries",
                AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64, .query_rank = 256}),
        case_of("attention of keys as values",
                AttentionBlock{.heads = 16, .kv_heads = 8, .head = 64, .keys_as_values = true}),
        case_of("mamba2", Mamba2Block{.heads = 32, .head = 64, .groups = 8, .state = 128, .chunk = 128}),
        case_of("gated delta", GatedDeltaBlock{.key_heads = 8, .value_heads = 16}),
        case_of("delta by channel", GatedDeltaBlock{.key_heads = 16, .value_heads = 16, .by_channel = true}),
        case_of("gated convolution", GatedConvolutionBlock{}),
        case_of("linear", LinearBlock{.from = 256, .to = 512, .activated = true}),
        case_of("modulation", ModulationBlock{}),
        case_of("residual convolution", ResidualConvolutionBlock{.from = 640, .to = 320, .time = 1280}),
        case_of("convolution", ConvolutionBlock{.from = 320, .to = 320, .stride = 2}),
        case_of("tables", TablesBlock{26, 1e6, 128, 214.0}),
        case_of("products of pairs", InteractionBlock{27, 128}),
        case_of("cross layers", InteractionBlock{27, 128, 3, 512}),
        {{"embedding", hidden, embedding_block(stream, 32768, 0)}},
        {{"head", hidden, head_block(stream, 32768, false)}},
        {{"prediction", hidden, prediction_block(stream, 32768)}},
    };
    return all;
}

/// What a message names where a degree does not divide a block, or cannot share a sequence.
TEST(Blocks, ObstaclesNameTheQuantityAndTheBlock)
{
    const auto of = [](const BlockDescription& block) {
        Workload w;
        w.kinds = {{.name = "a", .blocks = {MlpBlock{12288}, block}}};
        return w;
    };
    const auto obstacle_of = [](Undivided what, int count, const std::string& block) {
        return std::optional(BlockObstacle{{what, count}, block, "a"});
    };
    const auto undivided = [&of](const BlockDescription& block, int tp) { return of(block).undivided(tp); };
    EXPECT_EQ(undivided(AttentionBlock{.heads = 32, .kv_heads = 8}, 3),
              obstacle_of(Undivided::heads, 32, "attention"));
    EXPECT_EQ(undivided(AttentionBlock{.heads = 96, .kv_heads = 6}, 4),
              obstacle_of(Undivided::key_value_heads, 6, "attention"));
    // Key/value heads lie on two GPUs each.
    EXPECT_EQ(undivided(AttentionBlock{.heads = 32, .kv_heads = 8}, 16), std::nullopt);
    EXPECT_EQ(undivided(Mamba2Block{.heads = 128, .head = 64, .groups = 8}, 16),
              obstacle_of(Undivided::groups, 8, "mamba2"));
    EXPECT_EQ(undivided(GatedDeltaBlock{.key_heads = 16, .value_heads = 32}, 32),
              obstacle_of(Undivided::key_heads, 16, "gated_delta"));
    EXPECT_EQ(undivided(MlpBlock{1025}, 2), obstacle_of(Undivided::columns, 1025, "mlp"));
    EXPECT_EQ(undivided(ExpertsBlock{.count = 8, .active = 2, .inner = 512, .shared = 1025}, 2),
              obstacle_of(Undivided::columns_of_shared_experts, 1025, "experts"));
    EXPECT_EQ(undivided(ConvolutionBlock{}, 2), obstacle_of(Undivided::convolutions, 0, "convolution"));
    EXPECT_EQ(undivided(ResidualConvolutionBlock{}, 1), std::nullopt);
    const Workload linear_attention = of(GatedDeltaBlock{.key_heads = 16, .value_heads = 48});
    EXPECT_EQ(linear_attention.unshared({.tp = 4, .cp = 8}),
              obstacle_of(Undivided::value_heads, 48, "gated_delta"));
    const Workload plain = of(AttentionBlock{.heads = 32, .kernel = AttentionKernel::plain});
    EXPECT_EQ(plain.unshared({.cp = 2}), obstacle_of(Undivided::whole_sequences, 0, "attention"));
    EXPECT_EQ(plain.unshared({.cp = 2, .ulysses = 2}), std::nullopt);  // it has them
    const Workload grouped = of(AttentionBlock{.heads = 24, .kv_heads = 8});
    EXPECT_EQ(grouped.unshared({.tp = 2, .cp = 16}), std::nullopt);
    EXPECT_EQ(grouped.unshared({.tp = 2, .cp = 16, .ulysses = 4}), std::nullopt);
    EXPECT_EQ(grouped.unshared({.tp = 2, .cp = 16, .ulysses = 0}),
              obstacle_of(Undivided::heads, 24, "attention"));
    EXPECT_EQ(of(AttentionBlock{.heads = 24, .kv_heads = 6}).unshared({.cp = 8, .ulysses = 8}),
              obstacle_of(Undivided::key_value_heads, 6, "attention"));
    // They lie on two GPUs each.
    EXPECT_EQ(of(AttentionBlock{.heads = 32, .kv_heads = 4}).unshared({.cp = 8, .ulysses = 8}), std::nullopt);
    EXPECT_EQ(of(LatentAttentionBlock{.heads = 6, .key_value_rank = 8, .rotary = 8, .plain = 8, .value = 8})
                  .unshared({.cp = 4, .ulysses = 4}),
              obstacle_of(Undivided::heads, 6, "latent_attention"));
    EXPECT_EQ(of(ExpertsBlock{.count = 60, .active = 4, .inner = 512}).undivided_experts(8),
              obstacle_of(Undivided::experts, 60, "experts"));
    for (const Case& c : all_blocks()) {
        EXPECT_EQ(c.kind.name.find("convolution") == std::string::npos || c.kind.name == "gated convolution",
                  c.splits)
            << c.kind.name;
    }
}

const LayerKind& block(const std::string& name)
{
    return std::find_if(all_blocks().begin(), all_blocks().end(),
                        [&name](const Case& c) { return c.kind.name == name; })
        ->kind;
}

double forward_flops(const LayerKind& kind, const LayerShape& shape)
{
    return forward_calls(kind, shape).needed_flops();
}

/// The adjoint of a product has two of its size, those of attention four for two.
TEST(Blocks, BackwardNeedsTwiceTheForward)
{
    for (const auto& [kind, divided] : all_blocks()) {
        const double both = backward_calls(kind, shape_of(), Gradients::both).needed_flops();
        EXPECT_DOUBLE_EQ(both, 2.0 * forward_flops(kind, shape_of())) << kind.name;
    }
}

/// A split backward pass does the same as a whole one.
TEST(Blocks, GradientsOfInputAndWeightsAreTheBackward)
{
    for (const auto& [kind, divided] : all_blocks()) {
        EXPECT_DOUBLE_EQ(backward_calls(kind, shape_of(4), Gradients::input).needed_flops() +
                             weight_gradient_calls(kind, shape_of(4)).needed_flops(),
                         backward_calls(kind, shape_of(4), Gradients::both).needed_flops())
            << kind.name;
    }
}

/// Of products with a vector of the sample, which each member has.
double flops_once_a_sample(const LayerKind& kind)
{
    double sum = 0.0;
    for (const Operator& op : kind.operators) {
        const auto* linear = std::get_if<Linear>(&op);
        if (linear != nullptr && linear->rows_each == 1.0 && linear->split == Linear::Split::none) {
            sum += forward_flops({"", hidden, {op}}, shape_of());
        }
    }
    return sum;
}

/// Members of a tensor, context or expert parallel group together do what one GPU would.
TEST(Blocks, SplitsConserveWork)
{
    for (const auto& [kind, divided] : all_blocks()) {
        const double whole = forward_flops(kind, shape_of());
        if (divided) {
            const double once = flops_once_a_sample(kind);
            EXPECT_NEAR(4.0 * (forward_flops(kind, shape_of(4)) - once), whole - once, 1e-9 * whole)
                << kind.name << ", tp";
        }
        LayerShape contexts = shape_of();
        contexts.cp = 4;
        EXPECT_NEAR(4.0 * forward_flops(kind, contexts), whole, 1e-9 * whole) << kind.name << ", cp";
        LayerShape experts = shape_of();
        experts.ep = 8;
        EXPECT_NEAR(forward_flops(kind, experts), whole, 1e-9 * whole)
            << kind.name << ", ep: tokens are as many";
    }
}

/// Numbers that a group holds: each at least once, all that tensor parallelism divides exactly once.
TEST(Blocks, SplitsConserveParameters)
{
    for (const auto& [kind, divided] : all_blocks()) {
        if (!divided) {
            continue;
        }
        const Parameters whole = parameters_of(kind, shape_of());
        const Parameters quarter = parameters_of(kind, shape_of(4));
        double copied = 0.0;  // norms and products on a share of the tokens
        for (const Operator& op : kind.operators) {
            const auto* linear = std::get_if<Linear>(&op);
            const auto* kernel = std::get_if<Elementwise>(&op);
            if ((kernel != nullptr && kernel->place != Place::columns) ||
                (linear != nullptr && linear->split == Linear::Split::none)) {
                copied += parameters_of(op, Extent(shape_of())).all;
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
    for (const auto& [kind, divided] : all_blocks()) {
        EXPECT_EQ(recompute_calls(kind, shape_of(), Recompute::selective).needed_flops(), 0.0) << kind.name;
        EXPECT_LE(kept_of(kind, shape_of(), Recompute::selective).numbers,
                  kept_of(kind, shape_of(), Recompute::none).numbers)
            << kind.name;
    }
}

/// By hand: 3 h f weights and a norm; 6 h f operations a token; kept are the norm's input and output,
/// both columns and their product.
TEST(Blocks, GatedMlpByHand)
{
    const LayerKind& kind = block("gated mlp");
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 3.0 * hidden * 4096.0 + hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), 6.0 * hidden * 4096.0 * sequence);
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers, sequence * (2.0 * hidden + 3.0 * 4096.0));
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::selective).numbers, sequence * (hidden + 2.0 * 4096.0));
}

/// DeepSeek-V2, arXiv 2405.04434, table 1 and section 2.1, per token: r_q (h + a (n + r)) + c (h + a (n + v))
/// + h r + a v h products, and of a causal half of the pairs 2 a (n + r) + 2 a v.
TEST(Blocks, LatentAttentionByHand)
{
    const LayerKind& kind = block("latent attention");
    const double weights = 384.0 * (hidden + 16.0 * 96.0) + 128.0 * (hidden + 16.0 * 128.0) + hidden * 32.0 +
                           16.0 * 64.0 * hidden;
    EXPECT_EQ(parameters_of(kind, shape_of()).all, weights + hidden + 384.0 + 128.0);  // and three norms
    EXPECT_NEAR(forward_flops(kind, shape_of()),
                sequence * (2.0 * weights + 0.5 * sequence * 2.0 * 16.0 * (96.0 + 64.0)), 1.0);
}

/// The indexer scores all keys; queries then meet the latent vectors of the keys that it chose: 128 numbers
/// of content and 32 of position, and 128 again as values.
TEST(Blocks, SparseAttentionByHand)
{
    const double pairs = 256.0 - 256.0 * 255.0 / (2.0 * sequence);  // keys of a query, in the mean
    const double scores = 0.5 * sequence * 2.0 * 8.0 * 64.0;
    const LayerKind& latent = block("sparse latent attention");
    const double indexer = 384.0 * 8.0 * 64.0 + hidden * 64.0 + hidden * 8.0;
    EXPECT_EQ(parameters_of(latent, shape_of()).all -
                  parameters_of(block("latent attention"), shape_of()).all,
              indexer + 2.0 * 64.0);
    const double all_keys = 0.5 * sequence * 2.0 * 16.0 * (96.0 + 64.0);
    EXPECT_NEAR(forward_flops(latent, shape_of()) - forward_flops(block("latent attention"), shape_of()),
                sequence * (2.0 * indexer + scores + pairs * 2.0 * 16.0 * (128.0 + 32.0 + 128.0) - all_keys),
                1.0);
    const double own = hidden * 8.0 * 64.0 + hidden * 64.0;
    EXPECT_EQ(parameters_of(block("sparse attention"), shape_of()).all -
                  parameters_of(block("attention"), shape_of()).all,
              own + 2.0 * 64.0);
    EXPECT_NEAR(forward_flops(block("sparse attention"), shape_of()) -
                    forward_flops(block("attention"), shape_of()),
                sequence * (2.0 * own + scores + (pairs - 0.5 * sequence) * 4.0 * 16.0 * 64.0), 1.0);
}

/// Values of half the size; queries through 256 columns with a norm; no projection of values.
TEST(Blocks, ProjectionsOfAttentionByHand)
{
    const auto more = [](const char* name) {
        return parameters_of(block(name), shape_of()).all - parameters_of(block("attention"), shape_of()).all;
    };
    EXPECT_EQ(more("attention of narrow values"), -hidden * (8.0 + 16.0) * 32.0);
    EXPECT_EQ(more("attention of compressed queries"),
              256.0 * (hidden + 16.0 * 64.0) + 256.0 - hidden * 16.0 * 64.0);
    EXPECT_EQ(more("attention of keys as values"), -hidden * 8.0 * 64.0);
}

/// A token goes to 4 of 16 experts: router, and four times 6 h f.
TEST(Blocks, ExpertsByHand)
{
    const LayerKind& kind = block("experts");
    EXPECT_EQ(parameters_of(kind, shape_of()).expert, 16.0 * 3.0 * hidden * 512.0);
    EXPECT_EQ(parameters_of(kind, shape_of()).dense(), 16.0 * hidden + hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), sequence * (2.0 * hidden * 16.0 + 4.0 * 6.0 * hidden * 512.0));
}

/// One group of experts has all tokens: an imbalance changes neither the work nor what is kept.
TEST(Blocks, ExpertsOnOneGroupHaveNoImbalance)
{
    ExpertsBlock experts{.count = 16, .active = 4, .inner = 512};
    const LayerKind even{"even", hidden, operators_of(experts, stream)};
    experts.imbalance = 1000.0;
    const LayerKind uneven{"uneven", hidden, operators_of(experts, stream)};
    EXPECT_EQ(forward_flops(uneven, shape_of()), forward_flops(even, shape_of()));
    EXPECT_EQ(kept_of(uneven, shape_of(), Recompute::none).numbers,
              kept_of(even, shape_of(), Recompute::none).numbers);
    LayerShape shared = shape_of();
    shared.ep = 4;  // the fullest group has all tokens, four times the mean
    EXPECT_GT(kept_of(uneven, shared, Recompute::none).numbers,
              3.0 * kept_of(even, shared, Recompute::none).numbers -
                  2.0 * kept_of(block("mlp"), shared, Recompute::none).numbers);
}

/// Experts with biases add that of their results outside of the product, 12 bytes per number
/// forward and 16 backward, and limit the inputs of their activation, 8 and 10. Graphs of whole
/// iterations have none of these kernels.
TEST(Blocks, ExpertsWithBiasesHaveKernelsBesideTheirProducts)
{
    ExpertsBlock experts{.count = 16, .active = 4, .inner = 512};
    const LayerKind plain{"plain", hidden, operators_of(experts, stream)};
    experts.bias = true;
    const LayerKind biased{"biased", hidden, operators_of(experts, stream)};
    const auto traffic = [](const Calls& calls) {
        double bytes = 0.0;
        for (const AnyCall& call : calls.list()) {
            const auto* kernel = std::get_if<KernelCall>(&call);
            bytes += kernel != nullptr && kernel->kind == KernelClass::elementwise ? kernel->bytes : 0.0;
        }
        return bytes;
    };
    const double copies = 4.0 * sequence;
    const auto forward = [&](const LayerKind& kind, const LayerShape& shape) {
        return traffic(forward_calls(kind, shape));
    };
    EXPECT_EQ(forward(biased, shape_of()) - forward(plain, shape_of()),
              copies * (12.0 * hidden + 8.0 * 2.0 * 512.0));
    const auto backward = [&](const LayerKind& kind) {
        return traffic(backward_calls(kind, shape_of(), Gradients::both));
    };
    EXPECT_EQ(backward(biased) - backward(plain), copies * (16.0 * hidden + 10.0 * 2.0 * 512.0));
    LayerShape graph = shape_of();
    graph.cuda_graphs = {Module::full_iteration};
    EXPECT_EQ(forward(biased, graph), forward(plain, graph));
}

/// i o weights and a bias, 2 i o operations a token; kept are the input and that of the activation.
TEST(Blocks, LinearByHand)
{
    const LayerKind& kind = block("linear");
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 256.0 * 512.0 + 512.0);
    EXPECT_EQ(forward_flops(kind, shape_of()), sequence * 2.0 * 256.0 * 512.0);
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers, sequence * (256.0 + 512.0));
}

/// One vector per sample to six of h; each token's shifts and scales keep two tensors.
TEST(Blocks, ModulationByHand)
{
    const LayerKind& kind = block("modulation");
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 6.0 * hidden * hidden + 6.0 * hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), 2.0 * 6.0 * hidden * hidden);
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers, hidden + 2.0 * sequence * hidden);
}

/// Nine taps; with stride 2 in two dimensions a quarter of the positions give results.
TEST(Blocks, ConvolutionByHand)
{
    const LayerKind& kind = block("convolution");
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 9.0 * 320.0 * 320.0 + 320.0);
    // Tokens are those of its result.
    EXPECT_EQ(forward_flops(kind, shape_of()), sequence * 2.0 * 9.0 * 320.0 * 320.0);
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers, 4.0 * sequence * 320.0);
}

/// One product of the 27 vectors of 128 with themselves, as DLRM computes pairs (arXiv 1906.00091); three
/// cross layers through 512 columns (Wang et al., arXiv 2008.13535).
TEST(Blocks, InteractionByHand)
{
    EXPECT_EQ(forward_flops(block("products of pairs"), shape_of()), sequence * 2.0 * 27.0 * 27.0 * 128.0);
    const double columns = 27.0 * 128.0;
    EXPECT_EQ(parameters_of(block("cross layers"), shape_of()).all, 3.0 * (2.0 * columns * 512.0 + columns));
    EXPECT_EQ(forward_flops(block("cross layers"), shape_of()), sequence * 3.0 * 4.0 * columns * 512.0);
}

/// A sequence that is shorter than a chunk is one chunk.
TEST(Blocks, ScansOfShortSequencesHaveOneChunk)
{
    for (const int chunk : {2048, 4096}) {
        const LayerKind delta{"", hidden,
                              operators_of(GatedDeltaBlock{.key_heads = 8, .value_heads = 16, .chunk = chunk},
                                           stream)};
        const LayerKind whole{"", hidden,
                              operators_of(GatedDeltaBlock{.key_heads = 8, .value_heads = 16, .chunk = 2048},
                                           stream)};
        EXPECT_EQ(forward_flops(delta, shape_of()), forward_flops(whole, shape_of())) << chunk;
        EXPECT_EQ(kept_of(delta, shape_of(), Recompute::none).numbers,
                  kept_of(whole, shape_of(), Recompute::none).numbers)
            << chunk;
    }
}

/// Dao and Gu, arXiv 2405.21060, and state-spaces/mamba: d = 32 heads of 64, 8 groups, states of 128, chunks
/// of 128. In and out h (2 d + 2 g N + H) + d h, convolution of 4 taps with bias over d + 2 g N, 3 H, norm d;
/// a scan 4 d N + d Q + 2 g Q N a token.
TEST(Blocks, Mamba2ByHand)
{
    const LayerKind& kind = block("mamba2");
    const double d = 2048.0;
    const double mixed = d + 2.0 * 8.0 * 128.0;
    const double products = hidden * (d + mixed + 32.0) + d * hidden;
    EXPECT_EQ(parameters_of(kind, shape_of()).all, products + 5.0 * mixed + 3.0 * 32.0 + d + hidden);
    EXPECT_DOUBLE_EQ(forward_flops(kind, shape_of()) / sequence,
                     2.0 * products + 8.0 * mixed + 4.0 * d * 128.0 + d * 128.0 + 2.0 * 8.0 * 128.0 * 128.0);
    // z, x, B, C and dt, the scan's result, the norm's input and its output; and the
    // block's norm, before and after.
    EXPECT_EQ(kept_of(kind, shape_of(), Recompute::none).numbers,
              sequence * (2.0 * hidden + (2.0 * d + 2.0 * 8.0 * 128.0 + 32.0) + 3.0 * d));
}

/// Yang et al., arXiv 2412.06464: K = 8 * 128, W = 16 * 128; in h (2 K + 2 W + 2 H) and out W h, convolution
/// of 4 taps over 2 K + W, 2 H, norm of a head; a scan H (6 k v + C (6 k + 4 v) + C^2) a token.
TEST(Blocks, GatedDeltaByHand)
{
    const LayerKind& kind = block("gated delta");
    const double k = 1024.0;
    const double w = 2048.0;
    const double products = hidden * (2.0 * k + 2.0 * w + 2.0 * 16.0) + w * hidden;
    EXPECT_EQ(parameters_of(kind, shape_of()).all,
              products + 4.0 * (2.0 * k + w) + 2.0 * 16.0 + 128.0 + hidden);
    EXPECT_DOUBLE_EQ(forward_flops(kind, shape_of()) / sequence,
                     2.0 * products + 8.0 * (2.0 * k + w) +
                         16.0 * (6.0 * 128.0 * 128.0 + 64.0 * (6.0 * 128.0 + 4.0 * 128.0) + 64.0 * 64.0));
}

TEST(Blocks, GatedConvolutionByHand)
{
    const LayerKind& kind = block("gated convolution");
    EXPECT_EQ(parameters_of(kind, shape_of()).all, 4.0 * hidden * hidden + 3.0 * hidden + hidden);
    EXPECT_EQ(forward_flops(kind, shape_of()), sequence * (8.0 * hidden * hidden + 6.0 * hidden));
}

/// A causal window of w has w - w (w - 1) / (2 s) keys a query, chunks of c half of c,
/// another sequence all of its tokens.
TEST(Blocks, KeysInReachByHand)
{
    const auto core = [](const char* name) {
        for (const Operator& op : block(name).operators) {
            if (std::holds_alternative<Attention>(op)) {
                return forward_flops({"", hidden, {op}}, shape_of()) / (sequence * 4.0 * 16.0 * 64.0);
            }
        }
        return 0.0;
    };
    EXPECT_DOUBLE_EQ(core("attention"), 0.5 * sequence);
    EXPECT_DOUBLE_EQ(core("window"), 256.0 - 256.0 * 255.0 / (2.0 * sequence));
    EXPECT_DOUBLE_EQ(core("chunks"), 256.0);
    EXPECT_DOUBLE_EQ(core("cross attention"), 128.0);
}

/// Brute force over the mask.
TEST(Blocks, WindowsCountTheMask)
{
    constexpr int length = 2048;
    constexpr int window = 256;
    long pairs = 0;
    for (int query = 0; query < length; ++query) {
        pairs += std::min(query + 1, window);
    }
    const Attention attention{.heads = 1, .key_heads = 1, .key_size = 1, .value_size = 1, .window = window};
    EXPECT_DOUBLE_EQ(forward_flops({"", hidden, {attention}}, shape_of()), 4.0 * static_cast<double>(pairs));
}

/// Two convolutions of 9 taps, their norms, the sample's vector, and one of a tap round them.
TEST(Blocks, ResidualConvolutionByHand)
{
    const LayerKind& kind = block("residual convolution");
    const double convolutions = 9.0 * 640.0 * 320.0 + 9.0 * 320.0 * 320.0 + 640.0 * 320.0;
    EXPECT_EQ(parameters_of(kind, shape_of()).all,
              convolutions + 3.0 * 320.0 + 2.0 * 640.0 + 2.0 * 320.0 + 1280.0 * 320.0 + 320.0);
    EXPECT_EQ(forward_flops(kind, shape_of()), 2.0 * sequence * convolutions + 2.0 * 1280.0 * 320.0);
}

/// Bytes of the messages of a pass, by kind of group; each is sent `times` times.
std::map<GroupKind, double> bytes_by_group(const Calls& calls)
{
    std::map<GroupKind, double> bytes;
    for (const AnyCall& call : calls.list()) {
        if (const auto* message = std::get_if<CollectiveCall>(&call)) {
            bytes[message->group] += message->times * message->bytes;
        }
    }
    return bytes;
}

/// Ulysses (arXiv 2309.14509, section 3.2): queries, keys and values of a member's tokens before
/// attention, results after it. Its kernel has all tokens and a share of the heads, so that no
/// member has more of a causal mask than another. Between members with the same heads a ring passes
/// the keys and values of that share.
TEST(Blocks, HeadExchangesByHand)
{
    const double heads = 16.0;
    const double key_heads = 8.0;
    const double size = 64.0;
    const LayerKind& kind = block("attention");  // 16 heads of 64, 8 key/value heads
    const auto shape = [](int tp, int cp, int ulysses) {
        LayerShape result = shape_of(tp);
        result.cp = cp;
        result.ulysses = ulysses;
        return result;
    };
    for (const int tp : {1, 2}) {
        const double own = sequence / 8.0;
        const LayerShape all = shape(tp, 8, 8);
        // with tp = 2 each head is on two GPUs
        const double keys = 2.0 * std::max(key_heads, 8.0 * tp) * size / tp;
        const double sent = 2.0 * own * (2.0 * heads * size / tp + keys);
        for (const Calls& calls : {forward_calls(kind, all), backward_calls(kind, all, Gradients::both)}) {
            const auto bytes = bytes_by_group(calls);
            EXPECT_DOUBLE_EQ(bytes.at(GroupKind::context_heads), sent) << tp;
            EXPECT_FALSE(bytes.contains(GroupKind::context_ring));
        }
        const auto core = [&](const LayerShape& of) {
            const Calls calls = forward_calls(kind, of);
            const auto found =
                std::find_if(calls.list().begin(), calls.list().end(), [](const AnyCall& call) {
                    const auto* kernel = std::get_if<KernelCall>(&call);
                    return kernel != nullptr && kernel->kind == KernelClass::attention;
                });
            return std::get<KernelCall>(*found);
        };
        EXPECT_DOUBLE_EQ(core(all).flops, core(shape(tp, 1, 1)).flops / 8.0);
        // Keys of a kernel: those of the whole sequence.
        EXPECT_DOUBLE_EQ(core(all).n, core(shape(tp, 1, 1)).n);
        // Four exchange heads, two of these groups pass keys on: half the tokens of the other.
        const LayerShape mixed = shape(tp, 8, 4);
        const auto bytes = bytes_by_group(forward_calls(kind, mixed));
        EXPECT_DOUBLE_EQ(bytes.at(GroupKind::context_ring),
                         2.0 * sequence * 2.0 * std::max(1.0, key_heads / (4.0 * tp)) * size);
        EXPECT_DOUBLE_EQ(core(mixed).n, core(shape(tp, 2, 1)).n);
        // A kernel's result stays beside the exchanged one, and replicated keys are kept.
        const auto kept = [&](const LayerShape& of) { return kept_of(kind, of, Recompute::none).numbers; };
        EXPECT_DOUBLE_EQ(kept(all) - kept(shape(tp, 8, 1)),
                         own * (heads * size / tp + keys - 2.0 * key_heads * size / tp));
    }
}

/// Each stream has weights of its own, attention is of both together: twice the parameters but for norms
/// without weights, and the same work per token.
TEST(Blocks, TwoStreamsShareAttentionOnly)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.normalisation = Normalisation::plain_norm;
    w.kinds = {
        {.name = "a",
         .blocks = {ModulationBlock{}, AttentionBlock{.heads = 16, .causal = false, .bias = Biases::all},
                    MlpBlock{.inner = 4096, .bias = true}}}};
    const LayerKind one = layer_kind(w.kinds[0], w);
    w.kinds[0].second_stream = 512;
    const LayerKind two = layer_kind(w.kinds[0], w);
    EXPECT_DOUBLE_EQ(parameters_of(two, shape_of()).all, 2.0 * parameters_of(one, shape_of()).all);
    const double vectors = 2.0 * 6.0 * hidden * hidden;  // of a sample, for each stream
    EXPECT_DOUBLE_EQ(forward_flops(two, shape_of()), forward_flops(one, shape_of()) + vectors);
    EXPECT_DOUBLE_EQ(kept_of(two, shape_of(), Recompute::none).numbers,
                     kept_of(one, shape_of(), Recompute::none).numbers + hidden);
    std::vector<double> rows;
    const Calls calls = forward_calls(two, shape_of());
    for (const AnyCall& call : calls.list()) {
        const auto* kernel = std::get_if<KernelCall>(&call);
        if (kernel != nullptr && kernel->kind == KernelClass::gemm && kernel->m > 1.0) {
            rows.push_back(kernel->m);
        }
    }
    const double first = sequence - 512.0;
    EXPECT_EQ(rows, (std::vector{first, 512.0, first, first, first, 512.0, 512.0, 512.0}));
    LayerShape shared = shape_of(2);
    shared.cp = 4;
    shared.ulysses = 2;
    EXPECT_DOUBLE_EQ(8.0 * (forward_flops(two, shared) - 2.0 * vectors / 4.0),
                     forward_flops(two, shape_of()) - 2.0 * vectors);
}

/// A modulation before parallel blocks scales their common input: it stays whole, and
/// they share the rest as before.
TEST(Blocks, ModulationLeadsParallelBlocks)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.normalisation = Normalisation::plain_norm;
    w.kinds = {{.name = "a",
                .blocks = {ModulationBlock{.vectors = 3}, AttentionBlock{.heads = 16, .causal = false},
                           MlpBlock{.inner = 4096}},
                .parallel = true}};
    const LayerKind modulated = layer_kind(w.kinds[0], w);
    w.kinds[0].blocks.erase(w.kinds[0].blocks.begin());
    const LayerKind plain = layer_kind(w.kinds[0], w);
    EXPECT_EQ(modulated.operators.size(), plain.operators.size() + 2);
    EXPECT_EQ(parameters_of(modulated, shape_of()).all,
              parameters_of(plain, shape_of()).all + 3.0 * hidden * (hidden + 1.0));
    EXPECT_EQ(forward_flops(modulated, shape_of()),
              forward_flops(plain, shape_of()) + 2.0 * 3.0 * hidden * hidden);
}

/// What expert parallel GPUs hold together are all rows; a sample's sums travel there and back.
TEST(Blocks, TablesByHand)
{
    const LayerKind& kind = block("tables");
    LayerShape shared = shape_of();
    shared.ep = 8;
    EXPECT_EQ(parameters_of(kind, shape_of()).rows, 1e6 * 128.0);
    EXPECT_EQ(parameters_of(kind, shared).rows, 1e6 * 128.0 / 8.0);
    double bytes = 0.0;
    const Calls calls = forward_calls(kind, shared);
    for (const AnyCall& call : calls.list()) {
        const auto* message = std::get_if<CollectiveCall>(&call);
        bytes += message != nullptr ? message->bytes : 0.0;
    }
    EXPECT_EQ(bytes, sequence * (214.0 * 8.0 + 26.0 * 128.0 * 2.0));
    LayerShape table_sharded = shape_of();  // separately from experts, which all GPUs have
    table_sharded.table_shards = 8;
    EXPECT_EQ(parameters_of(kind, table_sharded).rows, 1e6 * 128.0 / 8.0);
    EXPECT_EQ(bytes_by_group(forward_calls(kind, table_sharded)).at(GroupKind::tables), bytes);
}

/// Frozen layers have no gradients of weights, and keep no inputs for them; with nothing
/// trained before them no backward pass.
TEST(Blocks, FrozenLayersKeepLess)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.kinds = {{.name = "a", .blocks = {AttentionBlock{.heads = 16}, MlpBlock{4096}}}};
    w.sequence = {{0, 2}};
    const Network whole = network_of(w);
    w.kinds[0].frozen = true;
    const Network frozen = network_of(w);
    EXPECT_FALSE(frozen.kinds[0].backward);
    EXPECT_EQ(kept_of(frozen.kinds[0], shape_of(), Recompute::none).numbers, 0.0);
    EXPECT_EQ(parameters_of(frozen.kinds[0], shape_of()).trained().all, 0.0);
    w.adapter_rank = 16;
    const Network adapted = network_of(w);
    const LayerKind& kind = adapted.kinds[0];
    EXPECT_TRUE(kind.backward);
    // r (i + o) of each of four products (Hu et al., arXiv 2106.09685, section 4.2).
    const double adapters = 16.0 * ((1024.0 + 3072.0) + (1024.0 + 1024.0) + 2.0 * (1024.0 + 4096.0));
    EXPECT_EQ(parameters_of(kind, shape_of()).trained().all, adapters);
    const double forward = forward_flops(kind, shape_of());
    const double frozen_products = forward_flops(whole.kinds[0], shape_of());
    EXPECT_EQ(forward, frozen_products + 2.0 * sequence * adapters);
    const Attention core{.heads = 16, .key_heads = 16, .key_size = 64, .value_size = 64};
    const double attention = forward_flops({"", hidden, {core}}, shape_of());
    // Products: their input's gradient alone; attention and adapters: both.
    EXPECT_DOUBLE_EQ(backward_calls(kind, shape_of(), Gradients::both).needed_flops(),
                     frozen_products - attention + 2.0 * attention + 2.0 * 2.0 * sequence * adapters);
}

/// QLoRA (arXiv 2305.14314): 4.5 bits a weight, 4.127 with scales in 8 bits, read and written in 16 bits
/// before a product. Norms keep theirs.
TEST(Blocks, FrozenWeightsMayHaveFewBits)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.kinds = {{.name = "a", .blocks = {AttentionBlock{.heads = 16}, MlpBlock{4096}}, .frozen = true}};
    w.sequence = {{0, 2}};
    w.adapter_rank = 16;
    const LayerKind whole = network_of(w).kinds[0];
    w.frozen_storage = FrozenStorage::nf4;
    const LayerKind packed = network_of(w).kinds[0];
    const double weights = hidden * (3.0 * hidden + hidden + 2.0 * 4096.0);
    EXPECT_DOUBLE_EQ(parameters_of(packed, shape_of()).saved_bytes, (2.0 - 4.5 / 8.0) * weights);
    EXPECT_EQ(parameters_of(whole, shape_of()).saved_bytes, 0.0);
    EXPECT_NEAR(8.0 * bytes_of(FrozenStorage::nf4_double), 4.127, 0.0005);
    EXPECT_EQ(forward_flops(packed, shape_of()), forward_flops(whole, shape_of()));
    w.adapter_targets = AdapterTargets::attention;
    const double of_attention = 16.0 * ((1024.0 + 3072.0) + (1024.0 + 1024.0));
    EXPECT_EQ(parameters_of(network_of(w).kinds[0], shape_of()).trained().all, of_attention);
}

/// A frozen tower reads data, and so needs no gradient although the embedding beside it is trained.
TEST(Blocks, FrozenTowersHaveNoBackward)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.vocabulary = 32000;
    w.kinds = {{.name = "patches",
                .blocks = {LinearBlock{.from = 588}},
                .hidden = 256,
                .tokens = 0.25,
                .frozen = true},
               {.name = "vision", .blocks = {MlpBlock{1024}}, .hidden = 256, .tokens = 0.25, .frozen = true},
               {.name = "join", .blocks = {LinearBlock{.from = 256}}, .tokens = 0.25},
               {.name = "text", .blocks = {AttentionBlock{.heads = 16}}}};
    w.sequence = {{0, 1}, {1, 4}, {2, 1}, {3, 4}};
    const Network network = network_of(w);
    EXPECT_TRUE(network.embedding.backward);
    for (std::size_t kind = 0; kind < w.kinds.size(); ++kind) {
        EXPECT_EQ(network.kinds[kind].backward, kind >= 2) << w.kinds[kind].name;
    }
    w.kinds[2].frozen = w.kinds[3].frozen = true;
    EXPECT_FALSE(network_of(w).kinds[2].backward);
    EXPECT_TRUE(network_of(w).kinds[3].backward);  // the embedded tokens come in here
    w.sequence = {{3, 4}};
    EXPECT_TRUE(network_of(w).kinds[3].backward);
}

TEST(Blocks, InferenceHasNoBackward)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.vocabulary = 32000;
    w.task = WorkloadTask::inference;
    w.kinds = {{.name = "a", .blocks = {AttentionBlock{.heads = 16}, MlpBlock{4096}}}};
    w.sequence = {{0, 2}};
    network_of(w).for_kinds([](const LayerKind& kind, int) {
        EXPECT_FALSE(kind.backward) << kind.name;
        EXPECT_EQ(backward_calls(kind, shape_of(), Gradients::both).list().size(), 0U) << kind.name;
    });
}

/// A decoder's block beside another: one norm, one gather and one sum between them.
TEST(Blocks, ParallelBlocksSynchroniseOnce)
{
    Workload w;
    w.hidden = static_cast<int>(hidden);
    w.kinds = {{.name = "a", .blocks = {AttentionBlock{.heads = 16}, MlpBlock{4096}}, .parallel = true}};
    const LayerKind parallel = layer_kind(w.kinds[0], w);
    w.kinds[0].parallel = false;
    const LayerKind serial = layer_kind(w.kinds[0], w);
    const auto messages = [](const Calls& calls) {
        return std::count_if(calls.list().begin(), calls.list().end(), [](const AnyCall& call) {
            return std::holds_alternative<CollectiveCall>(call);
        });
    };
    EXPECT_EQ(messages(forward_calls(serial, shape_of(4))), 4);
    EXPECT_EQ(messages(forward_calls(parallel, shape_of(4))), 2);
    EXPECT_EQ(messages(backward_calls(serial, shape_of(4), Gradients::both)), 6);
    EXPECT_EQ(messages(backward_calls(parallel, shape_of(4), Gradients::both)), 3);
    EXPECT_EQ(forward_flops(parallel, shape_of()), forward_flops(serial, shape_of()));
    // One norm less.
    EXPECT_EQ(parameters_of(serial, shape_of()).all - parameters_of(parallel, shape_of()).all, 2.0 * hidden);
}

}  // namespace
}  // namespace prismopt
