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

/// The least certain of the clusters. `find`: the value in one of them. `find_own`: that of its accelerator, in a file of the user.
template <class Find, class FindOwn>
FigureOrigin origin_in_clusters(const Scenario& scenario, const Find& find, const FindOwn& find_own)
{
    const auto of_cluster = [&](const TomlNode& cluster) {
        const TomlNode* value = find(cluster);
        const TomlNode* accelerator = child(&cluster, "accelerator");
        for (const TomlFile& own : catalog_of(scenario).own()) {
            value = value == nullptr && accelerator != nullptr ? find_own(own.root, accelerator->text) : value;
        }
        return origin_of(value);
    };
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const TomlNode* section = child(&file.root, "cluster");
    if (section == nullptr || section->kind != TomlNode::Kind::list) {
        return section == nullptr ? FigureOrigin::catalog : of_cluster(*section);
    }
    FigureOrigin least = FigureOrigin::given;
    for (const TomlNode& cluster : section->children) {
        least = std::max(least, of_cluster(cluster));
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
    return origin_in_clusters(
        scenario, [](const TomlNode& cluster) { return child(&cluster, "gpu_price"); },
        [](const TomlNode& own, const std::string& name) {
            return child(child(child(child(&own, "prices"), name), "list"), "price");
        });
}

FigureOrigin power_origin(const Scenario& scenario)
{
    return origin_in_clusters(
        scenario, [](const TomlNode& cluster) { return child(child(&cluster, "accelerator_override"), "power"); },
        [](const TomlNode& own, const std::string& name) { return child(child(child(&own, "accelerators"), name), "power"); });
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
