#pragma once

/// Networks by the classes that the fields of config.json configure. Each function knows the fields, defaults and layer order of
/// one class, or of a few that share them; the defaults are those of huggingface/transformers,
/// src/transformers/models/NAME/configuration_NAME.py, unless another source is named.

#include "io/authoring/imported/model_config.hpp"
#include "model/network/workload.hpp"

#include <functional>

namespace prismopt {

/// What a function fills in: the network, and the usual number of tokens of a sequence if the fields give one (an image).
struct ImportedFields {
    Workload workload;
    int tokens = 0;
};

// decoders.cpp: dense decoders
ImportedFields llama(ModelConfig& config);
ImportedFields mistral(ModelConfig& config);
ImportedFields qwen2(ModelConfig& config);
ImportedFields qwen3(ModelConfig& config);
ImportedFields gemma2(ModelConfig& config);
ImportedFields gemma3(ModelConfig& config);
ImportedFields glm(ModelConfig& config);
ImportedFields glm4(ModelConfig& config);
ImportedFields chat_glm(ModelConfig& config);
ImportedFields olmo2(ModelConfig& config);
ImportedFields phi3(ModelConfig& config);
ImportedFields nemotron(ModelConfig& config);
ImportedFields falcon(ModelConfig& config);
ImportedFields gpt_neox(ModelConfig& config);
ImportedFields gpt2(ModelConfig& config);

// mixtures.cpp: decoders with experts
ImportedFields mixtral(ModelConfig& config);
ImportedFields qwen2_moe(ModelConfig& config);
ImportedFields qwen3_moe(ModelConfig& config);
ImportedFields deepseek_v2(ModelConfig& config);
ImportedFields deepseek_v3(ModelConfig& config);
ImportedFields gpt_oss(ModelConfig& config);
ImportedFields glm4_moe(ModelConfig& config);
ImportedFields llama4(ModelConfig& config);

// hybrids.cpp: state spaces and linear attention
ImportedFields qwen3_next(ModelConfig& config);
ImportedFields qwen3_5(ModelConfig& config);
ImportedFields nemotron_h(ModelConfig& config);
ImportedFields mamba2(ModelConfig& config);
ImportedFields state_spaces_mamba(ModelConfig& config);
ImportedFields granite_hybrid(ModelConfig& config);

// encoders.cpp: encoders, encoder-decoders and diffusion transformers
ImportedFields bert(ModelConfig& config);
ImportedFields t5(ModelConfig& config);
ImportedFields vit(ModelConfig& config);
ImportedFields dit(ModelConfig& config);

// Shared by these files; decoders.cpp.

/// Norms, width, vocabulary and tying of most decoders. `tied`: whether the class ties the embeddings by default.
Workload decoder_ends(ModelConfig& config, Normalisation normalisation, bool tied);
/// Heads, key/value heads and head size; `head`: default size, 0: hidden_size / num_attention_heads.
AttentionBlock attention_fields(ModelConfig& config, int head = 0);
/// The activation of that name: in a network of two products, or of three (`gated`). `key`: its field, for messages.
Activation activation_named(ModelConfig& config, std::string_view key, const std::string& given, bool gated);
/// ... of that field, which is `usual` where the file does not give it.
Activation activation_field(ModelConfig& config, std::string_view key, std::string_view usual);
Activation gated_activation_field(ModelConfig& config, std::string_view key, std::string_view usual);

/// Adds `layers` layers, each an attention (or a scan) followed by a feed-forward network; names their kinds. Both functions get
/// the index of the layer.
void add_layers(Workload& workload, int layers, const std::function<BlockDescription(int)>& mixer,
                const std::function<BlockDescription(int)>& feed_forward);
/// Adds a layer of the kind, which must equal that of the same name, if there is one.
void add_layer(Workload& workload, const LayerDescription& kind);
/// Describes the module of multi-token prediction as the last layer, if the field says that there is one.
void add_prediction(ModelConfig& config, std::string_view key, Workload& workload);

}  // namespace prismopt
