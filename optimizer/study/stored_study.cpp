#include "optimizer/study/stored_study.hpp"

#include "io/base/input_error.hpp"
#include "io/results/results_file.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/program/log.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Drops axes with one choice: versions of the program may add such axes, and they do not change the numbers of points.
std::vector<Axis> with_choices(std::vector<Axis> axes)
{
    std::erase_if(axes, [](const Axis& axis) { return axis.labels.size() == 1; });
    return axes;
}

bool same_axes(const std::vector<Axis>& a, const std::vector<Axis>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Axis& one, const Axis& other) { return one.name == other.name && one.labels == other.labels; });
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

Results open_results(const std::string& path)
{
    Results results = read_results(path);
    if (!results.sealed) {
        log_warning(path +
                    " has no checksum, so damage may go unnoticed: it was written by an older prismopt or by another program");
    }
    return results;
}

StoredStudy::StoredStudy(const Results& results)
    : scenario_(tuned_scenario(results)), model_(scenario_), bench_(scenario_, model_.problem)
{
    if (!same_axes(with_choices(space().axes()), with_choices(results.axes))) {
        throw InputError(
            results.study.scenario_path +
            ": its space differs from that of the results, which another version of prismopt wrote; search again, or use that "
            "version");
    }
}

std::vector<Phase> StoredStudy::phases(std::span<const int> point) const { return phases_at(scenario_, chosen_values(point)); }

const ChosenValues& StoredStudy::chosen_values(std::span<const int> point) const
{
    return scenario_.variants[model_.designs.variant(point)];
}

}  // namespace prismopt
