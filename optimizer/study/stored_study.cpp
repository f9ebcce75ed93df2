#include "optimizer/study/stored_study.hpp"

#include "io/base/input_error.hpp"
#include "io/report/outcome_text.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "io/toml/nearest.hpp"
#include "model/plan/infeasible.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace prismopt {

namespace {

/// Drops axes with one choice: versions of the program may add such axes, and they do
/// not change the numbers of points.
std::vector<Axis> with_choices(std::vector<Axis> axes)
{
    std::erase_if(axes, [](const Axis& axis) { return axis.labels.size() == 1; });
    return axes;
}

bool same_axes(const std::vector<Axis>& a, const std::vector<Axis>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Axis& one, const Axis& other) {
        return one.name == other.name && one.labels == other.labels;
    });
}

/// The scenario with the variants that the search had tuned; these are only in the labels of that axis.
Scenario tuned_scenario(const Results& results)
{
    Scenario scenario = scenario_of(results.study);
    if (scenario.choices.empty() || results.axes.empty()) {
        return scenario;
    }
    const std::vector<std::string>& labels = results.axes.front().labels;
    for (std::size_t kind = scenario.variants.size(); kind < labels.size(); ++kind) {
        const auto values = variant_values(scenario.choices, labels[kind]);
        if (!values || !variant_at(scenario, *values)) {
            break;  // written by another version; the check of the axes reports it
        }
        scenario.variants.push_back(*values);
    }
    return scenario;
}

}  // namespace

StoredStudy::StoredStudy(const Results& results)
    : scenario_(tuned_scenario(results)), model_(scenario_), bench_(scenario_, model_.problem)
{
    if (!same_axes(with_choices(space().axes()), with_choices(results.axes))) {
        throw InputError(results.study.scenario_path +
                         ": its space differs from that of the results, which another version of prismopt "
                         "wrote; search again, or use that "
                         "version");
    }
}

std::vector<Phase> StoredStudy::phases(std::span<const int> point) const
{
    return phases_at(scenario_, chosen_values(point));
}

const ChosenValues& StoredStudy::chosen_values(std::span<const int> point) const
{
    return scenario_.variants[model_.designs.variant(point)];
}

namespace {

/// Whether plans are rejected for this reason wherever they run: not combinations that name no plan of their
/// own, nor plans that only the study's trainer cannot run.
bool is_of_plan(std::string_view reason)
{
    return !names_no_plan(reason) &&
           std::ranges::any_of(names_of<Reason>, [&](const auto& row) { return is_of(reason, row.value); });
}

}  // namespace

std::uint64_t point_number(const Results& results, const StoredStudy& study,
                           std::optional<std::int64_t> asked)
{
    std::vector<std::string> front;
    for (const FrontPoint& point : results.front) {
        front.push_back(std::to_string(point.index));
    }
    if (!asked) {
        if (results.front.empty()) {
            throw InputError(empty_front_text(results) + ", or give --point a plan of the space");
        }
        return results.front.front().index;
    }
    const std::int64_t index = *asked;
    const Space& space = study.space();
    if (index < 0 || static_cast<std::uint64_t>(index) >= space.size()) {
        throw InputError(fmt::format(
            "--point {} is out of range: the space has points 0 to {}; the points of the front are {}", index,
            space.size() - 1, listed(front)));
    }
    const auto chosen = static_cast<std::uint64_t>(index);
    for (const Rejected& rejected :
         space.enumerate(chosen, chosen + 1, [](std::uint64_t, std::span<const int>) {})) {
        if (rejected.count > 0 && !is_of_plan(rejected.reason)) {
            throw InputError(fmt::format(
                "--point {} is not a plan of this study: {} ({}); the points of the front are {}", index,
                rejected.reason, design_text(study.plan(space.point(chosen))), listed(front)));
        }
    }
    return chosen;
}

}  // namespace prismopt
