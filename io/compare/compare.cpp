#include "io/compare/compare.hpp"

#include "io/base/aligned.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/compare/compare_fronts.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/question_answer.hpp"
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
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

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
    const std::vector<std::string> names = study_names(studies);
    std::vector<std::string> listed_volumes;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        std::string volume = fmt::format("{} {:.4f}{}", names[s], volumes[s],
                                         studies[s].results.provisional ? " (provisional)" : "");
        if (s > 0 && volumes.front() > 0.0) {
            volume += fmt::format(" ({})", change_text(volumes[s] / volumes.front() - 1.0, 2));
        }
        listed_volumes.push_back(std::move(volume));
    }
    return fmt::format("hypervolume in the box of all fronts: {}\n", listed(listed_volumes));
}

/// The first names, and the number of the others.
std::string few_names(const std::vector<std::string>& names)
{
    constexpr std::size_t most = 6;
    if (names.size() <= most) {
        return listed(names);
    }
    return fmt::format("{} and {} others", listed({names.begin(), names.begin() + most}),
                       names.size() - most);
}

/// "a, b: 4, 8; c: 4, 8, 16": what the studies have, those that have the same together.
std::string by_value(const std::vector<std::string>& names, const std::vector<std::string>& values)
{
    std::vector<std::string> different;
    std::map<std::string, std::vector<std::string>> with;
    for (std::size_t s = 0; s < names.size(); ++s) {
        std::vector<std::string>& same = with[values[s]];
        if (same.empty()) {
            different.push_back(values[s]);
        }
        same.push_back(names[s]);
    }
    std::string text;
    for (const std::string& value : different) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", few_names(with[value]), value);
    }
    return text;
}

/// The values that a study chooses from, by axis, with each choice of hardware
/// variants as an axis of its own.
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
    std::vector<std::map<std::string, std::string>> of_study;
    std::set<std::string> axes;
    for (const NamedResults& study : studies) {
        for (const auto& [axis, own] : of_study.emplace_back(values_by_axis(study.results))) {
            axes.insert(axis);
        }
    }
    const std::vector<std::string> names = study_names(studies);
    std::string text;
    for (const std::string& axis : axes) {
        std::vector<std::string> values;
        for (const auto& own : of_study) {
            const auto found = own.find(axis);
            values.push_back(found == own.end() ? "absent" : found->second);
        }
        if (std::set<std::string>(values.begin(), values.end()).size() > 1) {
            text += fmt::format("  {}: {}\n", axis, by_value(names, values));
        }
    }
    return text.empty() ? "the axes are the same\n" : "axes that differ:\n" + text;
}

/// What the quantiles of each study are of.
std::string populations_text(const std::vector<NamedResults>& studies)
{
    if (same_population(studies)) {
        return fmt::format("quantiles over {}\n", population(studies.front().results.study.nodes_known));
    }
    std::vector<std::string> values;
    for (const NamedResults& study : studies) {
        values.emplace_back(population(study.results.study.nodes_known));
    }
    return fmt::format(
        "Warning: these quantiles are taken over different populations: {}.\nDifferences come from the nodes "
        "as well as from the "
        "plans; to compare plans, search both with slow_nodes in [cluster], or both without.\n",
        by_value(study_names(studies), values));
}

/// A warning where the studies do not train the same thing.
std::string jobs_text(const std::vector<NamedResults>& studies)
{
    if (train_the_same(studies)) {
        return "";
    }
    std::vector<std::string> jobs;
    for (const NamedResults& study : studies) {
        jobs.push_back(study.job.empty() ? "unknown" : study.job);
    }
    return fmt::format(
        "Warning: these studies train different workloads: {}.\nDifferences come from the workloads as well "
        "as from the plans; "
        "to "
        "compare plans or machines, give both the same [workload] and [[phase]].\n",
        by_value(study_names(studies), jobs));
}

/// What a GPU-hour costs in each study, where the prices are not of one origin, or nobody gave them.
std::string prices_text(const std::vector<NamedResults>& studies)
{
    std::vector<StudyNotes> notes;
    for (const NamedResults& study : studies) {
        notes.push_back(study_notes(study.results));
    }
    const bool all_equal = std::all_of(notes.begin(), notes.end(), [&notes](const StudyNotes& one) {
        return one.price_origin == notes.front().price_origin &&
               one.price_origin != FigureOrigin::placeholder &&
               one.electricity_origin == notes.front().electricity_origin &&
               one.electricity_origin != FigureOrigin::placeholder;
    });
    if (all_equal) {
        return "";
    }
    const bool placeholders = std::all_of(notes.begin(), notes.end(), [](const StudyNotes& one) {
        return one.price_origin == FigureOrigin::placeholder;
    });
    std::vector<std::string> prices;
    for (const StudyNotes& one : notes) {
        const std::string electricity =
            one.electricity.empty() ? "" : ", with electricity at " + one.electricity;
        prices.push_back(one.price.empty() ? "?" : one.price + electricity);
    }
    return fmt::format("Warning: costs rest on {}: {}\n", placeholders ? "placeholders" : "different grounds",
                       by_value(study_names(studies), prices));
}

/// A warning where the searches looked for the answers to different questions.
std::string questions_text(const std::vector<NamedResults>& studies)
{
    const auto question = [](const NamedResults& study) { return study_notes(study.results).searched; };
    const std::optional<Question> first = question(studies.front());
    const bool equal = std::all_of(studies.begin(), studies.end(),
                                   [&](const NamedResults& study) { return question(study) == first; });
    if (equal) {
        return "";
    }
    return "Warning: these searches do not have the same [question].\n"
           "A search with a question excludes plans that its limits do not allow; to compare plans or "
           "machines, search all with the same question, or all without.\n";
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

/// Lines without comments and blanks around them, the default order then, and
/// what was learned of the cluster.
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
        const bool overlay =
            (!study.learned.empty() && setting.starts_with("learned =")) || setting.starts_with("catalog =");
        // which comparisons show anyway
        const bool own_name = setting == fmt::format("name = \"{}\"", study.scenario_name);
        if (!setting.empty() && !overlay && !own_name) {
            lines.emplace_back(setting);
        }
    }
    return lines;
}

/// Lines of scenarios that others do not have, with the studies that have them.
std::string scenarios_text(const std::vector<NamedResults>& studies)
{
    constexpr std::size_t most = 30;
    const std::vector<std::string> names = study_names(studies);
    std::vector<std::string> lines;
    std::map<std::string, std::vector<std::string>> with;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        for (const std::string& line : settings(studies[s].results.study)) {
            std::vector<std::string>& having = with[line];
            if (having.empty()) {
                lines.push_back(line);
            }
            if (having.empty() || having.back() != names[s]) {
                having.push_back(names[s]);
            }
        }
    }
    std::erase_if(lines, [&](const std::string& line) { return with[line].size() == studies.size(); });
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
        text += fmt::format("  {}: {}\n", few_names(with[lines[i]]), printable(lines[i], 200));
    }
    if (lines.size() > most) {
        text += fmt::format("  and {} more\n", counted(lines.size() - most, "line"));
    }
    return text.empty() ? "the scenarios are the same\n" : "lines of the scenarios that differ:\n" + text;
}

}  // namespace

std::vector<std::string> study_names(const std::vector<NamedResults>& studies)
{
    using Name = std::string (*)(const NamedResults&);
    constexpr std::array<Name, 3> candidates{
        [](const NamedResults& study) { return study.results.study.scenario_name; },
        [](const NamedResults& study) { return std::filesystem::path(study.file).stem().string(); },
        [](const NamedResults& study) { return study.file; },
    };
    std::vector<std::string> names(studies.size());
    std::set<std::string> taken;
    for (const Name candidate : candidates) {
        std::map<std::string, int> uses;
        for (const NamedResults& study : studies) {
            ++uses[candidate(study)];
        }
        for (std::size_t s = 0; s < studies.size(); ++s) {
            const std::string name = candidate(studies[s]);
            if (names[s].empty() && !name.empty() && uses[name] == 1 && taken.insert(name).second) {
                names[s] = name;
            }
        }
    }
    for (std::size_t s = 0; s < studies.size(); ++s) {  // one file twice
        for (int copy = 1; names[s].empty(); ++copy) {
            const std::string name =
                copy == 1 ? studies[s].file : fmt::format("{} ({})", studies[s].file, copy);
            names[s] = taken.insert(name).second ? name : "";
        }
    }
    return names;
}

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
        const auto found =
            std::find_if(results.objectives.begin(), results.objectives.end(),
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
            job += fmt::format("{}{} ({} layers, {:.4g} parameters)", job.empty() ? "" : " or ", w->name,
                               w->layers(), parameters_of(network_of(*w)));
        }
        std::vector<Phase> phases = scenario.phases;
        if (scenario.learning) {  // whatever batches and ramps reach the same loss
            const auto own = phases.begin() + static_cast<std::ptrdiff_t>(scenario.learning->phase);
            phases.erase(own + 1, own + 1 + static_cast<std::ptrdiff_t>(scenario.learning->ramp.size()));
            *own = scenario.learning->as_given;
        }
        for (const Phase& phase : phases) {
            job += fmt::format("{}{:.4g} tokens in sequences of {}",
                               &phase == &phases.front() ? " on " : " and ", phase.tokens, phase.sequence);
        }
        return job;
    } catch (const InputError&) {
        return "";  // written for another version of this program
    }
}

bool same_job(const NamedResults& a, const NamedResults& b) { return a.job == b.job; }

Comparison compared(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs)
{
    Comparison comparison;
    comparison.pairs = std::move(pairs);
    comparison.differences = jobs_text(studies) + prices_text(studies) + questions_text(studies) +
                             populations_text(studies) + "\n" + axes_text(studies) + scenarios_text(studies);
    const bool empty = std::any_of(studies.begin(), studies.end(),
                                   [](const NamedResults& study) { return study.results.front.empty(); });
    if (!empty) {
        comparison.gains = best_rows(studies);
        comparison.hypervolumes = hypervolumes_text(studies);
    }
    comparison.objectives = studies.front().results.objectives;
    const std::vector<std::string> names = study_names(studies);
    const std::vector<double> volumes = joint_hypervolumes(studies);
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const Results& results = studies[s].results;
        const StudyNotes notes = study_notes(results);
        comparison.studies.push_back({
            .name = names[s],
            .scenario = results.study.scenario_name,
            .file = studies[s].file,
            .seed = results.study.seed,
            .software = notes.trained_with,
            .hardware = notes.accelerator,
            .provisional = results.provisional,
            .front_points = results.front.size(),
            .hypervolume = train_the_same(studies) ? volumes[s] : std::numeric_limits<double>::quiet_NaN(),
            .best = best_values(studies, s),
        });
    }
    return comparison;
}

namespace {

/// Prices of all studies, and what each answers to its question.
std::string prices_and_answers(const std::vector<NamedResults>& studies,
                               const std::vector<std::string>& names)
{
    std::string prices;
    std::string answers;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const StudyNotes notes = study_notes(studies[s].results);
        prices += notes.price.empty() ? "" : fmt::format("  {}: {}\n", names[s], notes.price);
        const std::vector<QuestionLine> lines = question_lines(studies[s].results, notes);
        if (lines.size() > 1) {  // the question, then its answer
            answers += fmt::format("  {}: {}: {}\n", names[s], lines[0].text, lines[1].text);
        }
    }
    return (prices.empty() ? "" : "prices:\n" + prices) + (answers.empty() ? "" : "answers:\n" + answers);
}

}  // namespace

std::string comparison_text(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs)
{
    std::string text;
    const std::vector<std::string> names = study_names(studies);
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const Results& results = studies[s].results;
        text += fmt::format("{}  {}: study {}, seed {}, {}front of {}, {}\n", names[s], studies[s].file,
                            results.study.scenario_name, results.study.seed,
                            results.provisional ? "provisional " : "", counted(results.front.size(), "point"),
                            results.study.outcome_text);
    }
    const Comparison comparison = compared(studies, std::move(pairs));
    text += comparison.differences;
    text += prices_and_answers(studies, names);
    if (comparison.gains.empty()) {
        return text + "\nA front is empty: there is nothing to compare.\n";
    }
    return text + fmt::format("\n{}{}{}\n{}", aligned(comparison.gains, 0), comparison.hypervolumes,
                              pairs_text(comparison.pairs), fronts_text(studies));
}

}  // namespace prismopt
