#include "io/authoring/imported/imported_network.hpp"

#include "io/authoring/imported/model_classes.hpp"
#include "io/authoring/imported/weights_index.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace prismopt {

namespace {

using nlohmann::json;

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
        throw InputError(fmt::format(
            "{}: is not a JSON object; give the config.json of a model, as on the Hugging Face hub", path));
    }
    return result;
}

/// Objects of a composite that hold its decoder's fields (transformers, the configuration classes of
/// composites; thinker_config holds a text_config in turn).
constexpr auto decoder_keys =
    std::to_array<std::string_view>({"text_config", "llm_config", "language_config", "thinker_config",
                                     "language_model_config", "decoder_config", "lm_config"});

/// The class that the file names: `architectures`, or `_class_name` of diffusers; or empty.
std::string named_class(const json& file)
{
    const auto classes = file.find("architectures");
    if (classes != file.end() && classes->is_array() && !classes->empty() && classes->front().is_string()) {
        return printable(classes->front().get<std::string>());
    }
    const auto name = file.find("_class_name");
    return name != file.end() && name->is_string() ? printable(name->get<std::string>()) : "";
}

std::string model_type(const json& file)
{
    const auto type = file.find("model_type");
    return type != file.end() && type->is_string() ? printable(type->get<std::string>()) : "";
}

/// The fields that describe the layers, the whole file or an object in it, and the
/// objects on the way, the file first.
struct Decoder {
    json fields;
    std::vector<json> levels;
    std::string key_path;  // "thinker_config.text_config"; empty: the whole file
};

/// Composites may state at their top whether their embeddings are tied (transformers, configuration_utils.py:
/// the setting of the outer configuration holds for the model), and the vocabulary.
Decoder decoder_of(const json& file)
{
    Decoder result{.fields = file, .levels = {file}, .key_path = ""};
    constexpr std::size_t most = 3;  // levels
    while (result.levels.size() < most) {
        const json& outer = result.levels.back();
        const auto* const inner_key =
            std::find_if(decoder_keys.begin(), decoder_keys.end(), [&outer](std::string_view name) {
                const auto found = outer.find(name);
                return found != outer.end() && found->is_object() && !found->empty();
            });
        if (inner_key == decoder_keys.end()) {
            break;
        }
        json inner = outer[std::string(*inner_key)];
        for (const char* key : {"tie_word_embeddings", "vocab_size"}) {
            if (!inner.contains(key) && outer.contains(key)) {
                inner[key] = outer[key];
            }
        }
        result.key_path += (result.key_path.empty() ? "" : ".") + std::string(*inner_key);
        result.fields = inner;
        result.levels.push_back(std::move(inner));
    }
    return result;
}

/// The class that the user names, that the file names, its decoder, or one of their types, in this
/// order; nullptr: none that is known.
const ModelClass* class_of(const Decoder& decoder, const FieldNames& names)
{
    if (!names.model_class.empty()) {
        const ModelClass* given = class_named(names.model_class);
        if (given == nullptr) {
            throw InputError(fmt::format(
                "--model-class {} is not known{}; prismopt init --help lists the classes",
                printable(names.model_class), guess_of(names.model_class, importable_architectures())));
        }
        return given;
    }
    for (const json& level : decoder.levels) {
        if (const ModelClass* known = class_named(named_class(level)); known != nullptr) {
            return known;
        }
    }
    const auto undescribed = [](const json& level) {
        return !undescribed_component(named_class(level)).empty() ||
               !undescribed_component(model_type(level)).empty();
    };
    if (std::any_of(decoder.levels.begin(), decoder.levels.end(), undescribed)) {
        return nullptr;
    }
    // A class that is not known may share its type with one that is.
    const bool whole = decoder.levels.size() == 1;
    if (whole && !named_class(decoder.fields).empty()) {
        return nullptr;
    }
    for (auto level = decoder.levels.rbegin(); level != decoder.levels.rend(); ++level) {
        if (const ModelClass* known = class_of_type(model_type(*level)); known != nullptr) {
            return known;
        }
    }
    return nullptr;
}

/// The value of the field, or of a.b within an object.
const json* value_at(const json& fields, std::string_view path)
{
    const json* value = &fields;
    while (true) {
        const std::size_t dot = path.find('.');
        const std::string name(path.substr(0, dot));
        const auto found = value->is_object() ? value->find(name) : value->end();
        if (found == value->end()) {
            return nullptr;
        }
        value = &*found;
        if (dot == std::string_view::npos) {
            return value;
        }
        path.remove_prefix(dot + 1);
    }
}

std::vector<std::string> words_of(std::string_view text)
{
    std::istringstream stream{std::string(text)};
    return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

/// Gives the class's names to fields that a file of another class calls otherwise; numbers and true or false
/// are what it has where the file says nothing. Returns the latter, and the objects whose fields were read.
struct Renamed {
    std::vector<std::string> usual;    // "NAME = VALUE"
    std::vector<std::string> objects;  // names
};
Renamed rename(std::string_view fields, json& file)
{
    Renamed result;
    const json before = file;
    for (const std::string& pair : words_of(fields)) {
        const std::size_t equals = pair.find('=');
        const std::string name = pair.substr(0, equals);
        const std::string other = pair.substr(equals + 1);
        if (const json* value = value_at(before, other); value != nullptr) {
            if (file.contains(other) && file[other] == *value) {
                file.erase(other);
            }
            file[name] = *value;
            result.objects.push_back(other.substr(0, other.find('.')));
        } else if (const json given = json::parse(other, nullptr, false);
                   !given.is_discarded() && !file.contains(name)) {
            file[name] = given;
            result.usual.push_back(fmt::format("{} = {}", name, other));
        }
    }
    return result;
}

/// The same for what the user says, which must be in the file, or a value.
void rename_given(const FieldNames& names, const std::string& path, json& file)
{
    for (const std::string& pair : names.fields) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size() ||
            pair.find(' ') != std::string::npos) {
            throw InputError(fmt::format(
                "--field {} is not NAME=OTHER; write for example --field num_experts=n_routed_experts",
                printable(pair)));
        }
        const std::string other = pair.substr(equals + 1);
        if (value_at(file, other) == nullptr && json::parse(other, nullptr, false).is_discarded()) {
            std::vector<std::string> known;
            for (const auto& [key, value] : file.items()) {
                known.push_back(key);
            }
            throw InputError(fmt::format(
                "--field {}: {} has no field {}{}; name a field of the file, or give a number, true or false",
                printable(pair), path, printable(other), guess_of(other, known)));
        }
        const json* value = value_at(file, other);
        json given = value != nullptr ? *value : json::parse(other, nullptr, false);
        file.erase(other);
        file[pair.substr(0, equals)] = std::move(given);
    }
}

/// The class that has most of the file's fields, and needs few that it has not.
std::string nearest_class(const json& fields, const std::string& path, const std::string& name)
{
    const std::string spelt = nearest(name, importable_architectures());
    const ModelClass* best = nullptr;
    int best_score = 0;
    int best_read = 0;
    for (const ModelClass& known : model_classes()) {
        json own = fields;
        const bool other = known.name != known.as;
        if (rename(known.fields, own).objects.empty() && other) {
            continue;  // nothing that its equal has not
        }
        ModelConfig config(own, std::string(known.name), path);
        try {
            if (read_as(known.as, config).workload.sequence.empty()) {
                continue;
            }
        } catch (const InputError&) {
            continue;
        }
        const int score = 2 * (config.fields_read() - static_cast<int>(config.assumptions().size())) +
                          (known.name == spelt ? 1 : 0);
        if (best == nullptr || score > best_score) {
            best = &known;
            best_score = score;
            best_read = config.fields_read();
        }
    }
    return best == nullptr ? ""
                           : fmt::format(
                                 "; {} of its fields are those of {}: --model-class {} reads it so, and "
                                 "--field NAME=OTHER "
                                 "names fields that are called otherwise; check the number of parameters",
                                 best_read, best->name, best->name);
}

[[noreturn]] void refuse(const Decoder& decoder, const std::string& path)
{
    std::string name;
    for (const json& level : decoder.levels) {
        if (name.empty()) {
            name = named_class(level);
        }
    }
    const std::string type = model_type(decoder.fields);
    const std::string called = name.empty() ? type : name;
    if (called.empty()) {
        const std::string near = nearest_class(decoder.fields, path, "");
        throw InputError(fmt::format(
            "{}: names no class, in architectures, _class_name or model_type{}", path,
            near.empty() ? R"(; add "architectures": ["LlamaForCausalLM"] with the class of the model)"
                         : near));
    }
    std::string_view component = undescribed_component(called);
    for (const json& level : decoder.levels) {
        if (component.empty()) {
            component = undescribed_component(model_type(level));
        }
    }
    throw InputError(
        fmt::format("{}: {} {} cannot be imported{}; or describe the network by its layers "
                    "(docs/networks.md, \"A network that cannot be "
                    "imported\"), or capture it from its PyTorch code (docs/captured-networks.md)",
                    path, name.empty() ? "model_type" : "architecture", called,
                    component.empty() ? nearest_class(decoder.fields, path, called)
                                      : fmt::format(": no block describes its {}; leave it out", component)));
}

/// Whether an object of that name describes a tower: any configuration beside the decoder,
/// or one that says what it reads.
bool names_tower(std::string_view key, bool beside_decoder)
{
    constexpr auto beginnings =
        std::to_array<std::string_view>({"audio", "image", "speech", "talker", "video", "vision", "visual"});
    const bool reads = std::any_of(beginnings.begin(), beginnings.end(),
                                   [key](std::string_view prefix) { return key.starts_with(prefix); });
    const bool decoder = std::find(decoder_keys.begin(), decoder_keys.end(), key) != decoder_keys.end();
    return key.ends_with("_config") && !decoder && key != "quantization_config" && (reads || beside_decoder);
}

/// Parts of a composite beside its decoder.
void note_towers(const Decoder& decoder, ModelConfig& config)
{
    std::vector<std::string> towers;
    for (const json& level : decoder.levels) {
        const bool beside = &level != &decoder.levels.back();
        for (const auto& [key, value] : level.items()) {
            if (value.is_object() && names_tower(key, beside)) {
                towers.push_back(printable(key));
                config.ignore({key});
            }
        }
    }
    if (!decoder.key_path.empty() || !towers.empty()) {
        config.assume(fmt::format("only the decoder{} is described, without towers for images and sound{}",
                                  decoder.key_path.empty() ? "" : " of " + decoder.key_path,
                                  towers.empty() ? "" : " (" + listed(towers) + ")"));
    }
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

/// Names the file in refusals by functions that do not know it.
ImportedFields fields_of(const ModelClass& known, ModelConfig& config, const std::string& path)
{
    try {
        return read_as(known.as, config);
    } catch (const InputError& error) {
        const bool in_one_text = error.reason().empty();  // with the file
        if (in_one_text || !error.place().file.empty()) {
            throw;
        }
        throw InputError({.file = path}, error.reason(), error.remedy());
    }
}

}  // namespace

std::vector<std::string> importable_architectures()
{
    std::vector<std::string> names;
    for (const ModelClass& known : model_classes()) {
        names.emplace_back(known.name);
    }
    return names;
}

ImportedNetwork imported_network(const std::string& text, const std::string& path, const FieldNames& names)
{
    Decoder decoder = decoder_of(parsed(text, path));
    const ModelClass* known = class_of(decoder, names);
    rename_given(names, path, decoder.fields);
    if (known == nullptr) {
        refuse(decoder, path);
    }
    const Renamed renamed = rename(known->fields, decoder.fields);
    const std::string name(known->name);
    ModelConfig config(decoder.fields, name, path);
    for (const std::string& usual : renamed.usual) {
        config.assume(fmt::format("{} (not in the file; default of {})", usual, name));
    }
    for (const std::string& object : renamed.objects) {
        config.ignore({object});
    }
    ImportedFields read = fields_of(*known, config, path);
    if (!known->note.empty()) {
        config.assume(std::string(known->note));
    }
    note_towers(decoder, config);
    if (read.workload.sequence.empty()) {
        throw InputError(
            fmt::format("{}: describes a network without layers; correct the number of layers", path));
    }
    read.workload.name = network_name(path, name);
    ImportedNetwork network{read.workload, name, config.assumptions(), read.tokens};
    network.omitted = config.omitted();
    const bool modules = !network.workload.prediction.empty();
    const std::string warning = weights_warning(
        path, decoder.levels.front(), parameters_of(network_of(network.workload)),
        decoder.key_path.empty() && !modules
            ? "Compare the fields that the scenario names as omitted with the model card"
            : "Towers and modules of multi-token prediction, which are omitted, count among the former");
    if (!warning.empty()) {
        network.warnings.push_back(warning);
    }
    return network;
}

}  // namespace prismopt
