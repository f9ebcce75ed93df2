#pragma once

/// Fields of a config.json, the description of a network on the Hugging Face hub.

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// One network's fields. What is read of an absent field is recorded as an assumption. A field of the wrong
/// type or range is an InputError with the file and the field.
class ModelConfig {
public:
    /// `fields` must outlive the object. `architecture`: name of the class, for
    /// messages. `path`: of the file.
    ModelConfig(const nlohmann::json& fields, std::string architecture, std::string path);

    /// Whether the field is in the file, and not null. Fields that were asked for count as read.
    bool has(std::string_view key) const;
    /// Whether the field is in the file and null.
    bool null(std::string_view key) const;

    /// A list of equal numbers, one per layer, counts as that number.
    int count(std::string_view key) const;
    int count(std::string_view key, int usual);
    /// The same for what is at least 1.
    int positive(std::string_view key) const;
    int positive(std::string_view key, int usual);
    /// The product, of which one factor is the field's; refuses what no network has.
    int product(std::string_view key, double a, double b) const;
    bool flag(std::string_view key) const;
    bool flag(std::string_view key, bool usual);
    std::string text(std::string_view key) const;
    std::string text(std::string_view key, std::string_view usual);
    /// Lists: [] where the field is absent or empty. `entries`: how many it must
    /// have otherwise; 0: any number.
    std::vector<std::string> texts(std::string_view key, int entries = 0) const;
    std::vector<int> counts(std::string_view key, int entries = 0) const;
    double number(std::string_view key) const;
    /// The object of that name, and the objects of a list.
    ModelConfig object(std::string_view key) const;
    std::vector<ModelConfig> objects(std::string_view key) const;
    /// Whether the field is a list.
    bool lists(std::string_view key) const;
    /// Whether the field is this text.
    bool says(std::string_view key, std::string_view text) const;

    /// Counts fields as read that mean nothing here.
    void ignore(std::initializer_list<std::string_view> keys) const;
    /// Fields that were not read, of those that may matter to time or memory, with their values.
    std::vector<std::string> omitted() const;
    int fields_read() const;

    /// Records what was assumed beside the fields, or omitted.
    void assume(const std::string& what);
    [[noreturn]] void fail(std::string_view key, const std::string& problem, const std::string& remedy) const;

    const std::vector<std::string>& assumptions() const { return assumptions_; }
    const std::string& architecture() const { return architecture_; }

private:
    const nlohmann::json* found(std::string_view key) const;
    const nlohmann::json& at(std::string_view key) const;
    const nlohmann::json& list(std::string_view key, int entries) const;
    void assume_value(std::string_view key, const std::string& value);

    const nlohmann::json& fields_;
    std::string architecture_;
    std::string path_;
    std::vector<std::string> assumptions_;
    mutable std::set<std::string, std::less<>> read_;
};

}  // namespace prismopt
