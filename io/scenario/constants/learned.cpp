#include "io/scenario/constants/learned.hpp"

#include "io/base/checksum.hpp"
#include "io/base/csv.hpp"
#include "io/scenario/files/written_out.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/fields.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

namespace prismopt {

namespace {

constexpr int format_version = 2;
constexpr Range version_range{"version of the format", 1, 1000, "2"};
constexpr Range factor_range{"a factor of a constant or of all times", 1e-3, 1e3, "1.05"};
constexpr Range deviation_range{"a standard deviation of logarithms", 0.0, 10.0, "0.05"};
constexpr Range spread_range{"a standard deviation of logarithms", 0.0, 10.0, "0.05", Range::Ends::open_low};
constexpr Range log_range{"a logarithm of a ratio", -10.0, 10.0, "0.05"};
constexpr Range gradient_range{"how a logarithm changes with another", -1e3, 1e3, "-0.5"};
constexpr Range seconds_range{"seconds", 0.0, 1e9, "6.46", Range::Ends::open_low};
constexpr Range plans_range{"measured plans", 1, 1'000'000, "3"};
constexpr Range gpus_range{"GPUs", 1, 10'000'000, "8"};
constexpr Range degree_range{"a degree of a plan", 1, 10'000'000, "8"};
constexpr Range sequence_range{"tokens per sequence", 1, 100'000'000, "8192"};
constexpr Range batch_range{"sequences per optimizer step", 1, 100'000'000, "2048"};
constexpr const char* again = "write the file again with prismopt learn --out";

struct Degree {
    const char* key;
    int ParallelPlan::*of;
};
constexpr std::array<Degree, 6> degrees{{{"tp", &ParallelPlan::tp},
                                         {"cp", &ParallelPlan::cp},
                                         {"pp", &ParallelPlan::pp},
                                         {"v", &ParallelPlan::chunks},
                                         {"ep", &ParallelPlan::ep},
                                         {"microbatch", &ParallelPlan::microbatch}}};

std::string text_of(Table& table, const char* key)
{
    return table.at(key, fmt::format("{} = \"...\"", key)).text("...");
}

double number_of(Table& table, const char* key, const Range& range)
{
    return table.at(key, fmt::format("{} = {}", key, range.example)).number(range);
}

int count_of(Table& table, const char* key, const Range& range)
{
    return table.at(key, fmt::format("{} = {}", key, range.example)).count(range);
}

template <class Enum>
Enum choice_of(Table& table, const char* key)
{
    return *parse<Enum>(table.at(key, fmt::format("{} = \"...\"", key)).choice(enum_names<Enum>(), "values"));
}

std::vector<LearnedFactor> read_factors(Table& table, const char* key)
{
    std::vector<LearnedFactor> factors;
    if (const auto list = table.find(key)) {
        for (const Value& value : list->list("[[...]]")) {
            Table row = value.table("{ name = \"...\" }");
            factors.push_back({text_of(row, "name"), number_of(row, "factor", factor_range),
                               number_of(row, "before", deviation_range),
                               number_of(row, "after", deviation_range)});
            row.refuse_unknown_keys();
        }
    }
    return factors;
}

LearnedStep read_step(Table row)
{
    LearnedStep step;
    step.network = text_of(row, "network");
    step.design = text_of(row, "plan");
    for (const Degree& degree : degrees) {
        step.plan.*degree.of = count_of(row, degree.key, degree_range);
    }
    step.plan.schedule = choice_of<Schedule>(row, "schedule");
    step.plan.recompute = choice_of<Recompute>(row, "recompute");
    step.plan.sharding = choice_of<Sharding>(row, "sharding");
    if (const auto hardware = row.find("hardware")) {
        step.hardware = hardware->text("...");
    }
    if (const auto sequence = row.find("sequence_length")) {
        step.sequence = sequence->count(sequence_range);
    }
    if (const auto batch = row.find("global_batch")) {
        step.global_batch = batch->count(batch_range);
    }
    step.measured_s = number_of(row, "measured_s", seconds_range);
    step.log_ratio = number_of(row, "log_ratio", log_range);
    step.deviation = number_of(row, "deviation", spread_range);
    if (const auto own_plan_only = row.find("apart")) {
        step.own_plan_only = own_plan_only->boolean();
    }
    Table gradient =
        row.at("gradient", "gradient = { \"h100-sxm.gemm\" = -0.5 }").table("{ \"h100-sxm.gemm\" = -0.5 }");
    for (const std::string& name : gradient.keys()) {
        step.gradient.emplace_back(name, gradient.at(name, "").number(gradient_range));
    }
    row.refuse_unknown_keys();
    return step;
}

LearnedOrigin read_origin(Table table)
{
    LearnedOrigin origin;
    origin.program = text_of(table, "program");
    origin.date = text_of(table, "date");
    origin.study = text_of(table, "study");
    origin.results = text_of(table, "results");
    origin.measured = text_of(table, "measured");
    origin.measured_digest = text_of(table, "measured_digest");
    origin.rows = count_of(table, "rows", plans_range);
    table.refuse_unknown_keys();
    return origin;
}

LearnedTrial read_trial(Table table)
{
    LearnedTrial trial;
    trial.network = text_of(table, "network");
    trial.design = text_of(table, "plan");
    trial.ran = table.at("ran", "ran = true").boolean();
    if (const auto limit = table.find("limit")) {
        trial.limit = limit->number(log_range);
    }
    table.refuse_unknown_keys();
    return trial;
}

MemoryError read_memory(Table table)
{
    MemoryError memory{.mean = number_of(table, "mean", log_range),
                       .deviation = number_of(table, "deviation", spread_range),
                       .own = number_of(table, "own", spread_range),
                       .ran = {},
                       .failed = {}};
    table.refuse_unknown_keys();
    return memory;
}

std::string factors_text(const char* key, const std::vector<LearnedFactor>& factors)
{
    std::string text;
    for (const LearnedFactor& of : factors) {
        text += fmt::format("\n[[{}]]\nname = {}\nfactor = {}\nbefore = {}\nafter = {}\n", key,
                            toml_string(of.name), of.factor, of.before, of.after);
    }
    return text;
}

std::string step_text(const LearnedStep& step)
{
    std::string text = fmt::format("\n[[step]]\nnetwork = {}\nplan = {}\n", toml_string(step.network),
                                   toml_string(step.design));
    for (const Degree& degree : degrees) {
        text += fmt::format("{} = {}\n", degree.key, step.plan.*degree.of);
    }
    text += fmt::format("schedule = \"{}\"\nrecompute = \"{}\"\nsharding = \"{}\"\n",
                        name(step.plan.schedule), name(step.plan.recompute), name(step.plan.sharding));
    if (!step.hardware.empty()) {
        text += fmt::format("hardware = {}\n", toml_string(step.hardware));
    }
    if (step.global_batch > 0) {
        text += fmt::format("sequence_length = {}\nglobal_batch = {}\n", step.sequence, step.global_batch);
    }
    text += fmt::format("measured_s = {}\nlog_ratio = {}\ndeviation = {}\n{}gradient = {{", step.measured_s,
                        step.log_ratio, step.deviation, step.own_plan_only ? "apart = true\n" : "");
    for (std::size_t k = 0; k < step.gradient.size(); ++k) {
        text += fmt::format("{} {} = {}", k == 0 ? "" : ",", toml_string(step.gradient[k].first),
                            step.gradient[k].second);
    }
    return text + " }\n";
}

std::string origin_text(const LearnedOrigin& origin)
{
    return fmt::format(
        "\n[[origin]]\nprogram = {}\ndate = {}\nstudy = {}\nresults = {}\nmeasured = {}\nmeasured_digest = "
        "{}  # CRC-64 of that "
        "file\nrows = {}\n",
        toml_string(origin.program), toml_string(origin.date), toml_string(origin.study),
        toml_string(origin.results), toml_string(origin.measured), toml_string(origin.measured_digest),
        origin.rows);
}

std::string memory_text(const MemoryError& memory)
{
    return fmt::format("\n[memory]\nmean = {}\ndeviation = {}\nown = {}\n", memory.mean, memory.deviation,
                       memory.own);
}

std::string trial_text(const LearnedTrial& trial)
{
    return fmt::format("\n[[trial]]\nnetwork = {}\nplan = {}\nran = {}\n{}", toml_string(trial.network),
                       toml_string(trial.design), trial.ran,
                       std::isnan(trial.limit) ? "" : fmt::format("limit = {}\n", trial.limit));
}

/// Constants of the catalog's fit by name.
void refuse_unknown_constants(const Learned& learned, const TomlFile& file)
{
    std::set<std::string> known;
    for (const FittedConstant& constant : fitted_model().constants) {
        known.insert(name_of(constant));
    }
    const auto check = [&](const std::string& name) {
        if (!known.contains(name)) {
            const std::string near = nearest(name, {known.begin(), known.end()});
            file.refuse(1,
                        fmt::format("\"{}\" is not a constant of the catalog's fit{}", printable(name),
                                    near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)),
                        again);
        }
    };
    for (const LearnedFactor& constant : learned.constants) {
        check(constant.name);
    }
    for (const LearnedStep& step : learned.steps) {
        for (const auto& [name, slope] : step.gradient) {
            check(name);
        }
    }
}

}  // namespace

double Learned::time_of(const std::string& network) const
{
    const auto found = std::find_if(times.begin(), times.end(),
                                    [&network](const LearnedFactor& time) { return time.name == network; });
    return found == times.end() ? 1.0 : found->factor;
}

std::string digest_of(const std::string& text)
{
    return fmt::format("{:016x}", crc64_of(std::as_bytes(std::span(text))));
}

std::string fit_digest()
{
    static const std::string digest = [] {
        std::string all;
        for (const EmbeddedFile& file : catalog_files()) {
            all += file.name == "fit.toml" || file.name == "discrepancy.toml" ? file.text : "";
        }
        return digest_of(all);
    }();
    return digest;
}

std::string name_of(const FittedConstant& constant) { return constant.entries.front() + "." + constant.key; }

std::string learned_text(const Learned& learned)
{
    std::string text =
        "# What measured plans say of a cluster, by `prismopt learn`. Use it with: [cluster] learned = "
        "\"FILE\".\n"
        "# docs/shortlist.md. Deviations are of natural logarithms.\n\n";
    text += fmt::format(
        "version = {}\n"
        "fit = {}  # CRC-64 of the catalog's fit, to whose constants all factors refer\n\n"
        "[cluster]\naccelerator = {}\nstack = {}\ndomain = {}  # GPUs of the innermost tier\n",
        format_version, toml_string(learned.fit), toml_string(learned.accelerator),
        toml_string(learned.stack), learned.domain);
    for (const LearnedOrigin& origin : learned.origins) {
        text += origin_text(origin);
    }
    text += memory_text(learned.memory);
    for (const LearnedTrial& trial : learned.trials) {
        text += trial_text(trial);
    }
    text += factors_text("time", learned.times);
    text += factors_text("constant", learned.constants);
    for (const LearnedStep& step : learned.steps) {
        text += step_text(step);
    }
    return text;
}

Learned parse_learned(const std::string& text, const std::string& path)
{
    const TomlFile file = parse_toml(text, path);
    Table top(file.root, file);
    Learned learned;
    const Value version = top.at("version", "version = 2");
    if (version.count(version_range) != format_version) {
        version.fail({"is another version of the format",
                      fmt::format("this program reads {}", format_version),
                      fmt::format("learn again: {}", again)});
    }
    const Value fit = top.at("fit", "fit = \"...\"");
    learned.fit = fit.text("...");
    if (learned.fit != fit_digest()) {
        fit.fail({"is of another version of the catalog", "its constants have been fitted again since",
                  "search again without learned, and write the file again with prismopt learn --out"});
    }
    Table cluster = top.section("cluster", "[cluster]");
    learned.accelerator = text_of(cluster, "accelerator");
    learned.stack = text_of(cluster, "stack");
    learned.domain = count_of(cluster, "domain", gpus_range);
    cluster.refuse_unknown_keys();
    for (const Value& value : top.at("origin", "[[origin]]").list("[[origin]]")) {
        learned.origins.push_back(read_origin(value.table("[[origin]]")));
    }
    learned.memory = read_memory(top.section("memory", "[memory]"));
    learned.times = read_factors(top, "time");
    learned.constants = read_factors(top, "constant");
    if (const auto steps = top.find("step")) {
        for (const Value& value : steps->list("[[step]]")) {
            learned.steps.push_back(read_step(value.table("[[step]]")));
        }
    }
    if (const auto trials = top.find("trial")) {
        for (const Value& value : trials->list("[[trial]]")) {
            learned.trials.push_back(read_trial(value.table("[[trial]]")));
            const LearnedTrial& trial = learned.trials.back();
            if (!std::isnan(trial.limit)) {
                std::vector<double>& limits = trial.ran ? learned.memory.ran : learned.memory.failed;
                limits.push_back(trial.limit);
            }
        }
    }
    top.refuse_unknown_keys();
    refuse_unknown_constants(learned, file);
    learned.digest = digest_of(text);
    return learned;
}

std::string identity_of(const Accelerator& accelerator)
{
    if (!accelerator.catalog_entry.empty()) {
        return accelerator.name;
    }
    const std::string figures =
        fmt::format("{} {} {} {} {} {}", accelerator.peak_bf16.si, accelerator.peak_fp8.si,
                    accelerator.peak_fp4.si, accelerator.memory.si, accelerator.memory_bandwidth.si,
                    accelerator.multiprocessors);
    return fmt::format("{} ({})", accelerator.name, digest_of(figures));
}

std::string not_of(const Learned& learned, const Cluster& cluster)
{
    const auto differs = [](const char* what, const auto& there, const auto& here) {
        return fmt::format("its {} is {}, that of [cluster] is {}", what, there, here);
    };
    const std::string accelerator = identity_of(cluster.accelerator);
    if (learned.accelerator != accelerator) {
        return differs("accelerator", learned.accelerator, accelerator);
    }
    if (learned.stack != cluster.stack.name) {
        return differs("software stack", learned.stack, cluster.stack.name);
    }
    if (learned.domain != cluster.gpus_per_node()) {
        return differs("innermost tier of GPUs", learned.domain, cluster.gpus_per_node());
    }
    return "";
}

bool is_learned_text(const std::string& value) { return value.find('\n') != std::string::npos; }

std::string with_learned_file(const std::string& text, const std::string& path)
{
    const TomlFile file = parse_toml(text, path);
    Table top(file.root, file);
    const auto cluster = top.find("cluster");
    if (!cluster || !cluster->is_table()) {
        return text;
    }
    const auto learned = cluster->table("[cluster]").find("learned");
    if (!learned || !learned->is_text() || is_learned_text(learned->document("learned.toml"))) {
        return text;
    }
    const std::string overlay =
        (std::filesystem::path(path).parent_path() / learned->text("learned.toml")).string();
    if (!std::filesystem::is_regular_file(overlay)) {
        learned->fail({"does not exist", fmt::format("{} is not a file", overlay),
                       "give a file written by prismopt learn --out, as a path relative to the scenario"});
    }
    const std::string content = read_text(overlay);
    parse_learned(content, overlay);  // whose messages name the file
    return with_content(text, *learned, "learned", toml_string(content));
}

}  // namespace prismopt
