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
    every_second,      // beginning with the first layer
    where_used,        // use_sliding_window
    upper_where_used,  // the same, of layers from max_window_layers on
    refused            // the same, which no published network of the class says
};
/// How the fields of experts are named; none: an MLP of `intermediate_size`.
enum class ExpertFields { none, mixtral, qwen, qwen_shared, deepseek };

/// A class whose fields are those of most decoders: what it has where the file does not say it, and what no field says.
struct DecoderClass {
    std::string_view name;
    Normalisation normalisation = Normalisation::rms_norm;
    NormPlace norms = NormPlace::pre;
    bool tied = false;                               // tie_word_embeddings
    int head = 0;                                    // head_dim; 0: hidden_size / num_attention_heads
    Biases biases = Biases::none;                    // of projections, where `bias_field` says that there are some
    std::string_view bias_field = "attention_bias";  // empty: always
    bool biased = false;                             // its default
    QueryKeyNorm query_key_norm = QueryKeyNorm::none;
    std::string_view query_key_field = {};  // says whether there is one; empty: always
    Windows windows = Windows::none;
    int window = 4096;  // sliding_window
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
    {.name = "Gemma2ForCausalLM", .norms = NormPlace::sandwich, .tied = true, .head = 256, .windows = Windows::every_second,
     .activation_field = "hidden_activation", .activation = "gelu_pytorch_tanh"},   // soft caps of logits are not counted
    {.name = "Glm4ForCausalLM", .norms = NormPlace::sandwich, .head = 128, .biases = Biases::qkv},
    {.name = "Glm4MoeForCausalLM", .head = 128, .biases = Biases::qkv, .query_key_norm = QueryKeyNorm::head,
     .query_key_field = "use_qk_norm", .experts = ExpertFields::deepseek},
    {.name = "GlmForCausalLM", .head = 128, .biases = Biases::qkv},
    {.name = "GptOssForCausalLM", .head = 64, .biases = Biases::all, .biased = true, .windows = Windows::every_second, .window = 128,
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
    {.name = "Phi3ForCausalLM", .windows = Windows::where_given},
    {.name = "Qwen2ForCausalLM", .biases = Biases::qkv, .bias_field = "", .windows = Windows::upper_where_used},
    {.name = "Qwen2MoeForCausalLM", .biases = Biases::qkv, .bias_field = "qkv_bias", .biased = true, .windows = Windows::refused,
     .experts = ExpertFields::qwen_shared},
    {.name = "Qwen3ForCausalLM", .head = 128, .biases = Biases::all, .query_key_norm = QueryKeyNorm::head,
     .windows = Windows::upper_where_used},
    {.name = "Qwen3MoeForCausalLM", .biases = Biases::all, .query_key_norm = QueryKeyNorm::head, .windows = Windows::where_used,
     .experts = ExpertFields::qwen},
});
// clang-format on

AttentionBlock attention_of(ModelConfig& config, const DecoderClass& of)
{
    AttentionBlock attention = attention_fields(config, of.head);
    if (of.biases != Biases::none && (of.bias_field.empty() || config.flag(of.bias_field, of.biased))) {
        attention.bias = of.biases;
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
        case Windows::every_second: return config.count(size, of.window);
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

/// Layers with a window among layers without: `layer_types` of newer files, or the rule of the class.
void add_decoder_layers(ModelConfig& config, const DecoderClass& of, const AttentionBlock& full, Workload& workload)
{
    const int window = window_of(config, of);
    const bool upper = of.windows == Windows::upper_where_used;
    const int first = upper && window > 0 ? config.count("max_window_layers", 28) : 0;
    const int layers = config.positive("num_hidden_layers");
    const bool listed = upper || of.windows == Windows::every_second;
    const std::vector<std::string> types = listed ? config.texts("layer_types", layers) : std::vector<std::string>{};
    const BlockDescription feed_forward = feed_forward_of(config, of);
    const auto slides = [&](int layer) {
        if (!types.empty()) {
            return types.at(layer) == "sliding_attention";
        }
        return layer >= first && (of.windows != Windows::every_second || layer % 2 == 0);
    };
    add_layers(
        workload, layers,
        [&](int layer) {
            AttentionBlock attention = full;
            attention.window = slides(layer) ? window : 0;
            return attention;
        },
        [&](int) { return feed_forward; });
}

ImportedFields decoder(ModelConfig& config, const DecoderClass& of)
{
    Workload workload = decoder_ends(config, of.normalisation, of.tied);
    workload.norms = of.norms;
    AttentionBlock attention = attention_of(config, of);
    switch (of.experts) {
        case ExpertFields::deepseek: add_deepseek_layers(config, attention, ExpertGroups::nodes, workload); break;
        case ExpertFields::qwen:
        case ExpertFields::qwen_shared:
            attention.window = window_of(config, of);
            add_qwen_layers(config, attention, of.experts == ExpertFields::qwen_shared, workload);
            break;
        case ExpertFields::none:
        case ExpertFields::mixtral: add_decoder_layers(config, of, attention, workload); break;
    }
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
