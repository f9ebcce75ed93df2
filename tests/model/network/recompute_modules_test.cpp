/// Selective recompute by modules: saved tensors and repeated work of a layer of DeepSeek-V3
/// (arXiv 2412.19437, section 4.2), by hand from its sizes: what Megatron-Core's
/// --recompute-modules name (transformer_config.py).

#include "model/network/layer_cost.hpp"
#include "model/network/passes.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

constexpr double hidden_size = 7168.0;
constexpr double head_count = 128.0;
constexpr double key = 192.0;  // with its rotary part
constexpr double value = 128.0;
constexpr double query_rank = 1536.0;
constexpr double key_rank = 512.0;
constexpr double k = 8.0;
constexpr double f = 2048.0;  // of each expert, routed or shared
constexpr double tokens = 4096.0;

Workload network_with(AttentionKernel kernel)
{
    LatentAttentionBlock attention{
        .heads = 128, .query_rank = 1536, .key_value_rank = 512, .rotary = 64, .plain = 128, .value = 128};
    attention.kernel = kernel;
    Workload w;
    w.name = "moe";
    w.hidden = 7168;
    w.normalisation = Normalisation::rms_norm;
    w.kinds = {
        {.name = "moe",
         .blocks = {attention, ExpertsBlock{.count = 256, .active = 8, .inner = 2048, .shared = 2048}}},
        {.name = "dense", .blocks = {attention, MlpBlock{18432, Activation::swiglu, false}}}};
    w.sequence = {{0, 1}, {1, 1}};
    return w;
}

LayerShape shape_with(const ModuleSet& modules, int ep = 1)
{
    LayerShape shape{{.recompute = Recompute::selective}, 4096};
    shape.recompute_modules = modules;
    shape.ep = ep;
    return shape;
}

/// Elements per token that a layer saves less than without recompute.
double dropped(const LayerKind& kind, const ModuleSet& modules)
{
    const LayerShape shape = shape_with(modules);
    return (kept_of(kind, shape, Recompute::none).numbers -
            kept_of(kind, shape, Recompute::selective).numbers) /
           tokens;
}

double repeated_flops(const LayerKind& kind, const ModuleSet& modules)
{
    return recompute_calls(kind, shape_with(modules), Recompute::selective).needed_flops() / tokens;
}

LayerKind kind_of_network(int kind, AttentionKernel kernel = AttentionKernel::flash)
{
    return network_of(network_with(kernel)).kinds[static_cast<std::size_t>(kind)];
}

TEST(RecomputeModules, DropWhatEachMakesAgain)
{
    const LayerKind moe = kind_of_network(0);
    const LayerKind dense = kind_of_network(1);
    const double queries_keys_values = head_count * (key + key + value);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::layernorm}), 2.0 * hidden_size);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::mla_up_proj}), query_rank + key_rank + queries_keys_values);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::moe_act}), k * f);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::shared_experts}), 2.0 * f + f);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::moe}),
                     k * hidden_size + k * 2.0 * f + k * f + k * hidden_size + 2.0 * f + f);
    EXPECT_DOUBLE_EQ(dropped(dense, {Module::mlp}), 3.0 * 18432.0);
    EXPECT_DOUBLE_EQ(dropped(dense, {Module::moe}), 0.0);
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::layernorm, Module::moe_act}), 2.0 * hidden_size + k * f);
    // The norm before the experts is not of their module: its result is the input of the checkpoint,
    // dropped with the norm's module only.
    EXPECT_DOUBLE_EQ(dropped(moe, {Module::layernorm, Module::moe}),
                     dropped(moe, {Module::layernorm}) + dropped(moe, {Module::moe}));
}

TEST(RecomputeModules, RepeatTheirOwnWork)
{
    const LayerKind moe = kind_of_network(0);
    EXPECT_DOUBLE_EQ(repeated_flops(moe, {Module::layernorm, Module::moe_act}), 0.0);
    EXPECT_DOUBLE_EQ(repeated_flops(moe, {Module::mla_up_proj}),
                     2.0 * (query_rank * head_count * key + key_rank * head_count * (128.0 + value)));
    EXPECT_DOUBLE_EQ(repeated_flops(moe, {Module::shared_experts}), 2.0 * 3.0 * hidden_size * f);
    EXPECT_DOUBLE_EQ(repeated_flops(moe, {Module::moe}),
                     2.0 * (hidden_size * 256.0 + (k + 1.0) * 3.0 * hidden_size * f));
    EXPECT_DOUBLE_EQ(repeated_flops(kind_of_network(1), {Module::mlp}), 2.0 * 3.0 * hidden_size * 18432.0);
    const auto exchanges = [&](const ModuleSet& modules) {
        int count = 0;
        const Calls calls = recompute_calls(moe, shape_with(modules, 8), Recompute::selective);
        for (const AnyCall& call : calls.list()) {
            count += std::holds_alternative<CollectiveCall>(call) ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(exchanges({Module::moe}), 2);  // dispatch and combination
    EXPECT_EQ(exchanges({Module::moe_act, Module::layernorm, Module::mla_up_proj, Module::shared_experts}),
              0);
}

/// Fused attention makes its scores again itself; plain attention drops the 5 a s^2
/// bytes of Korthikanti et al., arXiv
/// 2205.05198, eq. 1.
TEST(RecomputeModules, CoreAttentionIsThatOfPlainAttention)
{
    const LayerKind flash = kind_of_network(0);
    EXPECT_EQ(recomputed_operators(flash, {Module::core_attn}),
              std::vector<bool>(flash.operators.size(), false));
    const LayerKind plain = kind_of_network(0, AttentionKernel::plain);
    const LayerShape shape = shape_with({Module::core_attn});
    EXPECT_DOUBLE_EQ(kept_of(plain, shape, Recompute::none).bytes -
                         kept_of(plain, shape, Recompute::selective).bytes,
                     5.0 * head_count * tokens * tokens);
    EXPECT_DOUBLE_EQ(kept_of(plain, shape, Recompute::none).numbers,
                     kept_of(plain, shape, Recompute::selective).numbers);
}

TEST(RecomputeModules, DefaultsAreScoresElseElementwiseResults)
{
    const LayerKind flash = kind_of_network(0);
    const LayerKind plain = kind_of_network(0, AttentionKernel::plain);
    EXPECT_EQ(recomputed_operators(flash, {}), recomputed_operators(flash, {Module::elementwise}));
    EXPECT_EQ(recomputed_operators(plain, {}), recomputed_operators(plain, {Module::core_attn}));
    EXPECT_DOUBLE_EQ(dropped(flash, {}), 2.0 * hidden_size + query_rank + key_rank + k * f + f);
}

/// Inputs of linear layers and of the experts' activations in 8 bits, with 4 bytes for each 128: 1
/// + 1/32 of a byte instead of 2.
TEST(RecomputeModules, ActivationsMayBeStoredInEightBits)
{
    Workload w = network_with(AttentionKernel::flash);
    const auto saved = [&] {
        return layer_costs(network_of(w), Precision::bf16, shape_with({Module::layernorm}), products_only())
            .kinds.front()
            .saved_bytes;
    };
    const double wide = saved();
    w.activation_storage = ActivationStorage::fp8;
    const double inputs =
        query_rank + key_rank + head_count * value + k * (hidden_size + 2.0 * f + f) + 2.0 * f + f;
    EXPECT_NEAR(wide - saved(), tokens * inputs * (2.0 - (1.0 + 1.0 / 32.0)), 1.0);
}

/// Of k results per token.
TEST(RecomputeModules, ResultsOfExpertsStayWhereRoutingWeightsMultiplyThem)
{
    Workload w = network_with(AttentionKernel::flash);
    const auto kept = [&] {
        return kept_of(network_of(w).kinds.front(), shape_with({}), Recompute::none).numbers / tokens;
    };
    const double results = kept();
    w.change<ExpertsBlock>([](ExpertsBlock& experts) { experts.weights = RoutingWeights::activations; });
    EXPECT_DOUBLE_EQ(results - kept(), k * hidden_size);
}

double forward_s(const LayerCosts& costs)
{
    const PassCost& pass = costs.kinds.front().forward;
    return pass.compute_s + pass.communication_s;
}

TEST(HostLaunches, AreThoseOutsideOfGraphs)
{
    const Workload w = network_with(AttentionKernel::flash);
    const auto time = [&w](double host_s, const ModuleSet& graphs) {
        Cluster c = products_only();
        c.stack.host = Seconds{host_s};
        LayerShape shape = shape_with({});
        shape.cuda_graphs = graphs;
        return forward_s(layer_costs(network_of(w), Precision::bf16, shape, c));
    };
    const double busy = time(0.0, {});
    EXPECT_EQ(time(1.0, {Module::full_iteration}), busy);
    // The host takes a second per launch, far longer than the kernels.
    const double none = time(1.0, {});
    const double attention = none - time(1.0, {Module::attn});
    const double counts = none - time(1.0, {Module::moe_preprocess});
    EXPECT_NEAR(attention, 11.0, 1e-6);  // five products, three norms, rotary positions, the core, the sum
    EXPECT_NEAR(none - time(1.0, {Module::attn, Module::moe_preprocess}), attention + counts, 1e-6);
}

}  // namespace
}  // namespace prismopt
