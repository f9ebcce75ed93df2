#pragma once

/// Settings changed in the files of a job, where they stand and as the files write them.

#include "io/authoring/jobs/imported_job.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace prismopt {

/// A setting that a job is to have.
struct WantedSetting {
    // as the trainer spells it, without dashes: "tensor-model-parallel-size", "model.seq_length"
    std::string name;
    std::string value;   // empty: a flag
    std::string key;     // axis of the plan that it gives
    bool usual = false;  // the trainer's default: need not be written
};

/// Returns the files in which the settings that give one of `keys` are the wanted ones: a value is
/// changed where it stands, or where the script assigns the variable that it comes from, if nothing else uses
/// that; a setting that no wanted one replaces is removed, and one that is not there stands behind the last
/// of its kind. A member of JSON is only changed. Nothing: a setting is not found where the report has it,
/// and is not the only option of its name, or has no place in these files. What is returned is a proposal:
/// import it to see whether it means what was wanted.
std::optional<std::vector<JobFile>> with_settings(const std::vector<JobFile>& files,
                                                  const std::vector<ImportedValue>& read,
                                                  const std::vector<WantedSetting>& wanted,
                                                  const std::set<std::string>& keys);

/// The value that each assignment of a variable outside of comments has, as "1" of `export NAME=1`,
/// `NAME=${NAME:-1}`, `--env NAME=1`, `NAME: "1"` or `os.environ["NAME"] = "1"`.
struct VariableValue {
    std::size_t file = 0;
    std::size_t begin = 0;
    std::string value;
};
std::vector<VariableValue> variable_values(const std::vector<JobFile>& files, const std::string& name);
/// Returns the files with another value there.
std::vector<JobFile> with_variable(std::vector<JobFile> files, const std::vector<VariableValue>& places,
                                   const std::string& value);

}  // namespace prismopt
