#pragma once

/// model.safetensors.index.json, which lies beside the config.json of a published network and
/// says how large its weights are.

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace prismopt {

/// Says by how much the number of parameters differs from the one that the index beside the file gives;
/// empty: by less than 0.1 %, or no index states it. `config_path`: of the config.json, with these fields.
/// `described`: how the network is described.
std::string weights_warning(const std::string& config_path, const nlohmann::json& config, double parameters,
                            const std::string& described);

}  // namespace prismopt
