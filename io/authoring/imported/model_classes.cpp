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
    {"DeepseekV2ForCausalLM", deepseek_v2},
    {"DeepseekV3ForCausalLM", deepseek_v3},
    {"DiTTransformer2DModel", dit},
    {"FalconForCausalLM", falcon},
    {"GPT2LMHeadModel", gpt2},
    {"GPTNeoXForCausalLM", gpt_neox},
    {"Gemma3ForCausalLM", gemma3},
    {"GraniteMoeHybridForCausalLM", granite_hybrid},
    {"Llama4ForCausalLM", llama4},
    {"Mamba2ForCausalLM", mamba2},
    {"MambaLMHeadModel", state_spaces_mamba},
    {"NemotronHForCausalLM", nemotron_h},
    {"Qwen3NextForCausalLM", qwen3_next},
    {"Qwen3_5ForConditionalGeneration", qwen3_5},
    {"T5ForConditionalGeneration", t5},
    {"ViTModel", vit},
});

/// Classes that have the fields and layers of another, perhaps with other names of fields.
constexpr auto equal_classes = std::to_array<ModelClass>({
    {"BertForPreTraining", "BertForMaskedLM"},
    {"ChatGLMForConditionalGeneration", "ChatGLMModel"},
    {"Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"},
    {"KimiK2ForCausalLM", "DeepseekV3ForCausalLM"},
    {"Llama4ForConditionalGeneration", "Llama4ForCausalLM"},
    {"Qwen2VLForConditionalGeneration", "Qwen2ForCausalLM"},
    {"Qwen2_5_VLForConditionalGeneration", "Qwen2ForCausalLM"},
    {"Qwen3VLForConditionalGeneration", "Qwen3ForCausalLM"},
    {"Qwen3VLMoeForConditionalGeneration", "Qwen3MoeForCausalLM"},
    {"Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration"},
    {"T5WithLMHeadModel", "T5ForConditionalGeneration"},
    {"ViTForImageClassification", "ViTModel"},
});

std::vector<ModelClass> all_classes()
{
    std::vector<ModelClass> all(equal_classes.begin(), equal_classes.end());
    for (const Reader& reader : readers) {
        all.push_back({reader.name, reader.name});
    }
    for (const std::string_view name : decoder_class_names()) {
        all.push_back({name, name});
    }
    std::sort(all.begin(), all.end(), [](const ModelClass& a, const ModelClass& b) { return a.name < b.name; });
    return all;
}

/// Letters and digits in lower case, without what follows the name of the network.
std::string stem_of(std::string_view name)
{
    for (const std::string_view end : {"For", "WithLMHead", "LMHead", "Model", "_text"}) {
        const std::size_t place = name.find(end);
        name = place == 0 ? name : name.substr(0, place);
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
    const auto found = std::find_if(all.begin(), all.end(), [name](const ModelClass& known) { return known.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const ModelClass* class_of_type(std::string_view type)
{
    const auto& all = model_classes();
    const std::string stem = stem_of(type);
    const auto found =
        std::find_if(all.begin(), all.end(), [&stem](const ModelClass& known) { return stem_of(known.name) == stem; });
    return found == all.end() || stem.empty() ? nullptr : &*found;
}

ImportedFields read_as(std::string_view as, ModelConfig& config)
{
    const auto* const found =
        std::find_if(readers.begin(), readers.end(), [as](const Reader& reader) { return reader.name == as; });
    return found == readers.end() ? imported_decoder(as, config) : found->read(config);
}

}  // namespace prismopt
