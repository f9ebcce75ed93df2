#include "io/authoring/imported/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

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
    return {.inner = config.count("intermediate_size"),
            .activation = gated_activation_field(config, "hidden_act", "silu")};
}

/// Of `n_group` groups of experts a token chooses the best `topk_group`. Where each lies on a node, it is
/// sent to so many nodes (DeepSeek-V3, arXiv 2412.19437, section 2.1.2). In DeepSeek-V2 they lie on devices
/// (arXiv 2405.04434, section 2.2.2).
int node_limit_of(ModelConfig& config, ExpertGroups on)
{
    const int groups = config.has("n_group") ? config.count("n_group") : 1;
    const int chosen = config.has("topk_group") ? config.count("topk_group") : groups;
    if (chosen >= groups || chosen < 1) {
        return 0;
    }
    if (on == ExpertGroups::devices) {
        config.assume(
            fmt::format("a token may be sent to any node: n_group = {} and topk_group = {} limit its "
                        "devices, which no key "
                        "describes",
                        groups, chosen));
        return 0;
    }
    config.assume(
        fmt::format("node_limit = topk_group = {}: each of n_group = {} groups of experts is within a node",
                    chosen, groups));
    return chosen;
}

/// Which layers have experts: as a list of all layers says, or of those with experts, or those from
/// `first_k_dense_replace` on, of which each `moe_layer_freq`-th.
std::vector<bool> layers_with_experts(ModelConfig& config, int layers)
{
    std::vector<bool> result(layers, false);
    constexpr std::string_view listed = "moe_layers_enum";
    if (const std::vector<std::string> types = config.texts("mlp_layer_types", layers); !types.empty()) {
        config.ignore({"first_k_dense_replace", "moe_layer_freq"});
        for (int layer = 0; layer < layers; ++layer) {
            result[layer] = types[layer] == "sparse";
        }
        return result;
    }
    if (config.lists("moe_layer_freq")) {
        const std::vector<int> flags = config.counts("moe_layer_freq", layers);
        config.ignore({"first_k_dense_replace"});
        for (int layer = 0; layer < layers; ++layer) {
            result[layer] = !flags.empty() && flags[layer] != 0;
        }
        return result;
    }
    if (config.has(listed)) {
        std::istringstream numbers(config.text(listed));
        for (std::string number; std::getline(numbers, number, ',');) {
            const long layer = std::strtol(number.c_str(), nullptr, 10);
            if (layer < 0 || layer >= layers) {
                config.fail(listed, fmt::format("has a layer {} of {}", layer, layers), "correct the field");
            }
            result[layer] = true;
        }
        return result;
    }
    const int dense = config.count("first_k_dense_replace", 0);
    const int every = std::max(1, config.has("moe_layer_freq") ? config.count("moe_layer_freq") : 1);
    for (int layer = dense; layer < layers; ++layer) {
        result[layer] = layer % every == 0;
    }
    return result;
}

/// Width of all shared experts together.
int shared_width(ModelConfig& config)
{
    constexpr std::string_view width = "shared_expert_intermediate_size";
    if (config.has(width)) {
        config.ignore({"n_shared_experts"});
        return config.count(width);
    }
    return config.product("n_shared_experts",
                          config.has("n_shared_experts") ? config.count("n_shared_experts") : 0,
                          config.count("moe_intermediate_size"));
}

LatentAttentionBlock latent_attention(ModelConfig& config)
{
    config.ignore({"num_key_value_heads", "head_dim", "qk_head_dim"});  // follow from the ranks
    return {.heads = config.positive("num_attention_heads"),
            .query_rank = config.null("q_lora_rank") ? 0 : config.count("q_lora_rank", 1536),
            .key_value_rank = config.count("kv_lora_rank", 512),
            .rotary = config.count("qk_rope_head_dim", 64),
            .plain = config.count("qk_nope_head_dim", 128),
            .value = config.count("v_head_dim", 128)};
}

ImportedFields deepseek(ModelConfig& config, ExpertGroups groups)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const LatentAttentionBlock attention = latent_attention(config);
    add_deepseek_layers(
        config, [&](int) { return attention; }, groups, workload);
    return {workload};
}

/// Which layers have an indexer; the others take the keys of the one before them (transformers,
/// configuration_glm_moe_dsa.py).
std::vector<bool> layers_with_indexers(ModelConfig& config, int layers)
{
    std::vector<bool> result(layers, true);
    const std::vector<std::string> types = config.texts("indexer_types", layers);
    const int every = std::max(1, config.has("index_topk_freq") ? config.count("index_topk_freq") : 1);
    const int offset = config.has("index_skip_topk_offset") ? config.count("index_skip_topk_offset") : 2;
    for (int layer = 0; layer < layers; ++layer) {
        result[layer] = types.empty() ? std::max(layer - offset + 1, 0) % every == 0 : types[layer] == "full";
    }
    return result;
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

void add_deepseek_layers(ModelConfig& config, const std::function<BlockDescription(int)>& mixer,
                         ExpertGroups groups, Workload& workload)
{
    const ExpertsBlock experts{.count = config.count("n_routed_experts"),
                               .active = config.count("num_experts_per_tok"),
                               .inner = config.count("moe_intermediate_size"),
                               .shared = shared_width(config),
                               .activation = gated_activation_field(config, "hidden_act", "silu"),
                               .node_limit = node_limit_of(config, groups)};
    const int layers = config.positive("num_hidden_layers");
    const std::vector<bool> routed = layers_with_experts(config, layers);
    config.ignore({"intermediate_size"});  // of dense layers, if there are any
    add_layers(workload, layers, mixer, [&](int layer) -> BlockDescription {
        if (routed[layer]) {
            return experts;
        }
        return dense_mlp(config);
    });
    add_prediction(config, "num_nextn_predict_layers", workload);
}

/// Both versions have the same fields; only the choice of experts differs.
ImportedFields deepseek_v2(ModelConfig& config) { return deepseek(config, ExpertGroups::devices); }

ImportedFields deepseek_v3(ModelConfig& config) { return deepseek(config, ExpertGroups::nodes); }

/// DeepSeek-V3 with an indexer that chooses keys (deepseek-ai/DeepSeek-V3.2-Exp, inference/model.py; GLM-5).
ImportedFields deepseek_v32(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    LatentAttentionBlock full = latent_attention(config);
    full.index_keys = config.positive("index_topk", 2048);
    full.index_heads = config.positive("index_n_heads", 64);
    full.index_head = config.positive("index_head_dim", 128);
    const std::vector<bool> indexers = layers_with_indexers(config, config.positive("num_hidden_layers"));
    add_deepseek_layers(
        config,
        [&](int layer) {
            LatentAttentionBlock attention = full;
            attention.index_heads = indexers[layer] ? full.index_heads : 0;
            return attention;
        },
        ExpertGroups::nodes, workload);
    return {workload};
}

/// Kimi delta attention, and latent attention without positions in the layers that a list names, the first
/// being 1 (moonshotai/Kimi-Linear-48B-A3B-Instruct, modeling_kimi.py; arXiv 2510.26692).
ImportedFields kimi_linear(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const LatentAttentionBlock full = latent_attention(config);
    const ModelConfig own = config.object("linear_attn_config");
    const int heads = own.positive("num_heads");
    const int head = own.positive("head_dim");
    GatedDeltaBlock linear{
        .key_heads = heads, .value_heads = heads, .key = head, .value = head, .by_channel = true};
    linear.convolution = own.positive("short_conv_kernel_size");
    const std::vector<int> listed = own.counts("full_attn_layers");
    for (const std::string_view key :
         {"attn_res_block_size", "mla_use_output_gate", "routed_expert_hidden_size"}) {
        if (config.has(key)) {
            config.fail(key, "is in the file, for which there is no block in this class",
                        "describe the network by its layers");
        }
    }
    config.ignore({"mla_use_nope", "linear_attn_config"});
    add_deepseek_layers(
        config,
        [&](int layer) -> BlockDescription {
            if (std::find(listed.begin(), listed.end(), layer + 1) != listed.end()) {
                return full;
            }
            return linear;
        },
        ExpertGroups::nodes, workload);
    return {workload};
}

/// Two latent attentions and two MLPs in a layer; its experts stand beside the second pair (arXiv 2509.01322,
/// section 2.2). Experts that return their input have no weights, and share the tokens evenly.
ImportedFields longcat_flash(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const LatentAttentionBlock attention = latent_attention(config);
    const Activation activation = gated_activation_field(config, "hidden_act", "silu");
    const MlpBlock mlp{config.count("ffn_hidden_size"), activation};
    const int count = config.positive("n_routed_experts");
    const int idle = config.count("zero_expert_num", 0);
    const int chosen = config.positive("moe_topk");
    const ExpertsBlock experts{
        .count = count,
        .active = std::max(1, static_cast<int>(std::lround(1.0 * chosen * count / (1.0 * count + idle)))),
        .inner = config.count("expert_ffn_hidden_size"),
        .activation = activation};
    config.ignore({"zero_expert_type"});
    if (idle > 0) {
        config.assume(
            fmt::format("of {} experts per token {} compute, as {} of {} do; the router's {} columns for the "
                        "others are not counted",
                        chosen, experts.active, count, 1.0 * count + idle, idle));
    }
    const int layers = config.positive("num_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "moe", .blocks = {attention, mlp, attention, experts, mlp}});
    }
    return {workload};
}

/// Windows have heads and sinks of their own (XiaomiMiMo/MiMo-V2-Flash, modeling_mimo_v2_flash.py).
ImportedFields mimo_v2(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    AttentionBlock full = attention_fields(config, 192);
    full.value = config.count("v_head_dim", 128);
    full.bias = config.flag("attention_bias", false) ? Biases::qkv : Biases::none;
    full.sinks = config.has("add_full_attention_sink_bias") && config.flag("add_full_attention_sink_bias");
    AttentionBlock slides = full;
    const auto own = [&config](std::string_view key, int usual) {
        return config.has(key) ? config.positive(key) : usual;
    };
    slides.heads = own("swa_num_attention_heads", full.heads);
    slides.kv_heads = own("swa_num_key_value_heads", full.kv_heads);
    slides.head = own("swa_head_dim", full.head);
    slides.value = own("swa_v_head_dim", full.value);
    slides.window = config.count("sliding_window", 128);
    slides.sinks = !config.has("add_swa_attention_sink_bias") || config.flag("add_swa_attention_sink_bias");
    config.ignore({"sliding_window_size", "attention_chunk_size", "attention_value_scale"});
    const int layers = config.positive("num_hidden_layers");
    const std::vector<int> pattern = config.counts("hybrid_layer_pattern", layers);
    const std::vector<std::string> types = config.texts("layer_types", layers);
    const auto is_full = [&pattern, &types](int layer) {
        if (!pattern.empty()) {
            return pattern[layer] == 0;
        }
        if (!types.empty()) {
            return types[layer] == "full_attention";
        }
        return layer == 0 || (layer + 1) % 6 == 0;  // the default
    };
    add_deepseek_layers(
        config, [&](int layer) { return is_full(layer) ? full : slides; }, ExpertGroups::nodes, workload);
    return {workload};
}

/// An indexer chooses blocks of keys, for each key head by one of its own
/// (transformers, modular_minimax_m3_vl.py).
ImportedFields minimax_m3(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    AttentionBlock full = attention_fields(config, 128);
    full.query_key_norm = QueryKeyNorm::head;
    AttentionBlock sparse = full;
    sparse.index_heads = config.positive("index_n_heads", full.key_heads());
    sparse.index_head = config.positive("index_head_dim", 128);
    const int block = config.positive("index_block_size", 128);
    sparse.index_keys = config.product("index_topk_blocks", config.positive("index_topk_blocks", 16), block);
    config.ignore({"index_local_blocks", "use_routing_bias", "use_qk_norm", "qk_norm_type", "swiglu_alpha",
                   "swiglu_limit"});
    const int layers = config.positive("num_hidden_layers");
    const std::vector<std::string> types = config.texts("layer_types", layers);
    const std::vector<int> chosen = config.counts("sparse_attention_freq", layers);
    add_deepseek_layers(
        config,
        [&](int layer) {
            const bool chooses =
                !types.empty() ? types[layer] == "minimax_m3_sparse" : !chosen.empty() && chosen[layer] != 0;
            return chooses ? sparse : full;
        },
        ExpertGroups::nodes, workload);
    return {workload};
}

/// no_rope_layers[i] = 1: layer i has rotary positions and attends within chunks. Its norms of queries and
/// keys have no weights, and are not counted.
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
            const bool routed = given.empty() ? (layer + 1) % step == 0
                                              : std::find(given.begin(), given.end(), layer) != given.end();
            if (routed) {
                return experts;
            }
            return MlpBlock{config.count("intermediate_size_mlp", 2 * inner), activation};
        });
    return {workload};
}

}  // namespace prismopt
