#include "io/authoring/imported/architectures.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

struct ActivationName {
    std::string_view name;
    std::optional<Activation> plain;
    std::optional<Activation> gated;
};
/// transformers, activations.py. Only the number of products and bytes matters here, so approximations of a
/// function count as the function.
constexpr std::array activation_names{
    ActivationName{"silu", Activation::silu, Activation::swiglu},
    ActivationName{"swish", Activation::silu, Activation::swiglu},
    ActivationName{"gelu", Activation::gelu, Activation::geglu},
    ActivationName{"quick_gelu", Activation::gelu, Activation::geglu},
    ActivationName{"gelu_new", Activation::gelu, Activation::geglu},
    ActivationName{"gelu_fast", Activation::gelu, Activation::geglu},
    ActivationName{"gelu_pytorch_tanh", Activation::gelu, Activation::geglu},
    ActivationName{"gelu-approximate", Activation::gelu, Activation::geglu},
    ActivationName{"swigluoai", std::nullopt, Activation::swiglu},
    ActivationName{"relu", Activation::relu, std::nullopt},
    ActivationName{"relu2", Activation::squared_relu, std::nullopt},
};

/// A letter that says what mixes the tokens of a layer.
char letter(const BlockDescription& mixer)
{
    const auto* attention = std::get_if<AttentionBlock>(&mixer);
    if (attention != nullptr && attention->window > 0) {
        return 'S';
    }
    if (attention != nullptr && attention->chunk > 0) {
        return 'C';
    }
    if (std::holds_alternative<GatedDeltaBlock>(mixer)) {
        return 'G';
    }
    if (std::holds_alternative<Mamba2Block>(mixer)) {
        return 'M';
    }
    return 'F';
}

/// The letter as the name of a layer: in upper case, unless it is a dense layer of a network with experts.
std::string letter_name(const BlockDescription& mixer, bool lower)
{
    const char upper = letter(mixer);
    return {static_cast<char>(lower ? upper - 'A' + 'a' : upper)};
}

/// The name, or the next free letter where layers with other blocks have it.
std::string free_name(const Workload& workload, const LayerDescription& layer)
{
    const auto taken = [&](const std::string& name) {
        return std::any_of(workload.kinds.begin(), workload.kinds.end(), [&](const LayerDescription& known) {
            return known.name == name && (known.blocks != layer.blocks || known.parallel != layer.parallel);
        });
    };
    if (!taken(layer.name)) {
        return layer.name;
    }
    constexpr std::string_view letters = "ABDEHIJKLNOPQRTUVWXYZabdehijklnopqrtuvwxyz0123456789";
    for (const char letter : letters) {
        if (!taken({letter})) {
            return {letter};
        }
    }
    throw InputError({}, "more than 50 kinds of layers", "describe the network by its layers");
}

}  // namespace

void refuse_layers(int layers)
{
    constexpr int most = 10'000;
    if (layers > most) {
        throw InputError({}, fmt::format("more than {} layers", most), "correct their number");
    }
}

Workload decoder_ends(ModelConfig& config, Normalisation normalisation, bool tied)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size");
    workload.vocabulary = config.count("vocab_size");
    workload.normalisation = normalisation;
    workload.tied_embedding = config.flag("tie_word_embeddings", tied);
    return workload;
}

AttentionBlock attention_fields(ModelConfig& config, int head)
{
    AttentionBlock attention;
    attention.heads = config.positive("num_attention_heads");
    const int key_heads = config.positive("num_key_value_heads", attention.heads);
    attention.kv_heads = key_heads == attention.heads ? 0 : key_heads;
    const int hidden = config.positive("hidden_size");
    if (head == 0 && !config.has("head_dim") && hidden % attention.heads != 0) {
        config.fail("hidden_size",
                    fmt::format("is {}, which {} heads do not divide", hidden, attention.heads),
                    "correct it or num_attention_heads, or add head_dim");
    }
    attention.head = config.positive("head_dim", head > 0 ? head : hidden / attention.heads);
    return attention;
}

std::optional<Activation> known_activation(std::string_view name, bool gated)
{
    for (const ActivationName& known : activation_names) {
        if (known.name == name) {
            return gated ? known.gated : known.plain;
        }
    }
    return std::nullopt;
}

Activation activation_named(ModelConfig& config, std::string_view key, const std::string& given, bool gated)
{
    const std::optional<Activation> activation = known_activation(given, gated);
    if (!activation) {
        config.fail(key,
                    fmt::format("is \"{}\", an activation function that is not known here", printable(given)),
                    "write gelu or silu, whichever reads and writes as much");
    }
    return *activation;
}

Activation activation_field(ModelConfig& config, std::string_view key, std::string_view usual)
{
    return activation_named(config, key, config.text(key, usual), false);
}

Activation gated_activation_field(ModelConfig& config, std::string_view key, std::string_view usual)
{
    return activation_named(config, key, config.text(key, usual), true);
}

void add_layer(Workload& workload, const LayerDescription& kind)
{
    refuse_layers(workload.layers() + 1);
    const auto found =
        std::find_if(workload.kinds.begin(), workload.kinds.end(),
                     [&kind](const LayerDescription& known) { return known.name == kind.name; });
    const int index = static_cast<int>(found - workload.kinds.begin());
    if (found == workload.kinds.end()) {
        workload.kinds.push_back(kind);
    }
    if (workload.sequence.empty() || workload.sequence.back().kind != index) {
        workload.sequence.push_back({index, 1});
    } else {
        ++workload.sequence.back().count;
    }
}

void add_layers(Workload& workload, int layers, const std::function<BlockDescription(int)>& mixer,
                const std::function<BlockDescription(int)>& feed_forward)
{
    refuse_layers(layers);
    std::vector<std::pair<BlockDescription, BlockDescription>> all;
    all.reserve(layers);
    for (int layer = 0; layer < layers; ++layer) {
        all.emplace_back(mixer(layer), feed_forward(layer));
    }
    const auto has_experts = [](const auto& layer) {
        return std::holds_alternative<ExpertsBlock>(layer.second);
    };
    const bool experts = std::any_of(all.begin(), all.end(), has_experts);
    const bool same = std::all_of(all.begin(), all.end(),
                                  [&all](const auto& layer) { return layer.first == all.front().first; });
    for (const auto& layer : all) {
        const std::string usual = has_experts(layer) ? "moe" : "dense";
        const bool lower = experts && !has_experts(layer);
        const std::string name = same ? usual : letter_name(layer.first, lower);
        LayerDescription kind{.name = name, .blocks = {layer.first, layer.second}};
        kind.name = free_name(workload, kind);
        add_layer(workload, kind);
    }
}

void add_prediction(ModelConfig& config, std::string_view key, Workload& workload)
{
    if (config.has(key) && config.count(key) > 0 && !workload.sequence.empty()) {
        workload.prediction = {{workload.sequence.back().kind, 1}};
        config.assume(fmt::format(
            "the module of {} is described by prediction, and trained where predictions = 1 is added", key));
    }
}

ImportedFields gemma3(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size");
    workload.vocabulary = config.count("vocab_size", 262208);
    workload.normalisation = Normalisation::rms_norm;
    workload.norms = NormPlace::sandwich;
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    AttentionBlock attention;
    attention.heads = config.positive("num_attention_heads", 8);
    attention.kv_heads = config.positive("num_key_value_heads", 4);
    attention.head = config.positive("head_dim", 256);
    attention.query_key_norm = QueryKeyNorm::head;
    const MlpBlock mlp{config.count("intermediate_size"),
                       gated_activation_field(config, "hidden_activation", "gelu_pytorch_tanh")};
    const int period = config.texts("layer_types").empty() ? config.count("sliding_window_pattern", 6) : 1;
    const int window = config.count("sliding_window", 4096);
    const int layers = config.positive("num_hidden_layers");
    const std::vector<std::string> types = config.texts("layer_types", layers);
    add_layers(
        workload, layers,
        [&](int layer) {
            AttentionBlock own = attention;
            const bool slides =
                types.empty() ? (layer + 1) % period != 0 : types.at(layer) == "sliding_attention";
            own.window = slides ? window : 0;
            return own;
        },
        [&](int) { return mlp; });
    return {workload};
}

/// Layers of whole attention have heads of their own size, and may take keys as values; experts stand beside
/// an MLP (transformers, modular_gemma4.py). The scales of routers are not counted.
ImportedFields gemma4(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, true);
    workload.norms = NormPlace::sandwich;
    for (const std::string_view key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
        if (config.count(key, key == "hidden_size_per_layer_input" ? 256 : 0) > 0) {
            config.fail(
                key,
                "gives layers embeddings of their own, or keys of other layers, which no block describes",
                "describe the network by its layers, without these");
        }
    }
    AttentionBlock slides = attention_fields(config, 256);
    slides.query_key_norm = QueryKeyNorm::head;
    slides.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    AttentionBlock full = slides;
    slides.window = config.count("sliding_window", 512);
    full.head = config.positive("global_head_dim", 512);
    full.keys_as_values = config.flag("attention_k_eq_v", false);
    if (full.keys_as_values && config.has("num_global_key_value_heads")) {
        full.kv_heads = config.positive("num_global_key_value_heads");
    }
    config.ignore({"num_global_key_value_heads", "vocab_size_per_layer_input", "use_double_wide_mlp"});
    const Activation activation = gated_activation_field(config, "hidden_activation", "gelu_pytorch_tanh");
    const MlpBlock mlp{config.count("intermediate_size"), activation};
    const bool routed = config.flag("enable_moe_block", false);
    const ExpertsBlock experts{.count = routed ? config.positive("num_experts") : 1,
                               .active = routed ? config.positive("top_k_experts") : 1,
                               .inner = routed ? config.positive("moe_intermediate_size") : 1,
                               .activation = activation};
    const int layers = config.positive("num_hidden_layers");
    const std::vector<std::string> types = config.texts("layer_types", layers);
    for (int layer = 0; layer < layers; ++layer) {
        const bool last = layer + 1 == layers;  // which is whole in any case
        const bool whole = last || (types.empty() ? (layer + 1) % 6 == 0 : types[layer] == "full_attention");
        LayerDescription kind{.name = whole ? "F" : "S", .blocks = {whole ? full : slides, mlp}};
        if (routed) {
            kind.blocks.emplace_back(experts);
        }
        add_layer(workload, kind);
    }
    return {workload};
}

Workload fla_ends(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size", 2048);
    workload.vocabulary = config.count("vocab_size", 32000);
    workload.normalisation = Normalisation::rms_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", false);
    return workload;
}

/// Two thirds of `hidden_ratio` times the width, rounded up to a multiple of 256.
MlpBlock fla_mlp(ModelConfig& config)
{
    const Activation activation = gated_activation_field(config, "hidden_act", "swish");
    if (config.has("intermediate_size")) {
        config.ignore({"hidden_ratio"});
        return {config.count("intermediate_size"), activation};
    }
    constexpr int multiple = 256;
    const int hidden = config.positive("hidden_size", 2048);
    const int wide =
        config.product("hidden_ratio", config.has("hidden_ratio") ? config.count("hidden_ratio") : 4, hidden);
    return {(wide * 2 / 3 + multiple - 1) / multiple * multiple, activation};
}

ImportedFields fla_transformer(ModelConfig& config)
{
    Workload workload = fla_ends(config);
    AttentionBlock attention;
    attention.heads = config.positive("num_heads", 32);
    const int key_heads = config.has("num_kv_heads") ? config.positive("num_kv_heads") : attention.heads;
    attention.kv_heads = key_heads == attention.heads ? 0 : key_heads;
    attention.head = workload.hidden / attention.heads;
    attention.bias = config.has("qkv_bias") && config.flag("qkv_bias") ? Biases::qkv : Biases::none;
    attention.query_key_norm =
        config.has("qk_norm") && config.flag("qk_norm") ? QueryKeyNorm::head : QueryKeyNorm::none;
    attention.window = config.has("window_size") ? config.count("window_size") : 0;
    config.ignore({"elementwise_affine"});
    const MlpBlock mlp = fla_mlp(config);
    add_layers(
        workload, config.positive("num_hidden_layers", 24), [&](int) { return attention; },
        [&](int) { return mlp; });
    return {workload};
}

/// Layers that differ, as a search found them, with or without attention and MLP
/// (nvidia/Llama-3_3-Nemotron-Super-49B-v1, block_config.py, and modeling_decilm.py: the width is two thirds
/// of ffn_mult times hidden, in multiples of 256).
ImportedFields deci_lm(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::rms_norm, false);
    const AttentionBlock whole = attention_fields(config);
    const Activation activation = gated_activation_field(config, "hidden_act", "silu");
    for (const ModelConfig& layer : config.objects("block_configs")) {
        LayerDescription kind;
        const ModelConfig mixer = layer.object("attention");
        const ModelConfig mlp = layer.object("ffn");
        for (const ModelConfig* block : {&mixer, &mlp}) {
            if (block->has("replace_with_linear") && block->flag("replace_with_linear")) {
                block->fail("replace_with_linear", "is true, for which there is no block",
                            "describe the network by its layers");
            }
        }
        if (!mixer.has("no_op") || !mixer.flag("no_op")) {
            AttentionBlock attention = whole;
            const int group = mixer.positive("n_heads_in_group");
            if (whole.heads % group != 0) {
                mixer.fail("n_heads_in_group",
                           fmt::format("is {}, which does not divide {} heads", group, whole.heads),
                           "correct the field");
            }
            attention.kv_heads = whole.heads / group;
            kind.blocks.emplace_back(attention);
        }
        if (!mlp.has("no_op") || !mlp.flag("no_op")) {
            constexpr int multiple = 256;
            const int inner = mlp.product("ffn_mult", mlp.number("ffn_mult"), 2.0 * workload.hidden / 3.0);
            kind.blocks.emplace_back(MlpBlock{(inner + multiple - 1) / multiple * multiple, activation});
        }
        if (!kind.blocks.empty()) {
            kind.name =
                free_name(workload, {.name = kind.blocks.size() == 2 ? "F" : "P", .blocks = kind.blocks});
            add_layer(workload, kind);
        }
    }
    config.ignore({"num_hidden_layers", "intermediate_size", "num_key_value_heads"});
    return {workload};
}

/// The older form of GLM-4: configuration_chatglm.py beside the weights.
ImportedFields chat_glm(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size");
    workload.vocabulary = config.count("padded_vocab_size");
    workload.normalisation =
        config.flag("rmsnorm", true) ? Normalisation::rms_norm : Normalisation::layer_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", false);
    AttentionBlock attention;
    attention.heads = config.positive("num_attention_heads");
    attention.kv_heads =
        config.flag("multi_query_attention", false) ? config.count("multi_query_group_num", 1) : 0;
    attention.head = config.count("kv_channels", 128);
    if (config.flag("add_bias_linear", false)) {
        attention.bias = Biases::all;
    } else if (config.flag("add_qkv_bias", false)) {
        attention.bias = Biases::qkv;
    }
    const MlpBlock mlp{config.count("ffn_hidden_size"), Activation::swiglu,
                       config.flag("add_bias_linear", false)};
    add_layers(
        workload, config.positive("num_layers"), [&](int) { return attention; }, [&](int) { return mlp; });
    return {workload};
}

/// Attention and MLP side by side. Of the norms before them, which are two in the newer form, one is counted.
ImportedFields falcon(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::layer_norm, true);
    const bool newer = config.flag("new_decoder_architecture", false);
    AttentionBlock attention;
    attention.heads = config.positive("num_attention_heads");
    const bool one = !newer && config.flag("multi_query", true);
    config.ignore({"multi_query", "parallel_attn"});  // of the older form
    if (one) {
        attention.kv_heads = 1;
    } else if (newer) {
        attention.kv_heads = config.count("num_kv_heads", attention.heads);
    }
    attention.head = workload.hidden / attention.heads;
    const bool bias = config.flag("bias", false);
    attention.bias = bias ? Biases::all : Biases::none;
    if (config.flag("alibi", false)) {
        attention.positions = Positions::none;
    }
    const MlpBlock mlp{config.count("ffn_hidden_size", 4 * workload.hidden),
                       activation_field(config, "activation", "gelu"), bias};
    const bool parallel = newer || config.flag("parallel_attn", true);
    const int layers = config.positive("num_hidden_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "dense", .blocks = {attention, mlp}, .parallel = parallel});
    }
    return {workload};
}

/// Of the two norms of a layer whose blocks stand side by side, one is counted.
ImportedFields gpt_neox(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::layer_norm, false);
    AttentionBlock attention;
    attention.heads = config.positive("num_attention_heads");
    attention.head = workload.hidden / attention.heads;
    attention.bias = config.flag("attention_bias", true) ? Biases::all : Biases::none;
    const MlpBlock mlp{config.count("intermediate_size"), activation_field(config, "hidden_act", "gelu"),
                       true};
    const bool parallel = config.flag("use_parallel_residual", true);
    const int layers = config.positive("num_hidden_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "dense", .blocks = {attention, mlp}, .parallel = parallel});
    }
    return {workload};
}

ImportedFields gpt2(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("n_embd");
    workload.vocabulary = config.count("vocab_size");
    workload.positions = config.count("n_positions", 1024);
    config.ignore({"n_ctx"});  // the same
    workload.normalisation = Normalisation::layer_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    const AttentionBlock attention{
        .heads = config.positive("n_head"), .positions = Positions::none, .bias = Biases::all};
    const MlpBlock mlp{config.count("n_inner", 4 * workload.hidden),
                       activation_field(config, "activation_function", "gelu_new"), true};
    add_layers(
        workload, config.positive("n_layer"), [&](int) { return attention; }, [&](int) { return mlp; });
    return {workload};
}

}  // namespace prismopt
