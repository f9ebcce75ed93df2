#include "io/scenario/figure_origin.hpp"

#include "io/toml/catalog.hpp"
#include "io/toml/quantity.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

void collect(const TomlNode& node, const std::string& prefix, std::vector<std::string>& keys)
{
    if (node.kind == TomlNode::Kind::text && is_placeholder(node.text)) {
        keys.push_back(prefix);
    }
    for (const TomlNode& child : node.children) {
        if (prefix.empty() && child.key == "catalog") {
            continue;  // the text of files, each of which is collected by itself
        }
        const bool table = node.kind == TomlNode::Kind::table;
        collect(child, table ? fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", child.key) : prefix, keys);
    }
}

const TomlNode* child(const TomlNode* node, std::string_view key)
{
    if (node == nullptr) {
        return nullptr;
    }
    const auto found =
        std::find_if(node->children.begin(), node->children.end(), [key](const TomlNode& one) { return one.key == key; });
    return found == node->children.end() ? nullptr : &*found;
}

FigureOrigin origin_of(const TomlNode* value)
{
    if (value == nullptr) {
        return FigureOrigin::catalog;
    }
    return is_placeholder(value->text) ? FigureOrigin::placeholder : FigureOrigin::given;
}

/// The least certain of the clusters. `find`: the value in one of them.
template <class Find>
FigureOrigin origin_in_clusters(const Scenario& scenario, const Find& find)
{
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const TomlNode* section = child(&file.root, "cluster");
    if (section == nullptr || section->kind != TomlNode::Kind::list) {
        return section == nullptr ? FigureOrigin::catalog : origin_of(find(*section));
    }
    FigureOrigin least = FigureOrigin::given;
    for (const TomlNode& cluster : section->children) {
        least = std::max(least, origin_of(find(cluster)));
    }
    return least;
}

}  // namespace

std::string_view name(FigureOrigin origin)
{
    switch (origin) {
        case FigureOrigin::unknown: return "unknown";
        case FigureOrigin::given: return "given";
        case FigureOrigin::catalog: return "catalog";
        case FigureOrigin::placeholder: return "placeholder";
    }
    return "";
}

FigureOrigin price_origin(const Scenario& scenario)
{
    return origin_in_clusters(scenario, [](const TomlNode& cluster) { return child(&cluster, "gpu_price"); });
}

FigureOrigin power_origin(const Scenario& scenario)
{
    return origin_in_clusters(scenario,
                              [](const TomlNode& cluster) { return child(child(&cluster, "accelerator_override"), "power"); });
}

std::vector<std::string> placeholders(const Scenario& scenario)
{
    std::vector<std::string> keys;
    collect(parse_toml(scenario.text, scenario.path).root, "", keys);
    for (const TomlFile& file : catalog_of(scenario).own()) {
        std::vector<std::string> of_file;
        collect(file.root, "", of_file);
        for (const std::string& key : of_file) {
            keys.push_back(fmt::format("{} in {}", key, file.path));
        }
    }
    return keys;
}

std::string placeholder_words(FigureOrigin origin, std::string_view figure)
{
    return origin == FigureOrigin::placeholder ? fmt::format(" at a placeholder {}", figure) : "";
}

}  // namespace prismopt
