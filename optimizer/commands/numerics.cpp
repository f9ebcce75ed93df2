#include "io/base/input_error.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/toml/nearest.hpp"
#include "optimizer/numerics/numerics_plots.hpp"
#include "optimizer/numerics/numerics_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sstream>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr std::size_t least_size = 16;
constexpr std::size_t most_sequence = 8192;  // about 4 GB
constexpr std::size_t most_head = 512;

std::vector<std::string> words_in(const std::string& text)
{
    std::vector<std::string> list;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        word.erase(0, word.find_first_not_of(' '));
        word.erase(word.find_last_not_of(' ') + 1);
        list.push_back(word);
    }
    return list;
}

[[noreturn]] void refuse(const std::string& option, const std::string& word, const std::string& choices)
{
    throw InputError(fmt::format("--{} {} is not possible{}; choose from {}", option, word,
                                 guess_of(word, words_in(choices)), choices));
}

/// The values of an option, each read by `read`, which returns nothing for what it does not know.
template <class Value, class Read>
void read_choices(const po::variables_map& values, const char* option, const std::string& choices,
                  const Read& read, std::vector<Value>& into)
{
    if (values.count(option) == 0) {
        return;
    }
    into.clear();
    for (const std::string& word : words_in(values[option].as<std::string>())) {
        const auto value = read(word);
        if (!value) {
            refuse(option, word, choices);
        }
        into.push_back(*value);
    }
    if (into.empty()) {
        refuse(option, "", choices);
    }
}

template <Nameable Enum>
void read_choices(const po::variables_map& values, const char* option, std::vector<Enum>& into)
{
    read_choices(
        values, option, choices<Enum>(), [](const std::string& word) { return parse<Enum>(word); }, into);
}

std::optional<std::size_t> size_in(std::string_view text, std::size_t most)
{
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= least_size && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<TileShape> tile_in(const std::string& text)
{
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos) {
        return std::nullopt;
    }
    const auto queries = size_in(std::string_view(text).substr(0, cross), most_sequence);
    const auto keys = size_in(std::string_view(text).substr(cross + 1), most_sequence);
    return queries && keys ? std::optional(TileShape{*queries, *keys}) : std::nullopt;
}

constexpr std::array of_attention{"format",   "rounding", "arithmetic", "kernel", "tile",
                                  "sequence", "head",     "inputs",     "full"};

void add_attention_options(po::options_description& options)
{
    const auto list = [&options](const char* option, const std::string& does) {
        options.add_options()(option, po::value<std::string>()->value_name("LIST"), does.c_str());
    };
    list("format", fmt::format("deviation of attention in these formats, separated by commas, instead of the "
                               "study (default with the "
                               "options below: bf16): {}",
                               number_format_names()));
    list("kernel", fmt::format("kernels (default: all): {}", choices<AttentionMethod>()));
    list("arithmetic", fmt::format("what is rounded (default: all): {}", choices<Arithmetic>()));
    list("rounding", fmt::format("rounding of operands (default: nearest-even): {}", choices<Rounding>()));
    list("tile", "tiles of flash attention, queries x keys (default: 128x128)");
    list("sequence", fmt::format("sequence lengths, {} to {} (default: 2048)", least_size, most_sequence));
    list("inputs", fmt::format("distributions of inputs (default: normal): {}", choices<Elements>()));
    options.add_options()("head", po::value<std::string>()->value_name("N"),
                          "size of the head (default: 128)")(
        "full", po::bool_switch(), "attention of all positions to all, instead of causal");
}

bool asks_for_attention(const po::variables_map& values)
{
    return std::any_of(of_attention.begin(), of_attention.end(), [&](const char* option) {
        return values.count(option) > 0 && !values[option].defaulted();
    });
}

AttentionGrid grid_of(const po::variables_map& values)
{
    AttentionGrid grid{.formats = {*number_format("bf16")}};
    read_choices(
        values, "format", number_format_names(),
        [](const std::string& word) {
            const NumberFormat* format = number_format(word);
            return format == nullptr ? std::nullopt : std::optional(*format);
        },
        grid.formats);
    read_choices(values, "kernel", grid.kernels);
    read_choices(values, "arithmetic", grid.arithmetics);
    read_choices(values, "rounding", grid.roundings);
    read_choices(values, "inputs", grid.elements);
    read_choices(values, "tile", fmt::format("sizes of at least {}, for example 128x64", least_size), tile_in,
                 grid.tiles);
    const auto sequence_in = [](const std::string& word) { return size_in(word, most_sequence); };
    read_choices(values, "sequence", fmt::format("whole numbers from {} to {}", least_size, most_sequence),
                 sequence_in, grid.sequences);
    std::vector<std::size_t> head{grid.head};
    const auto head_in = [](const std::string& word) { return size_in(word, most_head); };
    read_choices(values, "head", fmt::format("whole numbers from {} to {}", least_size, most_head), head_in,
                 head);
    if (head.size() > 1) {
        throw InputError("--head takes one value; run the command once for each");
    }
    grid.head = head.front();
    grid.causal = !values["full"].as<bool>();
    return grid;
}

std::vector<NumericsExperiment> experiments_of(const po::variables_map& values)
{
    std::vector<NumericsExperiment> chosen = numerics_experiments();
    const auto experiment_in = [](const std::string& word) {
        const auto& all = numerics_experiments();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const NumericsExperiment& of) { return of.name == word; });
        return found == all.end() ? std::nullopt : std::optional(*found);
    };
    read_choices(values, "only", numerics_experiment_names(), experiment_in, chosen);
    for (const char* needed : {"attention", "linear"}) {
        const bool has = std::any_of(chosen.begin(), chosen.end(), [needed](const NumericsExperiment& of) {
            return std::string_view(of.name) == needed;
        });
        if (values.count("write") > 0 && !has) {
            throw InputError(
                fmt::format("--write needs the table {}; add it to --only, or remove --write", needed));
        }
    }
    const bool plotted = std::any_of(chosen.begin(), chosen.end(), [](const NumericsExperiment& of) {
        return of.name == std::string_view("length") || of.name == std::string_view("training");
    });
    if (values.count("plot") > 0 && !plotted) {
        throw InputError(
            "--plot shows the tables length and training; add one of them to --only, or remove --plot");
    }
    return chosen;
}

std::vector<NumericsTable> tables_of(const po::variables_map& values, std::uint64_t seed)
{
    if (asks_for_attention(values)) {
        return {attention_table(grid_of(values), seed)};
    }
    std::vector<NumericsTable> tables;
    for (const NumericsExperiment& experiment : experiments_of(values)) {
        tables.push_back(run_experiment(experiment, seed));
    }
    NumericsTable paper = paper_table(tables);
    if (!paper.rows.empty()) {
        tables.insert(tables.begin(), std::move(paper));
    }
    return tables;
}

}  // namespace

int numerics_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    const std::string experiments =
        fmt::format("only these tables of the study, separated by commas: {}", numerics_experiment_names());
    options.add_options()("only", po::value<std::string>()->value_name("LIST"), experiments.c_str());
    add_attention_options(options);
    options.add_options()("seed", po::value<std::int64_t>()->value_name("N")->default_value(1),
                          "random seed")("json", po::bool_switch(), "print one JSON object instead of text")(
        "markdown", po::bool_switch(), "print results/numerics.md")(
        "write", po::value<std::string>()->value_name("FILE"),
        "also write the RMS deviation by class of operators, kernel and format, as "
        "model/catalog/numerics.toml")("plot", po::value<std::string>()->value_name("FILE"),
                                       "also write plots of the study (SVG)");
    const auto values = parse_options("numerics", options, "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    if (asks_for_attention(*values) &&
        (values->count("only") > 0 || values->count("write") > 0 || values->count("plot") > 0)) {
        throw InputError(
            "options of attention cases replace the study; remove them, or --only, --write and --plot");
    }
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    const std::uint64_t seed = checked_seed((*values)["seed"].as<std::int64_t>());
    const std::vector<NumericsTable> tables = tables_of(*values, seed);
    NumericsRun run{.command = "prismopt numerics", .seed = seed};
    for (const std::string& word : words) {
        run.command += " " + word;
    }
    run.processor_seconds = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (values->count("write") > 0) {
        write_output("write", (*values)["write"].as<std::string>(), numerics_toml(tables, run), {});
    }
    if (values->count("plot") > 0) {
        const auto& path = (*values)["plot"].as<std::string>();
        write_output("plot", path, numerics_svg(tables), {});
        run.plot = std::filesystem::path(path).filename().string();
    }
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", numerics_json(tables, run).dump(1));
    } else {
        fmt::print("{}", (*values)["markdown"].as<bool>() ? numerics_markdown(tables, run)
                                                          : numerics_text(tables, run));
    }
    return exit_done;
}

}  // namespace prismopt
