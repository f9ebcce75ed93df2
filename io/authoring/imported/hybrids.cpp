#include "io/authoring/imported/architectures.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

/// Linear attention in all layers but each `full_attention_interval`-th, whose attention has an output gate.
void add_gated_delta_layers(ModelConfig& config, const std::function<BlockDescription(int)>& feed_forward,
                            Workload& workload)
{
    AttentionBlock full = attention_fields(config, 256);
    full.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    full.query_key_norm = QueryKeyNorm::head;
    full.gate = !config.has("attn_output_gate") || config.flag("attn_output_gate");
    const GatedDeltaBlock linear{.key_heads = config.count("linear_num_key_heads", 16),
                                 .value_heads = config.count("linear_num_value_heads", 32),
                                 .key = config.count("linear_key_head_dim", 128),
                                 .value = config.count("linear_value_head_dim", 128),
                                 .convolution = config.count("linear_conv_kernel_dim", 4)};
    const int layers = config.positive("num_hidden_layers");
    const std::vector<std::string> types = config.texts("layer_types", layers);
    config.ignore({"full_attention_interval"});  // layer_types say it
    const int interval = types.empty() ? std::max(1, config.count("full_attention_interval", 4)) : 1;
    add_layers(
        workload, layers,
        [&](int layer) -> BlockDescription {
            if (types.empty() ? (layer + 1) % interval == 0 : types[layer] == "full_attention") {
                return full;
            }
            return linear;
        },
        feed_forward);
}

ExpertsBlock gated_shared_experts(ModelConfig& config)
{
    const int shared = config.count("shared_expert_intermediate_size", 512);
    return {.count = config.count("num_experts", 512),
            .active = config.count("num_experts_per_tok", 10),
            .inner = config.count("moe_intermediate_size", 512),
            .shared = shared,
            .shared_gate = shared > 0,
            .activation = gated_activation_field(config, "hidden_act", "silu")};
}

Mamba2Block mamba_of(ModelConfig& config, const char* heads, const char* head, const char* groups,
                     const char* state, const char* taps, const char* chunk)
{
    const int inner = config.has(heads) ? 0
                                        : config.product("expand", config.count("expand", 2),
                                                         config.positive("hidden_size"));
    config.ignore({"expand"});
    return {.heads = config.has(heads) ? config.count(heads) : inner / config.positive(head, 64),
            .head = config.count(head, 64),
            .groups = config.count(groups, 1),
            .state = config.count(state, 128),
            .convolution = config.count(taps, 4),
            .chunk = config.count(chunk, 256)};
}

Mamba2Block mamba_beside_attention(ModelConfig& config, int hidden)
{
    Mamba2Block mamba;
    mamba.heads = config.positive("mamba_n_heads", 128);
    const int inner = config.has("mamba_d_ssm")
                          ? config.positive("mamba_d_ssm")
                          : config.product("mamba_expand", config.count("mamba_expand", 2), hidden);
    config.ignore({"mamba_expand"});
    const bool derived = !config.has("mamba_d_head") || config.says("mamba_d_head", "auto");
    mamba.head = derived ? inner / mamba.heads : config.count("mamba_d_head");
    mamba.groups = config.count("mamba_n_groups", 1);
    mamba.state = config.count("mamba_d_state", 256);
    mamba.convolution = config.count("mamba_d_conv", 4);
    mamba.chunk = config.count("mamba_chunk_size", 256);
    return mamba;
}

struct HybridLetter {
    char letter;
    std::array<const char*, 2> words;  // in layers_block_type
};
constexpr std::array hybrid_letters{HybridLetter{'M', {"mamba", "linear_attention"}},
                                    HybridLetter{'*', {"attention", "full_attention"}},
                                    HybridLetter{'-', {"mlp", "mlp"}}, HybridLetter{'E', {"moe", "moe"}}};

/// The layers, one letter each.
std::string hybrid_pattern(const ModelConfig& config, const char* pattern, const char* list)
{
    if (config.has(pattern)) {
        return config.text(pattern);
    }
    std::string result;
    for (const std::string& word : config.texts(list)) {
        const auto found =
            std::find_if(hybrid_letters.begin(), hybrid_letters.end(), [&word](const HybridLetter& own) {
                return own.words[0] == word || own.words[1] == word;
            });
        result += found == hybrid_letters.end() ? '?' : found->letter;
    }
    return result;
}

/// One layer of Nemotron-H: a single block.
LayerDescription hybrid_layer(ModelConfig& config, char kind)
{
    const auto layer = [kind](const BlockDescription& block) {
        return LayerDescription{.name = {kind}, .blocks = {block}};
    };
    switch (kind) {
        case 'M':
            return layer(mamba_of(config, "mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size",
                                  "conv_kernel", "chunk_size"));
        case '*': {
            AttentionBlock attention{.heads = config.positive("num_attention_heads"),
                                     .positions = Positions::none};
            const int key_heads = config.positive("num_key_value_heads", attention.heads);
            attention.kv_heads = key_heads == attention.heads ? 0 : key_heads;
            attention.head = config.has("attention_head_dim") ? config.positive("attention_head_dim")
                                                              : config.positive("head_dim", 128);
            attention.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
            return layer(attention);
        }
        case '-':
            return layer(MlpBlock{config.count("intermediate_size"),
                                  activation_field(config, "mlp_hidden_act", "relu2"),
                                  config.flag("mlp_bias", false)});
        case 'E':
            return layer(ExpertsBlock{
                .count = config.count("n_routed_experts"),
                .active = config.count("num_experts_per_tok"),
                .inner = config.count("moe_intermediate_size"),
                .shared = config.has("moe_shared_expert_intermediate_size")
                              ? config.product("n_shared_experts",
                                               config.count("moe_shared_expert_intermediate_size"),
                                               config.count("n_shared_experts", 1))
                              : 0,
                .latent = config.has("moe_latent_size") ? config.count("moe_latent_size") : 0,
                .activation = activation_field(config, "mlp_hidden_act", "relu2")});
        default:
            config.fail(
                config.has("hybrid_override_pattern") ? "hybrid_override_pattern" : "layers_block_type",
                fmt::format("has a layer '{}', which is not known here", printable({kind})),
                "use M (Mamba-2), * (attention), - (MLP), E (experts), or describe the network yourself");
    }
}

}  // namespace

ImportedFields qwen3_next(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const ExpertsBlock experts = gated_shared_experts(config);
    config.ignore({"intermediate_size"});  // of dense layers, of which there are none
    if (!config.counts("mlp_only_layers").empty() ||
        (config.has("decoder_sparse_step") && config.count("decoder_sparse_step") > 1)) {
        config.fail(config.has("mlp_only_layers") ? "mlp_only_layers" : "decoder_sparse_step",
                    "makes some layers dense, which no published network of this class has",
                    "describe the network yourself");
    }
    add_gated_delta_layers(
        config, [&](int) { return experts; }, workload);
    return {workload};
}

/// Without and with experts.
ImportedFields qwen3_5(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const bool experts = config.has("num_experts");
    const BlockDescription feed_forward =
        experts ? BlockDescription(gated_shared_experts(config))
                : BlockDescription(MlpBlock{config.count("intermediate_size"),
                                            gated_activation_field(config, "hidden_act", "silu")});
    add_gated_delta_layers(
        config, [&](int) { return feed_forward; }, workload);
    add_prediction(config, "mtp_num_hidden_layers", workload);
    return {workload};
}

ImportedFields nemotron_h(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const std::string pattern = hybrid_pattern(config, "hybrid_override_pattern", "layers_block_type");
    if (pattern.empty()) {
        config.fail("hybrid_override_pattern",
                    "is not in the file, nor layers_block_type, so the layers are not known",
                    "add one of the two");
    }
    if (config.has("num_hidden_layers") &&
        config.positive("num_hidden_layers") != static_cast<int>(pattern.size())) {
        config.fail("num_hidden_layers",
                    fmt::format("is {}, but the pattern has {} layers", config.count("num_hidden_layers"),
                                pattern.size()),
                    "correct one of the two");
    }
    for (const char kind : pattern) {
        add_layer(workload, hybrid_layer(config, kind));
    }
    if (config.has("num_nextn_predict_layers") && config.count("num_nextn_predict_layers") > 0) {
        std::string module = hybrid_pattern(config, "mtp_hybrid_override_pattern", "mtp_layers_block_type");
        if (module.empty()) {
            module = "*E";
        }
        for (const char kind : module) {
            const auto found =
                std::find_if(workload.kinds.begin(), workload.kinds.end(),
                             [kind](const LayerDescription& own) { return own.name == std::string{kind}; });
            if (found == workload.kinds.end()) {
                config.fail(
                    "mtp_hybrid_override_pattern",
                    fmt::format("has a layer '{}', of which the network itself has none", printable({kind})),
                    "remove num_nextn_predict_layers, and describe the module yourself (docs/networks.md)");
            }
            workload.prediction.push_back({static_cast<int>(found - workload.kinds.begin()), 1});
        }
        config.assume(
            "the module of num_nextn_predict_layers is described by prediction, and trained where "
            "predictions = 1 is added");
    }
    return {workload};
}

/// Layers of the gated delta rule (flash-linear-attention,
/// fla/layers/gated_deltanet.py), or some of attention.
ImportedFields fla_gated_delta_net(ModelConfig& config)
{
    Workload workload = fla_ends(config);
    if (config.has("attn")) {
        config.fail("attn", "gives some layers attention, which is not imported",
                    "describe the network by its layers");
    }
    for (const std::string_view key : {"use_gate", "use_short_conv"}) {
        if (config.has(key) && !config.flag(key)) {
            config.fail(key, "is false, for which there is no block",
                        "describe the network by its layers, or capture it");
        }
    }
    GatedDeltaBlock linear;
    linear.key_heads = config.positive("num_heads", 6);
    linear.value_heads = config.has("num_v_heads") ? config.positive("num_v_heads") : linear.key_heads;
    linear.key = config.positive("head_dim", 256);
    linear.value =
        config.product("expand_v", config.has("expand_v") ? config.number("expand_v") : 2.0, linear.key);
    linear.convolution = config.positive("conv_size", 4);
    config.ignore({"attn_mode", "allow_neg_eigval", "expand_k"});
    const MlpBlock mlp = fla_mlp(config);
    add_layers(
        workload, config.positive("num_hidden_layers", 21), [&](int) { return linear; },
        [&](int) { return mlp; });
    return {workload};
}

ImportedFields mamba2(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const Mamba2Block block =
        mamba_of(config, "num_heads", "head_dim", "n_groups", "state_size", "conv_kernel", "chunk_size");
    const int layers = config.positive("num_hidden_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "M", .blocks = {block}});
    }
    return {workload};
}

/// The files of state-spaces/mamba (mamba_ssm/models/config_mamba.py); defaults
/// of mamba_ssm/modules/mamba2.py.
ImportedFields state_spaces_mamba(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("d_model");
    const int multiple = std::max(1, config.count("pad_vocab_size_multiple", 8));
    workload.vocabulary = (config.count("vocab_size") + multiple - 1) / multiple * multiple;
    workload.normalisation =
        config.flag("rms_norm", true) ? Normalisation::rms_norm : Normalisation::layer_norm;
    workload.tied_embedding = config.flag("tie_embeddings", true);
    constexpr int head = 64;
    constexpr int expand = 2;
    config.ignore({"ssm_cfg"});
    config.assume(
        "Mamba-2 layers with heads of 64, expansion 2, state 128 and 1 group: the defaults of mamba_ssm; "
        "ssm_cfg is not read");
    const int layers = config.positive("n_layer");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload,
                  {.name = "M",
                   .blocks = {Mamba2Block{.heads = expand * workload.hidden / head, .head = head}}});
    }
    return {workload};
}

/// Attention and Mamba-2 side by side, then an MLP (transformers, modular_falcon_h1.py). A norm of the state
/// space's results is counted also where mamba_rms_norm is false.
ImportedFields falcon_h1(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    AttentionBlock attention = attention_fields(config);
    attention.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    const Mamba2Block mamba = mamba_beside_attention(config, workload.hidden);
    const MlpBlock mlp{config.count("intermediate_size"),
                       gated_activation_field(config, "hidden_act", "silu"), config.flag("mlp_bias", false)};
    config.ignore({"mamba_rms_norm", "mamba_norm_before_gate", "mamba_conv_bias", "mlp_expansion_factor",
                   "mamba_use_mlp"});
    const int layers = config.positive("num_hidden_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "H", .blocks = {attention, mamba}, .parallel = true});
        add_layer(workload, {.name = "-", .blocks = {mlp}});
    }
    config.assume("a layer is two: attention beside a state space (H), and an MLP (-)");
    return {workload};
}

/// Every layer has experts (or, without them, an MLP as wide as the shared experts) behind its mixer.
ImportedFields granite_hybrid(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    AttentionBlock attention = attention_fields(config);
    attention.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    const std::string positions = config.text("position_embedding_type", "nope");
    attention.positions = positions == "rope" ? Positions::rotary : Positions::none;
    const Mamba2Block mamba = mamba_beside_attention(config, workload.hidden);
    const Activation activation = gated_activation_field(config, "hidden_act", "silu");
    const int shared = config.count("shared_intermediate_size", 1024);
    const int experts = config.count("num_local_experts", 0);
    BlockDescription feed_forward = MlpBlock{shared, activation};
    if (experts > 0) {
        feed_forward = ExpertsBlock{.count = experts,
                                    .active = config.count("num_experts_per_tok"),
                                    .inner = config.count("intermediate_size"),
                                    .shared = shared,
                                    .activation = activation};
    }
    const int layers = config.positive("num_hidden_layers");
    const std::vector<std::string> types = config.texts("layer_types", layers);
    if (types.empty()) {
        config.fail("layer_types", "is not in the file, so the places of attention are not known",
                    "give one entry per layer, mamba or attention");
    }
    add_layers(
        workload, layers,
        [&](int layer) -> BlockDescription {
            if (types[layer] == "attention") {
                return attention;
            }
            return mamba;
        },
        [&](int) { return feed_forward; });
    return {workload};
}

}  // namespace prismopt
