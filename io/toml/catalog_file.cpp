#include "io/toml/catalog_file.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <map>

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

std::vector<std::string> catalog_names(const std::string& file_name)
{
    const TomlFile& file = catalog_file(file_name);
    return Table(file.root, file).keys();
}

Table catalog_entry(const std::string& file_name, const std::string& name)
{
    const TomlFile& file = catalog_file(file_name);
    Table all(file.root, file);
    const auto found = all.find(name);
    if (!found) {
        const std::string near = nearest(name, all.keys());
        throw InputError(fmt::format("\"{}\" is not in the catalog (entries: {}); {}", name, listed(all.keys()),
                                     near.empty() ? "choose one of these" : fmt::format("did you mean \"{}\"?", near)));
    }
    return found->table("a section");
}

}  // namespace prismopt
