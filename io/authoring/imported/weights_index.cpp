#include "io/authoring/imported/weights_index.hpp"

#include "io/base/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

namespace prismopt {

namespace {

using nlohmann::json;

struct StoredType {
    std::string_view name;  // torch_dtype
    double bytes;
};
constexpr std::array stored_types{StoredType{"bfloat16", 2.0}, StoredType{"float16", 2.0},
                                  StoredType{"float32", 4.0}};

constexpr double tolerance = 1e-3;  // biases and norms that are not described

std::optional<double> number(const json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// Bytes of a parameter, where all have the same type.
std::optional<double> bytes_of(const json& config)
{
    if (config.contains("quantization_config")) {
        return std::nullopt;
    }
    for (const char* key : {"torch_dtype", "dtype"}) {
        const auto type = config.find(key);
        for (const StoredType& known : stored_types) {
            if (type != config.end() && *type == known.name) {
                return known.bytes;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::string weights_warning(const std::string& config_path, const json& config, double parameters,
                            const std::string& described)
{
    constexpr const char* name = "model.safetensors.index.json";
    const std::filesystem::path index = std::filesystem::path(config_path).replace_filename(name);
    if (std::error_code error; !std::filesystem::is_regular_file(index, error)) {
        return "";
    }
    const json file = json::parse(read_text(index.string()), nullptr, false);
    const auto metadata = file.is_object() ? file.find("metadata") : file.end();
    if (!file.is_object() || metadata == file.end() || !metadata->is_object()) {
        return "";
    }
    std::optional<double> stored = number(*metadata, "total_parameters");
    std::string from = "total_parameters";
    const std::optional<double> size = number(*metadata, "total_size");
    const std::optional<double> bytes = bytes_of(config);
    if (!stored && size && bytes) {
        stored = *size / *bytes;
        from = fmt::format("total_size / {} bytes", *bytes);
    }
    if (!stored || std::abs(parameters - *stored) <= tolerance * *stored) {
        return "";
    }
    return fmt::format(
        "{} beside the file has {:.0f} parameters ({}), the imported network {:.0f}: {:.2g} % {}. {}", name,
        *stored, from, parameters, 100.0 * std::abs(parameters / *stored - 1.0),
        parameters < *stored ? "fewer" : "more", described);
}

}  // namespace prismopt
