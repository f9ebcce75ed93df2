#include "optimizer/api/search.hpp"
#include "io/base/input_error.hpp"
#include "io/report/performance_text.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/progress_bar.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/parallel/affinity.hpp"
#include "optimizer/parallel/launch.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/program/log.hpp"

#include "io/scenario/reading/scenario_trainer.hpp"
#include "io/toml/nearest.hpp"
#include "io/trainers/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Options of search and resume.
void add_run_options(po::options_description& options)
{
    add_max_time_option(options,
                        "stop after this wall-clock time and save a checkpoint, for example \"55 min\"");
    options.add_options()("no-posterior", po::bool_switch(),
                          "do not compute which plans may be the best, given the error of the model");
}

StudyOptions run_options(const po::variables_map& values, const Call& call)
{
    StudyOptions study;
    study.max_time = max_time_of(values);
    study.posterior = !values["no-posterior"].as<bool>();
    study.command_line = call.command_line;
    show_progress(study);
    return study;
}

std::string strategy_help() { return fmt::format("search strategy: {}", fmt::join(strategy_names(), ", ")); }

std::string trainer_help()
{
    return fmt::format("search only plans that this training framework can run (and export can write): {}",
                       fmt::join(trainer_names(), ", "));
}

void set_strategy(const po::variables_map& values, Scenario& scenario)
{
    if (values.count("strategy") > 0) {
        const std::string name = values["strategy"].as<std::string>();
        const std::vector<std::string> names = strategy_names();
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            throw InputError(fmt::format("--strategy {} is unknown{}; choose from: {}", name,
                                         guess_of(name, names), fmt::join(names, ", ")));
        }
        scenario.search.strategy = name;
    }
    if (values.count("part") > 0) {
        const std::string text = values["part"].as<std::string>();
        SearchSettings& search = scenario.search;
        const char* const end = text.data() + text.size();
        const auto [slash, index_error] = std::from_chars(text.data(), end, search.space_part);
        const bool two = index_error == std::errc{} && slash != end && *slash == '/';
        const auto [rest, count_error] = std::from_chars(two ? slash + 1 : end, end, search.space_parts);
        if (!two || count_error != std::errc{} || rest != end || search.space_part < 1 ||
            search.space_part > search.space_parts) {
            throw InputError(
                fmt::format("--part {} is not K/N with K from 1 to N; write for example --part 3/8", text));
        }
        if (!facts_of_strategy(search.strategy).covers) {
            std::vector<std::string_view> covering;
            for (const StrategyFacts& of : strategies()) {
                if (of.covers) {
                    covering.push_back(of.name);
                }
            }
            throw InputError(
                fmt::format("--part needs a strategy that covers the whole space, and {} does not; choose "
                            "from --strategy {}",
                            search.strategy, fmt::join(covering, ", ")));
        }
    }
    if (values.count("max-evaluations") > 0) {
        const auto most = values["max-evaluations"].as<std::int64_t>();
        if (most < 1) {
            throw InputError(fmt::format(
                "--max-evaluations {} is less than 1; write for example --max-evaluations 5000", most));
        }
        scenario.search.max_evaluations = static_cast<std::uint64_t>(most);
    }
}

void read_legs(const po::variables_map& values, StudyOptions& study)
{
    study.continues = values["continue"].as<bool>();
    if (study.continues && study.force) {
        throw InputError(
            "--continue and --force exclude each other: --force starts the search again each time; leave one "
            "out");
    }
    if (values.count("legs") == 0) {
        return;
    }
    const auto most = values["legs"].as<std::int64_t>();
    if (!study.continues) {
        throw InputError(
            "--legs limits the runs of a search with --continue; add --continue, or leave it out");
    }
    if (most < 1 || most > std::numeric_limits<int>::max()) {
        throw InputError(fmt::format("--legs {} is not a number of runs; write for example --legs {}", most,
                                     default_most_legs));
    }
    study.most_legs = static_cast<int>(most);
}

void warn_of_launch(const Call& call)
{
    if (call.team.rank() == 0) {
        if (const std::string warning = unjoined_processes(call.team.size()); !warning.empty()) {
            log_warning(warning);
        }
        if (const std::string warning = affinity_warning(0); !warning.empty()) {
            log_warning(warning);
        }
    }
}

/// Runs the study and prints its outcome.
int run(const std::function<std::optional<Scenario>()>& read, const StudyOptions& options, const Call& call)
{
    warn_of_launch(call);
    const StudyEnd end = run_study(read, call.team, options);
    if (call.team.rank() != 0 || end.nothing_to_do) {
        return exit_done;
    }
    for (const std::string& line : performance_lines(end.results)) {
        log_info(line);
    }
    if (!end.complete) {
        log_warning(end.results.study.outcome_text);
        if (!end.last_leg.empty()) {
            log_warning(end.last_leg);
            return exit_failure;
        }
        if (Communicator::launched()) {
            log_info(
                fmt::format("exit code {}: the checkpoint is complete; mpirun may report an aborted job, "
                            "which can be ignored (mpirun -q "
                            "suppresses that message; see docs/launch.md)",
                            exit_call_again));
        }
        return exit_call_again;
    }
    fmt::print("{}\nresults: {}\n", text_with_placements(end.results), options.out);
    return exit_done;
}

}  // namespace

int search_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("out,o", po::value<std::string>()->value_name("FILE"),
                          "results file (default: the name of the scenario with .h5, in the current folder)")(
        "force", po::bool_switch(), "overwrite existing results");
    options.add_options()("continue", po::bool_switch(),
                          "start the search, or continue it if its journal exists; end with 0 if it is "
                          "complete. Options of the "
                          "first run hold in later ones")(
        "legs", po::value<std::int64_t>()->value_name("N"),
        fmt::format("with --continue: at most N runs of one search (default: {})", default_most_legs)
            .c_str());
    options.add_options()("strategy", po::value<std::string>()->value_name("NAME"), strategy_help().c_str());
    options.add_options()("runnable-by", po::value<std::string>()->value_name("TRAINER"),
                          trainer_help().c_str());
    options.add_options()("max-evaluations", po::value<std::int64_t>()->value_name("N"),
                          "evaluate at most N plans");
    options.add_options()("part", po::value<std::string>()->value_name("K/N"),
                          "search part K of N of the space; prismopt merge combines the results");
    options.add_options()(
        "dry-run", po::bool_switch(),
        "count the plans of the space and estimate the cost of a search, without running it");
    add_catalog_option(options);
    add_seed_option(options);
    add_run_options(options);
    const auto values = parse_options("search", options, "SCENARIO", words, call);
    if (!values) {
        return exit_done;
    }
    const std::string path = (*values)["SCENARIO"].as<std::string>();
    StudyOptions study = run_options(*values, call);
    study.out = values->count("out") > 0 ? (*values)["out"].as<std::string>()
                                         : std::filesystem::path(path).stem().string() + ".h5";
    study.force = (*values)["force"].as<bool>();
    read_legs(*values, study);
    const auto read = [&]() -> std::optional<Scenario> {
        Scenario scenario = read_scenario(path, catalogs_of(*values));
        if (values->count("runnable-by") > 0) {
            scenario = with_trainer(scenario, (*values)["runnable-by"].as<std::string>());
        }
        set_seed(*values, scenario);
        set_strategy(*values, scenario);
        return scenario;
    };
    if ((*values)["dry-run"].as<bool>()) {
        if (call.team.rank() != 0) {
            return exit_done;
        }
        const Pause pause =
            stop_after(*values, call, "the estimates above cover only what was checked until then");
        const DryRun found = dry_run(*read(), pause);
        fmt::print("{}", found.text);
        if (!found.stopped.empty()) {
            std::fflush(stdout);
            log_warning(found.stopped);
            return exit_call_again;
        }
        return exit_done;
    }
    return run(read, study, call);
}

int resume_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_run_options(options);
    const auto values = parse_options("resume", options, "FILE", words, call);
    if (!values) {
        return exit_done;
    }
    StudyOptions study = run_options(*values, call);
    study.resume = true;
    const std::string path = (*values)["FILE"].as<std::string>();
    study.out = results_path_of(path);
    const auto read = [&] {
        std::optional<Scenario> scenario = resumable_scenario(path);
        if (!scenario) {
            log_info(complete_text(study.out));
        }
        return scenario;
    };
    return run(read, study, call);
}

}  // namespace prismopt
