#include "io/authoring/imported/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

/// Experts as the fields of Qwen name them.
ExpertsBlock qwen_experts(ModelConfig& config)
{
    return {.count = config.count("num_experts"),
            .active = config.count("num_experts_per_tok"),
            .inner = config.count("moe_intermediate_size"),
            .activation = gated_activation_field(config, "hidden_act", "silu")};
}

MlpBlock dense_mlp(ModelConfig& config)
{
    return {.inner = config.count("intermediate_size"), .activation = gated_activation_field(config, "hidden_act", "silu")};
}

/// Of `n_group` groups of experts a token chooses the best `topk_group`. Where each lies on a node, it is sent to so many nodes
/// (DeepSeek-V3, arXiv 2412.19437, section 2.1.2). In DeepSeek-V2 they lie on devices (arXiv 2405.04434, section 2.2.2).
int node_limit_of(ModelConfig& config, ExpertGroups on)
{
    const int groups = config.has("n_group") ? config.count("n_group") : 1;
    const int chosen = config.has("topk_group") ? config.count("topk_group") : groups;
    if (chosen >= groups || chosen < 1) {
        return 0;
    }
    if (on == ExpertGroups::devices) {
        config.assume(
            fmt::format("a token may be sent to any node: n_group = {} and topk_group = {} limit its devices, which no key "
                        "describes",
                        groups, chosen));
        return 0;
    }
    config.assume(
        fmt::format("node_limit = topk_group = {}: each of n_group = {} groups of experts is within a node", chosen, groups));
    return chosen;
}

ImportedFields deepseek(ModelConfig& config, ExpertGroups groups)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const LatentAttentionBlock attention{.heads = config.positive("num_attention_heads"),
                                         .query_rank = config.null("q_lora_rank") ? 0 : config.count("q_lora_rank", 1536),
                                         .key_value_rank = config.count("kv_lora_rank", 512),
                                         .rotary = config.count("qk_rope_head_dim", 64),
                                         .plain = config.count("qk_nope_head_dim", 128),
                                         .value = config.count("v_head_dim", 128)};
    config.ignore({"num_key_value_heads", "head_dim", "qk_head_dim"});  // follow from the ranks
    add_deepseek_layers(config, attention, groups, workload);
    return {workload};
}

}  // namespace

void add_qwen_layers(ModelConfig& config, const AttentionBlock& attention, bool shared, Workload& workload)
{
    ExpertsBlock experts = qwen_experts(config);
    if (shared) {
        experts.shared = config.count("shared_expert_intermediate_size", 5632);
        experts.shared_gate = experts.shared > 0;
    }
    const int step = std::max(1, config.count("decoder_sparse_step", 1));
    config.ignore({"intermediate_size"});  // of dense layers, if there are any
    const std::vector<int> dense = config.counts("mlp_only_layers");
    add_layers(
        workload, config.positive("num_hidden_layers"), [&](int) { return attention; },
        [&](int layer) -> BlockDescription {
            const bool listed = std::find(dense.begin(), dense.end(), layer) != dense.end();
            if (!listed && (layer + 1) % step == 0) {
                return experts;
            }
            return dense_mlp(config);
        });
}

void add_deepseek_layers(ModelConfig& config, const BlockDescription& attention, ExpertGroups groups, Workload& workload)
{
    const ExpertsBlock experts{.count = config.count("n_routed_experts"),
                               .active = config.count("num_experts_per_tok"),
                               .inner = config.count("moe_intermediate_size"),
                               .shared = config.product("n_shared_experts",
                                                        config.has("n_shared_experts") ? config.count("n_shared_experts") : 0,
                                                        config.count("moe_intermediate_size")),
                               .activation = gated_activation_field(config, "hidden_act", "silu"),
                               .node_limit = node_limit_of(config, groups)};
    const int dense = config.count("first_k_dense_replace", 0);
    const int every = std::max(1, config.has("moe_layer_freq") ? config.count("moe_layer_freq") : 1);
    add_layers(
        workload, config.positive("num_hidden_layers"), [&](int) { return attention; },
        [&](int layer) -> BlockDescription {
            if (layer >= dense && layer % every == 0) {
                return experts;
            }
            return dense_mlp(config);
        });
    add_prediction(config, "num_nextn_predict_layers", workload);
}

/// Both versions have the same fields; only the choice of experts differs.
ImportedFields deepseek_v2(ModelConfig& config) { return deepseek(config, ExpertGroups::devices); }

ImportedFields deepseek_v3(ModelConfig& config) { return deepseek(config, ExpertGroups::nodes); }

/// no_rope_layers[i] = 1: layer i has rotary positions and attends within chunks. Its norms of queries and keys have no weights,
/// and are not counted.
ImportedFields llama4(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    AttentionBlock full = attention_fields(config, 128);
    full.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    const int chunk = config.count("attention_chunk_size", 8192);
    const int layers = config.positive("num_hidden_layers");
    const std::vector<int> rotary = config.counts("no_rope_layers", layers);
    const int period = rotary.empty() ? std::max(1, config.count("no_rope_layer_interval", 4)) : 1;
    const int step = std::max(1, config.count("interleave_moe_layer_step", 1));
    const std::vector<int> given = config.counts("moe_layers");
    const Activation activation = gated_activation_field(config, "hidden_act", "silu");
    const int inner = config.count("intermediate_size");
    config.ignore({"intermediate_size_mlp"});  // of dense layers, if there are any
    const ExpertsBlock experts{.count = config.count("num_local_experts", 16),
                               .active = config.count("num_experts_per_tok", 1),
                               .inner = inner,
                               .shared = inner,
                               .activation = activation};
    add_layers(
        workload, layers,
        [&](int layer) {
            const bool chunked = rotary.empty() ? (layer + 1) % period != 0 : rotary[layer] == 1;
            AttentionBlock attention = full;
            attention.chunk = chunked ? chunk : 0;
            attention.positions = chunked ? Positions::rotary : Positions::none;
            return attention;
        },
        [&](int layer) -> BlockDescription {
            const bool routed =
                given.empty() ? (layer + 1) % step == 0 : std::find(given.begin(), given.end(), layer) != given.end();
            if (routed) {
                return experts;
            }
            return MlpBlock{config.count("intermediate_size_mlp", 2 * inner), activation};
        });
    return {workload};
}

}  // namespace prismopt
