#include "io/trainers/torchtitan_schedules.hpp"
#include "io/trainers/trainer.hpp"
#include "model/schedule/schedule.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

bool pipelined(const ParallelPlan& plan) { return plan.pp > 1; }

std::string precision(const PlannedPhase& of)
{
    return of.job.workload.precision == Precision::bf16
               ? ""
               : "only bf16 is exported; converters for other number types are set up per model";
}

std::string expert_tensor_parallelism(const PlannedPhase& of)
{
    return of.plan.ep > 1 && of.plan.etp != 1
               ? "it cannot combine tensor parallelism of experts with expert parallelism; search etp = [1]"
               : "";
}

std::string order(const PlannedPhase& of)
{
    const bool matters = of.plan.gpus() > of.job.cluster.gpus_per_node();  // GPUs of a node are equivalent
    return of.plan.order == PlacementOrder::tp_pp_dp && pipelined(of.plan) && of.plan.dp > 1 && matters
               ? "its device mesh has pipeline stages outermost; search order = [\"tp-dp-pp\"]"
               : "";
}

std::string attention_kernel(const PlannedPhase& of)
{
    return of.job.workload.fuses_attention() ? "" : "it runs fused attention; use flash attention";
}

std::string local_updates(const PlannedPhase& of)
{
    return of.plan.local_steps > 1 ? "it reduces gradients in every step; search local_steps = [1]" : "";
}

std::string crossing(const PlannedPhase& of)
{
    return of.plan.crossing != Crossing::by_order && of.plan.gpus() > of.job.cluster.building_gpus()
               ? "its device mesh takes GPUs in the order of their numbers; remove crossing from the search"
               : "";
}

std::string schedule(const PlannedPhase& of)
{
    if (!pipelined(of.plan)) {
        return "";
    }
    const Schedule schedule = of.plan.schedule;
    if (facts_of(schedule).model_copies > 1) {
        return "its pipelines hold one copy of the network, but DualPipe needs two; search dualpipe_v "
               "instead";
    }
    if (chunk_map(schedule) == ChunkMap::vee && torch_schedule(schedule).empty()) {
        return fmt::format(
            "a table of actions assigns stages to ranks in loops, but {} needs a V; search other schedules",
            name(schedule));
    }
    return "";
}

// _apply_op_sac in torchtitan/distributed/activation_checkpoint.py keeps what a list of operators gives and
// every second product, and recomputes the rest.
std::string selective_recompute(const PlannedPhase& of)
{
    const bool alternates = of.plan.recompute_modules == ModuleSet{Module::alternate_products};
    return of.plan.recompute == Recompute::selective && !alternates
               ? fmt::format(
                     "its selective recomputation is that of every second product; search recompute_modules "
                     "= {}, or recompute = [\"none\", \"full\"]",
                     toml_text(torchtitan_module_sets(of.job.workload)))
               : "";
}

// JobConfig: context_parallel_degree <= expert_parallel_degree <=
// data_parallel_shard_degree * context_parallel_degree.
std::string expert_parallelism(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    const int most = plan.sharding == Sharding::none ? plan.cp : plan.sharding_gpus();
    return of.job.workload.is_moe() && plan.ep > 1 && (plan.ep < plan.cp || plan.ep > most)
               ? fmt::format(
                     "it needs an ep between cp and the number of GPUs that shard parameters, {} to {}, but "
                     "ep is {}; search "
                     "such ep, or sharding = [\"zero2\", \"zero3\"]",
                     plan.cp, most, plan.ep)
               : "";
}

std::string dispatcher(const PlannedPhase& of)
{
    if (!of.job.workload.is_moe() || of.plan.ep == 1 || of.plan.dispatch == Dispatch::all_to_all) {
        return "";
    }
    if (of.plan.dispatch != Dispatch::of_stack) {
        return fmt::format("it has no setting for dispatch = \"{}\"; search dispatch = [\"all-to-all\"]",
                           name(of.plan.dispatch));
    }
    return of.job.cluster.stack.sends_once
               ? fmt::format("{} uses DeepEP, which it has no setting for", of.job.cluster.software.text())
               : "";
}

std::string cuda_graphs(const PlannedPhase& of)
{
    return of.plan.cuda_graphs.empty() ? "" : "it has no CUDA graphs of modules; search cuda_graphs = [[]]";
}

std::string recomputed_layers(const PlannedPhase& of)
{
    return of.plan.recompute == Recompute::full && of.plan.recomputed_layers > 0
               ? "its full recomputation covers all layers or none; search recomputed_layers = [0]"
               : "";
}

// backward_maybe_with_nosync in torch/distributed/pipelining/stage.py sets
// set_requires_gradient_sync(False) and set_reshard_after_backward(False) until the last microbatch of a
// stage: gradients are summed whole, parameters stay gathered.
std::string sharding(const PlannedPhase& of)
{
    const ParallelPlan& plan = of.plan;
    if (plan.sharding == Sharding::zero1 && plan.gradient_gpus() > 1) {
        return fmt::format("it shards parameters and gradients (FSDP) or nothing; search sharding = [{}]",
                           pipelined(plan) ? R"("none")" : R"("none", "zero2", "zero3")");
    }
    const bool sharded = shards_gradients(plan.sharding);
    if (sharded && pipelined(plan) && plan.sharding_gpus() > 1) {
        return fmt::format(
            "in its pipelines a GPU holds unsharded gradients and gathered parameters from the first "
            "microbatch to the last, "
            "which is more memory than predicted for sharding {}; search sharding = [\"none\"], or pp = [1]",
            name(plan.sharding));
    }
    return plan.sharding == Sharding::none && plan.cp > 1
               ? fmt::format("with context parallelism it always shards; search {}",
                             pipelined(plan) ? "cp = [1], or pp = [1] with sharding = [\"zero2\", \"zero3\"]"
                                             : "sharding = [\"zero2\", \"zero3\"]")
               : "";
}

std::string head_exchange(const PlannedPhase& of)
{
    return of.plan.head_gpus() > 1 ? "it exchanges keys and values between context-parallel GPUs, never "
                                     "heads; search ulysses = [1]"
                                   : "";
}

std::string hybrid_sharding(const PlannedPhase& of)
{
    return of.plan.shard_gpus > 0 && of.plan.shard_gpus % of.plan.cp != 0
               ? "a context-parallel group must lie within one sharding group"
               : "";
}

std::string expert_overlap(const PlannedPhase& of)
{
    return of.plan.exchanges_tokens() && of.plan.expert_overlap != ExpertOverlap::off
               ? "it does not overlap token exchanges; search expert_overlap = [\"off\"]"
               : "";
}

std::string offload(const PlannedPhase& of)
{
    return of.plan.offload != Offload::none
               ? "its offload keeps parameters and gradients on the host as well; search offload = [\"none\"]"
               : "";
}

std::string post_validation(const PlannedPhase& of)
{
    return of.plan.post_validation == PostValidation::on
               ? "its optimizer waits for the norm of all gradients; search post_validation = [\"off\"]"
               : "";
}

std::string node_order(const PlannedPhase& of)
{
    return of.plan.node_order != NodeOrder::as_listed
               ? "its device mesh takes GPUs in the order of their numbers; remove node_order from the search"
               : "";
}

}  // namespace

std::vector<ModuleSet> torchtitan_module_sets(const Workload& /*workload*/)
{
    return {ModuleSet{Module::alternate_products}};
}

std::vector<TrainerRule> torchtitan_rules()
{
    return {
        {"precision", "tp", precision},
        {"attention kernel", "tp", attention_kernel},
        {"exchange of heads", "ulysses", head_exchange},
        {"expert tensor parallelism", "etp", expert_tensor_parallelism},
        {"token dispatcher", "dispatch", dispatcher},
        {"replicas outermost", "order", order},
        {"crossing of buildings", "crossing", crossing},
        {"local updates", "local_steps", local_updates},
        {"pipeline schedule", "schedule", schedule},
        {"selective recompute", "recompute_modules", selective_recompute},
        {"recomputed layers", "recomputed_layers", recomputed_layers},
        {"expert parallelism", "sharding", expert_parallelism},
        {"sharding", "sharding", sharding},
        {"hybrid sharding", "shard_gpus", hybrid_sharding},
        {"expert overlap", "expert_overlap", expert_overlap},
        {"CUDA graphs", "cuda_graphs", cuda_graphs},
        {"offload", "offload", offload},
        {"post-validation", "post_validation", post_validation},
        {"node order", "node_order", node_order},
    };
}

}  // namespace prismopt
