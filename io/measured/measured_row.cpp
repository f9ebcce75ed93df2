#include "io/measured/measured_row.hpp"

#include "io/base/csv_stream.hpp"
#include "io/measured/machine_names.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/base/words.hpp"
#include "model/plan/plan_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <regex>
#include <type_traits>
#include <utility>

namespace prismopt {

namespace {

/// A week; the longest published step is of minutes. Longer ones are slips of the pen.
constexpr double longest_step_s = 7.0 * 86'400.0;

using Refusal = std::string;

bool has(const std::string& text, const std::string& part)
{
    return lower_case(text).find(lower_case(part)) != std::string::npos;
}

/// Layers that make the printed rate: BigScience's TFLOP/s are 4 times 2 FLOPs a token and parameter, parameters 12 h^2 a layer.
int layers_of_rate(const CsvRow& row)
{
    const double tokens = row.number("seq") * row.number("global_batch");
    const double parameters =
        row.number("tflops_per_gpu") * 1e12 * row.number("n_gpus") * row.number("step_time_s") / (8.0 * tokens);
    return static_cast<int>(std::lround(parameters / (12.0 * std::pow(row.number("hidden"), 2.0))));
}

Precision precision_of(const std::string& text)
{
    if (has(text, "fp4")) {
        return Precision::nvfp4;
    }
    return has(text, "fp8") || has(text, "float8") ? Precision::fp8 : Precision::bf16;
}

/// Peak memory that the notes of a row tell.
double memory_of(const CsvRow& row)
{
    static const std::regex pattern(R"((?:max memory|real peak alloc|memory) ([0-9]+(?:[.][0-9]+)?) ?(GB|GiB))");
    std::smatch match;
    const std::string notes = row.text("notes");
    if (!std::regex_search(notes, match, pattern)) {
        return 0.0;
    }
    return number_in(match[1].str()) * (match[2].str() == "GB" ? 1e9 : 1073741824.0);
}

int gpus_of_slice(const std::vector<int>& slice) { return std::accumulate(slice.begin(), slice.end(), 1, std::multiplies<>()); }

/// The smallest slice that holds the GPUs; the largest, of which there are several, if none does.
const std::vector<int>& slice_of(const TableMachine& machine, int gpus)
{
    const auto slice = std::find_if(machine.slices.begin(), machine.slices.end(),
                                    [gpus](const std::vector<int>& shape) { return gpus_of_slice(shape) >= gpus; });
    return slice == machine.slices.end() ? machine.slices.back() : *slice;
}

/// One of an accelerator's equal cores.
Accelerator core_of(Accelerator a, int cores)
{
    for (FlopsPerSecond* peak : {&a.peak_bf16, &a.peak_fp32, &a.peak_tf32, &a.peak_fp8, &a.peak_fp4}) {
        *peak = *peak / cores;
    }
    for (BytesPerSecond* rate : {&a.memory_bandwidth, &a.host_link, &a.host_memory_bandwidth}) {
        *rate = *rate / cores;
    }
    a.memory = a.memory / cores;
    a.memory_reserved = a.memory_reserved / cores;
    a.power = a.power / cores;
    a.multiprocessors /= cores;
    return a;
}

class RowReader {
public:
    RowReader(const MeasuredTable& table, CsvRow row) : table_(table), row_(std::move(row)) {}

    std::variant<MeasuredRun, Refusal> read()
    {
        for (const TableFill& fill : table_.fills) {
            const bool meant = std::all_of(fill.when.begin(), fill.when.end(), [this](const auto& condition) {
                return has(row_.text(condition.first), condition.second);
            });
            if (meant) {
                for (const auto& [column, value] : fill.set) {
                    if (fill.replaces || row_.text(column).empty()) {
                        row_.replace(column, value);
                        assume(fmt::format("{} = {}", column, value));
                    }
                }
            }
        }
        for (const TableSkip& skip : table_.skips) {
            if (has(row_.text(skip.column), skip.value)) {
                return skip.reason;
            }
        }
        MeasuredRun run;
        run.source = table_.source;
        run.measured_s = row_.number(row_.text("step_time_s").empty() ? "median_s" : "step_time_s");
        run.memory_bytes = memory_of(row_);
        run.memory_allocated = has(row_.text("notes"), "peak alloc");
        run.kept_bytes = row_.number("kept_bytes");
        run.undivided_bytes = row_.number("undivided_bytes");
        if (run.measured_s <= 0.0) {
            return "no step time";
        }
        if (run.measured_s > longest_step_s) {
            return fmt::format("a step time of {:.3g} s is not plausible", run.measured_s);
        }
        for (const auto part : {&RowReader::read_workload, &RowReader::read_cluster, &RowReader::read_plan}) {
            if (auto refusal = (this->*part)(run)) {
                return *refusal;
            }
        }
        run.variability = table_.variability;
        run.fitted = table_.fitted;
        run.of_formula = has(row_.text("step_time_basis"), "F/(");
        run.line = table_.sweep ? lower_case(row_.text("model")) : line_of(run.workload.name);
        run.row = fmt::format("{} on {} {}", row_.text("model"), row_.text("n_gpus"), run.cluster.accelerator.name);
        run.assumed = table_.assumed + assumed_;
        return run;
    }

private:
    void assume(const std::string& what) { assumed_ += (assumed_.empty() ? "; filled: " : ", ") + what; }

    std::optional<Refusal> read_workload(MeasuredRun& run)
    {
        Workload& w = run.workload;
        const auto model = std::find_if(table_.models.begin(), table_.models.end(),
                                        [&](const auto& entry) { return has(row_.text("model"), entry.first); });
        if (model != table_.models.end()) {
            w = catalog_workload(model->second);
            shorten(w);
            w.predictions = row_.count("predictions");
        } else if (!table_.own_shapes && row_.text("activation").empty()) {
            return fmt::format(
                "the network of {} is not known; add it to [{}.models] in model/catalog/measured_tables.toml, or "
                "give the run with its scenario (docs/accuracy.md)",
                row_.text("model"), table_.name);
        } else {
            Transformer t = table_.workload;
            t.name = row_.text("model");
            t.activation = parse<Activation>(row_.text("activation")).value_or(t.activation);
            t.layers = row_.count("layers");
            if (t.layers == 0 && row_.number("tflops_per_gpu") > 0.0 && row_.count("hidden") > 0) {
                t.layers = layers_of_rate(row_);
                assume(fmt::format("layers = {} from the printed rate", t.layers));
            }
            t.hidden = row_.count("hidden");
            t.heads = row_.count("heads");
            t.kv_heads = row_.count("kv_heads") > 0 ? row_.count("kv_heads") : t.heads;
            t.feed_forward = row_.count("ffn") > 0 ? row_.count("ffn") : 4 * t.hidden;
            t.vocabulary = row_.count("vocab");
            t.head = row_.count("head");
            if (row_.count("experts") > 0) {
                t.experts.count = row_.count("experts");
                t.experts.active = row_.count("experts_active");
                t.experts.feed_forward = row_.count("expert_ffn") > 0 ? row_.count("expert_ffn") : t.feed_forward;
                t.experts.shared = row_.count("shared_ffn");
                t.experts.dense_layers = row_.count("dense_layers");
                if (t.experts.active < 1) {
                    return "no number of active experts";
                }
            }
            for (const auto& [value, column] :
                 {std::pair{t.layers, "layers"}, {t.hidden, "hidden"}, {t.heads, "heads"}, {t.vocabulary, "vocab"}}) {
                if (value == 0) {
                    return fmt::format("no {} (no model card in the catalog)", column);
                }
            }
            w = workload_of(t);
        }
        read_kept(w);
        if (const double capacity = row_.number("capacity"); capacity > 0.0) {
            w.change<ExpertsBlock>([capacity](ExpertsBlock& experts) { experts.capacity = capacity; });
        }
        if (row_.text("attention") == "plain") {
            w.set_attention_kernel(AttentionKernel::plain);
        }
        w.precision = precision_of(row_.text("precision"));
        if (const int rank = row_.count("adapter_rank"); rank > 0) {
            w.adapter_rank = rank;
            w.frozen_ends = true;
            for (LayerDescription& kind : w.kinds) {
                kind.frozen = true;
            }
        }
        run.phases = {{1e12, row_.count("seq"), row_.count("global_batch")}};
        if (run.phase().sequence == 0 && model != table_.models.end()) {
            const UsualSample sample = usual_sample(model->second);
            run.phases.front().sequence = sample.name == "sequence" ? 0 : sample.tokens;  // an image has a size, a text has none
        }
        return run.phase().sequence == 0 || run.phase().global_batch == 0
                   ? std::optional<Refusal>("no sequence length or global batch")
                   : std::nullopt;
    }

    /// What the trainer keeps in memory, and in which number types.
    void read_kept(Workload& w) const
    {
        const auto read = [this](const char* column, auto& kept) {
            kept = parse<std::remove_reference_t<decltype(kept)>>(row_.text(column)).value_or(kept);
        };
        read("activation_storage", w.activation_storage);
        read("states", w.optimizer.states);
        read("master", w.optimizer.master);
        read("gradients", w.optimizer.gradients);
        if (const auto weights = parse<RoutingWeights>(row_.text("routing_weights"))) {
            w.change<ExpertsBlock>([&weights](ExpertsBlock& experts) { experts.weights = *weights; });
        }
    }

    /// A network with fewer layers than the catalog's, or with other dense ones, as the row says.
    void shorten(Workload& w)
    {
        const int layers = row_.count("layers");
        auto t = transformer_of(w);
        if (t && t->mixture()) {
            if (layers > 0 && layers < t->layers) {
                t->layers = layers;
                t->experts.dense_layers = std::min(t->experts.dense_layers, layers - 1);
            }
            t->experts.dense_layers = row_.count("dense_layers") > 0 ? row_.count("dense_layers") : t->experts.dense_layers;
            w = workload_of(*t);
        } else if (layers > 0 && layers < w.layers()) {
            w.cut(layers);
        }
    }

    std::optional<Refusal> read_cluster(MeasuredRun& run)
    {
        const std::string gpu = row_.text("gpu");
        const std::string accelerator = accelerator_named(gpu);
        const auto machine = std::find_if(table_.machines.begin(), table_.machines.end(), [&](const TableMachine& m) {
            return m.accelerator == accelerator &&
                   (m.software.empty() || has(row_.text("framework") + row_.text("zero_fsdp"), m.software));
        });
        const int gpus = row_.count("n_gpus");
        if (machine == table_.machines.end()) {
            return accelerator.empty()
                       ? fmt::format(
                             "\"{}\" names no machine of the catalog; add the text to model/catalog/machine_names.toml, or "
                             "give the run with its scenario (docs/accuracy.md)",
                             gpu)
                       : fmt::format("no description of {} in the machines of {}", gpu, table_.name);
        }
        if (gpus == 0) {
            return "no number of GPUs";
        }
        Cluster& cluster = run.cluster;
        cluster.stack = catalog_stack(machine->stack);
        cluster.library = library_of(cluster.stack);
        cluster.accelerator = core_of(under(catalog_accelerator(machine->accelerator), cluster.stack), machine->cores);
        if (cluster.accelerator.peak(run.workload.precision).si <= 0.0) {
            return "the accelerator does not support this precision";
        }
        NetworkTier node = under(catalog_link(machine->links.front()), cluster.stack);
        node.group_gpus = machine->node;
        if (!machine->slices.empty()) {
            node.topology = Topology::torus;
            node.shape = slice_of(*machine, row_.count("slice") > 0 ? row_.count("slice") : gpus);
            node.group_gpus = gpus_of_slice(node.shape);
            for (const int axis : node.shape) {
                node.wrap.push_back(axis >= machine->closed);
            }
        }
        node_ = node.group_gpus;
        NetworkTier network = under(catalog_link(machine->links.back()), cluster.stack);
        network.bandwidth = network.bandwidth / machine->cores;
        cluster.gpus = std::max(gpus, node_);
        network.group_gpus = cluster.gpus;
        cluster.tiers.push_back(node);
        if (network.group_gpus > node.group_gpus) {
            cluster.tiers.push_back(network);
        }
        return std::nullopt;
    }

    std::optional<Refusal> read_plan(MeasuredRun& run)
    {
        ParallelPlan& plan = run.plan;
        plan = table_.plan;
        const int gpus = row_.count("n_gpus");
        for (const char* column : {"tp", "pp", "cp", "ep", "etp"}) {
            const std::string text = row_.text(column);
            if (!text.empty() && (row_.count(column) < 1 || row_.count(column) > gpus)) {
                return fmt::format("{} = {} on {} GPUs", column, text, gpus);
            }
        }
        const auto degree = [&](const char* column) { return std::max(1, row_.count(column)); };
        plan.tp = degree("tp");
        plan.pp = degree("pp");
        plan.cp = degree("cp");
        plan.ep = degree("ep");
        plan.etp = degree("etp");
        plan.chunks = plan.pp > 1 ? degree("vpp") : 1;
        const std::int64_t replica = static_cast<std::int64_t>(plan.tp) * plan.pp * plan.cp;
        plan.microbatch = microbatch_of(run.phase().global_batch, replica);
        if (plan.microbatch == 0) {
            return "no microbatch";
        }
        if (plan.microbatch > run.phase().global_batch) {
            return fmt::format("microbatch = {} with a global batch of {} sequences", plan.microbatch, run.phase().global_batch);
        }
        if (static_cast<std::int64_t>(plan.ep) * plan.etp > gpus) {
            return fmt::format("ep*etp = {} x {} on {} GPUs", plan.ep, plan.etp, gpus);
        }
        if (gpus % replica != 0) {
            return fmt::format("tp*pp*cp = {} does not divide {} GPUs", replica, gpus);
        }
        plan.dp = static_cast<int>(gpus / replica);
        const std::int64_t together = static_cast<std::int64_t>(plan.dp) * plan.microbatch;
        if (run.phase().global_batch % together != 0) {
            return fmt::format("dp*microbatch = {} does not divide the global batch {}", together, run.phase().global_batch);
        }
        if (!run.workload.splits_by(plan.tp)) {
            return fmt::format("tp = {} does not divide {}", plan.tp, run.workload.undivided_text(plan.tp));
        }
        plan.tp_overlap = row_.text("tp_overlap") == "on" ? TensorParallelOverlap::on : plan.tp_overlap;
        read_schedule(plan, run.workload.layers());
        const int chunks = plan.pp * plan.chunks;
        if (run.workload.layers() % chunks != 0 && (run.workload.layers() + 2) % chunks == 0) {
            plan.split = LayerSplit::slots;  // Megatron counts embedding and head as layers: 126 layers in 128 chunks
            assume("split = slots");
        }
        read_recompute(plan, run.workload.layers());
        read_sharding(plan);
        return read_named(plan);
    }

    /// What the column says, or what the number of microbatches leaves for each; 0: neither is printed.
    int microbatch_of(int global_batch, std::int64_t replica) const
    {
        const std::int64_t replicas = row_.count("n_gpus") / replica;
        const std::int64_t microbatches = replicas * row_.count("num_microbatches");
        const bool divides = microbatches > 0 && global_batch % microbatches == 0;
        return row_.count("micro_batch") > 0 || !divides ? row_.count("micro_batch")
                                                         : static_cast<int>(global_batch / microbatches);
    }

    /// Choices that the table writes as a scenario does.
    std::optional<Refusal> read_named(ParallelPlan& plan)
    {
        std::optional<Refusal> refusal;
        for_each_axis([&](const auto& axis) {
            const std::string text = row_.text(std::string(axis.name));
            if (text.empty()) {
                return;
            }
            if constexpr (std::is_same_v<decltype(axis.choice), ModuleSet ParallelPlan::*>) {
                const auto set = parse_modules(text, axis.modules);
                refusal = set ? refusal : fmt::format("{} = {} is not a set of modules", axis.name, text);
                plan.*(axis.choice) = set.value_or(ModuleSet{});
            } else if constexpr (std::is_same_v<decltype(axis.choice), ExpertOverlap ParallelPlan::*> ||
                                 std::is_same_v<decltype(axis.choice), Dispatch ParallelPlan::*>) {
                const auto named = parse<std::remove_reference_t<decltype(plan.*(axis.choice))>>(text);
                refusal = named ? refusal : fmt::format("{} = {} is unknown", axis.name, text);
                plan.*(axis.choice) = named.value_or(plan.*(axis.choice));
            }
        });
        return refusal;
    }

    /// Zero-bubble schedules by their paper's names (Qi et al., arXiv 2401.10241), which runs them with post-validation.
    void read_schedule(ParallelPlan& plan, int layers)
    {
        const std::string text = row_.text("schedule");
        if (has(text, "DualPipe")) {
            plan.schedule = Schedule::dualpipe;
            plan.chunks = 2;
            return;
        }
        if (plan.pp > 1 && has(row_.text("vpp"), "each layer a chunk")) {
            plan.chunks = (layers + (plan.split == LayerSplit::slots ? 2 : 0)) / plan.pp;
        }
        plan.schedule = has(text, "ZB-1p")   ? Schedule::zb_h1
                        : has(text, "ZB-2p") ? Schedule::zb_h2
                        : has(text, "ZB-V")  ? Schedule::zb_v
                        : plan.chunks > 1    ? Schedule::interleaved
                                             : Schedule::one_f_one_b;
        plan.post_validation = has(text, "ZB-") ? PostValidation::on : plan.post_validation;
    }

    void read_recompute(ParallelPlan& plan, int layers)
    {
        const std::string text = row_.text("recompute");
        if (text.empty()) {
            assume(fmt::format("recompute = {}", name(plan.recompute)));
            return;
        }
        const double mfu = row_.number("mfu_pct");
        const double hfu = row_.number("hfu_pct");
        if (has(text, "selective") && hfu > mfu && mfu > 0.0 && !has(text, "sequence")) {
            // Both rates printed: three passes' worth of work grows by the share of the layers that run a fourth.
            plan.recompute = Recompute::full;
            plan.recomputed_layers = std::clamp(static_cast<int>(std::lround(3.0 * (hfu / mfu - 1.0) * layers)), 1, layers);
            assume(fmt::format("full recompute of {} layers, from the printed rates", plan.recomputed_layers));
        } else {
            plan.recompute = has(text, "full")                            ? Recompute::full
                             : has(text, "selective") || has(text, "SAC") ? Recompute::selective
                                                                          : Recompute::none;
        }
        if (has(text, "sequence")) {
            plan.sequence_parallel = true;
        }
    }

    void read_sharding(ParallelPlan& plan)
    {
        const std::string text = row_.text("zero_fsdp");
        if (has(text, "grad_op")) {
            plan.sharding = Sharding::zero2;
        } else if (has(text, "zero-3") || has(text, "fsdp") || has(text, "hsdp")) {
            plan.sharding = Sharding::zero3;
            plan.dp_overlap = DataParallelOverlap::on;  // DeepSpeed and FSDP prefetch by default
        } else if (has(text, "zero-1") || has(text, "zero1") || has(text, "distributed optimizer")) {
            plan.sharding = Sharding::zero1;
        }
        if (has(text, "hsdp") || has(text, "within 8")) {
            plan.shard_gpus = std::min(8, plan.gradient_gpus());
        } else if (has(text, "inside a slice")) {
            plan.shard_gpus = std::min(std::max(1, node_ / plan.tp), plan.gradient_gpus());
        }
    }

    const MeasuredTable& table_;
    CsvRow row_;
    int node_ = 0;  // GPUs of one
    std::string assumed_;
};

}  // namespace

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

std::variant<MeasuredRun, std::string> read_measured_row(const MeasuredTable& table, CsvRow row)
{
    return RowReader(table, std::move(row)).read();
}

}  // namespace prismopt
