#include "optimizer/api/measuring_folder.hpp"

#include "io/base/percent.hpp"
#include "io/base/shell_word.hpp"
#include "optimizer/improve/plans_space.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace prismopt {

namespace {

std::string folder_of(std::size_t plan) { return plan == 0 ? "today" : fmt::format("plan-{}", plan); }

/// Where a file of a job stands in the folder of a plan: as beside the first file of the job, which names it
/// so; by its name alone where it is elsewhere.
std::string path_in_folder(const JobFile& file, const JobFile& first)
{
    const std::filesystem::path path(file.path);
    const std::filesystem::path beside = path.lexically_normal().lexically_relative(
        std::filesystem::path(first.path).lexically_normal().parent_path());
    const bool is_below = !beside.empty() && *beside.begin() != ".." && *beside.begin() != ".";
    return (is_below ? beside : path.filename()).string();
}

/// The number of a plan in results of the scenario.
std::optional<std::uint64_t> number_of(const ParallelPlan& plan, const DesignMap& designs)
{
    for (std::uint64_t index = 0; index < designs.space().size(); ++index) {
        if (designs.plan(designs.space().point(index)) == plan) {
            return index;
        }
    }
    return std::nullopt;
}

std::vector<ParallelPlan> plans_of(const ParallelPlan& today, const Improvement& improvement)
{
    std::vector<ParallelPlan> plans{today};
    for (const ImprovedPlan& plan : improvement.plans) {
        plans.push_back(plan.plan);
    }
    return plans;
}

}  // namespace

Scenario scenario_of_plans(const ChosenPlan& today, const Improvement& improvement)
{
    return with_space_of(today.scenario, plans_of(today.plan, improvement));
}

std::vector<FolderFile> measuring_folder(const Improvement& improvement, const ImportRequest& request,
                                         const std::vector<JobChange>& changes, const Scenario& searched,
                                         const std::string& results_path, double measured_step_s)
{
    std::vector<FolderFile> files;
    const DesignMap designs(searched);
    std::string rows;
    std::string table = "point,plan,step_time_s,peak_memory_gb\n";
    std::string in_words;
    for (std::size_t i = 0; i <= improvement.plans.size(); ++i) {
        const ImprovedPlan& plan = i == 0 ? improvement.today : improvement.plans[i - 1];
        const std::vector<JobFile>& own = i == 0 ? request.files : changes[i - 1].files;
        std::vector<std::string> names;
        for (const JobFile& file : own) {
            names.push_back(folder_of(i) + "/" + path_in_folder(file, own.front()));
            files.push_back({names.back(), file.text});
        }
        const auto number = number_of(plan.plan, designs);
        const std::string point = number ? std::to_string(*number) : "";
        const std::string gain = i == 0 ? "today's plan"
                                        : fmt::format("{:.1f} ({:.1f} to {:.1f})", 100.0 * plan.gain,
                                                      100.0 * plan.gain_low, 100.0 * plan.gain_high);
        rows +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", folder_of(i), point, plan.steps_to_measure,
                        gain, i == 0 ? "" : chance_figure(plan.chance_faster), chance_figure(plan.fits),
                        names.empty() ? "in words below" : fmt::format("{}", fmt::join(names, ", ")));
        const std::string step =
            i == 0 && measured_step_s > 0.0 ? fmt::format("{:.6g}", measured_step_s) : "";
        table += fmt::format("{},{},{},\n", point, design_text(plan.plan), step);
        if (i > 0) {
            const std::vector<std::string>& environment = changes[i - 1].environment;
            in_words +=
                fmt::format("- {}: {}{}{}{}{}\n", folder_of(i), fmt::join(plan.changes, ", "),
                            own.empty() ? "; set " : "",
                            own.empty() ? fmt::format("{}", fmt::join(changes[i - 1].settings, ", ")) : "",
                            environment.empty() ? "" : "; in the environment, ",
                            fmt::join(environment, ", "));
        }
    }
    files.push_back({"measured.csv", table});
    files.push_back(
        {"README.md",
         fmt::format("# Plans to measure\n\nRun each for `steps` steps after its warm-up: their mean is then "
                     "accurate to {} (95 %), if "
                     "steps vary as\npredicted on one set of GPUs. `faster` is the probability that it is "
                     "faster than today's plan.\n\n"
                     "| plan | point | steps | gain, % | faster, % | fits, % | files "
                     "|\n|---|---|---|---|---|---|---|\n{}\n"
                     "What changes:\n\n{}\n"
                     "Write the step times, in seconds and separated by blanks, and the peak memory of a GPU "
                     "into measured.csv (`oom` if "
                     "the\nmemory did not suffice; remove the rows of plans that were not run). A column "
                     "`log` may name the trainer's "
                     "log\ninstead of step_time_s. Then\n\n```bash\nprismopt learn {} --measured "
                     "measured.csv\n```\n\nsays which plan to "
                     "use, how sure that is, and what further measurements would gain.\n",
                     relative_text(improvement.precision), rows, in_words, shell_word(results_path))});
    return files;
}

}  // namespace prismopt
