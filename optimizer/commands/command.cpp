#include "optimizer/commands/command.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/quantity.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <memory>
#include <regex>

namespace prismopt {

namespace po = boost::program_options;

const std::vector<ExitCode>& exit_codes()
{
    static const std::vector<ExitCode> list{
        {exit_done, "done"},
        {exit_wrong_input, "wrong input or usage"},
        {exit_infeasible, "the requested plan is infeasible"},
        {exit_changed, "watch: the step times of the job have changed"},
        {exit_unexpected_level,
         "watch: the step times are outside the prediction interval, and have not changed"},
        {exit_silent, "watch: nothing was written to the log for an hour or longer, and steps are left"},
        {exit_call_again,
         "stopped early, with a complete checkpoint: continue a search with prismopt resume; a dry run has "
         "printed partial "
         "estimates"},
        {exit_failure, "any other failure"},
    };
    return list;
}

const std::vector<Command>& commands()
{
    static const std::vector<Command> list{
        {"search", "SCENARIO", "search the design space, alone or under mpirun or srun",
         "mpirun -n 4 prismopt search small.toml --out small.h5 --max-time \"55 min\"", search_command, true},
        {"resume", "FILE", "continue a stopped search from its results file or journal",
         "mpirun -n 4 prismopt resume small.h5 --max-time \"55 min\"", resume_command, true},
        {"predict", "SCENARIO", "predict one plan: time distribution, breakdown, memory",
         "prismopt predict small.toml --design \"gpus=64 tp=2 pp=4 schedule=1f1b\" --json", predict_command},
        {"sensitivity", "SCENARIO",
         "show which kernels, noise sources and hardware parameters affect the times of one plan, and by how "
         "much",
         "prismopt sensitivity small.toml --design \"gpus=64 tp=2 pp=4 schedule=1f1b\" --svg small.svg",
         sensitivity_command},
        {"init", "", "write a commented starter scenario for a workload on a cluster",
         "prismopt init --workload llama3-70b --accelerator h100-sxm --gpus 1024 --out my.toml",
         init_command},
        {"explain", "FILE...",
         "say where the time and the memory of a plan go, and what would make it fit or faster",
         "prismopt explain train.sbatch", explain_command},
        {"import", "FILE...",
         "write a scenario from the script or configuration of a training job, and name its plan",
         "prismopt import train.sbatch --out my.toml", import_command},
        {"improve", "FILE...",
         "list better plans for a job: within one, two and three changes, and the best of all",
         "prismopt improve train.sbatch --measured-step \"5.45 s\" --run plans", improve_command},
        {"validate", "SCENARIO", "check a scenario and count the plans of its space",
         "prismopt validate small.toml", validate_command},
        {"report", "RESULTS",
         "print the front as a table with its error intervals; write it as an HTML page, CSV or SVG",
         "prismopt report small.h5 --html small.html --csv small.csv", report_command},
        {"shortlist", "RESULTS",
         "list the plans that may be the best, given the model error, so that they can be measured",
         "prismopt shortlist small.h5 --most 3", shortlist_command},
        {"learn", "RESULTS",
         "update the predictions of a study from measured step times, and list the plans to measure next",
         "prismopt learn small.h5 --measured measured.csv", learn_command},
        {"compare", "RESULTS...",
         "compare two or more results: joint front, gains, and what differs between the studies",
         "prismopt compare before.h5 after.h5 --html both.html", compare_command},
        {"export", "FILE",
         "write a plan of results or of a scenario as arguments, configuration or job script of a training "
         "framework",
         "prismopt export small.h5 --point 229 --target megatron", export_command},
        {"watch", "RESULTS LOG",
         "compare the step times of a running job with its prediction, and detect changes",
         "prismopt watch small.h5 job.log --point 229", watch_command},
        {"merge", "", "merge the results of searches that each covered one part of a space",
         "prismopt merge --out all.h5 --part one.h5 two.h5", merge_command},
        {"calibrate", "FILE...",
         "fit the sections [variability] and [reliability] of a scenario to measured traces",
         "prismopt calibrate operations.csv.gz --out variability.toml", calibrate_command},
        {"components", "SCENARIO",
         "print the times of collectives of a cluster, as nccl-tests do, and compare them with measured ones",
         "prismopt components small.toml --measured all_reduce_perf.log", components_command},
        {"check-model", "", "compare predictions with published measurements", "prismopt check-model",
         check_model_command},
        {"numerics", "",
         "emulate number formats and attention kernels, and measure how far results and trained weights "
         "deviate",
         "prismopt numerics --format bf16,fp8-e4m3 --sequence 2048", numerics_command},
        {"inspect", "FILE", "show what a results file or a journal contains",
         "prismopt inspect small.h5.journal", inspect_command},
        {"completion", "SHELL", "print the completion script for bash or zsh",
         "source <(prismopt completion bash)", completion_command},
        {"manual", "", "print the manual page", "prismopt manual | man -l -", manual_command},
    };
    return list;
}

namespace {

/// "o" of "out,o"; empty: the option has no short form.
std::string letter_of(const po::option_description& option)
{
    const std::string shown = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
    return shown.starts_with('-') ? shown.substr(1) : "";
}

void list_options(const po::options_description& options, std::vector<OptionText>& listing)
{
    for (const auto& option : options.options()) {
        const bool valued = option->semantic()->max_tokens() > 0;
        std::string value = valued ? option->format_parameter() : "";
        value = value.substr(0, value.find(" (="));  // help shows the default, the manual does not
        listing.push_back({.name = option->long_name(),
                           .letter = letter_of(*option),
                           .value = value,
                           .does = option->description()});
    }
}

std::string nearest_option(const std::string& asked, const po::options_description& options)
{
    std::vector<std::string> names;
    for (const auto& option : options.options()) {
        names.push_back("--" + option->long_name());
    }
    return guess_of(asked, names);
}

}  // namespace

std::vector<OptionText> options_of(const Command& command, const Call& call)
{
    std::vector<OptionText> options;
    command.run({}, {call.command_line, call.team, &options});
    return options;
}

std::optional<po::variables_map> parse_options(const std::string& command,
                                               const po::options_description& options,
                                               const Positional& positional,
                                               const std::vector<std::string>& words, const Call& call)
{
    po::options_description all;
    all.add(options);
    all.add_options()("help,h", "print this help");
    if (call.listing != nullptr) {
        list_options(all, *call.listing);
        return std::nullopt;
    }
    po::options_description with_argument;
    with_argument.add(all);
    po::positional_options_description place;
    if (positional.most == 1 && !positional.name.empty()) {
        with_argument.add_options()(positional.name.c_str(), po::value<std::string>());
    } else if (positional.most != 1) {
        with_argument.add_options()(positional.name.c_str(), po::value<std::vector<std::string>>());
    }
    if (!positional.name.empty()) {
        place.add(positional.name.c_str(), positional.most);
    }
    po::variables_map values;
    try {
        po::store(po::command_line_parser(words).options(with_argument).positional(place).run(), values);
        po::notify(values);
    } catch (const po::unknown_option& error) {
        throw InputError(fmt::format("prismopt {}: unrecognised option '{}'{}; see prismopt {} --help",
                                     command, error.get_option_name(),
                                     nearest_option(error.get_option_name(), all), command));
    } catch (const po::error& error) {
        throw InputError(
            fmt::format("prismopt {}: {}; see prismopt {} --help", command, error.what(), command));
    }
    if (values.count("help") > 0) {
        if (call.team.rank() != 0) {
            return std::nullopt;
        }
        const auto described =
            std::find_if(commands().begin(), commands().end(),
                         [&command](const Command& other) { return other.name == command; });
        fmt::print("Usage: prismopt {}{}{} [options]\n{}\n\n{}\nExample:\n  {}\n", command,
                   positional.name.empty() ? "" : " ",
                   positional.most > 0 ? positional.name : positional.name + "...", described->does,
                   fmt::streamed(all), described->example);
        return std::nullopt;
    }
    if (!positional.name.empty() && values.count(positional.name) == 0) {
        throw InputError(
            fmt::format("prismopt {} needs a {}; see prismopt {} --help", command, positional.name, command));
    }
    return values;
}

void add_max_time_option(po::options_description& options, const char* does)
{
    options.add_options()("max-time", po::value<std::string>()->value_name("TIME"), does);
}

namespace {

/// Seconds of "[days-]hours:minutes:seconds", as batch systems write time limits;
/// nothing: the text is something else.
std::optional<double> clock_time(const std::string& text)
{
    static const std::regex form(R"((?:(\d{1,5})-)?(\d{1,5}):([0-5]\d):([0-5]\d))");
    std::smatch match;
    if (!std::regex_match(text, match, form)) {
        return std::nullopt;
    }
    const auto number = [&](std::size_t group) {
        return match[group].matched ? std::stod(match[group]) : 0.0;
    };
    return ((24.0 * number(1) + number(2)) * 60.0 + number(3)) * 60.0 + number(4);
}

double max_seconds(const std::string& text)
{
    if (const auto seconds = clock_time(text)) {
        return *seconds;
    }
    const auto time = parse_quantity<Seconds>(text, "55 min");
    if (const auto* complaint = std::get_if<Complaint>(&time)) {
        throw InputError(fmt::format("--max-time {} {}, or \"00:55:00\" (hours, minutes, seconds)", text,
                                     complaint->text()));
    }
    return std::get<Seconds>(time).si;
}

}  // namespace

std::optional<std::chrono::duration<double>> max_time_of(const po::variables_map& values)
{
    if (values.count("max-time") == 0) {
        return std::nullopt;
    }
    const std::string text = values["max-time"].as<std::string>();
    const double seconds = max_seconds(text);
    if (seconds <= 0.0) {
        throw InputError(fmt::format("--max-time {} is not positive; write for example \"55 min\"", text));
    }
    constexpr double for_ever_s = 1e9;  // a clock's range ends at about 9e9 s
    return std::chrono::duration<double>(std::min(seconds, for_ever_s));
}

Pause stop_after(const po::variables_map& values, const Call& call, const char* left)
{
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds between{5};
    struct State {
        StopRequest stop;
        Clock::time_point start = Clock::now();
        Clock::time_point said = start;
    };
    // Shared by copies of the function, so that they do not each report.
    const auto state = std::make_shared<State>(State{StopRequest(max_time_of(values), call.team)});
    return [state, left] {
        if (const auto why = state->stop.reason()) {
            throw Stopped(
                fmt::format("stopped by {} before it finished, and {}; allow more time", *why, left));
        }
        if (const auto now = Clock::now(); now - state->said >= between) {
            state->said = now;
            log_info(
                fmt::format("{} s: still running",
                            std::chrono::duration_cast<std::chrono::seconds>(now - state->start).count()));
        }
    };
}

void add_catalog_option(po::options_description& options)
{
    options.add_options()("catalog", po::value<std::vector<std::string>>()->value_name("FILE"),
                          "also know the accelerators, links, stacks, networks and other entries of this "
                          "file (docs/catalog.md)");
}

std::vector<std::string> catalogs_of(const po::variables_map& values)
{
    return values.count("catalog") > 0 ? values["catalog"].as<std::vector<std::string>>()
                                       : std::vector<std::string>{};
}

void add_field_options(po::options_description& options)
{
    options.add_options()(
        "model-class", po::value<std::string>()->value_name("NAME"),
        "read the config.json as one of this class, whatever it says itself: MixtralForCausalLM")(
        "field", po::value<std::vector<std::string>>()->value_name("NAME=OTHER")->composing(),
        "field NAME of that class is called OTHER in the config.json, or has this value: --field "
        "num_local_experts=moe.experts "
        "--field head_dim=128 (repeat it for each)");
}

FieldNames field_names_of(const po::variables_map& values)
{
    FieldNames names;
    names.model_class = values.count("model-class") > 0 ? values["model-class"].as<std::string>() : "";
    names.fields = values.count("field") > 0 ? values["field"].as<std::vector<std::string>>()
                                             : std::vector<std::string>{};
    if ((!names.model_class.empty() || !names.fields.empty()) && values.count("workload") > 0) {
        throw InputError(
            "--model-class and --field say how a config.json is read; remove them or --workload");
    }
    return names;
}

void add_seed_option(po::options_description& options)
{
    options.add_options()("seed", po::value<std::int64_t>()->value_name("N"),
                          "random seed (default: from the scenario)");
}

void set_seed(const po::variables_map& values, Scenario& scenario)
{
    if (values.count("seed") == 0) {
        return;
    }
    scenario.seed = checked_seed(values["seed"].as<std::int64_t>());
}

std::uint64_t checked_seed(std::int64_t seed)
{
    if (seed < 0) {
        throw InputError(
            fmt::format("--seed {} is negative; write a whole number, for example --seed 1", seed));
    }
    return static_cast<std::uint64_t>(seed);
}

}  // namespace prismopt
