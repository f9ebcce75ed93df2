#include "io/authoring/imported/model_config.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace prismopt {

namespace {

using nlohmann::json;

constexpr double largest = 1e8;  // of a count

std::string shown(const json& value)
{
    return printable(value.dump(-1, ' ', true, json::error_handler_t::replace), 40);
}

/// The entry of a list whose entries are equal; else the value.
const json& without_list(const json& value)
{
    const bool equal = value.is_array() && !value.empty() &&
                       std::all_of(value.begin(), value.end(),
                                   [&value](const json& entry) { return entry == value.front(); });
    return equal ? value.front() : value;
}

/// Fields that change neither the layers nor their tensors: names, beginnings and ends of names.
constexpr auto silent_names = std::to_array<std::string_view>({"_class_name",
                                                               "_name_or_path",
                                                               "architectures",
                                                               "attn_implementation",
                                                               "auto_map",
                                                               "chat_template",
                                                               "dtype",
                                                               "finetuning_task",
                                                               "id2label",
                                                               "initializer_factor",
                                                               "is_decoder",
                                                               "is_encoder_decoder",
                                                               "keys_to_ignore_at_inference",
                                                               "label2id",
                                                               "layer_norm_epsilon",
                                                               "max_position_embeddings",
                                                               "max_seq_len",
                                                               "max_sequence_length",
                                                               "max_window_layers",
                                                               "model_max_length",
                                                               "model_type",
                                                               "n_positions",
                                                               "norm_topk_prob",
                                                               "original_max_position_embeddings",
                                                               "partial_rotary_factor",
                                                               "pretraining_tp",
                                                               "problem_type",
                                                               "qk_norm_type",
                                                               "quantization_config",
                                                               "resid_pdrop",
                                                               "routed_scaling_factor",
                                                               "router_aux_loss_coef",
                                                               "scoring_func",
                                                               "seq_length",
                                                               "task_specific_params",
                                                               "tokenizer_class",
                                                               "topk_method",
                                                               "torch_dtype",
                                                               "transformers_version",
                                                               "unsloth_version",
                                                               "use_cache",
                                                               "use_routing_bias",
                                                               "z_loss_coefficient"});
constexpr auto silent_beginnings = std::to_array<std::string_view>(
    {"_attn_implementation", "aux_loss", "fused_", "fuse_", "init_", "initializer_", "output_", "return_dict",
     "rope_", "rotary_", "use_return_dict"});
constexpr auto silent_ends = std::to_array<std::string_view>(
    {"_coef", "_dropout", "_eps", "_id", "_ids", "_index", "_init", "_prob", "_token", "_std", "_multiplier",
     "_multipliers", "logits_scaling", "_theta", "_layerdrop", "dropout_rate"});

bool silent(std::string_view key)
{
    const auto is = [key](std::string_view name) { return key == name; };
    const auto begins = [key](std::string_view prefix) { return key.starts_with(prefix); };
    const auto ends = [key](std::string_view suffix) { return key.ends_with(suffix); };
    return std::any_of(silent_names.begin(), silent_names.end(), is) ||
           std::any_of(silent_beginnings.begin(), silent_beginnings.end(), begins) ||
           std::any_of(silent_ends.begin(), silent_ends.end(), ends);
}

/// Whether the value switches nothing on.
bool means_none(const json& value)
{
    const bool empty = (value.is_array() || value.is_object() || value.is_string()) && value.empty();
    return value.is_null() || value == false || value == 0 || empty;
}

}  // namespace

ModelConfig::ModelConfig(const json& fields, std::string architecture, std::string path)
    : fields_(fields), architecture_(std::move(architecture)), path_(std::move(path))
{
}

const json* ModelConfig::found(std::string_view key) const
{
    read_.emplace(key);
    const auto field = fields_.find(key);
    return field == fields_.end() ? nullptr : &*field;
}

bool ModelConfig::has(std::string_view key) const
{
    const json* field = found(key);
    return field != nullptr && !field->is_null();
}

bool ModelConfig::null(std::string_view key) const
{
    const json* field = found(key);
    return field != nullptr && field->is_null();
}

void ModelConfig::fail(std::string_view key, const std::string& problem, const std::string& remedy) const
{
    throw InputError(fmt::format("{}: {} {}; {}", path_, key, problem, remedy));
}

const json& ModelConfig::at(std::string_view key) const
{
    if (!has(key)) {
        fail(key,
             fmt::format("is not in the file, and {} has no default that could be assumed", architecture_),
             "add the field to the file");
    }
    return *fields_.find(key);
}

int ModelConfig::count(std::string_view key) const
{
    const json& value = without_list(at(key));
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!(number >= 0.0 && number <= largest) || number != std::floor(number)) {
        fail(key, fmt::format("is {}, not a whole number from 0 to {:g}", shown(value), largest),
             value.is_array() ? "only equal entries can be read; describe the network by its layers"
                              : "correct the field");
    }
    return static_cast<int>(number);
}

int ModelConfig::count(std::string_view key, int usual)
{
    if (has(key)) {
        return count(key);
    }
    assume_value(key, std::to_string(usual));
    return usual;
}

int ModelConfig::positive(std::string_view key) const
{
    const int number = count(key);
    if (number < 1) {
        fail(key, fmt::format("is {}, but {} needs at least 1", number, architecture_), "correct the field");
    }
    return number;
}

int ModelConfig::positive(std::string_view key, int usual)
{
    return has(key) ? positive(key) : count(key, usual);
}

int ModelConfig::product(std::string_view key, double a, double b) const
{
    const double result = a * b;
    if (result > largest) {
        fail(key, fmt::format("makes a product of {:g}, which no network has", result), "correct the field");
    }
    return static_cast<int>(result);
}

bool ModelConfig::flag(std::string_view key) const
{
    const json& value = at(key);
    if (!value.is_boolean()) {
        fail(key, fmt::format("is {}, not true or false", shown(value)), "correct the field");
    }
    return value.get<bool>();
}

bool ModelConfig::flag(std::string_view key, bool usual)
{
    if (has(key)) {
        return flag(key);
    }
    assume_value(key, usual ? "true" : "false");
    return usual;
}

std::string ModelConfig::text(std::string_view key) const
{
    const json& value = at(key);
    if (!value.is_string()) {
        fail(key, fmt::format("is {}, not a text", shown(value)), "correct the field");
    }
    return value.get<std::string>();
}

std::string ModelConfig::text(std::string_view key, std::string_view usual)
{
    if (has(key)) {
        return text(key);
    }
    assume_value(key, fmt::format("\"{}\"", usual));
    return std::string(usual);
}

const json& ModelConfig::list(std::string_view key, int entries) const
{
    const json& value = at(key);
    if (!value.is_array()) {
        fail(key, fmt::format("is {}, not a list", shown(value)), "correct the field");
    }
    if (entries > 0 && !value.empty() && static_cast<int>(value.size()) != entries) {
        fail(key, fmt::format("has {} entries for {} layers", value.size(), entries),
             "give one entry per layer");
    }
    return value;
}

std::vector<std::string> ModelConfig::texts(std::string_view key, int entries) const
{
    std::vector<std::string> result;
    if (has(key)) {
        for (const json& value : list(key, entries)) {
            if (!value.is_string()) {
                fail(key, fmt::format("holds {}, not a text", shown(value)), "correct the field");
            }
            result.push_back(value.get<std::string>());
        }
    }
    return result;
}

std::vector<int> ModelConfig::counts(std::string_view key, int entries) const
{
    std::vector<int> result;
    if (has(key)) {
        for (const json& value : list(key, entries)) {
            if (!value.is_number_unsigned() || value.get<double>() > largest) {
                fail(key, fmt::format("holds {}, not a whole number from 0 to {:g}", shown(value), largest),
                     "correct the field");
            }
            result.push_back(value.get<int>());
        }
    }
    return result;
}

double ModelConfig::number(std::string_view key) const
{
    const json& value = at(key);
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!(number >= 0.0 && number <= largest)) {
        fail(key, fmt::format("is {}, not a number from 0 to {:g}", shown(value), largest),
             "correct the field");
    }
    return number;
}

ModelConfig ModelConfig::object(std::string_view key) const
{
    const json& value = at(key);
    if (!value.is_object()) {
        fail(key, fmt::format("is {}, not an object", shown(value)), "correct the field");
    }
    return {value, architecture_, path_};
}

std::vector<ModelConfig> ModelConfig::objects(std::string_view key) const
{
    std::vector<ModelConfig> result;
    for (const json& value : list(key, 0)) {
        if (!value.is_object()) {
            fail(key, fmt::format("holds {}, not an object", shown(value)), "correct the field");
        }
        result.emplace_back(value, architecture_, path_);
    }
    return result;
}

bool ModelConfig::lists(std::string_view key) const { return has(key) && at(key).is_array(); }

bool ModelConfig::says(std::string_view key, std::string_view text) const
{
    return has(key) && at(key) == text;
}

void ModelConfig::ignore(std::initializer_list<std::string_view> keys) const
{
    for (const std::string_view key : keys) {
        read_.emplace(key);
    }
}

std::vector<std::string> ModelConfig::omitted() const
{
    std::vector<std::string> result;
    for (const auto& [key, value] : fields_.items()) {
        if (!read_.contains(key) && !silent(key) && !means_none(value)) {
            result.push_back(fmt::format("{} = {}", printable(key), shown(value)));
        }
    }
    return result;
}

int ModelConfig::fields_read() const
{
    return static_cast<int>(std::count_if(read_.begin(), read_.end(),
                                          [this](const std::string& key) { return fields_.contains(key); }));
}

void ModelConfig::assume(const std::string& what)
{
    if (std::find(assumptions_.begin(), assumptions_.end(), what) == assumptions_.end()) {
        assumptions_.push_back(what);
    }
}

void ModelConfig::assume_value(std::string_view key, const std::string& value)
{
    assume(fmt::format("{} = {} (not in the file; default of {})", key, value, architecture_));
}

}  // namespace prismopt
