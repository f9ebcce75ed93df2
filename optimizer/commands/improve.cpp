#include "optimizer/api/improve.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "io/toml/quantity.hpp"
#include "optimizer/api/job_changes.hpp"
#include "optimizer/api/measuring_folder.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/commands/chosen_job.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/program/scenario_log.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// A positive quantity of an option; 0: it is not given.
template <class Q>
double quantity_of(const po::variables_map& values, const char* option, const char* example)
{
    if (values.count(option) == 0) {
        return 0.0;
    }
    const std::string text = values[option].as<std::string>();
    const auto parsed = parse_quantity<Q>(text, example);
    if (const auto* complaint = std::get_if<Complaint>(&parsed)) {
        throw InputError(fmt::format("--{} {} {}", option, escape_controls(text), complaint->text()));
    }
    const double value = std::get<Q>(parsed).si;
    if (!(value > 0.0)) {
        throw InputError(fmt::format("--{} {} is not positive; write for example \"{}\"", option,
                                     escape_controls(text), example));
    }
    return value;
}

ImproveRequest request_of(const po::variables_map& values)
{
    ImproveRequest request;
    request.measured_step_s = quantity_of<Seconds>(values, "measured-step", "5.45 s");
    request.measured_memory_bytes = quantity_of<Bytes>(values, "measured-memory", "61.5 GB");
    request.most_changes = values["changes"].as<int>();
    request.most = values["most"].as<int>();
    refuse_wrong(request);
    return request;
}

/// Searches what the plans span, and returns the path of the results.
void write_results(const Scenario& searched, const std::string& out, const Call& call)
{
    StudyOptions options;
    options.out = out;
    options.command_line = call.command_line;
    options.message = [](const std::string&) {};
    search(searched, options);
}

void write_folder(const std::filesystem::path& folder, const std::vector<FolderFile>& files)
{
    for (const FolderFile& file : files) {
        const std::filesystem::path path = folder / file.name;
        std::error_code error;
        std::filesystem::create_directories(path.parent_path(), error);
        if (std::filesystem::exists(path)) {
            throw InputError(
                fmt::format("--run: {} already exists and is not overwritten; name another folder",
                            escape_controls(path.string())));
        }
        write_output("run", path.string(), file.text, {});
    }
}

}  // namespace

int improve_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()(
        "measured-step", po::value<std::string>()->value_name("TIME"),
        "measured mean step of today's plan, \"5.45 s\": predictions are conditioned on it")(
        "measured-memory", po::value<std::string>()->value_name("SIZE"),
        "its measured peak memory on one GPU, \"61.5 GB\"")(
        "changes", po::value<int>()->value_name("N")->default_value(3),
        "change at most so many axes: 1, 2 or 3")("most", po::value<int>()->value_name("N")->default_value(3),
                                                  "plans to list of each number of changes")(
        "out,o", po::value<std::string>()->value_name("FILE"),
        "also search today's plan, the listed ones and what lies between them, and write the results for "
        "prismopt learn")("run", po::value<std::string>()->value_name("DIR"),
                          "write the files of the job with each plan to this folder, with the number of "
                          "steps to measure and the table to fill in")(
        "json", po::bool_switch(),
        "print one JSON object instead of text (results/README.md lists the keys)");
    add_plan_options(options);
    add_job_options(options);
    const auto values = parse_options("improve", options, {"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const ImproveRequest request = request_of(*values);
    const ChosenJob today = chosen_job(*values);
    const std::string run = values->count("run") > 0 ? (*values)["run"].as<std::string>() : "";
    if (!run.empty() && !today.job) {
        throw InputError(
            "--run writes the files of a job; give the script or configuration that starts it instead of a "
            "scenario");
    }
    const bool json = (*values)["json"].as<bool>();
    if (!json) {
        log_notes(today.chosen.scenario);
    }
    const Improvement found = improve(today.chosen, request);
    std::vector<JobChange> changes;
    const ImportRequest files = today.job
                                    ? with_found_files(job_request(*values), *today.job, catalogs_of(*values))
                                    : ImportRequest{};
    for (const ImprovedPlan& plan : today.job ? found.plans : std::vector<ImprovedPlan>{}) {
        changes.push_back(changed_job(files, *today.job, today.chosen, plan.plan, catalogs_of(*values)));
    }
    fmt::print("{}", json ? improvement_json(found, changes)
                          : improvement_text(found) + (today.job ? job_changes_text(found, changes) : ""));
    std::string out = values->count("out") > 0 ? (*values)["out"].as<std::string>() : "";
    if (run.empty() && out.empty()) {
        return exit_done;
    }
    const Scenario searched = scenario_of_plans(today.chosen, found);
    std::string from_folder = out.empty() ? "" : std::filesystem::absolute(out).string();
    if (!run.empty()) {
        if (out.empty()) {
            from_folder = "plans.h5";
        }
        write_folder(run,
                     measuring_folder(found, files, changes, searched, from_folder, request.measured_step_s));
        if (out.empty()) {
            out = (std::filesystem::path(run) / from_folder).string();
        }
    }
    write_results(searched, out, call);
    if (!json) {
        fmt::print(
            "\n{}{}: results of these plans; measure some, and then: prismopt learn {} --measured {}\n",
            run.empty() ? "" : fmt::format("{}: the plans to run, see README.md there\n", run), out,
            shell_word(out),
            run.empty() ? "measured.csv"
                        : shell_word((std::filesystem::path(run) / "measured.csv").string()));
    }
    return exit_done;
}

}  // namespace prismopt
