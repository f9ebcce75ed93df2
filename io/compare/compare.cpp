#include "io/compare/compare.hpp"

#include "io/base/aligned.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/compare/compare_fronts.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/report.hpp"
#include "io/report/study_notes.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/reading_units.hpp"
#include "io/toml/toml.hpp"
#include "model/base/words.hpp"
#include "model/network/network.hpp"
#include "search/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace prismopt {

namespace {

std::vector<double> values_of(const FrontPoint& point)
{
    std::vector<double> values;
    for (const Estimate& objective : point.objectives) {
        values.push_back(objective.value);
    }
    return values;
}

std::vector<std::vector<double>> front_values(const Results& results)
{
    std::vector<std::vector<double>> values;
    for (const FrontPoint& point : results.front) {
        values.push_back(values_of(point));
    }
    return values;
}

bool train_the_same(const std::vector<NamedResults>& studies)
{
    return std::all_of(studies.begin(), studies.end(),
                       [&studies](const NamedResults& study) { return same_job(study, studies.front()); });
}

std::string hypervolumes_text(const std::vector<NamedResults>& studies)
{
    if (!train_the_same(studies)) {
        return "no hypervolumes and no gains: these studies train different workloads\n";
    }
    const std::vector<double> volumes = joint_hypervolumes(studies);
    std::string text = "hypervolume in the box of all fronts:";
    for (std::size_t s = 0; s < studies.size(); ++s) {
        text += fmt::format(" {} {:.4f}{}", study_letter(s), volumes[s], studies[s].results.provisional ? " (provisional)" : "");
        if (s > 0 && volumes.front() > 0.0) {
            text += fmt::format(" ({})", change_text(volumes[s] / volumes.front() - 1.0, 2));
        }
    }
    return text + "\n";
}

/// The values that a study chooses from, by axis, with each choice of hardware variants as an axis of its own.
std::map<std::string, std::string> values_by_axis(const Results& results)
{
    std::map<std::string, std::string> values;
    for (const Axis& axis : results.axes) {
        if (axis.name != variant_axis) {
            values[axis.name] = listed(axis.labels);
        }
    }
    for (const VariantChoice& choice : variant_choices(results)) {
        std::vector<std::string> once;
        for (const std::string& value : choice.of_variant) {
            if (std::find(once.begin(), once.end(), value) == once.end()) {
                once.push_back(value);
            }
        }
        values[choice.name] = listed(once);
    }
    return values;
}

std::string axes_text(const std::vector<NamedResults>& studies)
{
    std::vector<std::map<std::string, std::string>> values;
    std::set<std::string> names;
    for (const NamedResults& study : studies) {
        for (const auto& [name, own] : values.emplace_back(values_by_axis(study.results))) {
            names.insert(name);
        }
    }
    std::string text;
    for (const std::string& name : names) {
        std::set<std::string> kinds;
        std::string line;
        for (std::size_t s = 0; s < studies.size(); ++s) {
            const auto found = values[s].find(name);
            const std::string own = found == values[s].end() ? "absent" : found->second;
            line += fmt::format("{} {}: {}", s == 0 ? "" : ";", study_letter(s), own);
            kinds.insert(own);
        }
        text += kinds.size() > 1 ? fmt::format("  {}:{}\n", name, line) : "";
    }
    return text.empty() ? "the axes are the same\n" : "axes that differ:\n" + text;
}

/// What the quantiles of each study are of.
std::string populations_text(const std::vector<NamedResults>& studies)
{
    if (same_population(studies)) {
        return fmt::format("quantiles over {}\n", population(studies.front().results.study.nodes_known));
    }
    std::string text = "Warning: these quantiles are taken over different populations:";
    for (std::size_t s = 0; s < studies.size(); ++s) {
        text +=
            fmt::format("{} {} over {}", s == 0 ? "" : ",", study_letter(s), population(studies[s].results.study.nodes_known));
    }
    return text +
           ".\nDifferences come from the nodes as well as from the plans; to compare plans, search both with slow_nodes in "
           "[cluster], or both without.\n";
}

/// A warning where the studies do not train the same thing.
std::string jobs_text(const std::vector<NamedResults>& studies)
{
    if (train_the_same(studies)) {
        return "";
    }
    std::string text = "Warning: these studies train different workloads:";
    for (std::size_t s = 0; s < studies.size(); ++s) {
        text += fmt::format("{} {} {}", s == 0 ? "" : ",", study_letter(s), studies[s].job.empty() ? "unknown" : studies[s].job);
    }
    return text +
           ".\nDifferences come from the workloads as well as from the plans; to compare plans or machines, give both the same "
           "[workload] and [[phase]].\n";
}

/// What a GPU-hour costs in each study, where the prices are not of one origin, or nobody gave them.
std::string prices_text(const std::vector<NamedResults>& studies)
{
    std::vector<StudyNotes> notes;
    for (const NamedResults& study : studies) {
        notes.push_back(study_notes(study.results));
    }
    const bool alike = std::all_of(notes.begin(), notes.end(), [&notes](const StudyNotes& one) {
        return one.price_origin == notes.front().price_origin && one.price_origin != FigureOrigin::placeholder;
    });
    if (alike) {
        return "";
    }
    const bool placeholders = std::all_of(notes.begin(), notes.end(),
                                          [](const StudyNotes& one) { return one.price_origin == FigureOrigin::placeholder; });
    std::string text = fmt::format("Warning: costs rest on {}:", placeholders ? "placeholders" : "different grounds");
    for (std::size_t s = 0; s < studies.size(); ++s) {
        text += fmt::format("{} {} at {}", s == 0 ? "" : ";", study_letter(s), notes[s].price.empty() ? "?" : notes[s].price);
    }
    return text + "\n";
}

/// The lines of the files with entries of the user, without comments: a scenario has each file on one line.
std::vector<std::string> own_catalogs(const StudyInfo& study)
{
    std::vector<std::string> lines;
    try {
        for (const CatalogText& file : written_files_of(study.scenario_text)) {
            std::istringstream stream(file.text);
            for (std::string line; std::getline(stream, line);) {
                const std::string_view setting = trimmed(std::string_view(line).substr(0, line.find('#')));
                if (!setting.empty()) {
                    lines.push_back(fmt::format("{}: {}", file.name, setting));
                }
            }
        }
    } catch (const InputError&) {
        lines.emplace_back("a catalog that this version cannot read");
    }
    return lines;
}

/// Lines without comments and blanks around them, the default order then, and what was learned of the cluster.
std::vector<std::string> settings(const StudyInfo& study)
{
    std::vector<std::string> lines;
    if (!study.learned.empty()) {
        lines.push_back(fmt::format("learned from {} (digest {})", study.learned, study.learned_digest));
    }
    lines.push_back(fmt::format("order = \"{}\" where none is given", name(study.default_order)));
    for (std::string& file : own_catalogs(study)) {
        lines.push_back(std::move(file));
    }
    std::istringstream stream(study.scenario_text);
    for (std::string line; std::getline(stream, line);) {
        const std::string_view setting = trimmed(std::string_view(line).substr(0, line.find('#')));
        const bool overlay = (!study.learned.empty() && setting.starts_with("learned =")) || setting.starts_with("catalog =");
        if (!setting.empty() && !overlay) {
            lines.emplace_back(setting);
        }
    }
    return lines;
}

/// Lines of one scenario that another does not have.
std::string scenarios_text(const std::vector<NamedResults>& studies)
{
    constexpr std::size_t most = 30;
    std::string text;
    std::size_t told = 0;
    const std::vector<std::string> first = settings(studies.front().results.study);
    const auto tell = [&](const std::vector<std::string>& of, const std::vector<std::string>& without, std::size_t study) {
        for (const std::string& line : of) {
            if (std::find(without.begin(), without.end(), line) == without.end() && ++told <= most) {
                text += fmt::format("  {}: {}\n", study_letter(study), printable(line, 200));
            }
        }
    };
    for (std::size_t s = 1; s < studies.size(); ++s) {
        const std::vector<std::string> other = settings(studies[s].results.study);
        tell(first, other, 0);
        tell(other, first, s);
    }
    if (told > most) {
        text += fmt::format("  and {} more\n", counted(told - most, "line"));
    }
    return text.empty() ? "the scenarios are the same\n" : "lines of the scenarios that differ:\n" + text;
}

}  // namespace

std::string study_letter(std::size_t study) { return fmt::format("{}", static_cast<char>('A' + study)); }

bool same_population(const std::vector<NamedResults>& studies)
{
    return std::all_of(studies.begin(), studies.end(), [&studies](const NamedResults& study) {
        return study.results.study.nodes_known == studies.front().results.study.nodes_known;
    });
}

std::vector<std::string> common_objectives(const std::vector<NamedResults>& studies)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : studies.front().results.objectives) {
        const bool in_all = std::all_of(studies.begin(), studies.end(), [&](const NamedResults& study) {
            const auto& list = study.results.objectives;
            return std::any_of(list.begin(), list.end(),
                               [&](const ObjectiveInfo& other) { return other.name == objective.name; });
        });
        if (in_all) {
            names.push_back(objective.name);
        }
    }
    return names;
}

Results with_objectives(Results results, const std::vector<std::string>& names)
{
    std::vector<std::size_t> kept;
    for (const std::string& name : names) {
        const auto found = std::find_if(results.objectives.begin(), results.objectives.end(),
                                        [&name](const ObjectiveInfo& objective) { return objective.name == name; });
        kept.push_back(static_cast<std::size_t>(found - results.objectives.begin()));
    }
    const auto choose = [&kept](auto& values) {
        std::remove_reference_t<decltype(values)> chosen;
        for (const std::size_t k : kept) {
            if (k < values.size()) {
                chosen.push_back(values[k]);
            }
        }
        values = std::move(chosen);
    };
    choose(results.objectives);
    for (EvaluatedPoint& point : results.evaluations) {
        choose(point.bounds);
        choose(point.objectives);
    }
    for (FrontPoint& point : results.front) {
        choose(point.objectives);
    }
    return results;
}

std::vector<double> joint_hypervolumes(const std::vector<NamedResults>& studies)
{
    constexpr double margin = 1.1;
    const std::size_t objectives = studies.front().results.objectives.size();
    std::vector<double> low(objectives, std::numeric_limits<double>::infinity());
    std::vector<double> high(objectives, -std::numeric_limits<double>::infinity());
    for (const NamedResults& study : studies) {
        for (const auto& values : front_values(study.results)) {
            for (std::size_t k = 0; k < objectives; ++k) {
                low[k] = std::min(low[k], values[k]);
                high[k] = std::max(high[k], values[k] > 0.0 ? margin * values[k] : values[k] + 1.0);
            }
        }
    }
    std::vector<double> volumes;
    for (const NamedResults& study : studies) {
        auto points = front_values(study.results);
        for (auto& point : points) {
            for (std::size_t k = 0; k < objectives; ++k) {
                point[k] = (point[k] - low[k]) / (high[k] - low[k]);
            }
        }
        volumes.push_back(hypervolume(points, std::vector<double>(objectives, 1.0)));
    }
    return volumes;
}

std::string trained_job(const Results& results)
{
    try {
        const Scenario scenario = scenario_of(results.study);
        std::string job;
        for (const Workload* w : networks(scenario)) {
            job += fmt::format("{}{} ({} layers, {:.4g} parameters)", job.empty() ? "" : " or ", w->name, w->layers(),
                               parameters_of(network_of(*w)));
        }
        std::vector<Phase> phases = scenario.phases;
        if (scenario.learning) {  // whatever batches and ramps reach the same loss
            const auto own = phases.begin() + static_cast<std::ptrdiff_t>(scenario.learning->phase);
            phases.erase(own + 1, own + 1 + static_cast<std::ptrdiff_t>(scenario.learning->ramp.size()));
            *own = scenario.learning->as_given;
        }
        for (const Phase& phase : phases) {
            job += fmt::format("{}{:.4g} tokens in sequences of {}", &phase == &phases.front() ? " on " : " and ", phase.tokens,
                               phase.sequence);
        }
        return job;
    } catch (const InputError&) {
        return "";  // written for another version of this program
    }
}

bool same_job(const NamedResults& a, const NamedResults& b) { return a.job == b.job; }

Comparison compared(const std::vector<NamedResults>& studies)
{
    Comparison comparison;
    comparison.differences = jobs_text(studies) + prices_text(studies) + populations_text(studies) + "\n" + axes_text(studies) +
                             scenarios_text(studies);
    const bool empty =
        std::any_of(studies.begin(), studies.end(), [](const NamedResults& study) { return study.results.front.empty(); });
    if (!empty) {
        comparison.gains = best_rows(studies);
        comparison.hypervolumes = hypervolumes_text(studies);
    }
    return comparison;
}

std::string comparison_text(const std::vector<NamedResults>& studies)
{
    std::string text;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const Results& results = studies[s].results;
        text += fmt::format("{}  {}: study {}, seed {}, {}front of {}, {}\n", study_letter(s), studies[s].file,
                            results.study.scenario_name, results.study.seed, results.provisional ? "provisional " : "",
                            counted(results.front.size(), "point"), results.study.outcome_text);
    }
    const Comparison comparison = compared(studies);
    text += comparison.differences;
    if (comparison.gains.empty()) {
        return text + "\nA front is empty: there is nothing to compare.\n";
    }
    return text + fmt::format("\n{}{}\n{}", aligned(comparison.gains, 0), comparison.hypervolumes, fronts_text(studies));
}

}  // namespace prismopt
