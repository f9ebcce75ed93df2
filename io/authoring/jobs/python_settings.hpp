#pragma once

/// Settings of a configuration in Python, as torchtitan has them after its TOML files: literals, products and
/// constants are read, and nothing is run.

#include "io/authoring/jobs/job_setting.hpp"

#include <string>

namespace prismopt {

/// "config.training = TrainingConfig(steps=10)" and "config.training.steps = 10" give
/// "training.steps"; a function of another module that makes the configuration gives "recipe". Values
/// that are no literals are missing.
JobSettingList python_settings(const std::string& text, const std::string& path);

}  // namespace prismopt
