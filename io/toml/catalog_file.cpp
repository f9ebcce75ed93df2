#include "io/toml/catalog_file.hpp"

#include "io/base/checksum.hpp"
#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <map>
#include <span>

namespace prismopt {

std::string catalog_text(const std::string& name)
{
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name == name) {
            return file.text;
        }
    }
    throw InputError(fmt::format("model/catalog/{} is missing from the program; rebuild it", name));
}

std::string catalog_digest()
{
    std::string all;
    for (const EmbeddedFile& file : catalog_files()) {
        all += fmt::format("{} {} ", file.name, file.text.size());  // so that no character can move between files
        all += file.text;
    }
    return fmt::format("{:016x}", crc64_of(std::as_bytes(std::span(all))));
}

const TomlFile& catalog_file(const std::string& name)
{
    static const std::map<std::string, TomlFile> files = [] {
        std::map<std::string, TomlFile> result;
        for (const EmbeddedFile& file : catalog_files()) {
            if (file.name.ends_with(".toml")) {
                result.emplace(file.name, parse_toml(file.text, "model/catalog/" + file.name));
            }
        }
        return result;
    }();
    const auto found = files.find(name);
    if (found == files.end()) {
        throw InputError(fmt::format("model/catalog/{} is missing from the program; run jobs/fit_constants and rebuild", name));
    }
    return found->second;
}

}  // namespace prismopt
