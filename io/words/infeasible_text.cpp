#include "io/words/infeasible_text.hpp"

#include "model/network/blocks.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace prismopt {

namespace {

/// Words of a conflict. Names in braces are facts; bytes are also present in GB ("need_gb" of "need_bytes"),
/// and `derived` of this file makes further ones.
struct ConflictWords {
    Conflict conflict;
    std::string_view detail;
    std::string_view remedy{};
};

constexpr auto conflict_words = std::to_array<ConflictWords>({
    {Conflict::tp_and_block, "tp={tp}, {obstacle}", "try {degrees}"},
    {Conflict::tp_and_captured, "tp={tp}, a captured network",
     "write 1: the file of a captured network does not say how operators split"},
    {Conflict::tp_and_nodes, "tp={tp} on nodes of {node_gpus} GPUs"},
    {Conflict::contexts_and_nodes, "tp*cp={inner_gpus} on nodes of {node_gpus} GPUs"},
    {Conflict::ulysses_and_cp, "ulysses={ulysses}, cp={cp}"},
    {Conflict::cp_and_captured, "cp={cp} for a captured network"},
    {Conflict::cp_and_sequence, "cp = {sequence_parts} must divide sequence_length = {sequence} tokens"},
    {Conflict::ring_and_sequence, "2*cp = {sequence_parts} must divide sequence_length = {sequence} tokens"},
    {Conflict::contexts_and_block, "tp={tp}, cp={cp}{with_ulysses}, {obstacle}"},
    {Conflict::replica_and_gpus, "tp*cp*pp = {replica_gpus} must divide the GPUs{of_phase}"},
    {Conflict::gpus_and_cluster,
     "plan: gpus={gpus} is more than the cluster's {cluster_gpus}; use at most that many"},
    {Conflict::degree_and_gpus, "plan: {axis}={degree} is more than gpus={gpus}; use at most that many"},
    {Conflict::expert_degrees_and_gpus,
     "plan: ep*etp = {expert_gpus} is more than gpus={gpus}; lower one of them"},
    {Conflict::replica_and_given_gpus,
     "plan: {product} = {replica_gpus:.0f} does not divide gpus={gpus}; change one of them"},
    {Conflict::replicas_and_given_gpus,
     "plan: dp={dp} with {product} = {replica_gpus:.0f} needs {needed_gpus:.0f} GPUs, not gpus={gpus}; leave "
     "dp or "
     "gpus out"},
    {Conflict::replicas_and_cluster,
     "plan: dp={dp} with {product} = {replica_gpus:.0f} needs {needed_gpus:.0f} GPUs, more than the "
     "cluster's "
     "{cluster_gpus}; lower one of them"},
    {Conflict::skips_and_stages, "pp={pp} for a network with residual_convolution blocks"},
    {Conflict::ep_and_experts, "ep={ep}, {obstacle}", "write a divisor of the number of experts"},
    {Conflict::etp_and_columns, "etp={etp}, {obstacle}", "write a divisor of the number of columns"},
    {Conflict::experts_and_stage, "ep={ep}, etp={etp} on tp*cp*dp = {stage_gpus} GPUs per stage"},
    {Conflict::expert_groups_and_stage,
     "ep*etp = {expert_gpus} on tp*cp*dp = {stage_gpus} GPUs per stage; lower ep"},
    {Conflict::no_experts, "ep={ep}, etp={etp} for a dense network", "write 1, or remove the axis"},
    {Conflict::no_tables, "table_shards={table_shards} for a network without embedding tables",
     "write 0, or remove the axis"},
    {Conflict::shards_and_stage,
     "table_shards={table_shards}, but tables are shared by all tp*cp*dp = {stage_gpus} GPUs of a stage; "
     "write that as table_shards"},
    {Conflict::expert_shards_and_stage,
     "ep={ep}, etp={etp} and no table_shards, but tables are shared by all tp*cp*dp = {stage_gpus} GPUs of "
     "a stage; write that as table_shards"},
    {Conflict::shards_and_replicas, "shard_gpus={shard_gpus}, cp*dp = {gradient_gpus}"},
    {Conflict::one_building,
     "crossing={crossing} on a cluster of one building; give a tier an `aggregate`, or use "
     "crossing=by-order",
     "remove the axis, or describe the buildings"},
    {Conflict::gpus_and_building,
     "{gpus} GPUs in a building of {building_gpus}; let dp or pp cross, or use fewer GPUs",
     "remove the axis, or describe the buildings"},
    {Conflict::stages_and_buildings,
     "pp={pp} over {buildings} buildings: every building needs an equal share",
     "remove the axis, or describe the buildings"},
    {Conflict::replicas_and_buildings,
     "dp={dp} over {buildings} buildings: every building needs an equal share",
     "remove the axis, or describe the buildings"},
    {Conflict::nodes_and_buildings,
     "{gpus} GPUs over {buildings} buildings: every building needs whole nodes",
     "remove the axis, or describe the buildings"},
    {Conflict::replicas_that_share_layers,
     "replicas that communicate in every layer would be in different buildings; use sharding=zero1, a lower "
     "ep, or crossing=pp",
     "remove the axis, or describe the buildings"},
    {Conflict::copies_at_both_ends,
     "dualpipe keeps copies of a stage at both ends of the pipeline; use crossing=dp",
     "remove the axis, or describe the buildings"},
    {Conflict::local_steps_in_one_building, "local_steps={local_steps} on a cluster of one building",
     "give the tier between buildings an aggregate, or remove the axis"},
    {Conflict::local_steps_and_gpus,
     "local_steps={local_steps} on {gpus} GPUs in one building of {building_gpus}"},
    {Conflict::local_steps_and_crossing, "local_steps={local_steps} needs crossing=dp"},
    {Conflict::batch_and_replicas,
     "dp*microbatch = {sequences_at_once} must divide global_batch = {global_batch}{of_phase}; try "
     "{batches}"},
    {Conflict::needs_stages_and_chunks, "{schedule} needs pp > 1 and v > 1; use 1f1b"},
    {Conflict::needs_one_chunk, "{schedule} has one chunk per stage; set v=1 or use interleaved"},
    {Conflict::needs_two_chunks, "{schedule} has two chunks per stage; set v=2"},
    {Conflict::needs_stages, "{schedule} needs pp > 1; use 1f1b"},
    {Conflict::has_no_group, "{schedule} has no group; remove group or use interleaved"},
    {Conflict::microbatches_and_stages,
     "{schedule} needs microbatches ({microbatches}) divisible by pp ({pp}), or an explicit group"},
    {Conflict::group_below_stages,
     "{schedule} with group={group} below pp ({pp}) deadlocks with more microbatches ({microbatches}); raise "
     "group to {pp}"},
    {Conflict::last_group_below_stages,
     "{schedule} with group={group} leaves a last group of {last_group} of {microbatches} microbatches, "
     "which deadlocks if it is below pp ({pp}); choose another group"},
    {Conflict::odd_stages_or_microbatches,
     "{schedule} needs an even pp and an even number of microbatches, not {pp} and {microbatches}"},
    {Conflict::too_few_microbatches,
     "{schedule} needs at least 2 pp = {least} microbatches, not {microbatches}"},
    {Conflict::no_orders_to_search,
     "orders can be searched only for schedules that split every backward pass (zb_h1, zb_h2, zb_v, v_half, "
     "v_min), not {schedule}"},
    {Conflict::pipeline_too_long,
     "{microbatches} microbatches on {stages} stages; use a larger microbatch or more replicas"},
    {Conflict::layers_and_chunks, "pp*v = {chunks} chunks, {layers} layers"},
    {Conflict::slots_and_chunks, "{slots} layer slots for {chunks} chunks; lower pp or v"},
    {Conflict::no_layout_given, "split=given, and no layout has pp*v = {chunks} chunks"},
    {Conflict::layout_and_layers, "the layout has {laid_out} layers, the network {layers}"},
    {Conflict::recomputed_layers, "recomputed_layers={recomputed_layers} of {layers}",
     "write 0 for all layers, or a smaller number"},
    {Conflict::experts_without_shared_tokens,
     "sequence_parallel=off with tp={tp} and experts, whose tokens are shared"},
    {Conflict::overlap_without_shared_experts,
     "expert_overlap={expert_overlap} needs shared experts, and the network has none"},
    {Conflict::overlap_without_experts,
     "expert_overlap={expert_overlap} needs experts, and the network has none"},
    {Conflict::overlap_of_one_microbatch, "expert_overlap={expert_overlap} needs two microbatches or more"},
    {Conflict::overlap_with_recompute,
     "expert_overlap={expert_overlap} cannot be combined with recompute=full"},
    {Conflict::overlap_and_schedule, "expert_overlap={expert_overlap} needs schedule=interleaved, or pp=1"},
    {Conflict::deepep_and_nodes,
     "dispatch=deepep has nodes of up to {most} GPUs, not of {node_gpus}; try hybridep"},
    {Conflict::recompute_beside_exchanges,
     "shared_experts cannot be recomputed with expert_overlap=shared-experts, which runs them beside the "
     "exchanges"},
    {Conflict::no_host_link, "{accelerator} has no host_link",
     "give it in accelerator_override, or write [\"none\"]"},
    {Conflict::no_host_link_or_bandwidth, "{accelerator} has no host_link or no host_memory_bandwidth",
     "give it in accelerator_override, or write [\"none\"]"},
    {Conflict::no_nvme, "{accelerator} has no nvme_bandwidth to offload to",
     "give it in accelerator_override, or write [\"none\"]"},
    {Conflict::parameters_not_sharded,
     "offload=parameters gathers parameters layer by layer, which needs sharding=zero3"},
    {Conflict::update_and_microbatches,
     "optimizer in_backward updates each layer after one microbatch, but there are {microbatches}; write a "
     "larger microbatch or a smaller global_batch"},
    {Conflict::no_late_validation,
     "post_validation=on with pp={pp} schedule={schedule}; it needs pp > 1 and a schedule that splits the "
     "backward pass"},
    {Conflict::no_backward_to_split, "{schedule} splits the backward pass, and there is none",
     "write 1f1b or interleaved"},
    {Conflict::nothing_to_offload,
     "offload={offload}: there is no optimizer, and no activations wait for a backward pass",
     "write [\"none\"], or remove the axis"},
    {Conflict::nothing_to_recompute,
     "no activations wait for a backward pass, so there is nothing to recompute",
     "write [\"none\"], or remove the axis"},
    {Conflict::no_checkpoints, "finished sequences are kept, so there are no checkpoints", "remove the axis"},
    {Conflict::no_known_nodes, "node_order={node_order} needs slow_nodes in [cluster], or --nodes FILE",
     "write slow_nodes = [{{ node = 3, factor = 1.2 }}], or remove the axis"},
    {Conflict::spares_and_nodes,
     "{used_nodes} working nodes and {spares} spares, but the cluster has {nodes} nodes; use fewer spares or "
     "fewer GPUs",
     "write {spares_left}"},
    {Conflict::replicas_to_simulate, "{dp} replicas are too many; raise tp or pp"},
    {Conflict::stage_over_memory,
     "stage {stage} needs {need_gb:.{places}f} GB{odds}; largest part: {part}, {part_gb:.1f} GB"},
    {Conflict::fastest_split_over_memory,
     "stage {stage} needs {need_gb:.{places}f} GB in the fastest split, and no split fits{odds}; largest "
     "part: {part}, {part_gb:.1f} GB"},
    {Conflict::stage_over_host_memory,
     "a GPU of stage {stage} keeps {need_gb:.1f} GB on its host, but {usable_gb:.1f} GB are its share of "
     "host_memory"},
    {Conflict::failures_faster_than_progress,
     "failures occur faster than checkpoints or restarts complete; shorten the checkpoint interval or the "
     "restart"},
    {Conflict::beyond_longest_run,
     "the mean training time exceeds {most_years} years; check rates and bandwidths"},
    {Conflict::checkpoints_overlap,
     "a checkpoint write takes {write_s:.0f} s, longer than the interval of {interval_s:.0f} s; lengthen the "
     "interval"},
    {Conflict::tasks_wait, "{tasks} tasks wait for each other"},
    {Conflict::held_limit,
     "rank {rank} cannot run the forward of chunk {chunk}, microbatch {microbatch}: a stage may hold {held}, "
     "but {schedule} pp={pp} needs at least {least} (microbatches of a chunk between forward and weight "
     "gradient); raise the limit to that"},
    {Conflict::ranks_and_stages,
     "orders of {ranks} ranks, but pp={pp}; give one line per rank, or change pp"},
    {Conflict::task_of_no_stage,
     "rank {rank}: {task} refers to stage {stage}, but schedule={schedule} pp={pp} v={chunks} cuts the "
     "network into {parts} (0 .. {last_part})"},
    {Conflict::task_of_no_microbatch,
     "rank {rank}: {task} refers to microbatch {microbatch}, but the plan has {microbatches} (0 .. "
     "{last_microbatch})"},
    {Conflict::task_of_other_rank,
     "rank {rank}: {task} belongs to rank {owner} with schedule={schedule} pp={pp} v={chunks}; choose a "
     "schedule that assigns stages to ranks as the file does (interleaved: in loops, zb_v: in a V)"},
    {Conflict::pair_of_one_chunk,
     "rank {rank}: {task} overlaps a forward pass, which is supported only between the two chunks of a "
     "stage; list them one after the other"},
    {Conflict::pair_without_backward,
     "rank {rank}: {task} overlaps a backward pass that does not come next; list it right after"},
    {Conflict::task_twice, "rank {rank}: {task} is listed twice; remove one"},
    {Conflict::task_repeats, "rank {rank}: {task} repeats {repeated}; remove one"},
    {Conflict::forward_missing,
     "rank {rank}: {task} is missing; the plan has {microbatches} microbatches, each with F, and B or I and "
     "W, on every stage"},
    {Conflict::gradient_missing,
     "rank {rank}: {task} is missing, and no B includes it; the plan has {microbatches} microbatches, each "
     "with F, and B or I and W, on every stage"},
    {Conflict::tasks_in_cycle, "tasks wait for each other in a cycle: {waits}; move one of them"},
    {Conflict::tiers_do_not_nest,
     "groups of {outer_gpus} GPUs of tier \"{outer_tier}\" do not consist of whole groups of {inner_gpus} "
     "GPUs "
     "of tier \"{inner_tier}\"",
     "write groups that are multiples of each other"},
    {Conflict::no_price_left, "a GPU would cost {price_usd_h:.4g} USD/h",
     "check gpu_price, and price and cost of the hardware"},
    {Conflict::no_clock_left, "a board of {power_w:.4g} W has no power left for its clock", "raise power"},
    {Conflict::no_memory_left, "{reserved_gb:.4g} GB of {memory_gb:.4g} GB of memory are reserved",
     "raise memory"},
    {Conflict::links_over_host,
     "links draw {saved_w:.4g} W per GPU less than those of [cluster], but host, which includes these, is "
     "{host_w:.4g} W",
     "give host in [power] with the links of [cluster], or list faster links"},
    {Conflict::no_power_left, "a waiting GPU would draw {power_w:.4g} W",
     "check host in [power], and power and draw of the hardware"},
    {Conflict::price_over_limit, "a GPU costs {price_usd_h:.4g} USD/h, and the limit is {limit_usd_h:.4g}",
     "raise gpu_price_limit in [search], or list cheaper values"},
    {Conflict::deviation_over_limit,
     "{deviation:.3g} times the deviation of the reference, and the limit is {most_deviation:.4g}",
     "raise the factor of max_deviation in [numerics], or remove these values"},
});
static_assert(std::ranges::equal(conflict_words, names_of<Conflict>, {}, &ConflictWords::conflict,
                                 &Named<Conflict>::value),
              "rows are in the order of the enumeration");

const ConflictWords& words_of(Conflict conflict)
{
    return conflict_words[static_cast<std::size_t>(conflict)];
}

/// A whole number; 0 if the conflict does not have it.
std::int64_t whole(const Infeasible& why, FactKey key)
{
    const FactValue* value = why.find(key);
    return value == nullptr ? 0 : std::get<std::int64_t>(*value);
}

const FactValue& needed(const Infeasible& why, FactKey key)
{
    const FactValue* value = why.find(key);
    if (value == nullptr) {
        throw std::invalid_argument(fmt::format("{} lacks the fact {}", name(why.conflict), name(key)));
    }
    return *value;
}

double real(const Infeasible& why, FactKey key) { return std::get<double>(needed(why, key)); }

const std::string& word(const Infeasible& why, FactKey key)
{
    return std::get<std::string>(needed(why, key));
}

/// "8 groups of block "mamba2" in layer "M"", or "block "convolution" in layer "up", whose
/// convolutions are not divided".
std::string obstacle_text(const Infeasible& why)
{
    const std::string block =
        fmt::format(R"(block "{}" in layer "{}")", word(why, FactKey::block), word(why, FactKey::layer));
    switch (parse<Undivided>(word(why, FactKey::quantity)).value()) {
        case Undivided::convolutions: return block + ", whose convolutions are not divided";
        case Undivided::whole_sequences: return block + ", whose kernel = \"plain\" needs whole sequences";
        default: break;
    }
    return fmt::format("{} {} of {}", whole(why, FactKey::count), word(why, FactKey::quantity), block);
}

/// "32 or 48"; one of them where the other is 0.
std::string neighbours_text(std::int64_t below, std::int64_t above)
{
    return below > 0 && above > 0 ? fmt::format("{} or {}", below, above)
                                  : fmt::format("{}", std::max(below, above));
}

/// Digits after the point with which the memory that a stage needs differs from what it may have.
int places_of(const Infeasible& why)
{
    constexpr double near_bytes = 0.1e9;
    return why.miss < near_bytes ? 4 : 1;
}

/// " of 80.0 GB: it fits with a probability of 56 %, and must with 90 % (up to 74.2 GB)".
std::string odds_text(const Infeasible& why)
{
    const double usable_gb = real(why, FactKey::usable_bytes) / 1e9;
    if (why.find(FactKey::fit_probability) == nullptr) {
        return fmt::format(", but {:.{}f} GB are usable", usable_gb, places_of(why));
    }
    const double fits = real(why, FactKey::fit_probability);
    const double required = real(why, FactKey::required_probability);
    const int digits = required - fits < 0.01 ? 1 : 0;
    const std::string odds =
        fits < 0.01 ? std::string("less than 1 %") : fmt::format("{:.{}f} %", 100.0 * fits, digits);
    return fmt::format(
        " of {:.1f} GB: it fits with a probability of {}, and must with {:.4g} % (up to {:.{}f} GB)",
        usable_gb, odds, 100.0 * required, real(why, FactKey::limit_bytes) / 1e9, places_of(why));
}

/// Ranks that wait for each other, in turn: "rank 0's 0B0 waits for rank 1's 1B0, which
/// comes after 1F1; rank 1's ...".
std::string waits_text(const Facts& facts)
{
    std::string text;
    for (const Fact& fact : facts) {
        const std::string value =
            std::visit([](const auto& of) { return fmt::format("{}", of); }, fact.value);
        switch (fact.key) {
            case FactKey::rank: text += fmt::format("{}rank {}'s ", text.empty() ? "" : "; ", value); break;
            case FactKey::waits_for_rank: text += fmt::format(" waits for rank {}'s ", value); break;
            case FactKey::after: text += ", which comes after " + value; break;
            default: text += value; break;
        }
    }
    return text;
}

using Arguments = fmt::dynamic_format_arg_store<fmt::format_context>;

/// What sentences state beside single facts.
void add_derived(const Infeasible& why, Arguments& arguments)
{
    const auto add = [&arguments](const char* name, const auto& value) {
        arguments.push_back(fmt::arg(name, value));
    };
    const auto has = [&why](FactKey key) { return why.find(key) != nullptr; };
    const std::int64_t gpus = whole(why, FactKey::gpus);
    switch (why.conflict) {
        case Conflict::tp_and_block:
        case Conflict::contexts_and_block:
        case Conflict::ep_and_experts:
        case Conflict::etp_and_columns:
            add("obstacle", obstacle_text(why));
            add("degrees",
                neighbours_text(whole(why, FactKey::degree_below), whole(why, FactKey::degree_above)));
            add("with_ulysses",
                has(FactKey::ulysses) ? fmt::format(", ulysses={}", whole(why, FactKey::ulysses)) : "");
            break;
        case Conflict::replica_and_gpus: add("of_phase", gpus > 0 ? fmt::format(" = {}", gpus) : ""); break;
        case Conflict::batch_and_replicas:
            add("of_phase", gpus > 0 ? fmt::format(" of the phase on {} GPUs", gpus) : "");
            add("batches",
                neighbours_text(whole(why, FactKey::batch_below), whole(why, FactKey::batch_above)));
            break;
        case Conflict::spares_and_nodes: {
            const std::int64_t most = whole(why, FactKey::nodes) - 1;
            add("spares_left", most > 0 ? fmt::format("{} or less", most) : std::string("0"));
            break;
        }
        case Conflict::stage_over_memory:
        case Conflict::fastest_split_over_memory:
            add("places", places_of(why));
            add("odds", odds_text(why));
            break;
        case Conflict::task_of_no_stage: add("last_part", whole(why, FactKey::network_chunks) - 1); break;
        case Conflict::task_of_no_microbatch:
            add("last_microbatch", whole(why, FactKey::microbatches) - 1);
            break;
        case Conflict::tasks_in_cycle: add("waits", waits_text(why.facts)); break;
        default: break;
    }
}

std::string filled(std::string_view words, const Infeasible& why)
{
    constexpr std::string_view bytes = "_bytes";
    Arguments arguments;
    for (const Fact& fact : why.facts) {
        const std::string key(name(fact.key));
        std::visit([&](const auto& value) { arguments.push_back(fmt::arg(key.c_str(), value)); }, fact.value);
        if (key.ends_with(bytes)) {
            const std::string in_gb = key.substr(0, key.size() - bytes.size()) + "_gb";
            arguments.push_back(fmt::arg(in_gb.c_str(), std::get<double>(fact.value) / 1e9));
        }
    }
    add_derived(why, arguments);
    return fmt::vformat(words, arguments);
}

}  // namespace

std::string detail_text(const Infeasible& why) { return filled(words_of(why.conflict).detail, why); }

std::string infeasible_text(const Infeasible& why) { return why.category() + ": " + detail_text(why); }

std::string remedy_text(const Infeasible& why) { return filled(words_of(why.conflict).remedy, why); }

}  // namespace prismopt
