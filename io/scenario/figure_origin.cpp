#include "io/scenario/figure_origin.hpp"

#include "io/toml/catalog.hpp"
#include "io/toml/quantity.hpp"
#include "io/toml/toml.hpp"
#include "model/objective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

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
        collect(child, table ? fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", child.key) : prefix,
                keys);
    }
}

const TomlNode* child(const TomlNode* node, std::string_view key)
{
    if (node == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(node->children.begin(), node->children.end(),
                                    [key](const TomlNode& one) { return one.key == key; });
    return found == node->children.end() ? nullptr : &*found;
}

FigureOrigin origin_of(const TomlNode* value)
{
    if (value == nullptr) {
        return FigureOrigin::catalog;
    }
    return is_placeholder(value->text) ? FigureOrigin::placeholder : FigureOrigin::given;
}

constexpr double kilowatt_hour = 3.6e6;  // in joules

bool is_money(const Objective& objective) { return objective.units == "USD"; }

/// Of a key of [power]; nothing if it is not given there.
std::optional<FigureOrigin> origin_in_power(const Scenario& scenario, std::string_view key)
{
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const TomlNode* value = child(child(&file.root, "power"), key);
    return value == nullptr ? std::nullopt : std::optional(origin_of(value));
}

/// The least certain of the clusters. `find`: the value in one of them. `find_own`: that of its
/// accelerator, in a file of the user.
template <class Find, class FindOwn>
FigureOrigin origin_in_clusters(const Scenario& scenario, const Find& find, const FindOwn& find_own)
{
    const auto of_cluster = [&](const TomlNode& cluster) {
        const TomlNode* value = find(cluster);
        const TomlNode* accelerator = child(&cluster, "accelerator");
        for (const TomlFile& own : catalog_of(scenario).own()) {
            if (value == nullptr && accelerator != nullptr) {
                value = find_own(own.root, accelerator->text);
            }
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
    const FigureOrigin of_board = origin_in_clusters(
        scenario,
        [](const TomlNode& cluster) { return child(child(&cluster, "accelerator_override"), "power"); },
        [](const TomlNode& own, const std::string& name) {
            return child(child(child(&own, "accelerators"), name), "power");
        });
    return std::max(of_board, origin_in_power(scenario, "host").value_or(FigureOrigin::given));
}

FigureOrigin electricity_origin(const Scenario& scenario)
{
    return origin_in_power(scenario, "electricity_price").value_or(FigureOrigin::unknown);
}

std::string electricity_text(const Scenario& scenario)
{
    const double price = scenario.power.electricity_price.si * kilowatt_hour;
    if (price == 0.0) {
        return "";
    }
    const bool placeholder = electricity_origin(scenario) == FigureOrigin::placeholder;
    return fmt::format("{:.4g} USD/kWh ({})", price,
                       placeholder ? "placeholder: replace electricity_price in [power] with your own"
                                   : "given");
}

std::string power_text(const Scenario& scenario)
{
    const Power& power = scenario.power;
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const TomlNode* section = child(&file.root, "power");
    std::vector<std::string> given;
    for (const TomlNode& key : section == nullptr ? std::vector<TomlNode>{} : section->children) {
        if (key.key != "profile" && key.key != "electricity_price") {
            given.push_back(key.key + " given");
        }
    }
    const std::string others = given.empty() ? "" : fmt::format("; {}", fmt::join(given, ", "));
    return fmt::format(
        "{:.4g} of the board's limit in training, {:.4g} waiting, {:.4g} W of the host per GPU, PUE {:.4g} "
        "(board limit: {}; "
        "[power] profile {}{})",
        power.board_share, power.idle_share, power.host.si, power.pue, name(power_origin(scenario)),
        power.name, others);
}

bool follows_power(const Scenario& scenario, std::string_view objective)
{
    const Objective* found = find_objective(objective);
    return found != nullptr &&
           (found->of_power || (is_money(*found) && scenario.power.electricity_price.si > 0.0));
}

std::string ranked_placeholder(const Scenario& scenario, const std::vector<std::string>& ranking)
{
    struct Figure {
        FigureOrigin origin;
        std::string_view words;
        std::string_view remedy;
    };
    const Figure price{price_origin(scenario), "the price of a GPU-hour", "give gpu_price in [cluster]"};
    const Figure power{power_origin(scenario), "power",
                       "give power in accelerator_override of [cluster], and host in [power]"};
    const Figure electricity{electricity_origin(scenario), "the price of electricity",
                             "give electricity_price in [power]"};
    const auto refuse = [](std::string_view objective, const Figure& figure) {
        return fmt::format("{} would rank plans by {}, which is a placeholder; {}, or rank by something else",
                           objective, figure.words, figure.remedy);
    };
    for (const std::string& objective : ranking) {
        const Objective* found = find_objective(objective);
        const bool money = found != nullptr && is_money(*found);
        if (money && price.origin == FigureOrigin::placeholder) {
            return refuse(objective, price);
        }
        if (money && electricity.origin == FigureOrigin::placeholder) {
            return refuse(objective, electricity);
        }
        if (follows_power(scenario, objective) && power.origin == FigureOrigin::placeholder) {
            return refuse(objective, power);
        }
    }
    return "";
}

std::string ranked_placeholder(const Scenario& scenario)
{
    const std::string of_objectives = ranked_placeholder(scenario, scenario.objectives);
    return of_objectives.empty() && scenario.question ? ranked_placeholder(scenario, *scenario.question)
                                                      : of_objectives;
}

std::string ranked_placeholder(const Scenario& scenario, const Question& question)
{
    return ranked_placeholder(scenario, ranking_of(question, scenario.start));
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
