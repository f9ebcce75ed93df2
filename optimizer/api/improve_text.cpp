#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/api/improve.hpp"
#include "optimizer/study/host_wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

constexpr double table_gigabyte = (1_GB).si;

std::string change_words(const ImprovedPlan& plan) { return fmt::format("{}", fmt::join(plan.changes, " ")); }

/// The step over today's: "0.702 (0.660 to 0.749)".
std::string ratio_words(const ImprovedPlan& plan)
{
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", 1.0 - plan.gain, 1.0 - plan.gain_high,
                       1.0 - plan.gain_low);
}

std::string which_text(const ImprovedPlan& plan)
{
    return fmt::format("{}{}", plan.axes, plan.best_of_all ? ", best of all" : "");
}

/// One sentence for each number of changes that brings more than fewer do.
std::string summary(const Improvement& of)
{
    std::string text;
    const ImprovedPlan* before = nullptr;
    constexpr std::array words{"one change", "two changes", "three changes"};
    for (std::size_t axes = 1; axes <= words.size(); ++axes) {
        const ImprovedPlan* best = best_within(of, static_cast<int>(axes));
        if (best != nullptr && best != before) {
            text += fmt::format("With {}, {}: {} times today's step, faster with {}, fits with {}.\n",
                                words[axes - 1], change_words(*best), ratio_words(*best),
                                chance_text(best->chance_faster), chance_text(best->fits));
        }
        before = best;
    }
    if (of.plans.empty()) {
        return "No plan that was tried is better than today's.\n";
    }
    const ImprovedPlan& last = of.plans.back();
    if (last.best_of_all && &last != before) {
        text += fmt::format("Best of all, {}: {} times today's step, faster with {}, fits with {}.\n",
                            change_words(last), ratio_words(last), chance_text(last.chance_faster),
                            chance_text(last.fits));
    }
    return text;
}

nlohmann::json plan_json(const ImprovedPlan& plan)
{
    return {{"design", plan.design},
            {"changes", plan.changes},
            {"axes", plan.axes},
            {"best_of_all", plan.best_of_all},
            {"step_s", plan.step_s},
            {"gain", plan.gain},
            {"gain_low", plan.gain_low},
            {"gain_high", plan.gain_high},
            {"faster_probability", plan.chance_faster},
            {"memory_bytes", plan.memory_bytes},
            {"fit_probability", plan.fits},
            {"reason", plan.reason},
            {"steps_to_measure", plan.steps_to_measure}};
}

/// Why the files are not changed, and what would help.
std::string why_no_diff(const JobChange& change)
{
    if (!change.refused.empty()) {
        return fmt::format("it is not exported to the trainer of the job: {}",
                           fmt::join(change.refused, "; "));
    }
    return change.not_given.empty()
               ? "no change of the files was found that gives this plan when it is imported again"
               : fmt::format(
                     "the job names {0}, which was not given; for a diff, run prismopt improve with "
                     "{0} as one more FILE",
                     fmt::join(change.not_given, " and "));
}

/// The change of a job's files, or in words.
std::string change_text(const JobChange& change)
{
    std::string environment;
    for (const std::string& words : change.environment) {
        environment += fmt::format("# In the environment, which no file sets: {}\n", words);
    }
    if (!change.diff.empty()) {
        return environment + change.diff;
    }
    return fmt::format("{}{} to change ({}):\n  {}\n", environment,
                       change.refused.empty() ? "Settings" : "Axes", why_no_diff(change),
                       fmt::join(change.settings, "\n  "));
}

/// What to check first if the measured step is outside the prediction interval; empty: it is inside.
std::string unexpected_step_text(const Improvement& of)
{
    const bool expected =
        !of.measured || (of.today.step_s >= of.predicted_low_s && of.today.step_s <= of.predicted_high_s);
    if (expected) {
        return "";
    }
    const std::string check = of.today.step_s > of.predicted_high_s
                                  ? "what the model does not contain, or what is not as assumed: loading of "
                                    "data, slow GPUs, the network, the software"
                                  : "that it is the time of a whole step, and of the same batch";
    return fmt::format(
        "The measured step is {:.3g} times the predicted one, outside its 95 % prediction "
        "interval ({} to {}). Check first {}.\n\n",
        of.today.step_s / of.predicted_step_s, time_text(of.predicted_low_s, 3),
        time_text(of.predicted_high_s, 3), check);
}

}  // namespace

std::string improvement_text(const Improvement& of)
{
    const ImprovedPlan& today = of.today;
    const std::string before =
        of.measured ? fmt::format(" measured, {} predicted", time_text(of.predicted_step_s, 4)) : "";
    const std::string before_peak =
        of.measured_memory
            ? fmt::format(" measured, {:.1f} GB predicted", of.predicted_memory_bytes / table_gigabyte)
            : "";
    std::string text = fmt::format("today: {}\n       step {}{}, peak {:.1f} GB{}, fits with {}\n\n",
                                   today.design, time_text(today.step_s, 4), before,
                                   today.memory_bytes / table_gigabyte, before_peak, chance_text(today.fits));
    text += unexpected_step_text(of);
    if (today.fits < of.limit) {
        text += "Today's plan may not fit: plans that do are compared with it as if it did.\n\n";
    }
    if (!of.plans.empty()) {
        std::vector<std::vector<std::string>> rows{{"changes", "mean step", "times today's (90 %)",
                                                    "faster, %", "fits, %", "GB", "change", "because"}};
        for (const ImprovedPlan& plan : of.plans) {
            rows.push_back({which_text(plan), time_text(plan.step_s, 4), ratio_words(plan),
                            chance_figure(plan.chance_faster), chance_figure(plan.fits),
                            fmt::format("{:.1f}", plan.memory_bytes / table_gigabyte), change_words(plan),
                            plan.reason});
        }
        text += aligned(rows, {0, 6, 7}) + "\n";
    }
    text += summary(of);
    text += fmt::format(
        "Plans on the same GPUs with the same global batch{}. \"faster\" includes the error of the "
        "model{}.\n",
        of.software.empty() ? "" : fmt::format(", as {} runs them", of.software),
        of.measured ? ", given the measured step" : "");
    const bool on_hosts = updates_on_host(today.plan.offload) ||
                          std::any_of(of.plans.begin(), of.plans.end(), [](const ImprovedPlan& plan) {
                              return updates_on_host(plan.plan.offload);
                          });
    text += on_hosts ? fmt::format("Offload: {}.\n", host_update_words) : "";
    text += of.complete ? ""
                        : "Not all combinations of three changes were looked at: the most promising first.\n";
    return text;
}

std::string job_changes_text(const Improvement& of, const std::vector<JobChange>& changes)
{
    std::string text;
    const ImprovedPlan* before = nullptr;
    for (int axes = 1; axes <= 3; ++axes) {
        const ImprovedPlan* best = best_within(of, axes);
        if (best != nullptr && best != before) {
            const auto position = static_cast<std::size_t>(best - of.plans.data());
            text += fmt::format("\n{}: {}\n{}", which_text(*best), change_words(*best),
                                change_text(changes[position]));
        }
        before = best;
    }
    if (!of.plans.empty() && of.plans.back().best_of_all && &of.plans.back() != before) {
        text +=
            fmt::format("\nbest of all: {}\n{}", change_words(of.plans.back()), change_text(changes.back()));
    }
    return text;
}

std::string improvement_json(const Improvement& of, const std::vector<JobChange>& changes)
{
    nlohmann::json predicted_interval;  // null: its step was not measured
    if (of.measured) {
        predicted_interval = {of.predicted_low_s, of.predicted_high_s};
    }
    nlohmann::json json{{"format", "prismopt improve"},
                        {"format_version", 1},
                        {"today", plan_json(of.today)},
                        {"predicted_step_s", of.predicted_step_s},
                        {"predicted_interval_s", predicted_interval},
                        {"predicted_memory_bytes", of.predicted_memory_bytes},
                        {"measured", of.measured},
                        {"measured_memory", of.measured_memory},
                        {"complete", of.complete},
                        {"software", of.software},
                        {"plans", nlohmann::json::array()}};
    for (std::size_t i = 0; i < of.plans.size(); ++i) {
        nlohmann::json plan = plan_json(of.plans[i]);
        if (!changes.empty()) {
            plan["diff"] = changes[i].diff;
            plan["settings"] = changes[i].settings;
            plan["environment"] = changes[i].environment;
        }
        json["plans"].push_back(std::move(plan));
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace prismopt
