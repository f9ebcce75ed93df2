#include "io/authoring/jobs/job_readers.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"
#include "io/trainers/torchtitan_schedules.hpp"
#include "model/base/names.hpp"
#include "model/plan/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

/// Flavors whose names do not say which network of the catalog they are
/// (torchtitan/models/deepseek_v3/__init__.py).
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> flavors{
    {{"deepseek_v3_16b", "deepseek-v2-lite"}, {"deepseek_v3_671b", "deepseek-v3"}}};

void read_flavor(const JobSources& sources, JobSettings& s, ImportedJob& job)
{
    std::string name = s.given("recipe_function") ? s.text("recipe_function")
                                                  : s.text("model.name") + "_" + s.text("model.flavor");
    for (const auto& [flavor, network] : flavors) {
        if (same_name(name, flavor)) {
            name = network;
        }
    }
    read_model(sources, name, job, s);
}

/// A configuration in Python counts tokens.
bool counts_tokens(const JobSettings& s)
{
    return s.given("recipe_function") || s.given("training.num_tokens_per_train_step") ||
           s.given("training.num_tokens_per_microbatch_per_dp_rank");
}

/// The degrees, and the GPUs that they need where nothing else says how many there are.
void read_degrees_of_mesh(JobSettings& s, const JobSources& sources, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    plan.tp = s.count("parallelism.tensor_parallel_degree");
    plan.pp = s.count("parallelism.pipeline_parallel_degree");
    plan.cp = s.count("parallelism.context_parallel_degree");
    const int copies = s.count("parallelism.data_parallel_replicate_degree");
    const int shards = s.count("parallelism.data_parallel_shard_degree");
    JobMachine machine = sources.command ? job_machine(*sources.command, sources.directives) : JobMachine{};
    if (machine.gpus == 0 && shards > 0 && sources.request.gpus == 0) {
        machine.gpus = copies * shards * plan.tp * plan.pp * plan.cp;
    }
    read_machine(sources, machine, job, s);
    derive_replicas(job);
    const int own = shards > 0 ? shards : plan.dp / std::max(1, copies);
    if (copies < 1 || own * copies != plan.dp) {
        throw InputError(
            fmt::format("data_parallel_replicate_degree {} times data_parallel_shard_degree {} is not {}, "
                        "what tp*pp*cp leaves of "
                        "{} GPUs; correct the degrees, or give --gpus N",
                        copies, own, plan.dp, job.gpus));
    }
    const std::string reshard = s.text("parallelism.fsdp_reshard_after_forward");
    const bool keeps = reshard == "never" || (reshard == "default" && plan.pp > 1);
    const Sharding sharded = keeps ? Sharding::zero2 : Sharding::zero3;
    plan.sharding = own * plan.cp == 1 ? Sharding::none : sharded;
    plan.shard_gpus = copies > 1 && own > 1 ? own * plan.cp : 0;
    plan.dp_overlap = DataParallelOverlap::on;
    if (job.network.workload.is_moe()) {
        plan.ep = s.count("parallelism.expert_parallel_degree");
        plan.etp = plan.ep > 1 ? s.count("parallelism.expert_tensor_parallel_degree") : plan.tp;
        const bool deepep = s.text("parallelism.expert_parallel_comm_backend") == "deepep";
        const Dispatch exchange = deepep ? Dispatch::deepep : Dispatch::all_to_all;
        plan.dispatch = plan.ep == 1 ? Dispatch::of_stack : exchange;
    }
    if (plan.cp > 1) {
        const bool ring = s.text("parallelism.context_parallel_rotate_method") == "alltoall";
        plan.context_exchange = ring ? ContextExchange::ring : ContextExchange::all_gather;
    }
    const bool shares = !counts_tokens(s) || s.flag("parallelism.enable_sequence_parallel");
    plan.sequence_parallel = shares || plan.tp == 1 ? SequenceParallel::on : SequenceParallel::off;
}

/// Layers of each model part; empty: the file does not say it.
std::vector<int> layers_of_modules(JobSettings& s)
{
    const char* row = s.given("parallelism.module_fqns_per_model_part")
                          ? "parallelism.module_fqns_per_model_part"
                          : "parallelism.pipeline_parallel_module_fqns_per_model_part";
    std::vector<std::string> modules = s.given(row) ? s.values(row) : std::vector<std::string>{};
    if (modules.size() == 1) {  // [["tok_embeddings", "layers.0"], ["layers.1"]] in Python
        const std::string all = modules.front();
        modules.clear();
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t end = std::min(all.find(']', at), all.size());
            const std::string module_names = all.substr(at, end - at);
            if (module_names.find_first_of("\"'") != std::string::npos) {
                modules.push_back(module_names);
            }
            at = end + 1;
        }
    }
    std::vector<int> layers;
    for (const std::string& module_names : modules) {
        int count = 0;
        for (std::size_t at = module_names.find("layers."); at != std::string::npos;
             at = module_names.find("layers.", at + 1)) {
            ++count;
        }
        layers.push_back(count);
    }
    return layers;
}

/// torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part(): ends count as so many
/// layers, and the first parts take the remainder.
std::vector<int> spread_layers(int layers, int chunk_count, int first_less, int last_less)
{
    const int units = layers + first_less + last_less;
    std::vector<int> each(static_cast<std::size_t>(chunk_count), units / chunk_count);
    for (int chunk = 0; chunk < units % chunk_count; ++chunk) {
        ++each[static_cast<std::size_t>(chunk)];
    }
    each.front() -= first_less;
    each.back() -= last_less;
    return each;
}

bool all_equal(const std::vector<int>& counts)
{
    return std::all_of(counts.begin(), counts.end(),
                       [&counts](int count) { return count == counts.front(); });
}

/// The split by what each chunk has equally many of; `units`: layers, embedding and head.
LayerSplit split_of(const std::vector<int>& layers, const std::vector<int>& units)
{
    if (all_equal(layers)) {
        return LayerSplit::layers;
    }
    return all_equal(units) ? LayerSplit::slots : LayerSplit::given;
}

void read_stages(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    if (plan.pp == 1) {
        return;
    }
    const std::string name = s.text("parallelism.pipeline_parallel_schedule");
    const auto* known = std::find_if(torch_schedules.begin(), torch_schedules.end(),
                                     [&name](const auto& of) { return same_name(of.second, name); });
    const bool multi = known == torch_schedules.end();
    plan.schedule = multi ? usual_schedule : known->first;
    if (multi) {
        s.no_key(
            "parallelism.pipeline_parallel_schedule",
            "an order of tasks of its own; the plan has 1F1B, and predict --orders FILE reads the order");
    }
    const int usual_chunks =
        std::max(facts_of(plan.schedule).chunks, facts_of(plan.schedule).chunks == 0 ? 2 : 1);
    std::vector<int> each = layers_of_modules(s);
    const int layers = job.network.workload.layers();
    if (each.empty()) {
        const int first = s.count("parallelism.pipeline_parallel_first_stage_less_layers");
        const int last = s.count("parallelism.pipeline_parallel_last_stage_less_layers");
        int chunk_count = plan.pp * usual_chunks;
        if (s.given("parallelism.pipeline_parallel_layers_per_stage")) {
            const int of_stage = s.count("parallelism.pipeline_parallel_layers_per_stage");
            chunk_count = of_stage < 1 ? 0 : (layers + first + last + of_stage - 1) / of_stage;
        }
        if (chunk_count < plan.pp || chunk_count % plan.pp != 0 || chunk_count > layers) {
            s.fail("parallelism.pipeline_parallel_layers_per_stage",
                   fmt::format("gives {} parts of the network for {} stages", chunk_count, plan.pp),
                   "correct it");
        }
        each = spread_layers(layers, chunk_count, first, last);
    }
    const int chunk_count = static_cast<int>(each.size());
    if (std::accumulate(each.begin(), each.end(), 0) != layers || chunk_count % plan.pp != 0 ||
        *std::min_element(each.begin(), each.end()) < 0) {
        throw InputError(fmt::format(
            "{} parts of the network do not hold its {} layers on {} stages; correct the pipeline",
            chunk_count, layers, plan.pp));
    }
    plan.chunks = chunk_count / plan.pp;
    std::vector<int> units = each;
    ++units.front();
    ++units.back();
    plan.split = split_of(each, units);
    job.layout = plan.split == LayerSplit::given
                     ? layout_text(chunks_of_units(units), job.network.workload.predictions)
                     : "";
}

void read_steps(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    if (counts_tokens(s)) {
        job.sequence = s.count("training.max_context_length");
        const int passes = plan.pp > 1 ? s.count("parallelism.num_pp_microbatches") : 1;
        const double tokens = s.number("training.num_tokens_per_microbatch_per_dp_rank");
        plan.microbatch = static_cast<int>(tokens / job.sequence);
        const double all = s.number("training.num_tokens_per_train_step");
        job.global_batch =
            all > 0.0 ? static_cast<int>(all / job.sequence) : plan.microbatch * passes * plan.dp;
    } else {
        job.sequence = s.count("training.seq_len");
        const int local = s.count("training.local_batch_size");
        const int all = s.count("training.global_batch_size");
        plan.microbatch = plan.pp > 1 ? s.count("parallelism.pipeline_parallel_microbatch_size") : local;
        job.global_batch = all > 0 ? all : local * plan.dp;
    }
    job.steps = s.number("training.steps");
    check_batch(job);
}

void read_checkpointing(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    constexpr std::array<Named<Recompute>, 2> modes{
        {{Recompute::full, "full"}, {Recompute::selective, "selective"}}};
    plan.recompute = parse(s.text("activation_checkpoint.mode"), modes).value_or(Recompute::none);
    if (plan.recompute != Recompute::selective) {
        return;
    }
    const std::string option = s.text("activation_checkpoint.selective_ac_option");
    if (option == "op") {
        plan.recompute_modules = ModuleSet{Module::alternate_products};
        return;
    }
    const int every = std::max(1, s.count("activation_checkpoint.selective_ac_option"));
    plan.recompute = Recompute::full;
    plan.recomputed_layers = every == 1 ? 0 : job.network.workload.layers() / every;
}

/// torchtitan/models/llama3/infra/parallelize.py: torch.compile of the layers.
bool compiles_model(JobSettings& s)
{
    if (!s.flag("compile.enable")) {
        return s.flag("training.compile");
    }
    const std::vector<std::string> components = s.texts("compile.components");
    return std::find(components.begin(), components.end(), "model") != components.end();
}

}  // namespace

ImportedJob torchtitan_job(const JobSources& sources, const JobSettingList& settings)
{
    JobSettings s(torchtitan_settings(), settings);
    ImportedJob job;
    job.format = "torchtitan";
    const bool compiled = compiles_model(s);
    job.software = compiled || counts_tokens(s) ? "torchtitan:compile" : "torchtitan:eager";
    read_flavor(sources, s, job);
    read_degrees_of_mesh(s, sources, job);
    read_stages(s, job);
    const bool overlaps = s.flag("parallelism.enable_async_tensor_parallel") && compiled && job.plan.tp > 1;
    job.plan.tp_overlap = overlaps ? TensorParallelOverlap::on : TensorParallelOverlap::off;
    read_checkpointing(s, job);
    Workload& w = job.network.workload;
    w.optimizer.in_backward = s.flag("optimizer.early_step_in_backward");
    w.precision = s.text("model.converters").find("float8") != std::string::npos ? Precision::fp8_current
                                                                                 : Precision::bf16;
    if (s.text("training.dtype") == "bfloat16") {
        w.optimizer.states = NumberType::bf16;
        w.optimizer.master = MasterCopy::none;
        w.optimizer.gradients = NumberType::bf16;
    }
    s.text("training.mixed_precision_param");
    s.text("training.mixed_precision_reduce");
    job.plan.offload = s.flag("training.enable_cpu_offload") ? Offload::parameters : Offload::none;
    read_steps(s, job);
    job.report = s.report();
    return job;
}

}  // namespace prismopt
