#include "io/toml/catalog_file.hpp"

#include "io/base/checksum.hpp"
#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
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

namespace {

/// A file of the catalog, read when it is first asked for: most commands need few of them.
struct CatalogFile {
    std::string text;
    std::once_flag once;
    TomlFile file;
};

std::map<std::string, CatalogFile> toml_files()
{
    std::map<std::string, CatalogFile> files;
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name.ends_with(".toml")) {
            files[file.name].text = file.text;
        }
    }
    return files;
}

}  // namespace

std::string catalog_digest()
{
    std::string all;
    for (const EmbeddedFile& file : catalog_files()) {
        // Sizes, so that no character can move between files.
        all += fmt::format("{} {} ", file.name, file.text.size());
        all += file.text;
    }
    return fmt::format("{:016x}", crc64_of(std::as_bytes(std::span(all))));
}

const TomlFile& catalog_file(const std::string& name)
{
    static std::map<std::string, CatalogFile> files = toml_files();
    const auto found = files.find(name);
    if (found == files.end()) {
        throw InputError(fmt::format(
            "model/catalog/{} is missing from the program; run jobs/fit_constants and rebuild", name));
    }
    CatalogFile& wanted = found->second;
    std::call_once(wanted.once, [&] { wanted.file = parse_toml(wanted.text, "model/catalog/" + name); });
    return wanted.file;
}

}  // namespace prismopt
