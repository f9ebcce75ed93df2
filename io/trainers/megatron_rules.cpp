#include "io/trainers/megatron_rules.hpp"

#include "model/network/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace prismopt {

namespace {

bool pipelined(const ParallelPlan& plan) { return plan.pp > 1; }

/// Replicas of an expert. A dense network's are split as its layers are
/// (expert-tensor-parallel-size is tp where it is not given).
int expert_replicas(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    return of.job.workload.is_moe() ? plan.gpus() / (plan.etp * plan.ep * plan.pp) : plan.dp * plan.cp;
}

/// GPUs of a node are equivalent, so that there the order of ranks makes no difference.
bool order_matters(const PlannedPhase& of)
{
    return of.plan.order == PlacementOrder::tp_pp_dp && pipelined(of.plan) && of.plan.dp > 1 &&
           of.plan.gpus() > of.job.cluster.gpus_per_node();
}

/// megatron/core/pipeline_parallel/schedules.py
constexpr std::array schedules{Schedule::one_f_one_b, Schedule::interleaved};

std::string schedule(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    const bool one_microbatch = plan.microbatches(of.phase.global_batch) == 1;
    const bool own = std::find(schedules.begin(), schedules.end(), plan.schedule) != schedules.end();
    const bool runs = own || (facts_of(plan.schedule).one_stage && one_microbatch);  // as 1f1b does
    return !pipelined(plan) || runs
               ? ""
               : fmt::format(
                     "it has no pipeline schedule {}, only 1F1B and interleaved 1F1B; search schedule = "
                     "[\"1f1b\", \"interleaved\"]",
                     name(plan.schedule));
}

// forward_backward_pipelining_with_interleaving in megatron/core/pipeline_parallel/schedules.py: "The number
// of contiguous micro-batches in a virtual pipeline stage should range in [PP, M]".
std::string group(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    const int in_a_row = interleaved_group(plan, of.phase);
    return !pipelined(plan) || !facts_of(plan.schedule).groups || in_a_row >= plan.pp
               ? ""
               : fmt::format(
                     "its interleaved group needs at least as many microbatches as there are stages, {}, but "
                     "has {}; search a "
                     "larger group, or fewer stages",
                     plan.pp, in_a_row);
}

std::string post_validation(const PlannedPhase& of)
{
    return of.plan.post_validation == PostValidation::on
               ? "its optimizer waits for the norm of all gradients; search post_validation = [\"off\"]"
               : "";
}

std::string offload(const PlannedPhase& of)
{
    const Offload offload = of.plan.offload;
    if (offload == Offload::activations) {
        return "its offload of activations does not work in a pipeline; search offload = [\"none\", "
               "\"optimizer\"]";
    }
    // OptimizerConfig.__post_init__ in megatron/core/optimizer/optimizer_config.py, for
    // --use-precision-aware-optimizer, which validate_args() asserts.
    if (offload == Offload::optimizer && of.plan.sharding == Sharding::none) {
        return "its offload of optimizer states needs the distributed optimizer; search sharding = "
               "[\"zero1\"]";
    }
    return offload == Offload::none || offload == Offload::optimizer
               ? ""
               : "it keeps parameters on the accelerators, and states there or in host memory; search "
                 "offload = [\"none\", "
                 "\"optimizer\"]";
}

std::string node_order(const PlannedPhase& of)
{
    return of.plan.node_order == NodeOrder::as_listed
               ? ""
               : fmt::format(
                     "node_order {} places nodes by their number in the scenario, which "
                     "no argument can express; search node_order = [\"{}\"]",
                     name(of.plan.node_order), name(NodeOrder::as_listed));
}

// initialize_model_parallel in megatron/core/parallel_state.py: "When not using pp-last rank ordering, the
// data parallel size of the attention and moe layers must be the same".
std::string order(const PlannedPhase& of)
{
    return !order_matters(of) || expert_replicas(of) == of.plan.dp
               ? ""
               : fmt::format(
                     "it puts replicas outermost (use-tp-pp-dp-mapping) only if experts have as many "
                     "replicas as attention, {}, "
                     "but with this context and expert parallelism they have {}; search order = "
                     "[\"tp-dp-pp\"]",
                     of.plan.dp, expert_replicas(of));
}

std::string tp_overlap(const PlannedPhase& of)
{
    const bool overlapped = of.plan.tp > 1 && of.plan.tp_overlap == TensorParallelOverlap::on;
    return overlapped && !of.plan.shares_tokens() ? "tp_overlap needs sequence_parallel = [\"on\"]" : "";
}

/// Who chose DeepEP for a plan that uses it.
std::string deepep_words(const PlannedPhase& of)
{
    return of.plan.dispatch == Dispatch::of_stack
               ? fmt::format("{} uses DeepEP", of.job.cluster.software.text())
               : std::string("dispatch=deepep is given");
}

// transformer_config.py asserts the dispatcher alltoall.
std::string expert_overlap(const PlannedPhase& of)
{
    return of.plan.exchanges_tokens() && of.plan.expert_overlap == ExpertOverlap::shared_experts &&
                   uses_deepep(of.plan, of.job.cluster)
               ? fmt::format(
                     "shared experts overlap with the alltoall dispatcher only, but {}; search "
                     "expert_overlap = [\"off\", "
                     "\"microbatches\"], or dispatch = [\"all-to-all\"]",
                     deepep_words(of))
               : "";
}

std::string dispatch(const PlannedPhase& of)
{
    return of.plan.exchanges_tokens() && of.plan.dispatch == Dispatch::hybridep
               ? "HybridEP is not exported; search dispatch = [\"of-stack\", \"all-to-all\", \"all-gather\", "
                 "\"deepep\"]"
               : "";
}

std::string cuda_graphs(const PlannedPhase& of)
{
    return of.plan.cuda_graphs.empty() ? "" : "CUDA graphs are not exported; search cuda_graphs = [[]]";
}

std::string hybrid_sharding(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    const bool further = shards_gradients(plan.sharding);
    return further && plan.shard_gpus > 0 && plan.shard_gpus < plan.gradient_gpus()
               ? fmt::format("hybrid sharding over {} GPUs is exported for zero1 only", plan.shard_gpus)
               : "";
}

std::string recomputed_layers(const PlannedPhase& of)
{
    const bool differ = of.plan.split == LayerSplit::balanced || of.plan.split == LayerSplit::given;
    if (differ && of.plan.recompute == Recompute::full && of.plan.recomputed_layers > 0) {
        return fmt::format(
            "it recomputes the same number of layers in each chunk, but the {} of split = \"{}\" are spread "
            "over chunks of "
            "different lengths; search recomputed_layers = [0]",
            of.plan.recomputed_layers, name(of.plan.split));
    }
    return of.plan.recompute == Recompute::full && recomputed_per_chunk(of.plan) < 0
               ? fmt::format(
                     "it recomputes the same number of layers in each of the {} chunks, but {} layers do not "
                     "divide evenly among "
                     "them; search recomputed_layers that do",
                     of.plan.pp * of.plan.chunks, of.plan.recomputed_layers)
               : "";
}

std::string precision(const PlannedPhase& of)
{
    if (!of.job.workload.wide.blocks.empty()) {
        return "its arguments keep whole layers in bf16, not blocks; search bf16_first and bf16_last instead "
               "of bf16_blocks";
    }
    return of.job.workload.precision == Precision::fp32 || of.job.workload.precision == Precision::tf32
               ? "only bf16 and precisions of 8 and 4 bits are exported"
               : "";
}

// transformer_config.py, __post_init__(), where fp8 is set: at most as many layers as a stage has.
std::string layers_in_bf16(const PlannedPhase& of)
{
    const WideLayers& wide = of.job.workload.wide;
    const int most = of.job.workload.layers() / of.plan.pp;
    const Precision precision = kind_of(of.job.workload.precision, of.job.cluster.stack);
    if (precision == Precision::fp8_delayed && wide.first + wide.last > 0) {
        return "its delayed scaling cannot keep layers in bf16; search precision = \"fp8-current\"";
    }
    return has_8_bits(precision) && std::max(wide.first, wide.last) > most
               ? fmt::format(
                     "with fp8 it keeps at most {} layers at each end in bf16, those of a pipeline stage; "
                     "search fewer stages",
                     most)
               : "";
}

// transformer_config.py: "moe_expert_capacity_factor only works with alltoall token dispatcher".
bool plain_attention(const Workload& workload)
{
    const auto* attention = workload.find<AttentionBlock>();
    return attention != nullptr && attention->kernel == AttentionKernel::plain;
}

/// Those of --recompute-modules: allowed_modules in megatron/core/transformer/transformer_config.py.
constexpr ModuleSet recomputable{Module::core_attn, Module::layernorm, Module::mla_up_proj,   Module::mlp,
                                 Module::moe,       Module::moe_act,   Module::shared_experts};

/// Modules of the plan's selective recompute that its --recompute-modules cannot name.
ModuleSet unnamed_modules(const PlannedPhase& of)
{
    const ModuleSet& given = of.plan.recompute_modules;
    const bool default_set = given.empty() && !plain_attention(of.job.workload);
    return default_set ? ModuleSet{Module::elementwise} : given.without(recomputable);
}

/// get_gpt_layer_with_transformer_engine_spec in megatron/core/models/gpt/gpt_layer_specs.py: only latent
/// attention has a norm of its own before it, and TransformerLayer recomputes no other.
bool fuses_norm(const Workload& workload) { return workload.find<LatentAttentionBlock>() == nullptr; }

std::string selective_modules(const PlannedPhase& of)
{
    if (of.plan.recompute != Recompute::selective) {
        return "";
    }
    const auto remedy = [&of] {
        return fmt::format("search recompute_modules = {}", toml_text(megatron_module_sets(of.job.workload)));
    };
    if (const ModuleSet unnamed = unnamed_modules(of); !unnamed.empty()) {
        return fmt::format("its selective recomputation covers whole modules, and {} is none of them{}; {}",
                           text_of(unnamed),
                           of.plan.recompute_modules.empty() ? " (the default without plain attention)" : "",
                           remedy());
    }
    return of.plan.recompute_modules.has(Module::layernorm) && fuses_norm(of.job.workload)
               ? fmt::format(
                     "its layers fuse the norm before attention with the product after it, and recompute "
                     "layernorm does not cover fused norms; {}",
                     remedy())
               : "";
}

bool drops_tokens(const Workload& workload)
{
    const auto* experts = workload.find<ExpertsBlock>();
    return experts != nullptr && experts->capacity > 0.0;
}

std::string dispatcher(const PlannedPhase& of)
{
    return of.job.workload.is_moe() && drops_tokens(of.job.workload) && uses_deepep(of.plan, of.job.cluster)
               ? fmt::format(
                     "{}, whose dispatcher cannot drop tokens, but the experts have a capacity; remove the "
                     "capacity, or search "
                     "dispatch = [\"all-to-all\"]",
                     deepep_words(of))
               : "";
}

struct Feature {
    bool present;
    std::string_view words;
};

/// The words of the first feature that is present; empty: none is.
std::string first_present(std::initializer_list<Feature> features)
{
    const auto* const found = std::find_if(features.begin(), features.end(),
                                           [](const Feature& feature) { return feature.present; });
    return found == features.end() ? "" : std::string(found->words);
}

/// What of a block Megatron's layers lack, or no argument expresses; empty: nothing.
std::string unexported_of(const AttentionBlock& a)
{
    return first_present({{a.window > 0, "a window"},
                          {a.chunk > 0, "chunks"},
                          {a.context > 0, "cross attention"},
                          {a.sinks, "sinks"},
                          {a.gate, "a gate"},
                          {!a.causal, "attention without a causal mask"},
                          {a.query_key_norm == QueryKeyNorm::whole, "a norm over all query or key heads"},
                          {a.value > 0, "values of another size than keys"},
                          {a.query_rank > 0, "a rank of queries"},
                          {a.keys_as_values, "keys as values"},
                          {a.index_keys > 0, "top-k sparse attention"}});
}
std::string unexported_of(const LatentAttentionBlock& a)
{
    return first_present(
        {{!a.causal, "attention without a causal mask"}, {a.index_keys > 0, "top-k sparse attention"}});
}
std::string unexported_of(Activation activation)
{
    const bool known = activation == Activation::gelu || activation == Activation::swiglu ||
                       activation == Activation::squared_relu;
    return known ? "" : fmt::format("activation {}", name(activation));
}
std::string unexported_of(const MlpBlock& b) { return unexported_of(b.activation); }
std::string unexported_of(const ExpertsBlock& e)
{
    if (e.latent > 0) {
        return "latent experts";
    }
    return e.shared_gate ? "a gate of shared experts" : unexported_of(e.activation);
}
/// What of a layer's blocks is not that of Megatron's GPT, which has attention, MLPs and experts.
std::string unexported_block(const LayerDescription& layer)
{
    for (const BlockDescription& block : layer.blocks) {
        const auto lacking = std::visit(
            []<class Kind>(const Kind& own) -> std::optional<std::string> {
                if constexpr (requires { unexported_of(own); }) {
                    return unexported_of(own);
                } else {
                    return std::nullopt;  // all of it
                }
            },
            block);
        if (!lacking) {
            return block_text(layer, block);
        }
        if (!lacking->empty()) {
            return fmt::format("{} of {}", *lacking, block_text(layer, block));
        }
    }
    return "";
}

/// Its layers are attention, then an MLP or experts, in one width.
std::string unexported_layer(const LayerDescription& layer)
{
    const auto is = [&layer]<class... Kinds>(std::size_t place) {
        return layer.blocks.size() == 2 && (std::holds_alternative<Kinds>(layer.blocks[place]) || ...);
    };
    if (!is.operator()<AttentionBlock, LatentAttentionBlock>(0) ||
        !is.operator()<MlpBlock, ExpertsBlock>(1)) {
        return fmt::format("layer \"{}\", which is not attention followed by an MLP or experts,", layer.name);
    }
    const std::string feature =
        first_present({{layer.second_stream > 0, "two streams of layer"},
                       {layer.parallel, "parallel blocks of layer"},
                       {layer.hidden > 0 || layer.tokens != 1.0, "another width or length of layer"},
                       {layer.frozen, "frozen layers such as"}});
    return feature.empty() ? "" : fmt::format("{} \"{}\"", feature, layer.name);
}

/// What of a network outside its layers is not that of Megatron's GPT.
std::string unexported_ends(const Workload& w)
{
    if (!w.trains()) {
        return fmt::format("task = \"{}\"", name(w.task));
    }
    if (w.adapter_rank > 0) {
        return "adapters";
    }
    if (w.frozen_ends) {
        return "frozen_ends";
    }
    if (w.vocabulary == 0) {
        return "a network without a vocabulary";
    }
    if (w.norms != NormPlace::pre) {
        return fmt::format("norms = \"{}\"", name(w.norms));
    }
    const bool plain = w.normalisation == Normalisation::plain_norm;
    return plain ? fmt::format("normalisation = \"{}\"", name(w.normalisation)) : "";
}

/// One argument describes each kind of block, in all layers that have it.
std::string unexported_difference(const Workload& w)
{
    const auto differs = [&w](std::size_t place, std::size_t of, std::size_t from) {
        const BlockDescription& a = w.kinds[of].blocks[place];
        const BlockDescription& b = w.kinds[from].blocks[place];
        return (place == 0 || a.index() == b.index()) && !(a == b);
    };
    for (std::size_t of = 1; of < w.kinds.size(); ++of) {
        for (std::size_t from = 0; from < of; ++from) {
            for (const std::size_t place : {0, 1}) {
                if (differs(place, of, from)) {
                    return fmt::format("{} that differs from that of layer \"{}\"",
                                       block_text(w.kinds[of], w.kinds[of].blocks[place]),
                                       w.kinds[from].name);
                }
            }
        }
    }
    return "";
}

/// get_gpt_mtp_block_spec in megatron/core/models/gpt/gpt_layer_specs.py makes each module of one layer, of
/// the kind of the last; validate_args in arguments.py asserts rotary or no positions.
std::string unexported_prediction(const Workload& w)
{
    if (w.predictions == 0) {
        return "";
    }
    const bool one = w.prediction.size() == 1 && w.prediction.front().count == 1;
    if (!one || w.prediction.front().kind != w.sequence.back().kind) {
        return "a prediction module that is not one layer of the kind of the last layer";
    }
    return position_embedding(w) == "learned_absolute" ? "prediction modules with learned positions" : "";
}

std::string unexported(const Workload& w)
{
    if (const std::string ends = unexported_ends(w); !ends.empty()) {
        return ends;
    }
    for (const auto of : {unexported_block, unexported_layer}) {
        for (const LayerDescription& layer : w.kinds) {
            if (std::string lacking = of(layer); !lacking.empty()) {
                return lacking;
            }
        }
    }
    const std::string difference = unexported_difference(w);
    return difference.empty() ? unexported_prediction(w) : difference;
}

/// The query and key heads of a GPU in attention, of the workload's first block with heads.
struct HeadCounts {
    int queries = 0;
    int keys = 0;
};
HeadCounts head_counts(const Workload& w)
{
    const auto* attention = w.find<AttentionBlock>();
    return attention != nullptr ? HeadCounts{attention->heads, attention->key_heads()}
                                : HeadCounts{w.heads(), w.heads()};
}

// Transformer Engine, pytorch/attention/dot_product_attention/context_parallel.py: AttnFuncWithCPAndQKVOA2A
// asserts that the number of members divides query and key heads, and an even number of tokens per member;
// only AttnFuncWithCPAndKVP2P has a second level.
std::string head_exchange(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    const int divisor = plan.tp * plan.head_gpus();
    const HeadCounts heads = head_counts(of.job.workload);
    if (plan.head_gpus() == 1) {
        return "";
    }
    if (heads.keys % divisor != 0) {
        return fmt::format(
            "its all-to-all does not replicate key/value heads, and tp*ulysses = {} does not divide {}; "
            "search ulysses of at "
            "most {}",
            divisor, heads.keys, std::max(1, heads.keys / plan.tp));
    }
    return of.phase.sequence % (2 * plan.cp) == 0
               ? ""
               : fmt::format("2*cp = {} must divide the sequence of {} tokens", 2 * plan.cp,
                             of.phase.sequence);
}

std::string key_exchange(const PlannedPhase& of)
{
    const bool gathers = of.plan.ring_gpus() > 1 && of.plan.context_exchange == ContextExchange::all_gather;
    return gathers && of.plan.head_gpus() > 1
               ? "it combines its all-to-all with rings only (a2a+p2p); search context_exchange = [\"ring\"]"
               : "";
}

std::string local_updates(const PlannedPhase& of)
{
    return of.plan.local_steps > 1 ? "it reduces gradients in every step; search local_steps = [1]" : "";
}

std::string network(const PlannedPhase& of)
{
    if (of.job.workload.captured) {
        return "";  // refused for all trainers
    }
    constexpr auto remedy = "write the arguments by hand and take the plan from --target json";
    if (const std::string lacking = unexported(of.job.workload); !lacking.empty()) {
        return fmt::format("{} cannot be exported; {}", lacking, remedy);
    }
    if (of.job.workload.activation_storage != ActivationStorage::bf16) {
        return fmt::format("activation_storage = \"{}\" is not exported; {}",
                           name(of.job.workload.activation_storage), remedy);
    }
    if (of.job.workload.attention_precision != AttentionPrecision::bf16) {
        return fmt::format(
            "attention in {} is not exported; search precisions without attention_precision, or set "
            "fp8_dot_product_attention in the trainer's configuration",
            name(of.job.workload.attention_precision));
    }
    const LossKernel loss = of.job.workload.loss;
    if (loss == LossKernel::chunked || loss == LossKernel::fused_linear) {
        return fmt::format("loss = \"{}\" is not exported; {}", name(of.job.workload.loss), remedy);
    }
    return of.job.workload.optimizer == OptimizerSettings{}
               ? ""
               : fmt::format("only AdamW with 32-bit states and gradients is exported; {}", remedy);
}

}  // namespace

std::vector<TrainerRule> megatron_rules()
{
    return {
        {"network", "tp", network, RuleOf::exports},
        {"precision", "tp", precision, RuleOf::exports},
        {"exchange of heads", "ulysses", head_exchange},
        {"layers in bf16", "pp", layers_in_bf16, RuleOf::exports},
        {"token dispatcher", "ep", dispatcher},
        {"replicas outermost", "order", order},
        {"local updates", "local_steps", local_updates},
        {"pipeline schedule", "schedule", schedule},
        {"interleaved group", "group", group},
        {"recomputed layers", "recomputed_layers", recomputed_layers, RuleOf::exports},
        {"recomputed modules", "recompute_modules", selective_modules},
        {"hybrid sharding", "shard_gpus", hybrid_sharding, RuleOf::exports},
        {"tensor-parallel overlap", "tp_overlap", tp_overlap},
        {"exchange of keys and values", "context_exchange", key_exchange},
        {"expert overlap", "expert_overlap", expert_overlap},
        {"dispatch", "dispatch", dispatch, RuleOf::exports,
         R"("of-stack" "all-to-all" "all-gather" "deepep")"},
        {"CUDA graphs", "cuda_graphs", cuda_graphs, RuleOf::exports, "[]"},
        {"offload", "offload", offload},
        {"post-validation", "post_validation", post_validation},
        {"node order", "node_order", node_order},
    };
}

std::string context_exchange_name(const ParallelPlan& plan)
{
    if (plan.head_gpus() > 1) {
        return plan.ring_gpus() > 1 ? "a2a+p2p" : "a2a";
    }
    return plan.context_exchange == ContextExchange::ring ? "p2p" : "all_gather";
}

bool replicas_outermost(const PlannedPhase& of)
{
    return of.plan.order == PlacementOrder::tp_pp_dp && pipelined(of.plan) && of.plan.dp > 1 &&
           expert_replicas(of) == of.plan.dp;
}

int interleaved_group(const ParallelPlan& plan, const Phase& phase)
{
    return std::min(plan.group > 0 ? plan.group : plan.pp, plan.microbatches(phase.global_batch));
}

int recomputed_per_chunk(const ParallelPlan& plan)
{
    if (plan.recomputed_layers == 0) {
        return 0;
    }
    const int chunks = plan.pp * plan.chunks;
    return plan.recomputed_layers % chunks == 0 ? plan.recomputed_layers / chunks : -1;
}

std::vector<std::string> recomputed_modules(const ParallelPlan& plan)
{
    const ModuleSet named =
        plan.recompute_modules.empty() ? ModuleSet{Module::core_attn} : plan.recompute_modules;
    std::vector<std::string> names;
    for (const Module module : recomputable_modules) {
        if (named.has(module)) {
            names.emplace_back(name(module));
        }
    }
    return names;
}

std::vector<ModuleSet> megatron_module_sets(const Workload& workload)
{
    std::vector<ModuleSet> sets;
    const auto add = [&sets](bool has, const ModuleSet& set) {
        if (has) {
            sets.push_back(set);
        }
    };
    const bool experts = workload.is_moe();
    const bool latent = workload.find<LatentAttentionBlock>() != nullptr;
    add(plain_attention(workload), {Module::core_attn});
    add(workload.find<MlpBlock>() != nullptr, {Module::mlp});
    add(experts, {Module::moe_act});
    add(experts, {Module::moe});
    add(latent, {Module::mla_up_proj});
    add(latent, {Module::layernorm});
    add(latent && experts, {Module::layernorm, Module::mla_up_proj, Module::moe_act});
    return sets;
}

std::string position_embedding(const Workload& workload)
{
    const auto* attention = workload.find<AttentionBlock>();
    if (attention == nullptr || attention->positions == Positions::rotary) {
        return "rope";
    }
    return workload.normalisation == Normalisation::layer_norm ? "learned_absolute" : "none";
}

std::string token_dispatcher(const ParallelPlan& plan, const Cluster& cluster)
{
    if (uses_deepep(plan, cluster)) {
        return "flex";
    }
    return plan.ep > 1 && plan.dispatch == Dispatch::all_gather ? "allgather" : "alltoall";
}

bool uses_deepep(const ParallelPlan& plan, const Cluster& cluster)
{
    return plan.ep > 1 && (plan.dispatch == Dispatch::of_stack ? cluster.stack.sends_once
                                                               : plan.dispatch == Dispatch::deepep);
}

namespace {

bool runs_megatron_fsdp(const PlannedPhase& of) { return shards_gradients(of.plan.sharding); }
bool offloads_optimizer(const PlannedPhase& of) { return of.plan.offload == Offload::optimizer; }
bool dispatches_with_deepep(const PlannedPhase& of)
{
    return of.job.workload.is_moe() && uses_deepep(of.plan, of.job.cluster);
}

// validate_args() in megatron/training/arguments.py: "Megatron FSDP only supports fsdp_dtensor checkpoint
// format", "--ckpt-format fsdp_dtensor is only tested with Megatron FSDP", "The optimizer cpu offload must be
// used in conjunction with `--use-precision-aware-optimizer`". token_dispatcher.py in
// megatron/core/transformer/moe converts other probabilities with a warning: "DeepEP only supports float32
// probs".
constexpr auto needed = std::to_array<NeededSetting>({
    {"ckpt-format", "fsdp_dtensor", "sharding", runs_megatron_fsdp, true},
    {"use-precision-aware-optimizer", "", "offload", offloads_optimizer},
    {"moe-router-dtype", "fp32", "dispatch", dispatches_with_deepep},
});

/// Of compute capability 10 and more; AMD's accelerators with units for 4 bits have 9.
bool is_blackwell(const Accelerator& accelerator)
{
    return accelerator.takes_block_scales() && !is_instinct(accelerator);
}

bool overlaps_microbatches(const PlannedPhase& of)
{
    return of.job.workload.is_moe() && of.plan.exchanges_tokens() &&
           of.plan.expert_overlap == ExpertOverlap::microbatches;
}

}  // namespace

std::span<const NeededSetting> needed_settings() { return needed; }

// validate_args() asserts 1 for tensor or context parallelism before Blackwell, more for Megatron-FSDP, and
// warns that --overlap-moe-expert-parallel-comm needs more; of the rest, PerfEnvPlugin in
// scripts/performance/perf_plugins.py of NVIDIA-NeMo/Megatron-Bridge at commit 0022e9da sets 32 on Blackwell
// and with DeepEP.
DeviceConnections device_connections(const PlannedPhase& of)
{
    if (is_blackwell(of.job.cluster.accelerator) || overlaps_microbatches(of)) {
        return DeviceConnections::many;
    }
    if (runs_megatron_fsdp(of)) {
        return DeviceConnections::several;
    }
    if (of.plan.tp > 1 || of.plan.cp > 1) {
        return DeviceConnections::one;
    }
    return dispatches_with_deepep(of) ? DeviceConnections::many : DeviceConnections::any;
}

std::string_view value_of(DeviceConnections connections)
{
    switch (connections) {
        case DeviceConnections::one: return "1";
        case DeviceConnections::several: return "8";  // CUDA's default
        case DeviceConnections::many: return "32";
        case DeviceConnections::any: break;
    }
    return "";
}

bool fulfils(std::string_view value, DeviceConnections connections)
{
    switch (connections) {
        case DeviceConnections::several: return value != "1";
        case DeviceConnections::one:
        case DeviceConnections::many: return value == value_of(connections);
        case DeviceConnections::any: break;
    }
    return true;
}

std::string words_of(DeviceConnections connections)
{
    switch (connections) {
        case DeviceConnections::one: return fmt::format("{}=1 before Blackwell", device_connections_variable);
        case DeviceConnections::several:
            return fmt::format("{} unset or more than 1", device_connections_variable);
        case DeviceConnections::many: return fmt::format("{}=32", device_connections_variable);
        case DeviceConnections::any: break;
    }
    return "";
}

bool is_instinct(const Accelerator& accelerator)
{
    const std::string& name =
        accelerator.catalog_entry.empty() ? accelerator.name : accelerator.catalog_entry;
    return name.size() > 2 && name.starts_with("mi") &&
           std::isdigit(static_cast<unsigned char>(name[2])) != 0;
}

}  // namespace prismopt
