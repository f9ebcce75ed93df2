#pragma once

/// Names of the settings of each training program, for one version of it. The tables are in target_names.cpp.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prismopt {

struct TargetNames {
    std::string version;
    std::string source;  // URL of the file with the names
    std::span<const std::string_view> names;
};
const TargetNames& megatron_names();
const TargetNames& bridge_names();
const TargetNames& torchtitan_names();
const TargetNames& torchtitan_recipe_names();

/// Settings of a target in the order in which they were set.
class Settings {
public:
    explicit Settings(const TargetNames& names) : names_(names) {}

    /// Throws std::logic_error for a name that the target's version does not have.
    void set(std::string_view name, const std::string& value);
    void set(std::string_view name, long value);
    void flag(std::string_view name) { set(name, std::string()); }

    const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

private:
    const TargetNames& names_;
    std::vector<std::pair<std::string, std::string>> all_;  // a flag has an empty value
};

}  // namespace prismopt
