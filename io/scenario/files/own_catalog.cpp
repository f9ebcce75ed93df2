#include "io/scenario/files/own_catalog.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/files/written_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

namespace prismopt {

namespace {

constexpr const char* files_example = "[\"site.toml\"]";
constexpr const char* written_example = R"({ file = "site.toml", text = "..." })";

/// A file as it is written into a scenario.
std::string written(const std::string& name, const std::string& path)
{
    const std::string text = read_text(path);
    if (parse_toml(text, name).root.children.empty()) {  // whose messages have the lines of the file
        throw InputError(
            fmt::format("{} has no entries; give some, such as [accelerators.NAME] (docs/catalog.md)", name));
    }
    return fmt::format("{{ file = {}, text = {} }}", toml_string(name), toml_string(text));
}

/// The files of `--catalog`.
std::vector<std::string> written_files(const std::vector<std::string>& names)
{
    std::vector<std::string> result;
    for (const std::string& name : names) {
        if (!std::filesystem::is_regular_file(name)) {
            throw InputError(
                fmt::format("--catalog {}: does not exist; give a file with entries of the catalog "
                            "(docs/catalog.md)",
                            name));
        }
        result.push_back(written(name, name));
    }
    return result;
}

std::string read_beside(const Value& name, const std::string& scenario)
{
    const std::string file = name.text("site.toml");
    const std::string path = (std::filesystem::path(scenario).parent_path() / file).string();
    if (!std::filesystem::is_regular_file(path)) {
        name.fail({"does not exist", fmt::format("{} is not a file", path),
                   "give a file with entries of the catalog (docs/catalog.md), as a path relative to the "
                   "scenario"});
    }
    return written(file, path);
}

}  // namespace

WrittenOut with_catalog_files(const std::string& text, const std::string& path,
                              const std::vector<std::string>& more)
{
    const TomlFile file = parse_toml(text, path);
    Table top(file.root, file);
    const auto named = top.find("catalog");
    std::vector<std::string> files = written_files(more);
    if (!named) {
        return files.empty() ? WrittenOut{text}
                             : WrittenOut{fmt::format("catalog = [{}]\n{}", fmt::join(files, ", "), text), 1};
    }
    for (const Value& name : named->list(files_example)) {
        if (!name.is_text()) {
            name.fail({"is not the name of a file",
                       "a scenario names files with entries of the catalog (docs/catalog.md)",
                       fmt::format("write catalog = {}", files_example)});
        }
        files.push_back(read_beside(name, path));
    }
    return {with_content(text, *named, "catalog", fmt::format("[{}]", fmt::join(files, ", ")))};
}

namespace {

/// Nothing: the scenario names none.
std::vector<CatalogText> files_in(Table& scenario)
{
    std::vector<CatalogText> files;
    const auto named = scenario.find("catalog");
    for (const Value& value : named ? named->list(files_example) : std::vector<Value>{}) {
        if (value.is_text()) {
            value.fail({"names a file", "only a scenario that is read from a file can refer to others",
                        "describe the entry in the scenario"});
        }
        Table one = value.table(written_example);
        const std::string name = one.at("file", written_example).text("site.toml");
        files.push_back({name, one.at("text", written_example).document("...")});
        one.refuse_unknown_keys();
    }
    return files;
}

}  // namespace

std::vector<CatalogText> written_files_of(const std::string& text)
{
    const TomlFile file = parse_toml(text, "");
    Table top(file.root, file);
    return files_in(top);
}

std::shared_ptr<const Catalog> written_catalog(Table& scenario)
{
    std::vector<TomlFile> files;
    for (const CatalogText& file : files_in(scenario)) {
        files.push_back(parse_toml(file.text, file.name));
    }
    return files.empty() ? nullptr : std::make_shared<const Catalog>(std::move(files));
}

std::shared_ptr<const Catalog> catalog_with(const std::vector<std::string>& files)
{
    const WrittenOut written_out = with_catalog_files("", "--catalog", files);
    const TomlFile file = parse_toml(written_out.text, "--catalog", written_out.lines_before);
    Table top(file.root, file);
    return written_catalog(top);
}

}  // namespace prismopt
