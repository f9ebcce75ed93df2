#include "optimizer/improve/plans_space.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/trainers/trainer.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/space/design_map.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

// Lists of JSON are lists of TOML.
nlohmann::json value_json(int value) { return value; }
nlohmann::json value_json(Seconds value) { return fmt::format("{} s", value.si); }
template <Nameable Enum>
nlohmann::json value_json(Enum value)
{
    return name(value);
}
nlohmann::json value_json(const ModuleSet& value)
{
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [module, module_name] : names_of<Module>) {
        if (value.has(module)) {
            list.push_back(module_name);
        }
    }
    return list;
}

/// The values of an axis that the plans have, in their order.
template <class T>
std::vector<T> values_of(const PlanAxis<T>& axis, std::span<const ParallelPlan> plans)
{
    std::vector<T> values;
    for (const ParallelPlan& plan : plans) {
        if (std::find(values.begin(), values.end(), plan.*(axis.choice)) == values.end()) {
            values.push_back(plan.*(axis.choice));
        }
    }
    return values;
}

/// [space] with the values of the plans on each axis where they differ from the default.
std::string space_text(std::span<const ParallelPlan> plans)
{
    std::set<int> gpus;
    for (const ParallelPlan& plan : plans) {
        gpus.insert(plan.gpus());
    }
    std::string text = fmt::format("[space]   # of the plans that improve proposes\ngpus = {}\n",
                                   nlohmann::json(gpus).dump());
    const SpaceSettings defaults;
    for_each_axis([&](const auto& axis) {
        if (values_of(axis, plans) != defaults.*(axis.values) || axis.name == "tp_overlap" ||
            axis.name == "ulysses" || axis.name == "dp_overlap") {
            text += fmt::format("{} = {}\n", axis.name, space_list(axis.name, plans));
        }
    });
    return text;
}

/// Whether the search, as limited by runnable_by, includes all of these plans.
bool runs_all(const Scenario& scenario, std::span<const ParallelPlan> plans)
{
    const std::vector<TrainerRule>& rules = trainer_rules(scenario.search.runnable_by);
    return std::all_of(plans.begin(), plans.end(), [&](const ParallelPlan& plan) {
        return in_every_phase(plan, scenario.phases, [&](const ParallelPlan& here, const Phase& phase) {
            return std::all_of(rules.begin(), rules.end(), [&](const TrainerRule& rule) {
                return allows(rule, {here, phase, scenario}, scenario.search);
            });
        });
    });
}

bool is_key(const std::string& line, std::string_view key)
{
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t end = line.find_first_of(" \t=", begin);
    return line.substr(begin, end - begin) == key;
}

/// The header of a table in a line of TOML, without blanks: "[space]"; empty: none.
std::string header_in(const std::string& line)
{
    std::string header;
    for (const char c : line.substr(0, line.find('#'))) {
        header += c == ' ' || c == '\t' || c == '\r' ? "" : std::string(1, c);
    }
    return header.starts_with('[') && header.ends_with(']') && header.find('=') == std::string::npos ? header
                                                                                                     : "";
}

}  // namespace

std::string space_list(std::string_view name, std::span<const ParallelPlan> plans)
{
    nlohmann::json list = nlohmann::json::array();
    for_each_axis([&](const auto& axis) {
        if (axis.name == name) {
            for (const auto& value : values_of(axis, plans)) {
                list.push_back(value_json(value));
            }
        }
    });
    return list.dump();
}

Scenario with_space_of(const Scenario& scenario, std::span<const ParallelPlan> plans)
{
    if (!scenario.choices.empty()) {
        throw InputError(fmt::format(
            "{} chooses more than plans; remove its [[knob]]s and lists of clusters and networks to write "
            "results of these plans",
            scenario.path));
    }
    std::istringstream lines(scenario.text);
    std::string text;
    const bool limited = runs_all(scenario, plans);
    bool inside = false;
    bool searching = false;
    bool nested = false;  // within a list of several lines
    for (std::string line; std::getline(lines, line);) {
        const std::string header = nested ? "" : header_in(line);
        if (!header.empty()) {
            inside = header == "[space]";
            searching = header == "[search]";
        }
        const std::string plain = line.substr(0, line.find('#'));
        const auto count = [&plain](char c) { return std::count(plain.begin(), plain.end(), c); };
        if (inside && header.empty()) {
            nested = nested ? count(']') <= count('[') : count('[') > count(']');
        }
        const bool refuses = searching && !limited && is_key(line, "runnable_by");
        text += inside || refuses ? "" : line + "\n";
    }
    text += "\n" + space_text(plans);
    Scenario narrowed = parse_scenario(text, scenario.path);
    narrowed.gives_order = narrowed.gives_order || scenario.gives_order;
    return narrowed;
}

}  // namespace prismopt
