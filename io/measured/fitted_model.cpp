#include "io/measured/fitted_model.hpp"

#include "io/scenario/catalog.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/toml.hpp"
#include "model/hardware/kernel_time.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr const char* file_name = "fit.toml";
constexpr Range covariance_range{"a covariance of logarithms", -1e6, 1e6, "0.01"};
constexpr Range rows_range{"a number of runs", 0, 1'000'000'000, "1235"};
constexpr Range scatter_range{"a standard deviation of logarithms", 0.0, 10.0, "0.05"};

FittedConstant read_constant(const Value& name, const Value& entries, const Value& rows)
{
    const std::string text = name.text("h100-sxm.gemm");
    FittedConstant constant{text.substr(text.rfind('.') + 1), {}, rows.count(rows_range)};
    for (const Value& entry : entries.list("[\"h100-sxm\"]")) {
        constant.entries.push_back(entry.text("h100-sxm"));
    }
    return constant;
}

FittedMixtures read_mixtures(Table table)
{
    return {table.at("accelerator", "accelerator = \"h100-sxm\"").text("h100-sxm"),
            table.at("stack", "stack = \"megatron-bridge\"").text("megatron-bridge"),
            table.at("rows", "rows = 7").count(rows_range)};
}

FittedModel read_fit(Table table)
{
    FittedModel model;
    model.rows = table.at("rows", "rows = 1235").count(rows_range);
    if (const auto mixtures = table.find("mixtures")) {
        for (const Value& value : mixtures->list("[{ ... }]")) {
            model.mixtures.push_back(read_mixtures(value.table("{ ... }")));
        }
    }
    const std::vector<Value> names = table.at("names", "names = [...]").list("[\"h100-sxm.gemm\"]");
    const Value all_entries = table.at("entries", "entries = [[...]]");
    const std::vector<Value> entries = all_entries.list("[[\"h100-sxm\"]]");
    const Value matrix = table.at("covariance", "covariance = [[...]]");
    const std::vector<Value> rows = matrix.list("[[0.01]]");
    const Value all_counts = table.at("constant_rows", "constant_rows = [...]");
    const std::vector<Value> counts = all_counts.list("[123]");
    const std::size_t n = names.size();
    const Complaint complaint{"does not have one row per name", "the file is generated as a whole", "run jobs/fit_constants"};
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
        const std::vector<Value> row = rows[i].list("[0.01]");
        if (row.size() != i + 1) {
            rows[i].fail(complaint);
        }
        for (std::size_t j = 0; j <= i; ++j) {
            model.covariance[i * n + j] = model.covariance[j * n + i] = row[j].number(covariance_range);
        }
    }
    const std::vector<Value> scatter = table.at("scatter", "scatter = [0.05, 0.06, 0.12]").list("[0.05, 0.06, 0.12]");
    for (const Value& value : scatter) {
        model.scatter.push_back(value.number(scatter_range));
    }
    if (scatter.size() != run_kinds) {
        matrix.fail(complaint);
    }
    model.unmeasured = table.at("unmeasured", "unmeasured = 0.25").number(scatter_range);
    return model;
}

}  // namespace

int rows_on(const FittedModel& model, const std::string& accelerator)
{
    for (const FittedConstant& constant : model.constants) {
        if (constant.key == "gemm" &&
            std::find(constant.entries.begin(), constant.entries.end(), accelerator) != constant.entries.end()) {
            return constant.rows;
        }
    }
    return 0;
}

RunKind kind_of(const Workload& workload)
{
    if (operand_bytes(workload.precision) < 2.0) {
        return RunKind::low_precision;
    }
    return workload.mixture() ? RunKind::mixture : RunKind::dense;
}

const char* name(RunKind kind)
{
    switch (kind) {
        case RunKind::low_precision: return "fewer than 16 bits";
        case RunKind::mixture: return "mixtures of experts";
        case RunKind::dense: break;
    }
    return "dense, 16 bits or more";
}

std::string mixtures_text(const FittedModel& model, const std::vector<const Workload*>& networks, const Cluster& cluster)
{
    if (std::none_of(networks.begin(), networks.end(), [](const Workload* network) { return network->mixture(); })) {
        return "";
    }
    int all = 0;
    int alike = 0;
    for (const FittedMixtures& mixtures : model.mixtures) {
        all += mixtures.rows;
        alike += mixtures.accelerator == cluster.accelerator.name && mixtures.stack == cluster.stack.name ? mixtures.rows : 0;
    }
    return fmt::format(
        "{} of the {} runs in the fit train mixtures of experts, {} of them on {} with {}; software with its own kernels for "
        "token exchanges, such as DeepSeek's, may be faster than the interval suggests",
        all, model.rows, alike > 0 ? std::to_string(alike) : "none", cluster.accelerator.name, cluster.stack.name);
}

FittedModel fitted_model()
{
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name == file_name) {
            const TomlFile parsed = parse_toml(file.text, "model/catalog/" + file.name);
            return read_fit(Table(parsed.root, parsed));
        }
    }
    throw InputError("model/catalog/fit.toml is missing from the program; run jobs/fit_constants and rebuild");
}

}  // namespace prismopt
