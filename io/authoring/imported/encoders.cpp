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

MlpBlock t5_mlp(ModelConfig& config)
{
    constexpr std::string_view gated_prefix = "gated-";
    const std::string activation = config.text("feed_forward_proj", "relu");
    const bool gated = activation.starts_with(gated_prefix);
    return {config.count("d_ff"),
            activation_named(config, "feed_forward_proj",
                             gated ? activation.substr(gated_prefix.size()) : activation, gated)};
}

}  // namespace

/// Post-norm encoder. Segments count as positions. The pooler is not counted.
ImportedFields bert(ModelConfig& config)
{
    Workload workload = decoder_ends(config, Normalisation::layer_norm, true);
    workload.positions = config.count("max_position_embeddings", 512) + config.count("type_vocab_size", 2);
    workload.norms = NormPlace::post;
    const AttentionBlock attention{.heads = config.positive("num_attention_heads"),
                                   .causal = false,
                                   .positions = Positions::none,
                                   .bias = Biases::all};
    const MlpBlock mlp{config.count("intermediate_size"), activation_field(config, "hidden_act", "gelu"),
                       true};
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
    const MlpBlock mlp = t5_mlp(config);
    const int layers = config.positive("num_layers");
    repeat(workload, {.name = "encoder", .blocks = {own, mlp}}, layers);
    repeat(workload, {.name = "decoder", .blocks = {causal, cross, mlp}},
           config.count("num_decoder_layers", layers));
    config.assume(
        fmt::format("encoder and decoder read sequences of {} tokens each; context is the encoder's number",
                    usual_tokens));
    return {workload, usual_tokens};
}

/// The decoder of T5 alone, without cross attention (bigscience-workshop/bigscience, jz/configs/dec_only_t5).
ImportedFields decoder_only_t5(ModelConfig& config)
{
    constexpr int usual_tokens = 512;
    Workload workload;
    workload.hidden = config.positive("d_model");
    workload.vocabulary = config.count("vocab_size");
    workload.normalisation = Normalisation::rms_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    const AttentionBlock attention{.heads = config.positive("num_heads"),
                                   .head = config.positive("d_kv", 64),
                                   .positions = Positions::none};
    const MlpBlock mlp = t5_mlp(config);
    config.ignore({"relative_attention_num_buckets", "n_positions"});
    repeat(workload, {.name = "decoder", .blocks = {attention, mlp}}, config.positive("num_layers"));
    return {workload, usual_tokens};
}

/// Every third layer attends to all tokens (transformers, configuration_modernbert.py; arXiv 2412.13663). The
/// first layer's first norm, which it lacks, is that of the embeddings; the dense layer and norm before the
/// head are a layer of their own.
ImportedFields modern_bert(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size", 768);
    workload.vocabulary = config.count("vocab_size", 50368);
    workload.normalisation = Normalisation::rms_norm;  // has as many weights as its LayerNorm without biases
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    AttentionBlock full{.heads = config.positive("num_attention_heads", 12), .causal = false};
    full.bias = config.flag("attention_bias", false) ? Biases::all : Biases::none;
    AttentionBlock local = full;
    local.window = config.positive("local_attention", 128);
    const int every = config.positive("global_attn_every_n_layers", 3);
    const MlpBlock mlp{config.count("intermediate_size", 1152),
                       gated_activation_field(config, "hidden_activation", "gelu"),
                       config.flag("mlp_bias", false)};
    const int layers = config.positive("num_hidden_layers", 22);
    for (int layer = 0; layer < layers; ++layer) {
        const bool whole = layer % every == 0;
        add_layer(workload, {.name = whole ? "F" : "S", .blocks = {whole ? full : local, mlp}});
    }
    add_layer(workload, {.name = "H", .blocks = {LinearBlock{.bias = false}}});
    config.ignore({"classifier_pooling", "decoder_bias", "sparse_prediction", "classifier_activation",
                   "norm_bias", "position_embedding_type"});
    config.assume(
        "the norm before the head is the network's last, and that of the dense layer before it is not "
        "counted");
    return {workload, 1024};  // arXiv 2412.13663, section 2.2.2: most of the training
}

/// The text tower of CLIP: causal, with learned positions (transformers, modeling_clip.py). Nothing follows
/// its last norm: the head that a vocabulary has here shares the embedding.
ImportedFields clip_text(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("hidden_size", 512);
    workload.vocabulary = config.count("vocab_size", 49408);
    workload.positions = config.count("max_position_embeddings", 77);
    workload.normalisation = Normalisation::layer_norm;
    workload.tied_embedding = true;
    const AttentionBlock attention{.heads = config.positive("num_attention_heads", 8),
                                   .positions = Positions::none,
                                   .bias = Biases::all};
    const MlpBlock mlp{config.count("intermediate_size", 2048),
                       activation_field(config, "hidden_act", "quick_gelu"), true};
    repeat(workload, {.name = "dense", .blocks = {attention, mlp}}, config.positive("num_hidden_layers", 12));
    config.ignore({"tie_word_embeddings", "projection_dim"});
    config.assume(
        "products with the vocabulary follow, which the text tower of CLIP lacks; its projection is not "
        "described");
    return {workload, workload.positions};
}

/// An encoder of sound and a decoder of text (arXiv 2212.04356, section 2.2): two convolutions, the second
/// with stride 2, and learned positions of the decoder. Those of the encoder are fixed; keys have no biases,
/// which are counted all the same.
ImportedFields whisper(ModelConfig& config)
{
    Workload workload;
    workload.hidden = config.positive("d_model");
    workload.vocabulary = config.count("vocab_size", 51865);
    workload.positions = config.positive("max_target_positions", 448);
    workload.normalisation = Normalisation::layer_norm;
    workload.tied_embedding = config.flag("tie_word_embeddings", true);
    const int sound = config.positive("max_source_positions", 1500);
    const double share = static_cast<double>(sound) / workload.positions;
    const auto attention_of = [&](std::string_view heads) {
        return AttentionBlock{
            .heads = config.positive(heads), .positions = Positions::none, .bias = Biases::all};
    };
    AttentionBlock own = attention_of("encoder_attention_heads");
    own.causal = false;
    const AttentionBlock causal = attention_of("decoder_attention_heads");
    AttentionBlock cross = causal;
    cross.context = sound;
    const Activation activation = activation_field(config, "activation_function", "gelu");
    const auto mlp = [&](std::string_view inner) { return MlpBlock{config.count(inner), activation, true}; };
    const ConvolutionBlock first{.from = config.positive("num_mel_bins", 80), .kernel = 3, .dimensions = 1};
    const ConvolutionBlock second{.kernel = 3, .dimensions = 1, .stride = 2};
    add_layer(workload, {.name = "sound", .blocks = {first}, .tokens = 2.0 * share});
    add_layer(workload, {.name = "half", .blocks = {second}, .tokens = share});
    const int layers = config.positive("encoder_layers");
    for (int layer = 0; layer < layers; ++layer) {
        add_layer(workload, {.name = "encoder", .blocks = {own, mlp("encoder_ffn_dim")}, .tokens = share});
    }
    repeat(workload, {.name = "decoder", .blocks = {causal, cross, mlp("decoder_ffn_dim")}},
           config.positive("decoder_layers"));
    config.ignore({"num_hidden_layers", "max_length", "suppress_tokens", "begin_suppress_tokens",
                   "forced_decoder_ids", "scale_embedding", "median_filter_width", "apply_spec_augment"});
    config.assume(fmt::format("{} tokens of sound for {} of text; the encoder's last norm is not described",
                              sound, workload.positions));
    return {workload, workload.positions};
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
    const LinearBlock patches{.from =
                                  config.product("num_channels", config.count("num_channels", 3), pixels)};
    const AttentionBlock attention{.heads = config.positive("num_attention_heads"),
                                   .causal = false,
                                   .positions = Positions::none,
                                   .bias = config.flag("qkv_bias", true) ? Biases::all : Biases::none};
    const MlpBlock mlp{config.count("intermediate_size"), activation_field(config, "hidden_act", "gelu"),
                       true};
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
    const MlpBlock mlp{4 * workload.hidden, activation_field(config, "activation_fn", "gelu-approximate"),
                       true};
    add_layer(workload, {.name = "condition",
                         .blocks = {LinearBlock{.from = time_frequencies, .rows = 1}, LinearBlock{.rows = 1},
                                    LinearBlock{.from = classes, .bias = false, .rows = 1}}});
    add_layer(workload, {.name = "patches",
                         .blocks = {LinearBlock{.from = config.product("in_channels", in, numbers)}}});
    repeat(workload, {.name = "dense", .blocks = {ModulationBlock{}, attention, mlp}},
           config.positive("num_layers", 28));
    const int out = config.count("out_channels", in);
    add_layer(workload, {.name = "last",
                         .blocks = {ModulationBlock{.vectors = 2},
                                    LinearBlock{.to = config.product("out_channels", out, numbers)}}});
    config.assume(
        "the vectors of time and class are computed once, as in facebookresearch/DiT, not in every block");
    return {workload, config.product("sample_size", side, side)};
}

}  // namespace prismopt
