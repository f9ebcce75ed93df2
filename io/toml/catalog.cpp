#include "io/toml/catalog.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

/// The section of this name in a file of a user; nothing if it has none.
std::optional<Table> own_section(const TomlFile& file, std::string_view kind)
{
    Table top(file.root, file);
    const auto found = top.find(kind);
    return found ? std::optional(found->table(fmt::format("[{}.NAME]", kind))) : std::nullopt;
}

void refuse_unknown_kinds(const TomlFile& file)
{
    Table top(file.root, file);
    for (const std::string_view kind : catalog_kinds()) {
        top.find(kind);
    }
    top.refuse_unknown_keys();
}

}  // namespace

bool is_word(const std::string& name)
{
    return name.find_first_of(" =\t\n") == std::string::npos && !name.empty();
}

std::span<const std::string_view> catalog_kinds()
{
    static constexpr std::array<std::string_view, 12> kinds{"accelerators", "links",          "libraries",
                                                            "stacks",       "software",       "workloads",
                                                            "power",        "variability",    "prices",
                                                            "hosts",        "usual_clusters", "instances"};
    return kinds;
}

const Catalog& Catalog::built_in()
{
    static const Catalog catalog({});
    return catalog;
}

Catalog::Catalog(std::vector<TomlFile> own)
{
    for (TomlFile& file : own) {
        refuse_unknown_kinds(file);
        for (const std::string_view kind : catalog_kinds()) {
            auto section = own_section(file, kind);
            for (const std::string& name : section ? section->keys() : std::vector<std::string>{}) {
                const Value value = *section->find(name);
                if (!is_word(name)) {
                    value.fail({fmt::format("is called \"{}\"", name),
                                "reports and --design need names of one word",
                                "choose a name without spaces or ="});
                }
                if (has(kind, name)) {
                    value.fail({fmt::format("is called \"{}\"", name),
                                fmt::format("the program or another file has {} of that name", kind),
                                "choose another name"});
                }
            }
        }
        own_.push_back(std::move(file));
    }
}

std::vector<std::string> Catalog::names(std::string_view kind) const
{
    const TomlFile& file = catalog_file(fmt::format("{}.toml", kind));
    std::vector<std::string> result = Table(file.root, file).keys();
    const std::vector<std::string> own = own_names(kind);
    result.insert(result.end(), own.begin(), own.end());
    return result;
}

std::vector<std::string> Catalog::own_names(std::string_view kind) const
{
    std::vector<std::string> result;
    for (const TomlFile& file : own_) {
        if (const auto section = own_section(file, kind)) {
            const std::vector<std::string> names = section->keys();
            result.insert(result.end(), names.begin(), names.end());
        }
    }
    return result;
}

bool Catalog::has(std::string_view kind, const std::string& name) const
{
    const std::vector<std::string> all = names(kind);
    return std::find(all.begin(), all.end(), name) != all.end();
}

bool Catalog::is_own(std::string_view kind, const std::string& name) const
{
    const std::vector<std::string> own = own_names(kind);
    return std::find(own.begin(), own.end(), name) != own.end();
}

Table Catalog::entry(std::string_view kind, const std::string& name) const
{
    for (const TomlFile& file : own_) {
        auto section = own_section(file, kind);
        if (const auto found = section ? section->find(name) : std::nullopt) {
            return found->table("a section");
        }
    }
    const TomlFile& file = catalog_file(fmt::format("{}.toml", kind));
    Table all(file.root, file);
    const auto found = all.find(name);
    if (!found) {
        const std::vector<std::string> known = names(kind);
        const std::string question = did_you_mean(name, known);
        throw InputError(fmt::format("\"{}\" is not in the catalog (entries: {}); {}", name, listed(known),
                                     question.empty() ? "choose one of these" : question));
    }
    return found->table("a section");
}

}  // namespace prismopt
