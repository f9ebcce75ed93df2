#include "io/words/infeasible_text.hpp"

#include <gtest/gtest.h>

#include <set>

namespace prismopt {
namespace {

using K = FactKey;

Fact named(FactKey key, const char* name) { return {key, std::string(name)}; }

Facts with_block(Facts facts, const char* quantity, int count, const char* block)
{
    if (count > 0) {
        facts.emplace_back(K::count, count);
    }
    facts.insert(facts.end(), {named(K::quantity, quantity), named(K::block, block), named(K::layer, "a")});
    return facts;
}

Facts of_task(std::initializer_list<Fact> more)
{
    Facts facts{{K::rank, 1}, named(K::task, "1F2")};
    facts.insert(facts.end(), more);
    return facts;
}

struct Sentence {
    Infeasible why;
    std::string detail;
    std::string remedy{};
};

std::vector<Sentence> sentences()
{
    const Fact schedule = named(K::schedule, "interleaved");
    const Fact plan = named(K::product, "tp*pp*cp");
    const std::string buildings = "remove the axis, or describe the buildings";
    const std::string host = "give it in accelerator_override, or write [\"none\"]";
    const Facts memory{{K::stage, 0},
                       {K::need_bytes, 91.24e9},
                       {K::usable_bytes, 80e9},
                       named(K::component, "optimizer"),
                       {K::component_bytes, 40e9}};
    const auto with_odds = [&](double fits) {
        Facts facts = memory;
        facts.insert(facts.end(),
                     {{K::limit_bytes, 74.21e9}, {K::fit_probability, fits}, {K::required_probability, 0.9}});
        return facts;
    };
    const auto miss = [](Conflict conflict, Facts facts, double bytes) {
        return Infeasible{.conflict = conflict, .facts = std::move(facts), .miss = bytes};
    };
    return {
        {{Conflict::tp_and_block,
          with_block({{K::tp, 3}, {K::degree_below, 2}, {K::degree_above, 4}}, "heads", 32, "attention")},
         "tp=3, 32 heads of block \"attention\" in layer \"a\"",
         "try 2 or 4"},
        {{Conflict::tp_and_block, with_block({{K::tp, 3}, {K::degree_below, 1}, {K::degree_above, 0}},
                                             "convolutions", 0, "convolution")},
         "tp=3, block \"convolution\" in layer \"a\", whose convolutions are not divided",
         "try 1"},
        {{Conflict::tp_and_captured, {{K::tp, 2}}},
         "tp=2, a captured network",
         "write 1: the file of a captured network does not say how operators split"},
        {{Conflict::tp_and_nodes, {{K::tp, 12}, {K::node_gpus, 8}}}, "tp=12 on nodes of 8 GPUs"},
        {{Conflict::contexts_and_nodes, {{K::inner_gpus, 12}, {K::node_gpus, 8}}},
         "tp*cp=12 on nodes of 8 GPUs"},
        {{Conflict::ulysses_and_cp, {{K::ulysses, 3}, {K::cp, 4}}}, "ulysses=3, cp=4"},
        {{Conflict::cp_and_captured, {{K::cp, 4}}}, "cp=4 for a captured network"},
        {{Conflict::cp_and_sequence, {{K::sequence_chunks, 3}, {K::sequence, 4096}}},
         "cp = 3 must divide sequence_length = 4096 tokens"},
        {{Conflict::ring_and_sequence, {{K::sequence_chunks, 6}, {K::sequence, 4096}}},
         "2*cp = 6 must divide sequence_length = 4096 tokens"},
        {{Conflict::contexts_and_block,
          with_block({{K::tp, 2}, {K::cp, 16}, {K::ulysses, 16}}, "key/value heads", 6, "attention")},
         "tp=2, cp=16, ulysses=16, 6 key/value heads of block \"attention\" in layer \"a\""},
        {{Conflict::contexts_and_block,
          with_block({{K::tp, 2}, {K::cp, 16}}, "whole sequences", 0, "attention")},
         "tp=2, cp=16, block \"attention\" in layer \"a\", whose kernel = \"plain\" needs whole sequences"},
        {{Conflict::replica_and_gpus, {{K::replica_gpus, 48}}}, "tp*cp*pp = 48 must divide the GPUs"},
        {{Conflict::replica_and_gpus, {{K::replica_gpus, 48}, {K::gpus, 64}}},
         "tp*cp*pp = 48 must divide the GPUs = 64"},
        {{Conflict::gpus_and_cluster, {{K::gpus, 128}, {K::cluster_gpus, 64}}},
         "plan: gpus=128 is more than the cluster's 64; use at most that many"},
        {{Conflict::degree_and_gpus, {named(K::axis, "pp"), {K::degree, 128}, {K::gpus, 64}}},
         "plan: pp=128 is more than gpus=64; use at most that many"},
        {{Conflict::expert_degrees_and_gpus, {{K::expert_gpus, 128}, {K::gpus, 64}}},
         "plan: ep*etp = 128 is more than gpus=64; lower one of them"},
        {{Conflict::replica_and_given_gpus, {plan, {K::replica_gpus, 48.0}, {K::gpus, 64}}},
         "plan: tp*pp*cp = 48 does not divide gpus=64; change one of them"},
        {{Conflict::replicas_and_given_gpus,
          {{K::dp, 3}, plan, {K::replica_gpus, 16.0}, {K::needed_gpus, 48.0}, {K::gpus, 64}}},
         "plan: dp=3 with tp*pp*cp = 16 needs 48 GPUs, not gpus=64; leave dp or gpus out"},
        {{Conflict::replicas_and_cluster,
          {{K::dp, 8}, plan, {K::replica_gpus, 16.0}, {K::needed_gpus, 128.0}, {K::cluster_gpus, 64}}},
         "plan: dp=8 with tp*pp*cp = 16 needs 128 GPUs, more than the cluster's 64; lower one of them"},
        {{Conflict::skips_and_stages, {{K::pp, 2}}}, "pp=2 for a network with residual_convolution blocks"},
        {{Conflict::ep_and_experts, with_block({{K::ep, 8}}, "experts", 60, "experts")},
         "ep=8, 60 experts of block \"experts\" in layer \"a\"",
         "write a divisor of the number of experts"},
        {{Conflict::etp_and_columns, with_block({{K::etp, 3}}, "columns of an expert", 1408, "experts")},
         "etp=3, 1408 columns of an expert of block \"experts\" in layer \"a\"",
         "write a divisor of the number of columns"},
        {{Conflict::experts_and_stage, {{K::ep, 8}, {K::etp, 2}, {K::stage_gpus, 24}}},
         "ep=8, etp=2 on tp*cp*dp = 24 GPUs per stage"},
        {{Conflict::expert_groups_and_stage, {{K::expert_gpus, 16}, {K::stage_gpus, 24}}},
         "ep*etp = 16 on tp*cp*dp = 24 GPUs per stage; lower ep"},
        {{Conflict::no_experts, {{K::ep, 8}, {K::etp, 1}}},
         "ep=8, etp=1 for a dense network",
         "write 1, or remove the axis"},
        {{Conflict::no_tables, {{K::table_shards, 8}}},
         "table_shards=8 for a network without embedding tables",
         "write 0, or remove the axis"},
        {{Conflict::shards_and_stage, {{K::table_shards, 8}, {K::stage_gpus, 16}}},
         "table_shards=8, but tables are shared by all tp*cp*dp = 16 GPUs of a stage; write that as "
         "table_shards"},
        {{Conflict::expert_shards_and_stage, {{K::ep, 2}, {K::etp, 1}, {K::stage_gpus, 16}}},
         "ep=2, etp=1 and no table_shards, but tables are shared by all tp*cp*dp = 16 GPUs of a stage; "
         "write that as table_shards"},
        {{Conflict::shards_and_replicas, {{K::shard_gpus, 6}, {K::gradient_gpus, 16}}},
         "shard_gpus=6, cp*dp = 16"},
        {{Conflict::one_building, {named(K::crossing, "pp")}},
         "crossing=pp on a cluster of one building; give a tier an `aggregate`, or use crossing=by-order",
         buildings},
        {{Conflict::gpus_and_building, {{K::gpus, 64}, {K::building_gpus, 32}}},
         "64 GPUs in a building of 32; let dp or pp cross, or use fewer GPUs",
         buildings},
        {{Conflict::stages_and_buildings, {{K::pp, 3}, {K::buildings, 2}}},
         "pp=3 over 2 buildings: every building needs an equal share",
         buildings},
        {{Conflict::replicas_and_buildings, {{K::dp, 3}, {K::buildings, 2}}},
         "dp=3 over 2 buildings: every building needs an equal share",
         buildings},
        {{Conflict::nodes_and_buildings, {{K::gpus, 24}, {K::buildings, 2}}},
         "24 GPUs over 2 buildings: every building needs whole nodes",
         buildings},
        {{Conflict::replicas_that_share_layers},
         "replicas that communicate in every layer would be in different buildings; use sharding=zero1, a "
         "lower ep, or crossing=pp",
         buildings},
        {{Conflict::copies_at_both_ends},
         "dualpipe keeps copies of a stage at both ends of the pipeline; use crossing=dp",
         buildings},
        {{Conflict::local_steps_in_one_building, {{K::local_steps, 8}}},
         "local_steps=8 on a cluster of one building",
         "give the tier between buildings an aggregate, or remove the axis"},
        {{Conflict::local_steps_and_gpus, {{K::local_steps, 8}, {K::gpus, 16}, {K::building_gpus, 32}}},
         "local_steps=8 on 16 GPUs in one building of 32"},
        {{Conflict::local_steps_and_crossing, {{K::local_steps, 8}}}, "local_steps=8 needs crossing=dp"},
        {{Conflict::batch_and_replicas,
          {{K::sequences_at_once, 48}, {K::global_batch, 100}, {K::batch_below, 96}, {K::batch_above, 144}}},
         "dp*microbatch = 48 must divide global_batch = 100; try 96 or 144"},
        {{Conflict::batch_and_replicas,
          {{K::sequences_at_once, 48},
           {K::global_batch, 10},
           {K::batch_below, 0},
           {K::batch_above, 48},
           {K::gpus, 64}}},
         "dp*microbatch = 48 must divide global_batch = 10 of the phase on 64 GPUs; try 48"},
        {{Conflict::needs_stages_and_chunks, {schedule}}, "interleaved needs pp > 1 and v > 1; use 1f1b"},
        {{Conflict::needs_one_chunk, {schedule}},
         "interleaved has one chunk per stage; set v=1 or use interleaved"},
        {{Conflict::needs_two_chunks, {schedule}}, "interleaved has two chunks per stage; set v=2"},
        {{Conflict::needs_stages, {schedule}}, "interleaved needs pp > 1; use 1f1b"},
        {{Conflict::has_no_group, {schedule}}, "interleaved has no group; remove group or use interleaved"},
        {{Conflict::microbatches_and_stages, {schedule, {K::microbatches, 6}, {K::pp, 4}}},
         "interleaved needs microbatches (6) divisible by pp (4), or an explicit group"},
        {{Conflict::group_below_stages, {schedule, {K::group, 2}, {K::pp, 4}, {K::microbatches, 8}}},
         "interleaved with group=2 below pp (4) deadlocks with more microbatches (8); raise group to 4"},
        {{Conflict::last_group_below_stages,
          {schedule, {K::group, 4}, {K::last_group, 1}, {K::microbatches, 5}, {K::pp, 4}}},
         "interleaved with group=4 leaves a last group of 1 of 5 microbatches, which deadlocks if it is "
         "below "
         "pp (4); choose another group"},
        {{Conflict::odd_stages_or_microbatches, {schedule, {K::pp, 3}, {K::microbatches, 8}}},
         "interleaved needs an even pp and an even number of microbatches, not 3 and 8"},
        {{Conflict::too_few_microbatches, {schedule, {K::least, 8}, {K::microbatches, 6}}},
         "interleaved needs at least 2 pp = 8 microbatches, not 6"},
        {{Conflict::no_orders_to_search, {schedule}},
         "orders can be searched only for schedules that split every backward pass (zb_h1, zb_h2, zb_v, "
         "v_half, v_min), not interleaved"},
        {{Conflict::pipeline_too_long, {{K::microbatches, 70000}, {K::stages, 4}}},
         "70000 microbatches on 4 stages; use a larger microbatch or more replicas"},
        {{Conflict::layers_and_chunks, {{K::chunks, 12}, {K::layers, 10}}}, "pp*v = 12 chunks, 10 layers"},
        {{Conflict::slots_and_chunks, {{K::slots, 10}, {K::chunks, 12}}},
         "10 layer slots for 12 chunks; lower pp or v"},
        {{Conflict::no_layout_given, {{K::chunks, 12}}}, "split=given, and no layout has pp*v = 12 chunks"},
        {{Conflict::layout_and_layers, {{K::laid_out, 12}, {K::layers, 10}}},
         "the layout has 12 layers, the network 10"},
        {{Conflict::recomputed_layers, {{K::recomputed_layers, 12}, {K::layers, 10}}},
         "recomputed_layers=12 of 10",
         "write 0 for all layers, or a smaller number"},
        {{Conflict::experts_without_shared_tokens, {{K::tp, 2}}},
         "sequence_parallel=off with tp=2 and experts, whose tokens are shared"},
        {{Conflict::overlap_without_shared_experts, {named(K::expert_overlap, "shared-experts")}},
         "expert_overlap=shared-experts needs shared experts, and the network has none"},
        {{Conflict::overlap_without_experts, {named(K::expert_overlap, "microbatches")}},
         "expert_overlap=microbatches needs experts, and the network has none"},
        {{Conflict::overlap_of_one_microbatch, {named(K::expert_overlap, "microbatches")}},
         "expert_overlap=microbatches needs two microbatches or more"},
        {{Conflict::overlap_with_recompute, {named(K::expert_overlap, "microbatches")}},
         "expert_overlap=microbatches cannot be combined with recompute=full"},
        {{Conflict::overlap_and_schedule, {named(K::expert_overlap, "microbatches")}},
         "expert_overlap=microbatches needs schedule=interleaved, or pp=1"},
        {{Conflict::deepep_and_nodes, {{K::most, 8}, {K::node_gpus, 72}}},
         "dispatch=deepep has nodes of up to 8 GPUs, not of 72; try hybridep"},
        {{Conflict::recompute_beside_exchanges},
         "shared_experts cannot be recomputed with expert_overlap=shared-experts, which runs them beside the "
         "exchanges"},
        {{Conflict::no_host_link, {named(K::accelerator, "h100")}}, "h100 has no host_link", host},
        {{Conflict::no_host_link_or_bandwidth, {named(K::accelerator, "h100")}},
         "h100 has no host_link or no host_memory_bandwidth",
         host},
        {{Conflict::no_nvme, {named(K::accelerator, "h100")}},
         "h100 has no nvme_bandwidth to offload to",
         host},
        {{Conflict::parameters_not_sharded},
         "offload=parameters gathers parameters layer by layer, which needs sharding=zero3"},
        {{Conflict::update_and_microbatches, {{K::microbatches, 4}}},
         "optimizer in_backward updates each layer after one microbatch, but there are 4; write a larger "
         "microbatch or a smaller global_batch"},
        {{Conflict::no_late_validation, {{K::pp, 4}, schedule}},
         "post_validation=on with pp=4 schedule=interleaved; it needs pp > 1 and a schedule that splits the "
         "backward pass"},
        {{Conflict::no_backward_to_split, {named(K::schedule, "zb_h1")}},
         "zb_h1 splits the backward pass, and there is none",
         "write 1f1b or interleaved"},
        {{Conflict::nothing_to_offload, {named(K::offload, "optimizer")}},
         "offload=optimizer: there is no optimizer, and no activations wait for a backward pass",
         "write [\"none\"], or remove the axis"},
        {{Conflict::nothing_to_recompute},
         "no activations wait for a backward pass, so there is nothing to recompute",
         "write [\"none\"], or remove the axis"},
        {{Conflict::no_checkpoints},
         "finished sequences are kept, so there are no checkpoints",
         "remove the axis"},
        {{Conflict::no_known_nodes, {named(K::node_order, "slow-last")}},
         "node_order=slow-last needs slow_nodes in [cluster], or --nodes FILE",
         "write slow_nodes = [{ node = 3, factor = 1.2 }], or remove the axis"},
        {{Conflict::spares_and_nodes, {{K::used_nodes, 8}, {K::spares, 2}, {K::nodes, 8}}},
         "8 working nodes and 2 spares, but the cluster has 8 nodes; use fewer spares or fewer GPUs",
         "write 7 or less"},
        {{Conflict::spares_and_nodes, {{K::used_nodes, 1}, {K::spares, 1}, {K::nodes, 1}}},
         "1 working nodes and 1 spares, but the cluster has 1 nodes; use fewer spares or fewer GPUs",
         "write 0"},
        {{Conflict::replicas_to_simulate, {{K::dp, 70000}}}, "70000 replicas are too many; raise tp or pp"},
        {miss(Conflict::stage_over_memory, memory, 11.24e9),
         "stage 0 needs 91.2 GB, but 80.0 GB are usable; largest part: optimizer, 40.0 GB"},
        {miss(Conflict::stage_over_memory, memory, 1e6),
         "stage 0 needs 91.2400 GB, but 80.0000 GB are usable; largest part: optimizer, 40.0 GB"},
        {miss(Conflict::stage_over_memory, with_odds(0.56), 17e9),
         "stage 0 needs 91.2 GB of 80.0 GB: it fits with a probability of 56 %, and must with 90 % (up to "
         "74.2 GB); largest part: optimizer, 40.0 GB"},
        {miss(Conflict::stage_over_memory, with_odds(0.895), 17e9),
         "stage 0 needs 91.2 GB of 80.0 GB: it fits with a probability of 89.5 %, and must with 90 % (up to "
         "74.2 GB); largest part: optimizer, 40.0 GB"},
        {miss(Conflict::fastest_split_over_memory, with_odds(0.001), 17e9),
         "stage 0 needs 91.2 GB in the fastest split, and no split fits of 80.0 GB: it fits with a "
         "probability of less than 1 %, and must with 90 % (up to 74.2 GB); largest part: optimizer, 40.0 "
         "GB"},
        {miss(Conflict::stage_over_host_memory,
              {{K::stage, 1}, {K::need_bytes, 300e9}, {K::usable_bytes, 256e9}}, 44e9),
         "a GPU of stage 1 keeps 300.0 GB on its host, but 256.0 GB are its share of host_memory"},
        {{Conflict::failures_faster_than_progress},
         "failures occur faster than checkpoints or restarts complete; shorten the checkpoint interval or "
         "the restart"},
        {{Conflict::beyond_longest_run, {{K::most_years, 1000}}},
         "the mean training time exceeds 1000 years; check rates and bandwidths"},
        {{Conflict::checkpoints_overlap, {{K::write_s, 120.4}, {K::interval_s, 59.6}}},
         "a checkpoint write takes 120 s, longer than the interval of 60 s; lengthen the interval"},
        {{Conflict::tasks_wait, {{K::tasks, 4}}}, "4 tasks wait for each other"},
        {{Conflict::held_limit,
          {{K::rank, 0},
           {K::chunk, 1},
           {K::microbatch, 2},
           {K::held, 3},
           named(K::schedule, "zb_v"),
           {K::pp, 4},
           {K::least, 5}}},
         "rank 0 cannot run the forward of chunk 1, microbatch 2: a stage may hold 3, but zb_v pp=4 needs at "
         "least 5 (microbatches of a chunk between forward and weight gradient); raise the limit to that"},
        {{Conflict::ranks_and_stages, {{K::ranks, 3}, {K::pp, 2}}},
         "orders of 3 ranks, but pp=2; give one line per rank, or change pp"},
        {{Conflict::task_of_no_stage,
          of_task({{K::stage, 4}, schedule, {K::pp, 2}, {K::chunks, 2}, {K::network_chunks, 4}})},
         "rank 1: 1F2 refers to stage 4, but schedule=interleaved pp=2 v=2 cuts the network into 4 (0 .. 3)"},
        {{Conflict::task_of_no_microbatch, of_task({{K::microbatch, 9}, {K::microbatches, 3}})},
         "rank 1: 1F2 refers to microbatch 9, but the plan has 3 (0 .. 2)"},
        {{Conflict::task_of_other_rank, of_task({{K::owner, 0}, schedule, {K::pp, 2}, {K::chunks, 2}})},
         "rank 1: 1F2 belongs to rank 0 with schedule=interleaved pp=2 v=2; choose a schedule that assigns "
         "stages to ranks as the file does (interleaved: in loops, zb_v: in a V)"},
        {{Conflict::pair_of_one_chunk, of_task({})},
         "rank 1: 1F2 overlaps a forward pass, which is supported only between the two chunks of a stage; "
         "list them one after the other"},
        {{Conflict::pair_without_backward, of_task({})},
         "rank 1: 1F2 overlaps a backward pass that does not come next; list it right after"},
        {{Conflict::task_twice, of_task({})}, "rank 1: 1F2 is listed twice; remove one"},
        {{Conflict::task_repeats, of_task({named(K::repeated, "1I2")})},
         "rank 1: 1F2 repeats 1I2; remove one"},
        {{Conflict::forward_missing, of_task({{K::microbatches, 3}})},
         "rank 1: 1F2 is missing; the plan has 3 microbatches, each with F, and B or I and W, on every "
         "stage"},
        {{Conflict::gradient_missing, of_task({{K::microbatches, 3}})},
         "rank 1: 1F2 is missing, and no B includes it; the plan has 3 microbatches, each with F, and B or I "
         "and W, on every stage"},
        {{Conflict::tasks_in_cycle,
          {{K::rank, 0},
           named(K::task, "0B0"),
           {K::waits_for_rank, 1},
           named(K::waits_for, "1B0"),
           named(K::after, "1F1"),
           {K::rank, 1},
           named(K::task, "1F1"),
           {K::waits_for_rank, 0},
           named(K::waits_for, "0F1")}},
         "tasks wait for each other in a cycle: rank 0's 0B0 waits for rank 1's 1B0, which comes after 1F1; "
         "rank 1's 1F1 waits for rank 0's 0F1; move one of them"},
        {{Conflict::tiers_do_not_nest,
          {named(K::inner_tier, "node"),
           {K::inner_gpus, 12},
           named(K::outer_tier, "rack"),
           {K::outer_gpus, 16}}},
         "groups of 16 GPUs of tier \"rack\" do not consist of whole groups of 12 GPUs of tier \"node\"",
         "write groups that are multiples of each other"},
        {{Conflict::no_price_left, {{K::price_usd_h, -0.25}}},
         "a GPU would cost -0.25 USD/h",
         "check gpu_price, and price and cost of the hardware"},
        {{Conflict::no_clock_left, {{K::power_w, 100.0}}},
         "a board of 100 W has no power left for its clock",
         "raise power"},
        {{Conflict::no_memory_left, {{K::memory_bytes, 4e9}, {K::reserved_bytes, 6.5e9}}},
         "6.5 GB of 4 GB of memory are reserved",
         "raise memory"},
        {{Conflict::links_over_host, {{K::saved_w, 1417.5}, {K::host_w, 400.0}}},
         "links draw 1418 W per GPU less than those of [cluster], but host, which includes these, is 400 W",
         "give host in [power] with the links of [cluster], or list faster links"},
        {{Conflict::no_power_left, {{K::power_w, -10.0}}},
         "a waiting GPU would draw -10 W",
         "check host in [power], and power and draw of the hardware"},
        {{Conflict::price_over_limit, {{K::price_usd_h, 3.2}, {K::limit_usd_h, 3.0}}},
         "a GPU costs 3.2 USD/h, and the limit is 3",
         "raise gpu_price_limit in [search], or list cheaper values"},
        {{Conflict::deviation_over_limit, {{K::deviation, 41.234}, {K::most_deviation, 25.0}}},
         "41.2 times the deviation of the reference, and the limit is 25",
         "raise the factor of max_deviation in [numerics], or remove these values"},
    };
}

TEST(InfeasibleText, HasASentenceForEachConflict)
{
    std::set<Conflict> found;
    for (const Sentence& sentence : sentences()) {
        EXPECT_EQ(detail_text(sentence.why), sentence.detail);
        EXPECT_EQ(remedy_text(sentence.why), sentence.remedy) << sentence.detail;
        found.insert(sentence.why.conflict);
    }
    for (const auto& row : names_of<Conflict>) {
        EXPECT_TRUE(found.contains(row.value)) << row.name;
    }
}

TEST(InfeasibleText, BeginsWithTheReasonAndThePhase)
{
    Infeasible why{Conflict::tp_and_nodes, {{K::tp, 12}, {K::node_gpus, 8}}};
    EXPECT_EQ(infeasible_text(why), "tp does not fit the nodes: tp=12 on nodes of 8 GPUs");
    why.phase = 2;
    EXPECT_EQ(infeasible_text(why), "tp does not fit the nodes in phase 2: tp=12 on nodes of 8 GPUs");
}

}  // namespace
}  // namespace prismopt
