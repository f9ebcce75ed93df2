#include "model/network/alternate_products.hpp"

#include "model/network/passes.hpp"
#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

constexpr double alternate_tokens = 2048.0;

/// A layer of Llama 3 8B: queries of 4096, keys and values of 1024, a gated MLP of 14336.
LayerKind llama_layer()
{
    Transformer t = gpt(1, 4096, 32);
    t.kv_heads = 8;
    t.feed_forward = 14336;
    t.activation = Activation::swiglu;
    return network_of(workload_of(t)).kinds.front();
}

LayerShape shape_of_alternate()
{
    LayerShape shape;
    shape.sequence = static_cast<int>(alternate_tokens);
    shape.recompute = Recompute::selective;
    shape.recompute_modules = {Module::alternate_products};
    return shape;
}

/// torchtitan saves q, v, gate and down of q, k, v, o, gate, up, down, beside the layer's input, attention's
/// output and its 32-bit sums: 2 (4096 + 4096 + 1024 + 14336 + 4096 + 4096) + 4 x 32 bytes per token.
TEST(AlternateProducts, AreSaved)
{
    const Kept kept = kept_of(llama_layer(), shape_of_alternate(), Recompute::selective);
    EXPECT_DOUBLE_EQ(kept.numbers, alternate_tokens * (4096.0 + 4096.0 + 1024.0 + 14336.0 + 4096.0 + 4096.0));
    EXPECT_DOUBLE_EQ(kept.bytes, alternate_tokens * 4.0 * 32.0);
}

/// k, o and up run again: 36 % of the operations of the products.
TEST(AlternateProducts, RunAgainIfNotSaved)
{
    const double again =
        recompute_calls(llama_layer(), shape_of_alternate(), Recompute::selective).needed_flops();
    EXPECT_NEAR(again, 2.0 * alternate_tokens * 4096.0 * (1024.0 + 4096.0 + 14336.0), 1e-9 * again);
    const double of_products =
        2.0 * alternate_tokens * 4096.0 * (4096.0 + 2.0 * 1024.0 + 4096.0 + 3.0 * 14336.0);
    EXPECT_NEAR(again / of_products, 0.365, 0.005);
}

/// Tokens that go to experts on other GPUs are saved where they arrive, and their results where they come
/// back; nothing is exchanged where each GPU has all experts.
TEST(AlternateProducts, ExchangesOfTokensAreSavedOnce)
{
    constexpr int width = 2048;
    constexpr int active = 8;
    Transformer t = gpt(1, width, 16);
    t.experts = Experts{.count = 128, .active = active, .feed_forward = 768};
    const LayerKind layer = network_of(workload_of(t)).kinds.front();
    LayerShape shape = shape_of_alternate();
    const auto kept = [&] { return kept_of(layer, shape, Recompute::selective).numbers; };
    const double at_home = kept();
    shape.ep = 2;
    EXPECT_DOUBLE_EQ(kept() - at_home, 2.0 * alternate_tokens * active * width);
    shape.etp = 2;  // partial results are summed by a reduce-scatter, which is saved too
    EXPECT_DOUBLE_EQ(kept() - at_home, 3.0 * alternate_tokens * active * width);
}

}  // namespace
}  // namespace prismopt
