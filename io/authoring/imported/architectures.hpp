#pragma once

/// Networks by the classes that the fields of config.json configure. Each function knows the
/// fields, defaults and layer order of one class, or of a few that share them; the defaults are
/// those of huggingface/transformers, src/transformers/models/NAME/configuration_NAME.py,
/// unless another source is named.

#include "io/authoring/imported/model_config.hpp"
#include "model/network/workload.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// What a function fills in: the network, and the usual number of tokens of a sequence if
/// the fields give one (an image).
struct ImportedFields {
    Workload workload;
    int tokens = 0;
};

// decoder_classes.cpp: decoders with the usual fields, a row each
std::vector<std::string_view> decoder_class_names();
/// The class has a row.
ImportedFields imported_decoder(std::string_view name, ModelConfig& config);

// decoders.cpp: other dense decoders
ImportedFields gemma3(ModelConfig& config);
ImportedFields gemma4(ModelConfig& config);
ImportedFields fla_transformer(ModelConfig& config);
ImportedFields deci_lm(ModelConfig& config);
ImportedFields chat_glm(ModelConfig& config);
ImportedFields falcon(ModelConfig& config);
ImportedFields gpt_neox(ModelConfig& config);
ImportedFields gpt2(ModelConfig& config);

// mixtures.cpp: other decoders with experts
ImportedFields deepseek_v2(ModelConfig& config);
ImportedFields deepseek_v3(ModelConfig& config);
ImportedFields deepseek_v32(ModelConfig& config);
ImportedFields kimi_linear(ModelConfig& config);
ImportedFields longcat_flash(ModelConfig& config);
ImportedFields mimo_v2(ModelConfig& config);
ImportedFields minimax_m3(ModelConfig& config);
ImportedFields llama4(ModelConfig& config);

// hybrids.cpp: state spaces and linear attention
ImportedFields qwen3_next(ModelConfig& config);
ImportedFields qwen3_5(ModelConfig& config);
ImportedFields nemotron_h(ModelConfig& config);
ImportedFields mamba2(ModelConfig& config);
ImportedFields state_spaces_mamba(ModelConfig& config);
ImportedFields granite_hybrid(ModelConfig& config);
ImportedFields falcon_h1(ModelConfig& config);
ImportedFields fla_gated_delta_net(ModelConfig& config);

// encoders.cpp: encoders, encoder-decoders and diffusion transformers
ImportedFields bert(ModelConfig& config);
ImportedFields modern_bert(ModelConfig& config);
ImportedFields clip_text(ModelConfig& config);
ImportedFields t5(ModelConfig& config);
ImportedFields decoder_only_t5(ModelConfig& config);
ImportedFields whisper(ModelConfig& config);
ImportedFields vit(ModelConfig& config);
ImportedFields dit(ModelConfig& config);

// Shared by these files; decoders.cpp.

/// Norms, width, vocabulary and tying of most decoders. `tied`: whether the class
/// ties the embeddings by default.
Workload decoder_ends(ModelConfig& config, Normalisation normalisation, bool tied);
/// Heads, key/value heads and head size; `head`: default size, 0: hidden_size / num_attention_heads.
AttentionBlock attention_fields(ModelConfig& config, int head = 0);
/// The activation of that name: in a network of two products, or of three (`gated`).
/// `key`: its field, for messages.
Activation activation_named(ModelConfig& config, std::string_view key, const std::string& given, bool gated);
/// ... of that field, which is `usual` where the file does not give it.
Activation activation_field(ModelConfig& config, std::string_view key, std::string_view usual);
Activation gated_activation_field(ModelConfig& config, std::string_view key, std::string_view usual);

/// More layers than any network has are an InputError, without the file.
void refuse_layers(int layers);
/// Vocabulary, embeddings and MLP of the classes of flash-linear-attention (fla/modules/mlp.py, GatedMLP;
/// fla/models/NAME/ configuration_NAME.py).
Workload fla_ends(ModelConfig& config);
MlpBlock fla_mlp(ModelConfig& config);
/// Adds `layers` layers, each an attention (or a scan) followed by a feed-forward network; names their kinds.
/// Both functions get the index of the layer.
void add_layers(Workload& workload, int layers, const std::function<BlockDescription(int)>& mixer,
                const std::function<BlockDescription(int)>& feed_forward);
/// Adds a layer of the kind, which must equal that of the same name, if there is one.
void add_layer(Workload& workload, const LayerDescription& kind);
/// Describes the module of multi-token prediction as the last layer, if the field says that there is one.
void add_prediction(ModelConfig& config, std::string_view key, Workload& workload);

// Layers with experts whose fields several classes share; mixtures.cpp.

/// What groups of experts lie on.
enum class ExpertGroups { devices, nodes };
/// Experts, dense layers and prediction module as DeepSeek's fields name them. The biases that correct the
/// router's choice, one number per expert, are not counted.
void add_deepseek_layers(ModelConfig& config, const std::function<BlockDescription(int)>& mixer,
                         ExpertGroups groups, Workload& workload);
/// Layers with experts are the last of each `decoder_sparse_step`, but those of `mlp_only_layers`.
/// `shared`: an expert for all tokens.
void add_qwen_layers(ModelConfig& config, const AttentionBlock& attention, bool shared, Workload& workload);

}  // namespace prismopt
