#include "io/authoring/imported/model_config.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {

namespace {

using nlohmann::json;

constexpr double largest = 1e8;  // of a count

std::string shown(const json& value) { return printable(value.dump(-1, ' ', true, json::error_handler_t::replace), 40); }

}  // namespace

ModelConfig::ModelConfig(const json& fields, std::string architecture, std::string path)
    : fields_(fields), architecture_(std::move(architecture)), path_(std::move(path))
{
}

bool ModelConfig::has(std::string_view key) const
{
    const auto found = fields_.find(key);
    return found != fields_.end() && !found->is_null();
}

bool ModelConfig::null(std::string_view key) const
{
    const auto found = fields_.find(key);
    return found != fields_.end() && found->is_null();
}

void ModelConfig::fail(std::string_view key, const std::string& problem, const std::string& remedy) const
{
    throw InputError(fmt::format("{}: {} {}; {}", path_, key, problem, remedy));
}

const json& ModelConfig::at(std::string_view key) const
{
    if (!has(key)) {
        fail(key, fmt::format("is not in the file, and {} has no default that could be assumed", architecture_),
             "add the field to the file");
    }
    return *fields_.find(key);
}

int ModelConfig::count(std::string_view key) const
{
    const json& value = at(key);
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!(number >= 0.0 && number <= largest) || number != std::floor(number)) {
        fail(key, fmt::format("is {}, not a whole number from 0 to {:g}", shown(value), largest), "correct the field");
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

int ModelConfig::positive(std::string_view key, int usual) { return has(key) ? positive(key) : count(key, usual); }

int ModelConfig::product(std::string_view key, int a, int b) const
{
    const double result = static_cast<double>(a) * b;
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
        fail(key, fmt::format("has {} entries for {} layers", value.size(), entries), "give one entry per layer");
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
                fail(key, fmt::format("holds {}, not a whole number from 0 to {:g}", shown(value), largest), "correct the field");
            }
            result.push_back(value.get<int>());
        }
    }
    return result;
}

bool ModelConfig::says(std::string_view key, std::string_view text) const { return has(key) && at(key) == text; }

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
