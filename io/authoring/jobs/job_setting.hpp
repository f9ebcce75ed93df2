#pragma once

/// Settings of a training job, as its files give them.

#include "io/base/input_error.hpp"

#include <map>
#include <string>
#include <vector>

namespace prismopt {

struct JobSetting {
    std::string name;                       // "tensor-model-parallel-size", "training.seq_len"
    std::vector<std::string> values = {};   // of a list all; none: a flag, or an empty list
    std::vector<std::string> missing = {};  // what a script does not give: variables, substitutions
    InputPlace place = {};
    bool option = false;  // of a command line, with dashes

    std::string text() const;  // the values, separated by blanks
};
using JobSettingList = std::vector<JobSetting>;

/// The settings of a YAML or JSON file, by their paths: "fsdp_config.fsdp_version",
/// "data_stages.0.sequence_length". A list of plain values is one setting. Throws
/// InputError for text that is neither.
JobSettingList document_settings(const std::string& text, const std::string& path);
/// The same for a TOML file.
JobSettingList toml_settings(const std::string& text, const std::string& path);

/// Replaces ${section.name}, ${.name}, ${oc.env:NAME,default} and ${NAME:default} by what they stand for;
/// what has no value is missing. `given`: values of the user, by name.
void resolve_references(JobSettingList& settings, const std::map<std::string, std::string>& given);

}  // namespace prismopt
