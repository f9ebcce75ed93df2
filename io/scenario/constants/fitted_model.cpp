#include "io/scenario/constants/fitted_model.hpp"

#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/hardware/machine_constants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace prismopt {

namespace {

constexpr Range covariance_range{"a covariance of logarithms", -1e6, 1e6, "0.01"};
constexpr Range rows_range{"a number of runs", 0, 1'000'000'000, "1235"};
constexpr Range error_range{"a relative error", -1.0, 1e3, "0.05"};
constexpr Range widening_range{"a factor of a variance", 1.0, 1e6, "2.5"};
constexpr Range scatter_range{"a standard deviation of logarithms", 0.0, 10.0, "0.05"};

constexpr const char* kind_keys[run_kinds] = {"dense",   "low_precision",  "mixture", "hybrid",
                                              "encoder", "recommendation", "torus"};

FittedConstant read_constant(const Value& name, const Value& entries, const Value& rows)
{
    const std::string text = name.text("h100-sxm.gemm");
    FittedConstant constant{text.substr(text.rfind('.') + 1), {}, rows.count(rows_range)};
    if (!is_constant(constant.key)) {
        name.fail({fmt::format("names \"{}\"", constant.key),
                   "no accelerator, link, stack or library has a constant of that name",
                   "run jobs/fit_constants"});
    }
    for (const Value& entry : entries.list("[\"h100-sxm\"]")) {
        constant.entries.push_back(entry.text("h100-sxm"));
    }
    return constant;
}

FittedMoe read_moe(Table table)
{
    return {table.at("accelerator", "accelerator = \"h100-sxm\"").text("h100-sxm"),
            table.at("stack", "stack = \"megatron-bridge\"").text("megatron-bridge"),
            table.at("rows", "rows = 7").count(rows_range)};
}

/// [error, share inside, half-width]
FamilyErrors read_errors(Table& table, const char* key)
{
    constexpr const char* example = "[0.05, 0.95, 0.15]";
    const Value value = table.at(key, std::string(key) + " = " + example);
    const std::vector<Value> numbers = value.list(example);
    if (numbers.size() != 3) {
        value.fail({"does not have three numbers", "mean error, share inside, mean half-width",
                    "run jobs/fit_constants"});
    }
    return {numbers[0].number(error_range), numbers[1].number(error_range), numbers[2].number(error_range)};
}

HeldOutErrors read_held_out(Table table)
{
    HeldOutErrors errors;
    errors.source = table.at("source", "source = \"...\"").text("...");
    errors.line = table.at("line", "line = \"GPT\"").text("GPT");
    const Value kind = table.at("kind", "kind = \"dense\"");
    const auto* const found = std::find(std::begin(kind_keys), std::end(kind_keys), kind.text("dense"));
    if (found == std::end(kind_keys)) {
        kind.fail({"is unknown", fmt::format("choose from {}", fmt::join(kind_keys, ", ")),
                   "run jobs/fit_constants"});
    }
    errors.kind = static_cast<RunKind>(found - std::begin(kind_keys));
    errors.known = table.at("known", "known = true").boolean();
    errors.rows = table.at("rows", "rows = 7").count(rows_range);
    errors.fitted = read_errors(table, "fitted");
    errors.held_out = read_errors(table, "left_out");
    errors.bias = table.at("bias", "bias = 0.01").number(error_range);
    constexpr std::string_view machines_example = R"(machines = ["h100-sxm megatron-bridge"])";
    for (const Value& machine : table.at("machines", machines_example).list(machines_example)) {
        errors.machines.push_back(machine.text("h100-sxm megatron-bridge"));
    }
    return errors;
}

/// Covariances of a row, separated by blanks; none if one of them is no number in its range.
std::vector<double> numbers_in(const Value& row)
{
    const std::string text = row.text("\"0.01 0.02\"");
    std::vector<double> numbers;
    const char* const end = text.data() + text.size();
    const char* at = text.data();
    while (at != end) {
        double number = 0.0;
        const auto [rest, error] = std::from_chars(at, end, number);
        const bool separated = rest == end || *rest == ' ';
        if (error != std::errc{} || !separated || !covariance_range.contains(number)) {
            return {};
        }
        numbers.push_back(number);
        at = rest == end ? end : rest + 1;
    }
    return numbers;
}

FittedModel read_fit(Table table)
{
    FittedModel model;
    model.rows = table.at("rows", "rows = 1235").count(rows_range);
    if (const auto moe = table.find("mixtures")) {
        for (const Value& value : moe->list("[{ ... }]")) {
            model.moe.push_back(read_moe(value.table("{ ... }")));
        }
    }
    const std::vector<Value> names = table.at("names", "names = [...]").list("[\"h100-sxm.gemm\"]");
    const Value all_entries = table.at("entries", "entries = [[...]]");
    const std::vector<Value> entries = all_entries.list("[[\"h100-sxm\"]]");
    const Value matrix = table.at("covariance", "covariance = [\"...\"]");
    const std::vector<Value> rows = matrix.list("[\"0.01\"]");
    const Value all_counts = table.at("constant_rows", "constant_rows = [...]");
    const std::vector<Value> counts = all_counts.list("[123]");
    const std::size_t n = names.size();
    const Complaint complaint{"does not have one row per name", "the file is generated as a whole",
                              "run jobs/fit_constants"};
    if (entries.size() != n) {
        all_entries.fail(complaint);
    }
    if (counts.size() != n) {
        all_counts.fail(complaint);
    }
    if (rows.size() != n) {
        matrix.fail(complaint);
    }
    model.covariance.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        model.constants.push_back(read_constant(names[i], entries[i], counts[i]));
        const std::vector<double> row = numbers_in(rows[i]);
        if (row.size() != i + 1) {
            rows[i].fail(complaint);
        }
        for (std::size_t j = 0; j <= i; ++j) {
            model.covariance[i * n + j] = model.covariance[j * n + i] = row[j];
        }
    }
    const std::vector<Value> scatter = table.at("scatter", "scatter = [0.05, ...]").list("[0.05, ...]");
    for (const Value& value : scatter) {
        model.scatter.push_back(value.number(scatter_range));
    }
    const std::vector<Value> widening = table.at("widening", "widening = [2, ...]").list("[2, ...]");
    for (const Value& value : widening) {
        model.widening.push_back(value.number(widening_range));
    }
    if (scatter.size() != run_kinds || widening.size() != run_kinds) {
        matrix.fail(complaint);
    }
    if (const auto families = table.find("left_out")) {
        for (const Value& value : families->list("[{ ... }]")) {
            model.held_out.push_back(read_held_out(value.table("{ ... }")));
        }
    }
    model.unmeasured = table.at("unmeasured", "unmeasured = 0.25").number(scatter_range);
    return model;
}

}  // namespace

int rows_of(const FittedModel& model, const std::string& key, const std::string& entry)
{
    for (const FittedConstant& constant : model.constants) {
        if (constant.key == key &&
            std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end()) {
            return constant.rows;
        }
    }
    return 0;
}

int rows_on(const FittedModel& model, const std::string& accelerator)
{
    return rows_of(model, "gemm", accelerator);
}

RunKind kind_of(const Workload& workload, const Cluster& cluster)
{
    if (!cluster.tiers.empty() && cluster.tiers.front().topology == Topology::torus) {
        return RunKind::torus;
    }
    if (workload.find<TablesBlock>() != nullptr) {
        return RunKind::recommendation;
    }
    bool encoder = workload.find<ResidualConvolutionBlock>() != nullptr;
    bool hybrid = false;
    workload.for_blocks([&](const BlockDescription& block) {
        const auto* attention = std::get_if<AttentionBlock>(&block);
        encoder = encoder || (attention != nullptr && !attention->causal);
        hybrid = hybrid || std::holds_alternative<Mamba2Block>(block) ||
                 std::holds_alternative<GatedDeltaBlock>(block) ||
                 (attention != nullptr && attention->window > 0);
    });
    if (encoder) {
        return RunKind::encoder;
    }
    if (hybrid || workload.is_moe()) {
        return hybrid ? RunKind::hybrid : RunKind::moe;
    }
    return operand_bytes(workload.precision) < 2.0 ? RunKind::low_precision : RunKind::dense;
}

const char* name(RunKind kind)
{
    switch (kind) {
        case RunKind::low_precision: return "dense, fewer than 16 bits";
        case RunKind::moe: return "mixtures of experts";
        case RunKind::hybrid: return "hybrids and windows";
        case RunKind::encoder: return "diffusion, BERT, T5";
        case RunKind::recommendation: return "DLRM";
        case RunKind::torus: return "TPU and Trainium";
        case RunKind::dense: break;
    }
    return "dense, 16 bits or more";
}

const char* key(RunKind kind) { return kind_keys[static_cast<std::size_t>(kind)]; }

std::string moe_text(const FittedModel& model, const std::vector<const Workload*>& networks,
                     const std::vector<const Cluster*>& clusters)
{
    if (std::none_of(networks.begin(), networks.end(),
                     [](const Workload* network) { return network->find<ExpertsBlock>() != nullptr; })) {
        return "";
    }
    int all = 0;
    for (const FittedMoe& moe : model.moe) {
        all += moe.rows;
    }
    std::vector<std::string> on_machines;
    for (const Cluster* cluster : clusters) {
        int rows = 0;
        for (const FittedMoe& moe : model.moe) {
            const bool same =
                moe.accelerator == cluster->accelerator.name && moe.stack == cluster->stack.name;
            rows += same ? moe.rows : 0;
        }
        std::string text = fmt::format("{}{} on {} with {}", rows > 0 ? std::to_string(rows) : "none",
                                       on_machines.empty() ? " of them" : "", cluster->accelerator.name,
                                       cluster->software.text());
        if (std::find(on_machines.begin(), on_machines.end(), text) == on_machines.end()) {
            on_machines.push_back(std::move(text));
        }
    }
    return fmt::format(
        "{} of the {} runs in the fit train mixtures of experts, {}; software with its own kernels for "
        "token exchanges, such as DeepSeek's, may be faster than the interval suggests",
        all, model.rows, fmt::join(on_machines, ", "));
}

std::vector<double> widened_covariance(const FittedModel& model, RunKind kind)
{
    std::vector<double> result = model.covariance;
    for (double& covariance : result) {
        covariance *= model.widening[static_cast<std::size_t>(kind)];
    }
    return result;
}

FittedModel fitted_model()
{
    const TomlFile& file = catalog_file("fit.toml");
    return read_fit(Table(file.root, file));
}

}  // namespace prismopt
