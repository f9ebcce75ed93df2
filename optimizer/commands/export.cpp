#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/commands/plan_shortlist.hpp"
#include "optimizer/program/log.hpp"

#include "io/toml/nearest.hpp"
#include "optimizer/commands/chosen_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <utility>
#include <variant>

namespace prismopt {

namespace po = boost::program_options;

namespace {

std::string target_help()
{
    std::string text = "what to export:";
    for (const ExportTarget& target : export_targets()) {
        text += fmt::format("\n  {}: {}", target.name, target.is);
    }
    return text;
}

const ExportTarget& target_of(const po::variables_map& values)
{
    std::vector<std::string> names;
    for (const ExportTarget& target : export_targets()) {
        names.emplace_back(target.name);
    }
    if (values.count("target") == 0) {
        throw InputError(fmt::format("prismopt export needs a --target; choose from: {}", listed(names)));
    }
    return export_target(values["target"].as<std::string>());
}

/// `out`: the main file; empty: standard output.
Launch launch_of_point(const po::variables_map& values, StudyLaunches& study, std::uint64_t number,
                       const std::filesystem::path& out)
{
    return study.feasible_launch(number, values["phase"].as<int>(), out.stem().string());
}

/// The plan of --point from the results of a search, which know its step time;
/// that of --design from any file.
Launch launch_of_file(const po::variables_map& values, FileOfPlan file, const std::string& path,
                      const std::filesystem::path& out)
{
    if (file == FileOfPlan::results && values["design"].as<std::string>().empty()) {
        const Results results = open_results(path);
        StudyLaunches study(results);
        return launch_of_point(values, study, study.number(number_of_point(values)), out);
    }
    return feasible_launch(chosen_plan(path, values),
                           {.phase = values["phase"].as<int>(), .stem = out.stem().string()});
}

void write(const std::vector<ExportFile>& files, const std::string& out, const std::string& results)
{
    const auto path_of = [&out](const ExportFile& file) {
        return file.name.empty() ? out : (std::filesystem::path(out).parent_path() / file.name).string();
    };
    std::error_code error;
    if (files.size() > 1 && std::filesystem::is_character_file(out, error)) {
        throw InputError(fmt::format(
            "--out {} is not a regular file, and this target writes {} files; name a file in a folder", out,
            files.size()));
    }
    for (const ExportFile& file : files) {
        if (!file.name.empty()) {
            refuse_same_outputs({{"out", out}, {"target's own file", path_of(file)}});
        }
    }
    for (const ExportFile& file : files) {
        const std::string path = path_of(file);
        write_output("out", path, file.text, {results});
        fmt::print("{}\n", path);
    }
}

/// How to measure the plans of a shortlist. `files`: by point, what was written;
/// `refused`: by point, why nothing was.
std::string measuring_guide(const Shortlists& all, const std::string& target, const std::string& results,
                            const std::map<std::uint64_t, std::string>& files,
                            const std::map<std::uint64_t, std::string>& refused)
{
    std::string text = fmt::format(
        "# Plans to measure\n\nThe shortlist of {} ({}), exported for {}. Run each plan for `steps` steps "
        "after its warm-up: "
        "their mean is\nthen accurate to {} (95 %), if steps vary as predicted on one set of GPUs.\n",
        all.study, results, target, relative_text(all.request.precision));
    std::string rows;
    for (const PlanShortlist& list : all.lists) {
        text += fmt::format(
            "\n## {} GPUs\n\n| point | steps | best, % | fits, % | file | plan "
            "|\n|---|---|---|---|---|---|\n",
            list.gpus);
        for (const ShortlistedPlan& plan : list.plans) {
            const auto file = files.find(plan.point);
            text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", plan.point, plan.steps_to_measure,
                                chance_figure(plan.chance_best), chance_figure(plan.chance_fits),
                                file == files.end() ? "not exported" : file->second, plan.plan);
            rows += file == files.end() ? "" : fmt::format("{},,point-{}.log,\n", plan.point, plan.point);
        }
    }
    for (const auto& [point, why] : refused) {
        text += fmt::format("\nPoint {} is not exported: {}.\n", point, why);
    }
    return text + fmt::format(
                      "\nThen write what was measured into a table (a log, or step times in seconds; `oom` "
                      "if the memory did not "
                      "suffice):\n\n```\npoint,step_time_s,log,peak_memory_gb\n{}```\n\n"
                      "and choose: `prismopt learn {} --measured measured.csv`\n",
                      rows, results);
}

/// Exports all plans of the shortlists to a folder.
void export_shortlist(const po::variables_map& values, const ExportTarget& target, const std::string& path)
{
    if (values.count("out") == 0) {
        throw InputError("--shortlist writes several files; name a folder with --out DIR");
    }
    const std::filesystem::path folder = values["out"].as<std::string>();
    const Results results = open_results(path);
    const Shortlists all = PlanChoice(results).shortlists(shortlist_request(values));
    StudyLaunches study(results);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!std::filesystem::is_directory(folder)) {
        throw InputError(fmt::format("--out {} is not a folder; name a new folder", folder.string()));
    }
    std::map<std::uint64_t, std::string> files;
    std::map<std::uint64_t, std::string> refused;
    for (const PlanShortlist& list : all.lists) {
        for (const ShortlistedPlan& plan : list.plans) {
            const std::uint64_t point = plan.point;
            const std::filesystem::path file = folder / fmt::format("point-{}{}", point, target.extension);
            const Exported exported = target.make(launch_of_point(values, study, point, file));
            if (const auto* why = std::get_if<Refusals>(&exported)) {
                refused[point] = fmt::format("{}", fmt::join(*why, "; "));
                log_warning(
                    fmt::format("point {} cannot be exported to {}: {}", point, target.name, refused[point]));
            } else {
                write(std::get<std::vector<ExportFile>>(exported), file.string(), path);
                files[point] = file.filename().string();
            }
        }
    }
    const std::string guide = (folder / "README.md").string();
    write_output("out", guide, measuring_guide(all, target.name, path, files, refused), {path});
    fmt::print("{}\n", guide);
    if (files.empty()) {
        throw InputError(
            fmt::format("{} can run no plan of the shortlist; search with --runnable-by", target.name));
    }
}

/// Throws InputError for options that belong to the other kind of export.
void check_options(const po::variables_map& values)
{
    const bool shortlist = values["shortlist"].as<bool>();
    for (const char* option : {"cover", "most", "objective", "gpus", "precision"}) {
        if (!shortlist && values.count(option) > 0) {
            throw InputError(
                fmt::format("--{} belongs to --shortlist; add it, or remove --{}", option, option));
        }
    }
    for (const char* option : {"point", "design"}) {
        if (shortlist && values.count(option) > 0 && !values[option].defaulted()) {
            throw InputError(
                fmt::format("--shortlist exports several plans and --{} one; give one of the two", option));
        }
    }
}

}  // namespace

int export_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("target", po::value<std::string>()->value_name("NAME"), target_help().c_str());
    add_plan_options(options);
    options.add_options()("phase", po::value<int>()->value_name("N")->default_value(1),
                          "number of the training phase")(
        "out,o", po::value<std::string>()->value_name("FILE"),
        "write to FILE instead of standard output; further files go to the "
        "same folder and begin with the same name")(
        "shortlist", po::bool_switch(),
        "export the plans that may be the best into the folder --out, with the number of steps to measure");
    po::options_description of_shortlist("Options of --shortlist");
    add_shortlist_options(of_shortlist);
    options.add(of_shortlist);
    const auto values = parse_options("export", options, "FILE", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    check_options(*values);
    const ExportTarget& target = target_of(*values);
    const std::string path = (*values)["FILE"].as<std::string>();
    const FileOfPlan file = file_of_plan(path, *values);
    if ((*values)["shortlist"].as<bool>()) {
        export_shortlist(*values, target, path);
        return exit_done;
    }
    const std::string out = values->count("out") > 0 ? (*values)["out"].as<std::string>() : "";
    const std::vector<ExportFile> files = exported_files(target, launch_of_file(*values, file, path, out));
    if (values->count("out") > 0) {
        write(files, (*values)["out"].as<std::string>(), path);
    } else if (files.size() == 1) {
        fmt::print("{}", files.front().text);
    } else {
        throw InputError(fmt::format("--target {} writes {} files; name the first with --out FILE",
                                     target.name, files.size()));
    }
    return exit_done;
}

}  // namespace prismopt
