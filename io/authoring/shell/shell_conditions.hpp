#pragma once

/// What commands give as conditions. Internal to the reader of scripts.

#include "io/authoring/shell/shell_values.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt::shell {

/// What a condition gives.
struct Status {
    std::optional<bool> holds = {};  // nothing: it cannot be decided
    Names missing = {};              // names whose values it needs
};

/// Of two commands joined by && or ||; the second alone where `op` is neither.
Status joined_status(const Status& first, const std::string& op, const Status& second);
/// Of "! command".
Status negated_status(const Status& status);

/// When a command runs that stands behind `before` and && or ||.
When when_joined(const Status& before, const std::string& op);

/// Whether a command is a test that is decided, or one that succeeds.
Status status_of(const Reader& r, const std::vector<ShellWord>& words);

}  // namespace prismopt::shell
