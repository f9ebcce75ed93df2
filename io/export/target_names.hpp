#pragma once

/// Settings that exports write, for one version of each training program: rows of its table
/// (io/trainers/trainer_settings.hpp).

#include "io/trainers/trainer_settings.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prismopt {

/// The names of one version of a program. The settings are one of the static tables of io/trainers/.
struct TargetNames {
    std::string version;
    std::string source;  // URL of the file with the names
    const TrainerSettings& settings;
};
const TargetNames& megatron_names();
const TargetNames& bridge_names();
const TargetNames& torchtitan_names();
const TargetNames& torchtitan_recipe_names();

/// Settings of a target in the order in which they were set.
class Settings {
public:
    /// The names must outlive this object.
    explicit Settings(const TargetNames& names) : names_(names) {}

    /// Throws std::logic_error for a name that the program does not have.
    void set(std::string_view name, const std::string& value);
    void set(std::string_view name, long value);
    void flag(std::string_view name) { set(name, std::string()); }

    const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

private:
    const TargetNames& names_;
    std::vector<std::pair<std::string, std::string>> all_;  // a flag has an empty value
};

}  // namespace prismopt
