#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/export/launch.hpp"
#include "io/scenario/catalog.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/toml/nearest.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/program.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/stored_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

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
    const std::string asked = values["target"].as<std::string>();
    for (const ExportTarget& target : export_targets()) {
        if (asked == target.name) {
            return target;
        }
    }
    const std::string near = nearest(asked, names);
    throw InputError(fmt::format("--target {} is unknown{}; choose from: {}", asked,
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), listed(names)));
}

const Phase& phase_of(const po::variables_map& values, const std::vector<Phase>& phases)
{
    const int number = values["phase"].as<int>();
    if (number < 1 || number > static_cast<int>(phases.size())) {
        throw InputError(fmt::format("--phase {} is out of range; the phases are numbered from 1 to {}", number, phases.size()));
    }
    return phases[static_cast<std::size_t>(number - 1)];
}

/// Productive seconds between checkpoints; 0 where there are none.
double checkpoint_interval(const Problem& problem, const ParallelPlan& plan)
{
    const int node = problem.cluster.gpus_per_node();
    const FailureModel failures =
        failure_model(problem.reliability, {(plan.gpus() + node - 1) / node, plan.gpus(), plan.checkpoint_interval, plan.spares});
    return std::isfinite(failures.interval_s) ? failures.interval_s : 0.0;
}

Launch launch_of(const po::variables_map& values, const Results& results)
{
    StoredStudy study(results);
    const std::uint64_t index = chosen_point(values, results, study);
    const Point point = study.space().point(index);
    const Problem& problem = study.problem(point);
    Launch launch;
    launch.study = results.study.scenario_name;
    launch.point = std::to_string(index);
    launch.program = program_name();
    launch.provisional = results.provisional;
    launch.phase = phase_of(values, problem.phases);
    launch.phase_number = values["phase"].as<int>();
    launch.phases = static_cast<int>(problem.phases.size());
    launch.before.assign(problem.phases.begin(), problem.phases.begin() + launch.phase_number - 1);
    for (const Phase& phase : problem.phases) {
        launch.longest_sequence = std::max(launch.longest_sequence, phase.sequence);
    }
    launch.plan = plan_in_phase(study.plan(point), launch.phase);
    launch.design = design_text(launch.plan, study.scenario().space);
    launch.workload = problem.workload;
    launch.cluster = problem.cluster;
    launch.host_gpus = host_gpus(problem.cluster.accelerator.name);
    launch.hardware_parameters = study.scenario().hardware_parameters;
    launch.price = gpu_price_text(study.scenario(), problem.cluster);
    launch.hardware_values = study.hardware_values(point);
    if (values.count("out") > 0) {
        launch.stem = std::filesystem::path(values["out"].as<std::string>()).stem().string();
    }
    PlanCompiler compiler({problem.workload, launch.phase, problem.cluster, problem.noise, problem.memory_headroom});
    const auto compiled = compiler.compile(launch.plan, CompileFor::noise_free_step);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        throw InfeasiblePlan(fmt::format("--point {} is infeasible: {}; choose another point", index, refusal->text()));
    }
    launch.chunks = std::get<CompiledPlan>(compiled).chunks;
    launch.orders = part_orders(*std::get<CompiledPlan>(compiled).graph.program);
    launch.checkpoint_interval_s = checkpoint_interval(problem, launch.plan);
    const auto member =
        std::find_if(results.front.begin(), results.front.end(), [index](const FrontPoint& p) { return p.index == index; });
    if (member != results.front.end() && values["phase"].as<int>() == 1) {  // step times are of the first phase
        launch.step_s = member->prediction.step.p50.value;
    }
    return launch;
}

void write(const std::vector<ExportFile>& files, const std::string& out, const std::string& results)
{
    const auto path_of = [&out](const ExportFile& file) {
        return file.name.empty() ? out : (std::filesystem::path(out).parent_path() / file.name).string();
    };
    std::error_code error;
    if (files.size() > 1 && std::filesystem::is_character_file(out, error)) {
        throw InputError(fmt::format("--out {} is not a regular file, and this target writes {} files; name a file in a folder",
                                     out, files.size()));
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

}  // namespace

int export_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("target", po::value<std::string>()->value_name("NAME"), target_help().c_str());
    options.add_options()("point", po::value<std::int64_t>()->value_name("ID"),
                          "number of the plan in reports (default: the first plan of the front)")(
        "phase", po::value<int>()->value_name("N")->default_value(1), "number of the training phase")(
        "out", po::value<std::string>()->value_name("FILE"),
        "write to FILE instead of standard output; further files go to the same folder and begin with the same name");
    const auto values = parse_options("export", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const ExportTarget& target = target_of(*values);
    const std::string path = (*values)["RESULTS"].as<std::string>();
    const Launch launch = launch_of(*values, open_results(path));
    const Exported exported = target.make(launch);
    if (const auto* why = std::get_if<Refusals>(&exported)) {
        std::string text = fmt::format("point {} ({}) cannot be exported to {}:", launch.point, launch.design, target.name);
        for (const std::string& reason : *why) {
            text += "\n  " + reason;
        }
        throw InputError(text);
    }
    const auto& files = std::get<std::vector<ExportFile>>(exported);
    if (values->count("out") > 0) {
        write(files, (*values)["out"].as<std::string>(), path);
    } else if (files.size() == 1) {
        fmt::print("{}", files.front().text);
    } else {
        throw InputError(fmt::format("--target {} writes {} files; name the first with --out FILE", target.name, files.size()));
    }
    return exit_done;
}

}  // namespace prismopt
