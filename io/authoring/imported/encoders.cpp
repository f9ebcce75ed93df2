#include "io/authoring/imported/architectures.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

/// Learned positions of a network without a vocabulary: a table, read once per sample.
LinearBlock position_table(int rows) { return {.from = rows, .bias = false, .rows = 1}; }

void repeat(Workload& workload, const LayerDescription& layer, int count)
{
    for (int i = 0; i < count; ++i) {
        add_layer(workload, layer);
    }
}

}  // namespace

/// Post-norm encoder. Segments count as positions. The pooler is not counted.
ImportedFields bert(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::layer_norm, true);
    workload.positions = config.count("max_position_embeddings", 512) + config.count("type_vocab_size", 2);
    workload.norms = NormPlace::post;
    const AttentionBlock attention{
        .heads = config.positive("num_attention_heads"), .causal = false, .positions = Positions::none, .bias = Biases::all};
    const MlpBlock mlp{config.count("intermediate_size"), activation_field(config, "hidden_act", "gelu"), true};
    repeat(workload, {.name = "dense", .blocks = {attention, mlp}}, config.positive("num_hidden_layers"));
    return {workload, config.count("max_position_embeddings", 512)};
}

/// Encoder and decoder. Relative positions, 32 numbers per head, are not counted.
ImportedFields t5(ModelConfig& config)
{
    constexpr int usual_tokens = 512;  // Raffel et al., arXiv 1910.10683, section 3.1.2
    Workload workload;
    workload.hidden = config.positive("d_model");
    workload.vocabulary = config.count("vocab_size");
    workload.normalisation = Normalisation::rms_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    const AttentionBlock own{.heads = config.positive("num_heads"),
                             .head = config.positive("d_kv", 64),
                             .causal = false,
                             .positions = Positions::none};
    AttentionBlock causal = own;
    causal.causal = true;
    AttentionBlock cross = causal;
    cross.context = usual_tokens;
    constexpr std::string_view gated_prefix = "gated-";
    const std::string activation = config.text("feed_forward_proj", "relu");
    const bool gated = activation.starts_with(gated_prefix);
    const MlpBlock mlp{config.count("d_ff"),
                       activation_named(config, "feed_forward_proj", gated ? activation.substr(gated_prefix.size()) : activation,
                                        gated)};
    const int layers = config.positive("num_layers");
    repeat(workload, {.name = "encoder", .blocks = {own, mlp}}, layers);
    repeat(workload, {.name = "decoder", .blocks = {causal, cross, mlp}}, config.count("num_decoder_layers", layers));
    config.assume(
        fmt::format("encoder and decoder read sequences of {} tokens each; context is the encoder's number", usual_tokens));
    return {workload, usual_tokens};
}

/// A token is a patch; the token of the class counts among the positions only.
ImportedFields vit(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size");
    workload.normalisation = Normalisation::layer_norm;
    const int patch = config.count("patch_size", 16);
    const int side = patch > 0 ? config.count("image_size", 224) / patch : 0;
    const int pixels = config.product("patch_size", patch, patch);
    const int tokens = config.product("image_size", side, side);
    const LinearBlock patches{.from = config.product("num_channels", config.count("num_channels", 3), pixels)};
    const AttentionBlock attention{.heads = config.positive("num_attention_heads"),
                                   .causal = false,
                                   .positions = Positions::none,
                                   .bias = config.flag("qkv_bias", true) ? Biases::all : Biases::none};
    const MlpBlock mlp{config.count("intermediate_size"), activation_field(config, "hidden_act", "gelu"), true};
    add_layer(workload, {.name = "patches", .blocks = {patches, position_table(tokens + 1)}});
    repeat(workload, {.name = "dense", .blocks = {attention, mlp}}, config.positive("num_hidden_layers"));
    config.assume("a classification head, if any, is not described");
    return {workload, tokens};
}

/// diffusers, models/transformers/dit_transformer_2d.py; facebookresearch/DiT, models.py.
ImportedFields dit(ModelConfig& config)
{
    constexpr int time_frequencies = 256;  // facebookresearch/DiT, models.py, TimestepEmbedder
    const int heads = config.positive("num_attention_heads", 16);
    const int head = config.positive("attention_head_dim", 72);
    const int patch = config.count("patch_size", 2);
    const int in = config.count("in_channels", 4);
    const int side = patch > 0 ? config.count("sample_size", 32) / patch : 0;
    Workload workload;
    workload.hidden = config.product("attention_head_dim", heads, head);
    const int numbers = config.product("patch_size", patch, patch);  // of a patch, per channel
    workload.normalisation = Normalisation::plain_norm;
    const int classes = config.count("num_embeds_ada_norm", 1000) + 1;  // and the one without a class
    const AttentionBlock attention{.heads = heads,
                                   .causal = false,
                                   .positions = Positions::none,
                                   .bias = config.flag("attention_bias", true) ? Biases::all : Biases::none};
    const MlpBlock mlp{4 * workload.hidden, activation_field(config, "activation_fn", "gelu-approximate"), true};
    add_layer(workload, {.name = "condition",
                         .blocks = {LinearBlock{.from = time_frequencies, .rows = 1}, LinearBlock{.rows = 1},
                                    LinearBlock{.from = classes, .bias = false, .rows = 1}}});
    add_layer(workload, {.name = "patches", .blocks = {LinearBlock{.from = config.product("in_channels", in, numbers)}}});
    repeat(workload, {.name = "dense", .blocks = {ModulationBlock{}, attention, mlp}}, config.positive("num_layers", 28));
    const int out = config.count("out_channels", in);
    add_layer(workload,
              {.name = "last",
               .blocks = {ModulationBlock{.vectors = 2}, LinearBlock{.to = config.product("out_channels", out, numbers)}}});
    config.assume("the vectors of time and class are computed once, as in facebookresearch/DiT, not in every block");
    return {workload, config.product("sample_size", side, side)};
}

}  // namespace prismopt
