#include "io/measured/measured_runs.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/toml.hpp"
#include "model/base/words.hpp"
#include "model/network/network.hpp"
#include "model/network/transformer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <regex>
#include <sstream>
#include <string_view>

namespace prismopt {

namespace {

/// A week; the longest published step is of minutes. Longer ones are slips of the pen.
constexpr double longest_step_s = 7.0 * 86'400.0;
constexpr int most_of_any_count = 10'000'000;
constexpr int most_layers_or_heads = 10'000;

/// Of every row.
constexpr auto row_columns = std::to_array<const char*>(
    {"run", "source", "skipped", "line", "assumed", "variability", "fitted", "scenario", "design",
     "sequence_parallel", "outcome", "step_time_s", "tflops_per_gpu", "of_formula", "memory_gb",
     "memory_basis", "memory_allocated", "kept_bytes", "undivided_bytes"});
/// Of the job, which a scenario may give instead.
constexpr auto job_columns = std::to_array<const char*>({"network",
                                                         "layers",
                                                         "hidden",
                                                         "predictions",
                                                         "dense_layers",
                                                         "capacity",
                                                         "routing_weights",
                                                         "attention",
                                                         "precision",
                                                         "attention_precision",
                                                         "bf16_blocks",
                                                         "bf16_first",
                                                         "bf16_last",
                                                         "activation_storage",
                                                         "states",
                                                         "master",
                                                         "loss",
                                                         "wide_stream",
                                                         "fused_update",
                                                         "update_in_backward",
                                                         "gradients",
                                                         "adapter_rank",
                                                         "frozen_storage",
                                                         "sequence",
                                                         "global_batch",
                                                         "gpus",
                                                         "accelerator",
                                                         "cores",
                                                         "stack",
                                                         "node_link",
                                                         "node",
                                                         "closed",
                                                         "network_link",
                                                         "pod",
                                                         "oversubscription"});
/// Of networks whose shape the row gives; networks of the catalog have their own.
constexpr auto shape_columns = std::to_array<const char*>(
    {"heads", "kv_heads", "feed_forward", "vocabulary", "head", "activation", "normalisation",
     "tied_embedding", "dropout", "experts", "experts_active", "expert_size", "shared_size"});
constexpr auto expert_columns =
    std::to_array<const char*>({"experts_active", "expert_size", "shared_size", "dense_layers"});

[[noreturn]] void refuse(const CsvRow& row, const char* column, std::string_view remedy)
{
    throw InputError(fmt::format("{} is \"{}\"; {}", column, printable(row.text(column)), remedy));
}

/// Refuses columns that have no effect. `otherwise`: what gives them one.
template <class Columns>
void refuse_given(const CsvRow& row, const Columns& columns, std::string_view why,
                  std::string_view otherwise = "")
{
    for (const char* column : columns) {
        if (!row.text(column).empty()) {
            refuse(row, column,
                   fmt::format("{}; leave it empty{}{}", why, otherwise.empty() ? "" : ", or ", otherwise));
        }
    }
}

/// A value of a column without which a job is unknown, for messages.
struct ColumnExample {
    const char* column;
    const char* value;
    const char* list;  // of the catalog, for `prismopt init --list`; empty: no name of the catalog
};
constexpr auto column_examples = std::to_array<ColumnExample>({{"gpus", "64", ""},
                                                               {"network", "llama3-70b", "workloads"},
                                                               {"sequence", "8192", ""},
                                                               {"global_batch", "128", ""},
                                                               {"accelerator", "h100-sxm", "accelerators"},
                                                               {"stack", "megatron-core", ""},
                                                               {"node_link", "nvlink4", "links"},
                                                               {"node", "8", ""},
                                                               {"network_link", "ib-ndr", "links"},
                                                               {"closed", "16", ""},
                                                               {"oversubscription", "7", ""},
                                                               {"layers", "32", ""},
                                                               {"hidden", "4096", ""},
                                                               {"heads", "32", ""},
                                                               {"feed_forward", "14336", ""},
                                                               {"vocabulary", "128256", ""},
                                                               {"activation", "swiglu", ""},
                                                               {"experts_active", "2", ""},
                                                               {"expert_size", "14336", ""}});

std::string needed_text(const CsvRow& row, const char* column)
{
    if (!row.text(column).empty()) {
        return row.text(column);
    }
    const auto* example =
        std::find_if(column_examples.begin(), column_examples.end(),
                     [column](const ColumnExample& of) { return std::string_view(of.column) == column; });
    const std::string_view list(example->list);
    throw InputError(fmt::format(
        "no {}: give it, such as {}{}, or give the job by a scenario file in the column scenario", column,
        example->value, list.empty() ? "" : fmt::format(" (prismopt init --list {})", list)));
}

/// An entry of the catalog; refusals name the column.
template <class Entry>
auto entry_in(const CsvRow& row, const char* column, Entry entry)
{
    const std::string name = needed_text(row, column);
    try {
        return entry(name);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", column, error.what()));
    }
}

NetworkTier link_in(const CsvRow& row, const char* column, const SoftwareStack& stack)
{
    return under(entry_in(row, column, [](const std::string& name) { return catalog_link(name); }), stack);
}

/// A count; 0 if the column is empty.
int count_in(const CsvRow& row, const char* column, int most = most_of_any_count)
{
    const int value = row.count(column);
    if ((value == 0 && !row.text(column).empty()) || value > most) {
        refuse(row, column, fmt::format("give a whole number from 1 to {}", most));
    }
    return value;
}

int needed_count(const CsvRow& row, const char* column, int most = most_of_any_count)
{
    needed_text(row, column);
    return count_in(row, column, most);
}

/// A number above 0; 0 if the column is empty.
double amount_in(const CsvRow& row, const char* column)
{
    const double value = row.number(column);
    if (!row.text(column).empty() && !(value > 0.0 && std::isfinite(value))) {
        refuse(row, column, "give a number above 0, or nothing");
    }
    return value;
}

bool flag_in(const CsvRow& row, const char* column, bool usual)
{
    const std::string text = row.text(column);
    if (!text.empty() && text != "yes" && text != "no") {
        refuse(row, column, "write yes, no or nothing");
    }
    return text.empty() ? usual : text == "yes";
}

/// Sets a choice; an empty column leaves it.
template <class Enum>
void choose_in(const CsvRow& row, const char* column, Enum& target)
{
    if (row.text(column).empty()) {
        return;
    }
    const auto chosen = parse<Enum>(row.text(column));
    if (!chosen) {
        refuse(row, column, "choose from " + choices<Enum>());
    }
    target = *chosen;
}

/// A network of the catalog, with as many of its layers as the row says.
Workload catalog_network_of(const CsvRow& row)
{
    refuse_given(row, shape_columns, "a network of the catalog has its own",
                 "give hidden for another network");
    Workload w = entry_in(row, "network", [](const std::string& name) { return catalog_workload(name); });
    const int layers = count_in(row, "layers", w.layers());
    const int dense = count_in(row, "dense_layers", w.layers());
    auto t = transformer_of(w);
    if (t && t->is_moe()) {
        if (layers > 0) {
            t->layers = layers;
        }
        t->experts.dense_layers = dense > 0 ? dense : std::min(t->experts.dense_layers, t->layers - 1);
        w = workload_of(*t);
    } else {
        refuse_given(row, std::array{"dense_layers"},
                     "the network is no mixture of experts with equal layers");
        w.cut(layers > 0 ? layers : w.layers());
    }
    w.predictions = count_in(row, "predictions", 16);
    return w;
}

/// A decoder whose shape the row gives.
Workload own_network_of(const CsvRow& row)
{
    Transformer t;
    t.name = plain_text(needed_text(row, "network"));
    t.layers = needed_count(row, "layers", most_layers_or_heads);
    t.hidden = needed_count(row, "hidden");
    t.heads = needed_count(row, "heads", most_layers_or_heads);
    t.kv_heads = row.text("kv_heads").empty() ? t.heads : count_in(row, "kv_heads", t.heads);
    t.feed_forward = needed_count(row, "feed_forward");
    t.vocabulary = needed_count(row, "vocabulary");
    t.head = count_in(row, "head");
    if ((t.head == 0 && t.hidden % t.heads != 0) || t.heads % t.kv_heads != 0) {
        refuse(row, "heads", "heads must divide hidden, or give head; kv_heads must divide heads");
    }
    needed_text(row, "activation");
    choose_in(row, "activation", t.activation);
    choose_in(row, "normalisation", t.normalisation);
    t.tied_embedding = flag_in(row, "tied_embedding", false);
    t.dropout = flag_in(row, "dropout", false);
    t.experts.count = count_in(row, "experts");
    if (t.experts.count > 0) {
        t.experts.active = needed_count(row, "experts_active", t.experts.count);
        t.experts.feed_forward = needed_count(row, "expert_size");
        t.experts.shared = count_in(row, "shared_size");
        t.experts.dense_layers = count_in(row, "dense_layers", t.layers);
    } else {
        refuse_given(row, expert_columns, "the network has no experts",
                     "give their number per layer in experts, such as 8");
    }
    refuse_given(row, std::array{"predictions"}, "prediction modules are those of the catalog's networks");
    return workload_of(t);
}

/// Blocks are joined by plus signs.
WideLayers wide_layers_of(const CsvRow& row)
{
    WideLayers wide{.first = count_in(row, "bf16_first"), .last = count_in(row, "bf16_last")};
    const std::vector<std::string> known = wide_block_names();
    std::stringstream blocks(row.text("bf16_blocks"));
    for (std::string block; std::getline(blocks, block, '+');) {
        if (std::find(known.begin(), known.end(), block) == known.end()) {
            refuse(row, "bf16_blocks",
                   fmt::format("give kinds of blocks, joined by +: {}", fmt::join(known, ", ")));
        }
        wide.blocks.push_back(block);
    }
    return wide;
}

Workload network_of_row(const CsvRow& row)
{
    Workload w = row.text("hidden").empty() ? catalog_network_of(row) : own_network_of(row);
    if (w.find<ExpertsBlock>() == nullptr) {
        refuse_given(row, std::array{"capacity", "routing_weights"}, "the network has no experts");
    }
    const double capacity = amount_in(row, "capacity");
    w.change<ExpertsBlock>([&row, capacity](ExpertsBlock& experts) {
        if (capacity > 0.0) {
            experts.capacity = capacity;
        }
        choose_in(row, "routing_weights", experts.weights);
    });
    if (!row.text("attention").empty()) {
        AttentionKernel kernel = AttentionKernel::flash;
        choose_in(row, "attention", kernel);
        w.set_attention_kernel(kernel);
    }
    choose_in(row, "precision", w.precision);
    choose_in(row, "attention_precision", w.attention_precision);
    w.wide = wide_layers_of(row);
    choose_in(row, "activation_storage", w.activation_storage);
    choose_in(row, "states", w.optimizer.states);
    choose_in(row, "master", w.optimizer.master);
    choose_in(row, "gradients", w.optimizer.gradients);
    choose_in(row, "loss", w.loss);
    w.wide_stream = flag_in(row, "wide_stream", w.wide_stream);
    w.optimizer.fused = flag_in(row, "fused_update", w.optimizer.fused);
    w.optimizer.in_backward = flag_in(row, "update_in_backward", w.optimizer.in_backward);
    w.adapter_rank = count_in(row, "adapter_rank");
    if (w.adapter_rank > 0) {
        choose_in(row, "frozen_storage", w.frozen_storage);
        w.frozen_ends = true;
        for (LayerDescription& kind : w.kinds) {
            kind.frozen = true;
        }
    }
    return w;
}

/// One of an accelerator's equal cores.
Accelerator core_of(Accelerator a, int cores)
{
    for (FlopsPerSecond* peak : {&a.peak_bf16, &a.peak_fp32, &a.peak_tf32, &a.peak_fp8, &a.peak_fp4}) {
        *peak = *peak / cores;
    }
    for (BytesPerSecond* rate :
         {&a.memory_bandwidth, &a.host_link, &a.host_memory_bandwidth, &a.nvme_bandwidth}) {
        *rate = *rate / cores;
    }
    a.memory = a.memory / cores;
    a.memory_reserved = a.memory_reserved / cores;
    a.power = a.power / cores;
    a.multiprocessors /= cores;
    return a;
}

/// GPUs of a node behind a switch ("8"), or the shape of a torus ("4x4x8").
std::vector<int> node_shape(const CsvRow& row)
{
    static const std::regex pattern("[1-9][0-9]{0,5}(x[1-9][0-9]{0,3}){0,2}");
    const std::string text = needed_text(row, "node");
    if (!std::regex_match(text, pattern)) {
        refuse(row, "node",
               "give the GPUs that node_link joins, such as 8, or the shape of a torus, such as 4x4x8");
    }
    std::vector<int> shape;
    for (std::size_t at = 0; at != std::string::npos; at = text.find('x', at + 1)) {
        shape.push_back(std::stoi(text.substr(at == 0 ? 0 : at + 1)));
    }
    return shape;
}

NetworkTier node_tier_of(const CsvRow& row, const SoftwareStack& stack)
{
    NetworkTier node = link_in(row, "node_link", stack);
    const std::vector<int> shape = node_shape(row);
    node.group_gpus = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
    if (shape.size() > 1) {
        node.topology = Topology::torus;
        node.shape = shape;
        const int closed = needed_count(row, "closed");
        for (const int axis : shape) {
            node.wrap.push_back(axis >= closed);
        }
    } else {
        refuse_given(row, std::array{"closed"}, "only a torus has axes that are closed to rings",
                     "give the shape of a torus in node, such as 4x4x8");
    }
    return node;
}

Cluster cluster_of_row(const CsvRow& row, int gpus)
{
    Cluster cluster;
    cluster.stack = entry_in(row, "stack", [](const std::string& name) { return catalog_stack(name); });
    cluster.library = library_of(cluster.stack);
    const int cores = std::max(1, count_in(row, "cores"));
    const Accelerator whole =
        entry_in(row, "accelerator", [](const std::string& name) { return catalog_accelerator(name); });
    cluster.accelerator = core_of(under(whole, cluster.stack), cores);
    cluster.tiers.push_back(node_tier_of(row, cluster.stack));
    const int node = cluster.tiers.front().group_gpus;
    cluster.gpus = std::max(gpus, node);
    if (cluster.gpus == node) {
        return cluster;
    }
    NetworkTier network = link_in(row, "network_link", cluster.stack);
    network.bandwidth = network.bandwidth / cores;
    if (const int pod = count_in(row, "pod", cluster.gpus); pod > 0) {
        network.group_gpus = pod;
        cluster.tiers.push_back(network);
        needed_text(row, "oversubscription");
        network.oversubscription = amount_in(row, "oversubscription");
    } else {
        refuse_given(row, std::array{"oversubscription"}, "only links between pods have one",
                     "give the GPUs of a pod in pod, such as 3072");
    }
    network.group_gpus = cluster.gpus;
    cluster.tiers.push_back(network);
    return cluster;
}

void read_job(const CsvRow& row, const std::filesystem::path& table, RunRow& read)
{
    if (!row.text("scenario").empty()) {
        refuse_given(row, job_columns, "the scenario says it", "give no scenario");
        refuse_given(row, shape_columns, "the scenario says it", "give no scenario");
        const std::string path = (table.parent_path() / row.text("scenario")).string();
        const Scenario scenario = read_scenario(path, {}, ScenarioUse::measured_steps);
        if (!scenario.machines.empty()) {
            throw InputError(fmt::format(
                "scenario {} has several clusters, and a run was measured on one; name a scenario with "
                "that [cluster] alone",
                row.text("scenario")));
        }
        if (scenario.workloads.size() > 1) {
            throw InputError(
                fmt::format("scenario {} has several networks, and a run trained one; name a scenario with "
                            "that [workload] "
                            "alone",
                            row.text("scenario")));
        }
        static_cast<Job&>(read.run) = scenario;
        read.run.phases.resize(1);
        read.space = scenario.space;
        return;
    }
    const int gpus = needed_count(row, "gpus");
    read.run.workload = network_of_row(row);
    read.run.phases = {{1e12, needed_count(row, "sequence"), needed_count(row, "global_batch")}};
    read.run.cluster = cluster_of_row(row, gpus);
    read.space.gpus = {gpus};
}

void read_measurement(const CsvRow& row, RunRow& read)
{
    MeasuredRun& run = read.run;
    const std::string outcome = row.text("outcome");
    if (!outcome.empty() && outcome != "ok" && outcome != "oom") {
        refuse(row, "outcome", "write ok, or oom for a run that ended out of memory, or nothing");
    }
    run.out_of_memory = outcome == "oom";
    run.kept_bytes = amount_in(row, "kept_bytes");
    run.undivided_bytes = amount_in(row, "undivided_bytes");
    if (run.out_of_memory) {
        refuse_given(row, std::array{"step_time_s", "tflops_per_gpu", "memory_gb"},
                     "a run that ended out of memory has none");
        return;
    }
    run.measured_s = row.number("step_time_s");
    read.compute_rate = FlopsPerSecond{1e12 * amount_in(row, "tflops_per_gpu")};
    const bool by_rate = row.text("step_time_s").empty() && read.compute_rate.si > 0.0;
    if (row.text("step_time_s").empty() && !by_rate) {
        throw InputError(
            "no step time: give step_time_s, such as 12.9, or tflops_per_gpu, such as 410; a run that ended "
            "out of memory "
            "has outcome oom");
    }
    if (!by_rate && !(run.measured_s > 0.0)) {
        refuse(row, "step_time_s", "give a number of seconds above 0");
    }
    if (run.measured_s > longest_step_s) {
        throw InputError(fmt::format(
            "a step time of {:.3g} s is not plausible; give the seconds of an optimizer step, such as 12.9",
            run.measured_s));
    }
    run.of_formula = flag_in(row, "of_formula", false);
    run.memory_bytes = 1e9 * amount_in(row, "memory_gb");
    // memory_allocated is an older column.
    run.memory_basis = flag_in(row, "memory_allocated", false) ? MemoryBasis::allocated : MemoryBasis::device;
    choose_in(row, "memory_basis", run.memory_basis);
    run.kept_bytes = amount_in(row, "kept_bytes");
    run.undivided_bytes = amount_in(row, "undivided_bytes");
}

/// What a row does not state, if it has no column for that.
std::string usually_assumed(const CsvRow& row, const Cluster& cluster)
{
    if (row.text("scenario").empty()) {
        return "nothing";
    }
    return cluster.possible.empty() ? "nothing: the scenario says all"
                                    : fmt::format("software: {}", cluster.software.name);
}

}  // namespace

std::vector<std::string> run_columns()
{
    std::vector<std::string> columns(row_columns.begin(), row_columns.end());
    columns.insert(columns.end(), job_columns.begin(), job_columns.end());
    columns.insert(columns.end(), shape_columns.begin(), shape_columns.end());
    return columns;
}

std::string line_of(const std::string& model)
{
    static const std::regex size("^[ae]?[0-9]+([.][0-9]+)?[kmbt](?![a-z0-9])");
    const std::string text = lower_case(model.substr(0, model.find(" (")));
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" _-", at), text.size());
        const std::string word = text.substr(at, end - at);
        if (std::regex_search(word, size)) {
            break;
        }
        line += (line.empty() || word.empty() ? "" : " ") + word;
        at = end + 1;
    }
    return line.empty() ? text : line;
}

RunRow read_run_row(const CsvRow& row, const std::string& path, int number)
{
    const std::filesystem::path table(path);
    const auto text_or = [&row](const char* column, const std::string& usual) {
        return row.text(column).empty() ? usual : plain_text(row.text(column));
    };
    RunRow read;
    MeasuredRun& run = read.run;
    run.source = text_or("source", table.stem().string());
    run.row = text_or("run", fmt::format("row {}", number));
    read.skipped = plain_text(row.text("skipped"));
    if (!read.skipped.empty()) {
        return read;
    }
    try {
        read_measurement(row, read);
        read_job(row, table, read);
        read.design = row.text("design");
        read.sequence_parallel = flag_in(row, "sequence_parallel", true);
        run.fitted = flag_in(row, "fitted", true) && !run.out_of_memory;
        run.line = text_or("line", line_of(run.workload.name));
        run.assumed = text_or("assumed", usually_assumed(row, run.cluster));
        run.variability = text_or("variability", run.variability);
        catalog_variability(run.variability);
    } catch (const InputError& error) {
        read.skipped = plain_text(error.what());
    }
    return read;
}

}  // namespace prismopt
