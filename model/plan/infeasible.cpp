#include "model/plan/infeasible.hpp"

#include <algorithm>
#include <charconv>

namespace prismopt {

namespace {

constexpr std::string_view in_phase = " in phase ";

struct ReasonOfConflict {
    Conflict conflict;
    Reason reason;
};
constexpr auto reasons_of_conflicts = std::to_array<ReasonOfConflict>({
    {Conflict::tp_and_block, Reason::tp_and_blocks},
    {Conflict::tp_and_captured, Reason::tp_and_blocks},
    {Conflict::tp_and_nodes, Reason::tp_and_nodes},
    {Conflict::contexts_and_nodes, Reason::contexts_and_nodes},
    {Conflict::ulysses_and_cp, Reason::contexts_and_heads},
    {Conflict::cp_and_captured, Reason::contexts_and_sequence},
    {Conflict::cp_and_sequence, Reason::contexts_and_sequence},
    {Conflict::ring_and_sequence, Reason::contexts_and_sequence},
    {Conflict::contexts_and_block, Reason::contexts_and_blocks},
    {Conflict::replica_and_gpus, Reason::gpus_and_replica},
    {Conflict::gpus_and_cluster, Reason::gpus_and_replica},
    {Conflict::degree_and_gpus, Reason::gpus_and_replica},
    {Conflict::expert_degrees_and_gpus, Reason::gpus_and_replica},
    {Conflict::replica_and_given_gpus, Reason::gpus_and_replica},
    {Conflict::replicas_and_given_gpus, Reason::gpus_and_replica},
    {Conflict::replicas_and_cluster, Reason::gpus_and_replica},
    {Conflict::skips_and_stages, Reason::skips_and_stages},
    {Conflict::ep_and_experts, Reason::experts_and_gpus},
    {Conflict::etp_and_columns, Reason::experts_and_gpus},
    {Conflict::experts_and_stage, Reason::experts_and_gpus},
    {Conflict::expert_groups_and_stage, Reason::experts_and_gpus},
    {Conflict::no_experts, Reason::no_experts},
    {Conflict::no_tables, Reason::tables_and_gpus},
    {Conflict::shards_and_stage, Reason::tables_and_gpus},
    {Conflict::expert_shards_and_stage, Reason::tables_and_gpus},
    {Conflict::shards_and_replicas, Reason::shards_and_replicas},
    {Conflict::one_building, Reason::crossing},
    {Conflict::gpus_and_building, Reason::crossing},
    {Conflict::stages_and_buildings, Reason::crossing},
    {Conflict::replicas_and_buildings, Reason::crossing},
    {Conflict::nodes_and_buildings, Reason::crossing},
    {Conflict::replicas_that_share_layers, Reason::crossing},
    {Conflict::copies_at_both_ends, Reason::crossing},
    {Conflict::local_steps_in_one_building, Reason::local_steps},
    {Conflict::local_steps_and_gpus, Reason::local_steps},
    {Conflict::local_steps_and_crossing, Reason::local_steps},
    {Conflict::batch_and_replicas, Reason::batch_and_replicas},
    {Conflict::needs_stages_and_chunks, Reason::schedule_undefined},
    {Conflict::needs_one_chunk, Reason::schedule_undefined},
    {Conflict::needs_two_chunks, Reason::schedule_undefined},
    {Conflict::needs_stages, Reason::schedule_undefined},
    {Conflict::has_no_group, Reason::schedule_undefined},
    {Conflict::microbatches_and_stages, Reason::schedule_undefined},
    {Conflict::group_below_stages, Reason::schedule_undefined},
    {Conflict::last_group_below_stages, Reason::schedule_undefined},
    {Conflict::odd_stages_or_microbatches, Reason::schedule_undefined},
    {Conflict::too_few_microbatches, Reason::schedule_undefined},
    {Conflict::no_orders_to_search, Reason::schedule_undefined},
    {Conflict::pipeline_too_long, Reason::pipeline_too_long},
    {Conflict::layers_and_chunks, Reason::layers_and_chunks},
    {Conflict::slots_and_chunks, Reason::layers_and_chunks},
    {Conflict::no_layout_given, Reason::no_layout},
    {Conflict::layout_and_layers, Reason::no_layout},
    {Conflict::recomputed_layers, Reason::recomputed_layers},
    {Conflict::experts_without_shared_tokens, Reason::sequence_parallel},
    {Conflict::overlap_without_shared_experts, Reason::expert_overlap},
    {Conflict::overlap_without_experts, Reason::expert_overlap},
    {Conflict::overlap_of_one_microbatch, Reason::expert_overlap},
    {Conflict::overlap_with_recompute, Reason::expert_overlap},
    {Conflict::overlap_and_schedule, Reason::expert_overlap},
    {Conflict::deepep_and_nodes, Reason::dispatch},
    {Conflict::recompute_beside_exchanges, Reason::modules},
    {Conflict::no_host_link, Reason::no_host},
    {Conflict::no_host_link_or_bandwidth, Reason::no_host},
    {Conflict::no_nvme, Reason::no_host},
    {Conflict::parameters_not_sharded, Reason::no_host},
    {Conflict::update_and_microbatches, Reason::update_in_backward},
    {Conflict::no_late_validation, Reason::no_late_validation},
    {Conflict::no_backward_to_split, Reason::forward_only},
    {Conflict::nothing_to_offload, Reason::forward_only},
    {Conflict::nothing_to_recompute, Reason::forward_only},
    {Conflict::no_checkpoints, Reason::forward_only},
    {Conflict::no_known_nodes, Reason::no_known_nodes},
    {Conflict::spares_and_nodes, Reason::spares_and_nodes},
    {Conflict::replicas_to_simulate, Reason::replicas_to_simulate},
    {Conflict::stage_over_memory, Reason::out_of_memory},
    {Conflict::fastest_split_over_memory, Reason::out_of_memory},
    {Conflict::stage_over_host_memory, Reason::out_of_host_memory},
    {Conflict::failures_faster_than_progress, Reason::never_ends},
    {Conflict::beyond_longest_run, Reason::never_ends},
    {Conflict::checkpoints_overlap, Reason::checkpoints_overlap},
    {Conflict::tasks_wait, Reason::deadlock},
    {Conflict::held_limit, Reason::held_limit},
    {Conflict::ranks_and_stages, Reason::given_orders},
    {Conflict::task_of_no_stage, Reason::given_orders},
    {Conflict::task_of_no_microbatch, Reason::given_orders},
    {Conflict::task_of_other_rank, Reason::given_orders},
    {Conflict::pair_of_one_chunk, Reason::given_orders},
    {Conflict::pair_without_backward, Reason::given_orders},
    {Conflict::task_twice, Reason::given_orders},
    {Conflict::task_repeats, Reason::given_orders},
    {Conflict::forward_missing, Reason::given_orders},
    {Conflict::gradient_missing, Reason::given_orders},
    {Conflict::tasks_in_cycle, Reason::given_orders},
    {Conflict::tiers_do_not_nest, Reason::hardware},
    {Conflict::no_price_left, Reason::hardware},
    {Conflict::no_clock_left, Reason::hardware},
    {Conflict::no_memory_left, Reason::hardware},
    {Conflict::links_over_host, Reason::hardware},
    {Conflict::no_power_left, Reason::hardware},
    {Conflict::price_over_limit, Reason::price_limit},
    {Conflict::deviation_over_limit, Reason::deviation},
});
static_assert(std::ranges::equal(reasons_of_conflicts, names_of<Conflict>, {}, &ReasonOfConflict::conflict,
                                 &Named<Conflict>::value),
              "rows are in the order of the enumeration");

}  // namespace

Reason reason_of(Conflict conflict)
{
    return reasons_of_conflicts[static_cast<std::size_t>(conflict)].reason;
}

std::string category(Reason reason, int phase)
{
    return std::string(name(reason)) + (phase > 1 ? std::string(in_phase) + std::to_string(phase) : "");
}

int phase_of(std::string_view category)
{
    const std::size_t place = category.rfind(in_phase);
    int phase = 1;
    if (place != std::string_view::npos) {
        std::from_chars(category.data() + place + in_phase.size(), category.data() + category.size(), phase);
    }
    return phase;
}

bool is_of(std::string_view category, Reason reason)
{
    return category.substr(0, category.rfind(in_phase)) == name(reason);
}

std::string Infeasible::category() const { return prismopt::category(reason(), phase); }

const FactValue* Infeasible::find(FactKey key) const
{
    const auto found = std::ranges::find(facts, key, &Fact::key);
    return found == facts.end() ? nullptr : &found->value;
}

bool names_no_plan(std::string_view category)
{
    return category == name(Reason::same_plan) || category == name(Reason::schedule_undefined);
}

}  // namespace prismopt
