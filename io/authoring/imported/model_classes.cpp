#include "io/authoring/imported/model_classes.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace prismopt {

namespace {

struct Reader {
    std::string_view name;  // of the class
    ImportedFields (*read)(ModelConfig&);
};
/// Classes beside the decoders with the usual fields.
constexpr auto readers = std::to_array<Reader>({
    {"BertForMaskedLM", bert},
    {"ChatGLMModel", chat_glm},
    {"CLIPTextModel", clip_text},
    {"DeciLMForCausalLM", deci_lm},
    {"DecoderOnlyT5LMHeadModel", decoder_only_t5},
    {"DeepseekV2ForCausalLM", deepseek_v2},
    {"DeepseekV3ForCausalLM", deepseek_v3},
    {"DeepseekV32ForCausalLM", deepseek_v32},
    {"DiTTransformer2DModel", dit},
    {"FalconForCausalLM", falcon},
    {"FalconH1ForCausalLM", falcon_h1},
    {"GPT2LMHeadModel", gpt2},
    {"GPTNeoXForCausalLM", gpt_neox},
    {"GatedDeltaNetForCausalLM", fla_gated_delta_net},
    {"Gemma3ForCausalLM", gemma3},
    {"Gemma4ForCausalLM", gemma4},
    {"GraniteMoeHybridForCausalLM", granite_hybrid},
    {"Llama4ForCausalLM", llama4},
    {"KimiLinearForCausalLM", kimi_linear},
    {"LongcatFlashForCausalLM", longcat_flash},
    {"Mamba2ForCausalLM", mamba2},
    {"MambaLMHeadModel", state_spaces_mamba},
    {"MiMoV2FlashForCausalLM", mimo_v2},
    {"MiniMaxM3ForCausalLM", minimax_m3},
    {"ModernBertForMaskedLM", modern_bert},
    {"NemotronHForCausalLM", nemotron_h},
    {"Qwen3NextForCausalLM", qwen3_next},
    {"Qwen3_5ForConditionalGeneration", qwen3_5},
    {"T5ForConditionalGeneration", t5},
    {"TransformerForCausalLM", fla_transformer},
    {"ViTModel", vit},
    {"WhisperForConditionalGeneration", whisper},
});

constexpr std::string_view minimax_m3_fields =
    "n_routed_experts=num_local_experts moe_intermediate_size=intermediate_size "
    "intermediate_size=dense_intermediate_size "
    "shared_expert_intermediate_size=shared_intermediate_size "
    "index_n_heads=sparse_attention_config.sparse_num_index_heads "
    "index_head_dim=sparse_attention_config.sparse_index_dim "
    "index_block_size=sparse_attention_config.sparse_block_size "
    "index_topk_blocks=sparse_attention_config.sparse_topk_blocks "
    "sparse_attention_freq=sparse_attention_config.sparse_attention_freq "
    "num_nextn_predict_layers=num_mtp_modules";
constexpr std::string_view step3_fields =
    "num_key_value_heads=num_attention_groups n_routed_experts=moe_num_experts num_experts_per_tok=moe_top_k "
    "shared_expert_intermediate_size=share_expert_dim num_key_value_heads=1";

/// Classes that have the fields and layers of another, perhaps with other names of fields.
constexpr auto equal_classes = std::to_array<ModelClass>({
    {"BailingMoeForCausalLM", "Glm4MoeForCausalLM",
     "n_routed_experts=num_experts n_shared_experts=num_shared_experts attention_bias=use_qkv_bias"},
    {"BailingMoeV2ForCausalLM", "Glm4MoeForCausalLM",
     "n_routed_experts=num_experts n_shared_experts=num_shared_experts attention_bias=use_qkv_bias"},
    {"BertForPreTraining", "BertForMaskedLM"},
    {"CLIPModel", "CLIPTextModel"},
    {"ChatGLMForConditionalGeneration", "ChatGLMModel"},
    {"DbrxForCausalLM", "MixtralForCausalLM",
     "hidden_size=d_model num_hidden_layers=n_layers num_attention_heads=n_heads "
     "num_key_value_heads=attn_config.kv_n_heads "
     "num_local_experts=ffn_config.moe_num_experts num_experts_per_tok=ffn_config.moe_top_k "
     "intermediate_size=ffn_config.ffn_hidden_size"},
    {"Ernie4_5_MoeForCausalLM", "Glm4MoeForCausalLM",
     "n_routed_experts=moe_num_experts num_experts_per_tok=moe_k n_shared_experts=moe_num_shared_experts "
     "first_k_dense_replace=moe_layer_start_index moe_layer_freq=moe_layer_interval attention_bias=use_bias "
     "tie_word_embeddings=true"},
    {"Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"},
    {"Gemma4ForConditionalGeneration", "Gemma4ForCausalLM"},
    {"Glm4MoeLiteForCausalLM", "DeepseekV3ForCausalLM"},
    {"Glm4vMoeForConditionalGeneration", "Glm4MoeForCausalLM"},
    {"GlmMoeDsaForCausalLM", "DeepseekV32ForCausalLM",
     "q_lora_rank=2048 qk_nope_head_dim=192 v_head_dim=256 index_n_heads=32 first_k_dense_replace=3"},
    {"GraniteForCausalLM", "LlamaForCausalLM", "tie_word_embeddings=true"},
    {"GraniteMoeForCausalLM", "MixtralForCausalLM", "tie_word_embeddings=true"},
    {"HunYuanDenseV1ForCausalLM", "Qwen3ForCausalLM", "head_dim=attention_head_dim"},
    {"HunYuanMoEV1ForCausalLM", "Glm4MoeForCausalLM",
     "head_dim=attention_head_dim n_routed_experts=num_experts num_experts_per_tok=moe_topk "
     "n_shared_experts=num_shared_expert"},
    {"KimiK2ForCausalLM", "DeepseekV3ForCausalLM"},
    {"KimiLinearForCausalLM", "KimiLinearForCausalLM",
     "n_routed_experts=num_experts num_experts_per_tok=num_experts_per_token "
     "n_shared_experts=num_shared_experts "
     "n_group=num_expert_group"},
    {"Llama4ForConditionalGeneration", "Llama4ForCausalLM"},
    {"MiMoForCausalLM", "Qwen2ForCausalLM"},
    {"MiniMaxM3ForCausalLM", "MiniMaxM3ForCausalLM", minimax_m3_fields},
    {"MiniMaxM3SparseForConditionalGeneration", "MiniMaxM3ForCausalLM", minimax_m3_fields},
    {"MiniMaxM3VLForConditionalGeneration", "MiniMaxM3ForCausalLM", minimax_m3_fields},
    {"PhiMoEForCausalLM", "PhimoeForCausalLM"},
    {"Qwen2VLForConditionalGeneration", "Qwen2ForCausalLM"},
    {"Qwen2_5_VLForConditionalGeneration", "Qwen2ForCausalLM"},
    {"Qwen3VLForConditionalGeneration", "Qwen3ForCausalLM"},
    {"Qwen3VLMoeForConditionalGeneration", "Qwen3MoeForCausalLM"},
    {"Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration"},
    {"SeedOssForCausalLM", "GlmForCausalLM", "attention_bias=true"},
    {"Step2MiniForCausalLM", "Step3TextForCausalLM", step3_fields},
    {"Step3TextForCausalLM", "Step3TextForCausalLM", step3_fields},
    {"Step3VLForConditionalGeneration", "Step3TextForCausalLM", step3_fields},
    {"Step3p5ForCausalLM", "Step3p5ForCausalLM", step3_fields},
    {"Step3p7FlashForCausalLM", "Step3p5ForCausalLM",
     "n_routed_experts=num_experts shared_expert_intermediate_size=share_expert_dim"},
    {"T5WithLMHeadModel", "T5ForConditionalGeneration"},
    {"ViTForImageClassification", "ViTModel"},
});

struct UndescribedClass {
    std::string_view stem;  // of its names and types
    std::string_view component;
};
constexpr auto undescribed_classes = std::to_array<UndescribedClass>({
    {"deepseekv4", "attention to compressed keys and hyper-connections"},
    {"deltanet", "linear attention without a decay"},
    {"gemma3n", "embeddings of layers and keys of other layers"},
    {"gla", "linear attention without the delta rule"},
    {"jamba", "Mamba-1 layers"},
    {"kimik3", "attention residuals"},
    {"mamba", "Mamba-1 layers"},
    {"rwkv7", "RWKV layers"},
    {"samba", "Mamba-1 layers"},
    {"t5gemma", "an embedding of the encoder beside that of the decoder"},
});

std::vector<ModelClass> all_classes()
{
    std::vector<ModelClass> all(equal_classes.begin(), equal_classes.end());
    const auto add = [&all](std::string_view name) {
        if (std::none_of(all.begin(), all.end(),
                         [name](const ModelClass& known) { return known.name == name; })) {
            all.push_back({name, name});
        }
    };
    for (const Reader& reader : readers) {
        add(reader.name);
    }
    for (const std::string_view name : decoder_class_names()) {
        add(name);
    }
    std::sort(all.begin(), all.end(),
              [](const ModelClass& a, const ModelClass& b) { return a.name < b.name; });
    return all;
}

/// Letters and digits in lower case, without what follows the name of the network.
std::string stem_of(std::string_view name)
{
    for (const std::string_view end : {"For", "Text", "WithLMHead", "LMHead", "Model", "_text"}) {
        const std::size_t place = name.find(end);
        if (place != 0) {
            name = name.substr(0, place);
        }
    }
    std::string stem;
    for (const unsigned char c : name) {
        if (std::isalnum(c) != 0) {
            stem += static_cast<char>(std::tolower(c));
        }
    }
    return stem;
}

}  // namespace

const std::vector<ModelClass>& model_classes()
{
    static const std::vector<ModelClass> all = all_classes();
    return all;
}

const ModelClass* class_named(std::string_view name)
{
    const auto& all = model_classes();
    const auto found =
        std::find_if(all.begin(), all.end(), [name](const ModelClass& known) { return known.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const ModelClass* class_of_type(std::string_view type)
{
    const auto& all = model_classes();
    const std::string stem = stem_of(type);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&stem](const ModelClass& known) { return stem_of(known.name) == stem; });
    return found == all.end() || stem.empty() ? nullptr : &*found;
}

std::string_view undescribed_component(std::string_view name)
{
    const std::string stem = stem_of(name);
    const auto* const found = std::find_if(undescribed_classes.begin(), undescribed_classes.end(),
                                           [&stem](const UndescribedClass& of) { return of.stem == stem; });
    return found == undescribed_classes.end() ? std::string_view() : found->component;
}

ImportedFields read_as(std::string_view as, ModelConfig& config)
{
    const auto* const found = std::find_if(readers.begin(), readers.end(),
                                           [as](const Reader& reader) { return reader.name == as; });
    return found == readers.end() ? imported_decoder(as, config) : found->read(config);
}

}  // namespace prismopt
