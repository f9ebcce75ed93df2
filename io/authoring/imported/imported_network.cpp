#include "io/authoring/imported/imported_network.hpp"

#include "io/authoring/imported/architectures.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace prismopt {

namespace {

using nlohmann::json;

struct Architecture {
    std::string_view name;  // of the class
    ImportedFields (*read)(ModelConfig&);
    std::string_view part = {};  // object of the file that holds the decoder's fields
};
/// Classes beside the decoders with the usual fields.
constexpr std::array architectures{
    Architecture{"BertForMaskedLM", bert},
    Architecture{"BertForPreTraining", bert},
    Architecture{"ChatGLMForConditionalGeneration", chat_glm},
    Architecture{"ChatGLMModel", chat_glm},
    Architecture{"DeepseekV2ForCausalLM", deepseek_v2},
    Architecture{"DeepseekV3ForCausalLM", deepseek_v3},
    Architecture{"DiTTransformer2DModel", dit},
    Architecture{"FalconForCausalLM", falcon},
    Architecture{"GPT2LMHeadModel", gpt2},
    Architecture{"GPTNeoXForCausalLM", gpt_neox},
    Architecture{"Gemma3ForCausalLM", gemma3},
    Architecture{"Gemma3ForConditionalGeneration", gemma3, "text_config"},
    Architecture{"GraniteMoeHybridForCausalLM", granite_hybrid},
    Architecture{"Llama4ForCausalLM", llama4},
    Architecture{"Llama4ForConditionalGeneration", llama4, "text_config"},
    Architecture{"Mamba2ForCausalLM", mamba2},
    Architecture{"MambaLMHeadModel", state_spaces_mamba},
    Architecture{"NemotronHForCausalLM", nemotron_h},
    Architecture{"Qwen3NextForCausalLM", qwen3_next},
    Architecture{"Qwen3_5ForConditionalGeneration", qwen3_5, "text_config"},
    Architecture{"Qwen3_5MoeForConditionalGeneration", qwen3_5, "text_config"},
    Architecture{"T5ForConditionalGeneration", t5},
    Architecture{"ViTForImageClassification", vit},
    Architecture{"ViTModel", vit},
};

/// Python writes numbers that JSON does not have: "time_step_limit": [0.0, Infinity].
std::string with_nulls(const std::string& text)
{
    std::string result;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) {
            quoted = !quoted;
        }
        bool replaced = false;
        if (!quoted) {
            for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
                if (text.compare(i, word.size(), word) == 0) {
                    result += "null";
                    i += word.size() - 1;
                    replaced = true;
                    break;
                }
            }
        }
        if (!replaced) {
            result += text[i];
        }
    }
    return result;
}

json parsed(const std::string& text, const std::string& path)
{
    json result = json::parse(with_nulls(text), nullptr, false);
    if (!result.is_object()) {
        throw InputError(
            fmt::format("{}: is not a JSON object; give the config.json of a model, as on the Hugging Face hub", path));
    }
    return result;
}

/// The class that the file names: `architectures`, or `_class_name` of diffusers.
std::string class_of(const json& file, const std::string& path)
{
    const auto classes = file.find("architectures");
    if (classes != file.end() && classes->is_array() && !classes->empty() && classes->front().is_string()) {
        return printable(classes->front().get<std::string>());
    }
    const auto name = file.find("_class_name");
    if (name != file.end() && name->is_string()) {
        return printable(name->get<std::string>());
    }
    throw InputError(
        fmt::format("{}: names no class, in architectures or _class_name; add \"architectures\": [\"LlamaForCausalLM\"] "
                    "with the class of the model",
                    path));
}

/// nullptr: a decoder with the usual fields.
const Architecture* architecture_of(const std::string& name)
{
    const auto* const found = std::find_if(architectures.begin(), architectures.end(),
                                           [&name](const Architecture& known) { return known.name == name; });
    return found == architectures.end() ? nullptr : found;
}

void refuse_unknown(const std::string& name, const std::string& path)
{
    const std::vector<std::string> known = importable_architectures();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        const std::string near = nearest(name, known);
        throw InputError(fmt::format(
            "{}: architecture {} cannot be imported{}; describe the network by its layers (docs/networks.md, \"A network that "
            "cannot be imported\"), or capture it from its PyTorch code (docs/captured-networks.md). Known are: {}",
            path, name, near.empty() ? "" : fmt::format(" (the nearest name is {})", near), listed(known)));
    }
}

/// The decoder of a composite, or the whole file. Composites may state at their top whether its embeddings are tied (transformers,
/// configuration_utils.py: the setting of the outer configuration holds for the model).
json decoder_of(const json& file, const std::string& part)
{
    constexpr const char* tied = "tie_word_embeddings";
    const auto inner = file.find(part);
    if (inner == file.end() || !inner->is_object()) {
        return file;
    }
    json fields = *inner;
    if (!fields.contains(tied) && file.contains(tied)) {
        fields[tied] = file[tied];
    }
    return fields;
}

/// "llama/config.json" is called "llama", "llama.json" as well.
std::string network_name(const std::string& path, const std::string& architecture)
{
    const std::filesystem::path file(path);
    const std::string stem = file.stem().string();
    const std::string folder = file.parent_path().filename().string();
    const std::string name = stem != "config" ? stem : folder;
    return printable(name.empty() || name == "." || name == ".." ? architecture : name);
}

}  // namespace

std::vector<std::string> importable_architectures()
{
    std::vector<std::string> names;
    for (const Architecture& known : architectures) {
        names.emplace_back(known.name);
    }
    for (const std::string_view name : decoder_class_names()) {
        names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

ImportedNetwork imported_network(const std::string& text, const std::string& path)
{
    const json file = parsed(text, path);
    const std::string name = class_of(file, path);
    refuse_unknown(name, path);
    const Architecture* architecture = architecture_of(name);
    const json fields = architecture == nullptr ? file : decoder_of(file, std::string(architecture->part));
    ModelConfig config(fields, name, path);
    ImportedFields read = architecture == nullptr ? imported_decoder(config) : architecture->read(config);
    if (fields != file) {
        config.assume("only the decoder is described, without towers for images and sound");
    }
    if (read.workload.sequence.empty()) {
        throw InputError(fmt::format("{}: describes a network without layers; correct the number of layers", path));
    }
    read.workload.name = network_name(path, name);
    return {read.workload, name, config.assumptions(), read.tokens};
}

}  // namespace prismopt
