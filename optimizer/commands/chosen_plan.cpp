#include "optimizer/commands/chosen_plan.hpp"

#include "io/base/input_error.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "io/toml/nearest.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// The scenario whose only variant is that of these values.
Scenario with_variant(Scenario scenario, const ChosenValues& values, Variant variant)
{
    scenario.numerics.loss_gap.clear();  // the phases have its tokens
    scenario.local_updates = {.published = false, .given = std::move(variant.local)};
    static_cast<Job&>(scenario) = std::move(variant);
    scenario.variants = {values};
    return scenario;
}

/// Takes the words that name choices out of a design: "variant node.bandwidth=900GB/s".
std::string take_variant_words(std::string& design, const Scenario& scenario)
{
    std::string variant;
    std::string rest;
    std::istringstream words(design);
    for (std::string word; words >> word;) {
        const std::string name = word.substr(0, word.find('='));
        const bool of_choice = std::any_of(scenario.choices.begin(), scenario.choices.end(),
                                           [&](const StudyChoice& choice) { return choice.name == name; });
        if (word != "variant" && word != "hardware") {  // the name of the axis, now and in older reports
            std::string& side = of_choice ? variant : rest;
            side += (side.empty() ? "" : " ") + word;
        }
    }
    design = rest;
    return variant;
}

ChosenPlan by_design(Scenario scenario, std::string design)
{
    const Scenario as_written = scenario;
    ChosenPlan chosen{.scenario = std::move(scenario), .plan = {}, .variant = {}, .price = gpu_price_text(as_written)};
    const std::string first = variant_text(as_written.choices, as_written.variants.front());
    chosen.variant = take_variant_words(design, as_written);
    if (chosen.variant.empty() && as_written.variants.size() == 1) {
        chosen.variant = first;
    }
    const bool several = as_written.workloads.size() > 1 || as_written.machines.size() > 1;
    if (several && chosen.variant.empty()) {
        throw InputError(fmt::format(
            "--design: the scenario has several networks or clusters; name one, and a value for each [[knob]], for example {}",
            first));
    }
    if (!chosen.variant.empty()) {
        const auto values = variant_values(as_written.choices, chosen.variant);
        const auto variant = values ? variant_at(as_written, *values) : std::nullopt;
        if (!variant) {
            throw InputError(
                fmt::format("--design: {} is not a variant of this study, or a limit excludes it; give the value of each choice "
                            "and [[knob]] in "
                            "order, as reports print them, for example {}",
                            chosen.variant, first));
        }
        chosen.price = gpu_price_text(as_written, variant->cluster);
        chosen.longer = variant->longer;
        chosen.scenario = with_variant(as_written, *values, *variant);
    }
    chosen.plan = parse_design(design, chosen.scenario);
    chosen.scenario.gives_order = chosen.scenario.gives_order || states_axis(design, "order", chosen.scenario);
    if (chosen.plan.local_steps > 1 && !chosen.scenario.local_updates.stated()) {
        throw InputError(
            fmt::format("local_steps={} needs its price in tokens: list it in [space], and add [local_updates] with loss_gap or "
                        "more_tokens (docs/learning.md)",
                        chosen.plan.local_steps));
    }
    return chosen;
}

ChosenPlan by_point(const po::variables_map& values, const Results& results)
{
    StoredStudy study(results);
    const Point point = study.space().point(chosen_point(values, results, study));
    const Scenario& scenario = study.scenario();
    ChosenPlan chosen{.scenario = scenario, .plan = study.plan(point), .variant = {}, .price = gpu_price_text(scenario)};
    if (!scenario.choices.empty()) {
        const ChosenValues& at = study.chosen_values(point);
        const auto variant = variant_at(scenario, at);
        chosen.variant = variant_text(scenario.choices, at);
        chosen.price = gpu_price_text(scenario, variant->cluster);
        chosen.longer = variant->longer;
        chosen.scenario = with_variant(scenario, at, *variant);
    }
    return chosen;
}

}  // namespace

void add_plan_options(po::options_description& options)
{
    options.add_options()(
        "design", po::value<std::string>()->value_name("PLAN")->default_value("", "from the scenario"),
        "values of axes, for example \"gpus=16384 tp=8 pp=16 v=8 schedule=interleaved\", or a plan as reports print it");
    options.add_options()(
        "point", po::value<std::int64_t>()->value_name("ID"),
        "number of a plan in reports, if a results file is given instead of the scenario (default: the first plan of the front)");
    add_catalog_option(options);
}

ChosenPlan chosen_plan(const po::variables_map& values)
{
    const std::string path = values["SCENARIO"].as<std::string>();
    const bool of_point = values.count("point") > 0;
    const auto& design = values["design"].as<std::string>();
    if (of_point && !design.empty()) {
        throw InputError("--design and --point both select the plan; give only one of them");
    }
    if (!is_hdf5(path)) {
        if (of_point) {
            throw InputError(fmt::format("--point needs a results file, and {} is not one; give the .h5 file of a search", path));
        }
        return by_design(read_scenario(path, catalogs_of(values)), design);
    }
    if (values.count("catalog") > 0) {
        throw InputError(
            fmt::format("--catalog has no effect: {} contains the catalog that its search used; remove the option", path));
    }
    const Results results = open_results(path);
    if (design.empty()) {
        return by_point(values, results);
    }
    return by_design(scenario_of(results.study), design);
}

std::uint64_t chosen_point(const po::variables_map& values, const Results& results, const StoredStudy& study)
{
    std::vector<std::string> front;
    for (const FrontPoint& point : results.front) {
        front.push_back(std::to_string(point.index));
    }
    if (values.count("point") == 0) {
        if (results.front.empty()) {
            throw InputError("the front is empty, so --point has no default; give the number of a plan of the space");
        }
        return results.front.front().index;
    }
    const auto index = values["point"].as<std::int64_t>();
    const Space& space = study.space();
    if (index < 0 || static_cast<std::uint64_t>(index) >= space.size()) {
        throw InputError(fmt::format("--point {} is out of range: the space has points 0 to {}; the points of the front are {}",
                                     index, space.size() - 1, listed(front)));
    }
    const auto chosen = static_cast<std::uint64_t>(index);
    for (const Rejected& rejected : space.enumerate(chosen, chosen + 1, [](std::uint64_t, std::span<const int>) {})) {
        if (rejected.count > 0) {
            throw InputError(fmt::format("--point {} is infeasible in this study: {} ({}); the points of the front are {}", index,
                                         rejected.reason, design_text(study.plan(space.point(chosen))), listed(front)));
        }
    }
    return chosen;
}

}  // namespace prismopt
