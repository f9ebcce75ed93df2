#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/scenario/constants/learned.hpp"
#include "io/scenario/files/captured_network.hpp"
#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/preview/unmet_question.hpp"

#include "io/authoring/catalog_list.hpp"
#include "io/authoring/scenario_reference.hpp"
#include "io/authoring/scenario_schema.hpp"
#include "io/authoring/starter_machine.hpp"
#include "io/authoring/starter_scenario.hpp"
#include "io/base/csv.hpp"
#include "io/base/shell_word.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/quantity.hpp"
#include "io/toml/toml.hpp"
#include "io/trainers/trainer.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Value of the option; `usual` if it is not given.
template <class Number>
Number positive(const po::variables_map& values, const char* option, Number usual)
{
    if (values.count(option) == 0) {
        return usual;
    }
    const Number value = values[option].as<Number>();
    if (!(value > Number{})) {
        throw InputError(fmt::format(
            "--{} {} is not positive; give a positive number or leave the option out", option, value));
    }
    return value;
}

/// Value of the option; empty if it is not given.
std::string text_of(const po::variables_map& values, const char* option)
{
    return values.count(option) > 0 ? values[option].as<std::string>() : "";
}

/// An accelerator, or an instance that has some.
void read_machine(const po::variables_map& values, StarterChoice& choice)
{
    choice.instance = text_of(values, "instance");
    if (choice.instance.empty()) {
        choice.accelerator = text_of(values, "accelerator");
    } else if (!values["accelerator"].defaulted()) {
        throw InputError("--instance and --accelerator both name the accelerator; remove one of the two");
    }
    choice.node_gpus = positive(values, "gpus-per-node", 0);
    choice.network = text_of(values, "network");
}

double tokens_of(const po::variables_map& values)
{
    if (values.count("tokens") == 0) {
        return 0.0;
    }
    const auto& text = values["tokens"].as<std::string>();
    const auto count = parse_count(text, "15T");
    if (const auto* complaint = std::get_if<Complaint>(&count)) {
        throw InputError(fmt::format("--tokens {} {}", text, complaint->text()));
    }
    if (!(std::get<double>(count) > 0.0)) {
        throw InputError(
            fmt::format("--tokens {} is not positive; give a positive number or leave the option out", text));
    }
    return std::get<double>(count);
}

bool is_number(const std::string& text)
{
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

/// Lines of [question], as far as options ask something.
std::vector<std::string> question_of(const po::variables_map& values)
{
    enum class Written { plain, quoted, quoted_unless_number };
    struct Key {
        const char* option;
        const char* key;
        Written written;
    };
    constexpr std::array<Key, 5> keys{{{"deadline", "deadline", Written::quoted},
                                       {"done-by", "done_by", Written::plain},
                                       {"probability", "probability", Written::plain},
                                       {"budget", "budget", Written::quoted_unless_number},
                                       {"power-limit", "power_limit", Written::quoted}}};
    std::vector<std::string> lines;
    for (const Key& key : keys) {
        if (const std::string value = text_of(values, key.option); !value.empty()) {
            const bool quoted = key.written == Written::quoted ||
                                (key.written == Written::quoted_unless_number && !is_number(value));
            lines.push_back(quoted ? fmt::format("{} = \"{}\"", key.key, value)
                                   : fmt::format("{} = {}", key.key, value));
        }
    }
    if (!lines.empty()) {
        lines.insert(lines.begin(), "minimise = \"cost\"                    # or time, gpus, energy");
    }
    return lines;
}

/// A text that is not in a file yet. `path`: whose folder has the files that it names.
Scenario read_written(const std::string& text, const std::string& path,
                      const std::vector<std::string>& catalogs)
{
    const std::string alone = with_captured_network(with_learned_file(text, path), path);
    return parse_scenario(with_catalog_files(alone, path, catalogs).text, path);
}

/// What is wrong with a text; empty if it is a valid scenario. Without a place in the file, which is not
/// written yet.
std::string fault_of(const std::string& text, const std::string& path,
                     const std::vector<std::string>& catalogs)
{
    try {
        read_written(text, path, catalogs);
        return "";
    } catch (const InputError& error) {
        const std::string message = error.what();
        const std::size_t place = message.find(": ");
        return place == std::string::npos ? message : message.substr(place + 2);
    }
}

/// Rejects options that contradict each other.
Scenario check_starter(const std::string& text, const std::string& name)
{
    if (const std::string fault = fault_of(text, name, {}); !fault.empty()) {
        throw InputError("these options do not give a valid scenario: " + fault);
    }
    return read_written(text, name, {});
}

/// Warns of values with which a scenario is no longer valid: others may have to change with them, as the
/// choices of gpus with the cluster. `path`: of the scenario.
void warn_of_faults(const std::string& before, const std::string& after, const std::string& path,
                    const std::vector<std::string>& catalogs)
{
    const std::string fault = fault_of(after, path, catalogs);
    if (!fault.empty() && fault_of(before, path, catalogs).empty()) {
        log_warning("with these values of --set, the scenario is not valid: " + fault);
    }
}

/// The name of the file in a scenario that is written to `out`: relative to the folder of that.
std::string named_beside(const std::string& file, const std::string& out)
{
    const bool stays = out.empty() || std::filesystem::path(file).is_absolute();
    return stays ? file
                 : std::filesystem::proximate(file, std::filesystem::absolute(out).parent_path()).string();
}

/// The text of another scenario with the values that --set gives, as they are written there.
std::string changed_text(const po::variables_map& values)
{
    const std::string from = text_of(values, "from");
    if (!std::filesystem::is_regular_file(from)) {
        throw InputError(fmt::format("--from {} is not a file; give a scenario or the results of a search",
                                     escape_controls(from)));
    }
    const std::string before = is_hdf5(from) ? open_results(from).study.scenario_text : read_text(from);
    std::string text = before;
    for (const std::string& change : values.count("set") > 0 ? values["set"].as<std::vector<std::string>>()
                                                             : std::vector<std::string>{}) {
        const std::size_t equals = change.find('=');
        if (equals == std::string::npos) {
            throw InputError(
                fmt::format("--set {} has no value; write for example --set cluster.gpus=128", change));
        }
        text = with_value(text, from, change.substr(0, equals), change.substr(equals + 1));
    }
    warn_of_faults(before, text, from, catalogs_of(values));
    return text;
}

/// Writes a scenario that no other command has written, or prints it.
void write_new(const std::string& out, const std::string& text)
{
    if (out.empty()) {
        fmt::print("{}", text);
        return;
    }
    if (std::filesystem::exists(out)) {
        throw InputError(
            fmt::format("--out {} already exists and is not overwritten; name another file", out));
    }
    write_output("out", out, text, {});
}

/// Warns if the cluster cannot train the model at all, or no plan can meet the question, before the user
/// edits the scenario.
void warn_of_no_plan(const Scenario& scenario)
{
    if (const std::string why = first_check(scenario); !why.empty()) {
        log_warning(why);
    } else if (const auto unmet = unmet_question(scenario)) {
        log_warning(fmt::format("{}: {}", scenario.path, unmet_question_text(*unmet)));
    }
}

/// The options, as the help lists them.
po::options_description init_options()
{
    const std::string kinds = fmt::format("print a table of the catalog instead: {}", listed(listed_kinds()));
    const std::string configurations = fmt::format(
        "import the network from a config.json of the Hugging Face hub instead of --workload; architectures: "
        "{}",
        listed(importable_architectures()));
    const std::string trainers = fmt::format(
        "limit the space to plans that this training framework can run: {}", listed(trainer_names()));
    po::options_description options("Options");
    options.add_options()("workload", po::value<std::string>()->value_name("NAME"),
                          "network to train (--list workloads)");
    options.add_options()("model-config", po::value<std::string>()->value_name("FILE"),
                          configurations.c_str());
    add_field_options(options);
    options.add_options()("accelerator",
                          po::value<std::string>()->value_name("NAME")->default_value("h100-sxm"),
                          "accelerator of the cluster (--list accelerators)")(
        "instance", po::value<std::string>()->value_name("NAME"),
        "instance of a cloud instead of an accelerator, with its nodes, network and price (--list "
        "instances)")("software", po::value<std::string>()->value_name("NAME[:RELEASE]"),
                      "training software, with its release if that is not the newest: megatron-bridge:26.04 "
                      "(--list software; default: that of "
                      "--for, or "
                      "the most plausible for the network and the accelerator)");
    add_catalog_option(options);
    options.add_options()("list", po::value<std::string>()->value_name("KIND"), kinds.c_str());
    options.add_options()("gpus", po::value<int>()->value_name("N"), "number of GPUs in the cluster")(
        "gpus-per-node", po::value<int>()->value_name("N"),
        "GPUs of a node (default: as the accelerator usually comes, or as the instance has)")(
        "network", po::value<std::string>()->value_name("LINK"),
        "link between nodes (--list links; default: as the accelerator usually comes, or as the instance "
        "has)")("sequence-length", po::value<int>()->value_name("N"),
                "tokens per sequence (default: the usual length of the network, 4096 for most)")(
        "global-batch", po::value<int>()->value_name("N"),
        "sequences per optimizer step (default: nearly the batch of the published training, if the catalog "
        "has it; otherwise about four million tokens, as a power of two of sequences times the odd factor of "
        "the number of GPUs; with a question, 4.2 to 8.4 million tokens, which three quarters of the GPUs "
        "can share as well)")(
        "tokens", po::value<std::string>()->value_name("N"),
        "number of training tokens, for example 15T, 300B or 15.6e12 (default: 20 per parameter; "
        "100,000 steps of a "
        "network without a vocabulary)")(
        "deadline", po::value<std::string>()->value_name("TIME"),
        "ask for the cheapest plan that is done within this time: \"90 day\"")(
        "done-by", po::value<std::string>()->value_name("DAY"),
        "the same by this day: 2027-04-15; needs --start")(
        "start", po::value<std::string>()->value_name("DAY"),
        "first day of the training: 2027-01-15")("probability", po::value<std::string>()->value_name("P"),
                                                 "with which it must be done by then (default: 0.9)")(
        "budget", po::value<std::string>()->value_name("USD"), "that the answer may cost: \"40 M USD\"")(
        "power-limit", po::value<std::string>()->value_name("POWER"),
        "of the building for the job: \"20 MW\"")("price", po::value<std::string>()->value_name("PRICE"),
                                                  "of a GPU-hour instead of the list price: \"2.50 USD/h\"")(
        "electricity-price", po::value<std::string>()->value_name("PRICE"),
        "of electricity, where that of GPUs does not include it: \"0.08 USD/kWh\"")(
        "from", po::value<std::string>()->value_name("SCENARIO"),
        "start from this scenario instead: its text with the values of --set, and all other lines as they "
        "are")(
        "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
        "a value as the file writes it: --set cluster.gpus=128, --set 'cluster.gpu_price=\"2 USD/h\"', --set "
        "'phase[0].tokens=1e12' (tables "
        "count from 0; repeat it for each value)")(
        "out,o", po::value<std::string>()->value_name("FILE"),
        "write to FILE instead of standard output; an existing file is not overwritten")(
        "for", po::value<std::string>()->value_name("TRAINER"), trainers.c_str())(
        "schema", po::bool_switch(), "print the JSON Schema of scenarios instead, for text editors")(
        "reference", po::bool_switch(), "print the reference page of scenarios instead, in Markdown");
    return options;
}

/// The network that --workload or --model-config names.
void read_network(const po::variables_map& values, StarterChoice& choice)
{
    const bool imports = values.count("model-config") > 0;
    if (imports && values.count("workload") > 0) {
        throw InputError("--workload and --model-config both name the network; remove one of the two");
    }
    const FieldNames names = field_names_of(values);
    if (!imports) {
        if (values.count("workload") == 0) {
            throw InputError("prismopt init needs --workload or --model-config; see prismopt init --help");
        }
        if (!names.model_class.empty() || !names.fields.empty()) {
            throw InputError(
                "--model-class and --field say how a config.json is read; name it with --model-config");
        }
        choice.workload = values["workload"].as<std::string>();
        return;
    }
    const auto& file = values["model-config"].as<std::string>();
    if (!std::filesystem::is_regular_file(file)) {
        throw InputError(
            fmt::format("--model-config {} is not a file; give the config.json of a model", file));
    }
    choice.imported = imported_network(read_text(file), escape_controls(file), names);
    for (const std::string& warning : choice.imported->warnings) {
        log_warning(warning);
    }
}

/// `out`: the scenario's file; empty: standard output. `catalogs`: files of --catalog.
StarterChoice starter_choice(const po::variables_map& values, const std::string& out,
                             const std::vector<std::string>& catalogs)
{
    StarterChoice choice;
    read_network(values, choice);
    if (values.count("gpus") == 0) {
        throw InputError("prismopt init needs --gpus; see prismopt init --help");
    }
    read_machine(values, choice);
    choice.trainer = text_of(values, "for");
    choice.software = text_of(values, "software");
    choice.gpus = positive(values, "gpus", 0);
    choice.sequence = positive(values, "sequence-length", 0);
    choice.global_batch = positive(values, "global-batch", 0);
    choice.tokens = tokens_of(values);
    choice.price = text_of(values, "price");
    choice.electricity_price = text_of(values, "electricity-price");
    choice.start = text_of(values, "start");
    choice.question = question_of(values);
    if (!out.empty()) {
        choice.name = std::filesystem::path(out).stem().string();
    }
    for (const std::string& file : catalogs) {
        choice.catalog.push_back(named_beside(file, out));
    }
    return choice;
}

/// Writes the starter, with what its user should know before the first search.
void write_starter(const StarterChoice& choice, const Catalog& catalog, const std::string& out)
{
    const std::string text = starter_scenario(choice, catalog);
    const Scenario scenario = check_starter(text, out.empty() ? choice.name + ".toml" : out);
    if (const std::string refusal = ranked_placeholder(scenario); !refusal.empty()) {
        log_warning(refusal);
    }
    if (const std::string other_price = other_price_text(choice, catalog); !other_price.empty()) {
        log_warning(other_price);
    }
    write_new(out, text);
    const bool assumes = choice.software.empty() && choice.trainer.empty();
    if (assumes && !out.empty()) {
        log_info(
            fmt::format("software assumed: {}; --software names yours", scenario.cluster.software.text()));
    }
    warn_of_no_plan(scenario);
    if (!out.empty()) {
        fmt::print("{}\nnext: prismopt validate {}; prismopt search {}\n", out, shell_word(out),
                   shell_word(out));
    }
}

}  // namespace

int init_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("init", init_options(), "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    if ((*values)["schema"].as<bool>()) {
        fmt::print("{}", scenario_schema());
        return exit_done;
    }
    if ((*values)["reference"].as<bool>()) {
        fmt::print("{}", scenario_reference());
        return exit_done;
    }
    if (values->count("set") > values->count("from")) {
        throw InputError("--set changes a scenario; name it with --from SCENARIO");
    }
    const std::string out = text_of(*values, "out");
    if (values->count("from") > 0) {
        write_new(out, changed_text(*values));
        return exit_done;
    }
    const std::vector<std::string> files = catalogs_of(*values);
    const auto own = catalog_with(files);
    const Catalog& catalog = own ? *own : Catalog::built_in();
    refuse_wrong_entries(catalog);
    if (values->count("list") > 0) {
        fmt::print("{}", catalog_list((*values)["list"].as<std::string>(), catalog));
        return exit_done;
    }
    write_starter(starter_choice(*values, out, files), catalog, out);
    return exit_done;
}

}  // namespace prismopt
