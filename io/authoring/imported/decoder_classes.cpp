#include "io/authoring/imported/architectures.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

/// What `sliding_window` and the fields beside it say, and which layers have a window.
enum class Windows {
    none,
    where_given,
    unless_null,
    but_each,          // in all layers but each `full_every`-th
    where_used,        // use_sliding_window
    upper_where_used,  // the same, of layers from max_window_layers on
    refused            // the same, which no published network of the class says
};
/// How the fields of experts are named; none: an MLP of `intermediate_size`.
enum class ExpertFields { none, mixtral, qwen, qwen_shared, deepseek };

/// A class whose fields are those of most decoders: what it has where the file does not
/// say it, and what no field says.
struct DecoderClass {
    std::string_view name;
    Normalisation normalisation = Normalisation::rms_norm;
    NormPlace norms = NormPlace::pre;
    bool tied = false;             // tie_word_embeddings
    int head = 0;                  // head_dim; 0: hidden_size / num_attention_heads
    Biases biases = Biases::none;  // of projections, where `bias_field` says that there are some
    std::string_view bias_field = "attention_bias";  // empty: always
    bool biased = false;                             // its default
    QueryKeyNorm query_key_norm = QueryKeyNorm::none;
    std::string_view query_key_field = {};  // says whether there is one; empty: always
    std::string_view query_rank_field = {};
    Windows windows = Windows::none;
    int window = 4096;   // sliding_window
    int full_every = 2;  // with Windows::but_each
    // each such layer has no rotary positions, unless no_rope_layers lists others; 0: all have
    int unrotated_every = 0;
    std::string_view activation_field = "hidden_act";
    std::string_view activation = "silu";
    bool gated = true;  // the MLP has three products
    std::string_view mlp_bias_field = {};
    ExpertFields experts = ExpertFields::none;
    int expert_count = 0;    // num_local_experts
    int active_experts = 0;  // num_experts_per_tok
    bool sinks = false;
    bool expert_biases = false;
};

// clang-format off
constexpr auto decoder_classes = std::to_array<DecoderClass>({
    {.name = "Ernie4_5ForCausalLM", .tied = true, .head = 128, .biases = Biases::all, .bias_field = "use_bias",
     .mlp_bias_field = "use_bias"},
    {.name = "Gemma2ForCausalLM", .norms = NormPlace::sandwich, .tied = true, .head = 256, .windows = Windows::but_each,
     // soft caps of logits are not counted
     .activation_field = "hidden_activation", .activation = "gelu_pytorch_tanh"},
    {.name = "Glm4ForCausalLM", .norms = NormPlace::sandwich, .head = 128, .biases = Biases::qkv},
    {.name = "Glm4MoeForCausalLM", .head = 128, .biases = Biases::qkv, .query_key_norm = QueryKeyNorm::head,
     .query_key_field = "use_qk_norm", .experts = ExpertFields::deepseek},
    {.name = "GlmForCausalLM", .head = 128, .biases = Biases::qkv},
    {.name = "GptOssForCausalLM", .head = 64, .biases = Biases::all, .biased = true, .windows = Windows::but_each, .window = 128,
     .experts = ExpertFields::mixtral, .expert_count = 128, .active_experts = 4, .sinks = true, .expert_biases = true},
    {.name = "LlamaForCausalLM", .biases = Biases::all, .mlp_bias_field = "mlp_bias"},
    {.name = "MiniMaxM2ForCausalLM", .query_key_norm = QueryKeyNorm::whole, .query_key_field = "use_qk_norm",
     .experts = ExpertFields::mixtral},
    {.name = "MistralForCausalLM", .windows = Windows::unless_null},
    {.name = "MixtralForCausalLM", .windows = Windows::where_given, .experts = ExpertFields::mixtral, .expert_count = 8,
     .active_experts = 2},
    {.name = "NemotronForCausalLM", .normalisation = Normalisation::layer_norm, .biases = Biases::all, .activation = "relu2",
     .gated = false, .mlp_bias_field = "mlp_bias"},
    {.name = "Olmo2ForCausalLM", .norms = NormPlace::post, .biases = Biases::all, .query_key_norm = QueryKeyNorm::whole},
    {.name = "Olmo3ForCausalLM", .norms = NormPlace::post, .biases = Biases::all, .query_key_norm = QueryKeyNorm::whole,
     .windows = Windows::but_each, .full_every = 4},
    {.name = "Phi3ForCausalLM", .windows = Windows::where_given},
    {.name = "PhimoeForCausalLM", .normalisation = Normalisation::layer_norm, .biases = Biases::all, .windows = Windows::where_given,
     // biases of the head are not counted
     .experts = ExpertFields::mixtral, .expert_count = 16, .active_experts = 2},
    {.name = "Qwen2ForCausalLM", .biases = Biases::qkv, .bias_field = "", .windows = Windows::upper_where_used},
    {.name = "Qwen2MoeForCausalLM", .biases = Biases::qkv, .bias_field = "qkv_bias", .biased = true, .windows = Windows::refused,
     .experts = ExpertFields::qwen_shared},
    {.name = "Qwen3ForCausalLM", .head = 128, .biases = Biases::all, .query_key_norm = QueryKeyNorm::head,
     .windows = Windows::upper_where_used},
    {.name = "Qwen3MoeForCausalLM", .biases = Biases::all, .query_key_norm = QueryKeyNorm::head, .windows = Windows::where_used,
     .experts = ExpertFields::qwen},
    {.name = "SmolLM3ForCausalLM", .tied = true, .biases = Biases::all, .windows = Windows::where_used, .unrotated_every = 4,
     .mlp_bias_field = "mlp_bias"},
    {.name = "Step3TextForCausalLM", .head = 256, .query_rank_field = "share_q_dim", .experts = ExpertFields::deepseek},
    {.name = "Step3p5ForCausalLM", .head = 128, .query_key_norm = QueryKeyNorm::head, .windows = Windows::but_each, .window = 512,
     .full_every = 4, .experts = ExpertFields::deepseek},   // gates of heads, a number each, are not counted
});
// clang-format on

AttentionBlock attention_of(ModelConfig& config, const DecoderClass& of)
{
    AttentionBlock attention = attention_fields(config, of.head);
    if (of.biases != Biases::none && (of.bias_field.empty() || config.flag(of.bias_field, of.biased))) {
        attention.bias = of.biases;
    }
    config.ignore({of.bias_field.empty() ? "attention_bias" : of.bias_field,
                   of.query_key_field.empty() ? "use_qk_norm" : of.query_key_field});
    if (!of.query_rank_field.empty() && config.has(of.query_rank_field)) {
        attention.query_rank = config.positive(of.query_rank_field);
    }
    const bool normed = of.query_key_field.empty() || config.flag(of.query_key_field, false);
    attention.query_key_norm = normed ? of.query_key_norm : QueryKeyNorm::none;
    attention.sinks = of.sinks;
    return attention;
}

/// 0: none.
int window_of(ModelConfig& config, const DecoderClass& of)
{
    constexpr std::string_view size = "sliding_window";
    constexpr std::string_view use = "use_sliding_window";
    const bool used = config.has(use) && config.flag(use);
    if (of.windows >= Windows::where_used && !used) {
        config.ignore({size});
    }
    switch (of.windows) {
        case Windows::none: return 0;
        case Windows::where_given: return config.has(size) ? config.count(size) : 0;
        case Windows::unless_null: return config.null(size) ? 0 : config.count(size, of.window);
        case Windows::where_used:
        case Windows::upper_where_used: return used ? config.count(size, of.window) : 0;
        case Windows::but_each: return config.count(size, of.window);
        case Windows::refused: break;
    }
    if (used) {
        config.fail(use, "is true, which no published mixture of this class has",
                    "import the file with false, then give layers a window (docs/networks.md)");
    }
    return 0;
}

BlockDescription feed_forward_of(ModelConfig& config, const DecoderClass& of)
{
    const std::string activation = config.text(of.activation_field, of.activation);
    const Activation function = activation_named(config, of.activation_field, activation, of.gated);
    if (of.experts == ExpertFields::mixtral) {
        return ExpertsBlock{.count = config.count("num_local_experts", of.expert_count),
                            .active = config.count("num_experts_per_tok", of.active_experts),
                            .inner = config.count("intermediate_size"),
                            .activation = function,
                            .bias = of.expert_biases};
    }
    const bool biased = !of.mlp_bias_field.empty() && config.flag(of.mlp_bias_field, false);
    return MlpBlock{config.count("intermediate_size"), function, biased};
}

/// The heads of layers with a window, where an object of its own gives them
/// (stepfun-ai/Step-3.5-Flash, config.json).
AttentionBlock windowed_of(const ModelConfig& config, const AttentionBlock& full)
{
    constexpr std::string_view own = "attention_other_setting";
    AttentionBlock result = full;
    if (config.has(own)) {
        const ModelConfig given = config.object(own);
        result.heads = given.positive("num_attention_heads");
        result.kv_heads = given.positive("num_attention_groups");
        result.head = given.has("head_dim") ? given.positive("head_dim") : full.head;
    }
    return result;
}

/// The attention of each layer: windows as `layer_types` of newer files or the rule of the class
/// says, rotary positions likewise.
std::vector<AttentionBlock> attentions_of(ModelConfig& config, const DecoderClass& of, int layers)
{
    const AttentionBlock full = attention_of(config, of);
    const int window = window_of(config, of);
    const bool upper = of.windows == Windows::upper_where_used;
    const int first = upper && window > 0 ? config.count("max_window_layers", 28) : 0;
    const bool listed = upper || of.windows == Windows::but_each;
    const std::vector<std::string> types =
        listed ? config.texts("layer_types", layers) : std::vector<std::string>{};
    config.ignore({"layer_types"});
    const bool all_rotate = of.unrotated_every == 0;
    const std::vector<int> rotary = all_rotate ? std::vector<int>{} : config.counts("no_rope_layers", layers);
    const int every = all_rotate || !rotary.empty()
                          ? 1
                          : std::max(1, config.count("no_rope_layer_interval", of.unrotated_every));
    config.ignore({"no_rope_layer_interval"});
    const AttentionBlock windowed = windowed_of(config, full);
    std::vector<AttentionBlock> all(layers, full);
    for (int layer = 0; layer < layers; ++layer) {
        const bool usual =
            layer >= first && (of.windows != Windows::but_each || (layer + 1) % of.full_every != 0);
        const bool slides = types.empty() ? usual : types[layer] == "sliding_attention";
        const bool rotates = all_rotate || (rotary.empty() ? (layer + 1) % every != 0 : rotary[layer] == 1);
        all[layer] = slides && window > 0 ? windowed : full;
        all[layer].window = slides ? window : 0;
        all[layer].positions = rotates ? Positions::rotary : Positions::none;
    }
    return all;
}

ImportedFields decoder(ModelConfig& config, const DecoderClass& of)
{
    Workload workload = decoder_ends(config, of.normalisation, of.tied);
    workload.norms = of.norms;
    const int layers = config.positive("num_hidden_layers");
    if (of.experts == ExpertFields::qwen || of.experts == ExpertFields::qwen_shared) {
        AttentionBlock attention = attention_of(config, of);
        attention.window = window_of(config, of);
        add_qwen_layers(config, attention, of.experts == ExpertFields::qwen_shared, workload);
        return {workload};
    }
    refuse_layers(layers);
    const std::vector<AttentionBlock> attentions = attentions_of(config, of, layers);
    const auto mixer = [&attentions](int layer) { return attentions[layer]; };
    if (of.experts == ExpertFields::deepseek) {
        add_deepseek_layers(config, mixer, ExpertGroups::nodes, workload);
        return {workload};
    }
    const BlockDescription feed_forward = feed_forward_of(config, of);
    add_layers(workload, layers, mixer, [&](int) { return feed_forward; });
    add_prediction(config, "num_nextn_predict_layers", workload);
    return {workload};
}

}  // namespace

std::vector<std::string_view> decoder_class_names()
{
    std::vector<std::string_view> names;
    for (const DecoderClass& of : decoder_classes) {
        names.push_back(of.name);
    }
    return names;
}

ImportedFields imported_decoder(std::string_view name, ModelConfig& config)
{
    return decoder(config, *std::find_if(decoder_classes.begin(), decoder_classes.end(),
                                         [name](const DecoderClass& known) { return known.name == name; }));
}

}  // namespace prismopt
