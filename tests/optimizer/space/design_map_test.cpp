#include "optimizer/space/design_map.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/space/design_text.hpp"

#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "tests/optimizer/tiny_study.hpp"
#include "tests/support/workload_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// Every rule of the space rejects something here, and every choice is listed so that the
/// first of equals is not the default.
Scenario wide(int second_batch = 16)
{
    return tiny_scenario(R"(gpus = [4, 6, 8, 12]
tp = [1, 2, 4, 8]
pp = [1, 2, 3, 4, 5]
v = [1, 2, 3]
microbatch = [1, 2, 3, 8]
schedule = ["interleaved", "zb_v", "1f1b", "gpipe"]
group = [2, 4]
recompute = ["none", "full"]
sharding = ["zero1", "none"]
split = ["slots", "layers"]
dp_overlap = ["off", "on"]
post_validation = ["on", "off"]
spares = [0, 1]
order = ["tp-dp-pp", "tp-pp-dp"]
)",
                         "", second_batch);
}

auto as_tuple(const ParallelPlan& p)
{
    return std::tuple(p.tp, p.cp, p.pp, p.ep, p.etp, p.dp, p.chunks, p.microbatch, p.schedule, p.recompute,
                      p.recomputed_layers, p.sharding, p.split, p.dp_overlap, p.order, p.tp_overlap,
                      p.context_exchange, p.expert_overlap, p.offload, p.group, p.post_validation, p.crossing,
                      p.node_order, p.checkpoint_interval.si, p.spares, p.recompute_modules, p.cuda_graphs,
                      p.dispatch, p.local_steps, p.sequence_parallel, p.shard_gpus, p.ulysses);
}

bool validates_later(const ParallelPlan& plan)
{
    const std::set split{Schedule::zb_h1, Schedule::zb_h2, Schedule::zb_v, Schedule::v_half, Schedule::v_min};
    return plan.pp > 1 && split.contains(plan.schedule);
}

/// The plan in a phase with every choice that has no effect on it at one fixed value: equal in all phases for
/// two names of one The nodes of all GPUs, by replica, stage and member.
std::vector<int> nodes_of(ParallelPlan plan, PlacementOrder order, const Cluster& cluster)
{
    plan.order = order;
    plan.crossing = Crossing::by_order;
    const Placement at = place(plan, cluster);
    std::vector<int> nodes;
    for (int replica = 0; replica < plan.dp; ++replica) {
        for (int stage = 0; stage < plan.pp; ++stage) {
            for (int member = 0; member < plan.tp * plan.cp; ++member) {
                nodes.push_back((at.gpu(replica, stage) + member) / cluster.gpus_per_node());
            }
        }
    }
    return nodes;
}

/// plan.
ParallelPlan without_idle_choices(ParallelPlan plan, const Phase& phase, const Scenario& scenario)
{
    if (plan.cp * plan.dp == 1) {
        plan.sharding = Sharding::none;
        plan.dp_overlap = DataParallelOverlap::off;
    }
    if (plan.tp == 1) {
        plan.sequence_parallel = SequenceParallel::on;
        plan.tp_overlap = TensorParallelOverlap::off;
    }
    if (plan.ep == 1) {
        plan.expert_overlap = ExpertOverlap::off;
    }
    if (plan.gpus() <= scenario.cluster.building_gpus()) {
        plan.crossing = Crossing::by_order;
    }
    plan.ulysses = plan.head_gpus();
    if (plan.ring_gpus() == 1) {
        plan.context_exchange = ContextExchange::ring;
    }
    plan.node_order = NodeOrder::as_listed;  // see slowness_of_places()
    if (plan.recompute != Recompute::full) {
        plan.recomputed_layers = 0;
    }
    if (plan.schedule == Schedule::interleaved && plan.group > 0) {
        plan.group = std::min(plan.group, plan.microbatches(phase.global_batch));
        if (plan.group == plan.pp) {
            plan.group = 0;
        }
    }
    const bool same_nodes = plan.gpus() <= scenario.cluster.gpus_per_node() ||
                            (scenario.cluster.building_gpus() == 0 &&
                             nodes_of(plan, PlacementOrder::tp_pp_dp, scenario.cluster) ==
                                 nodes_of(plan, PlacementOrder::tp_dp_pp, scenario.cluster));
    if (plan.cp * plan.dp == 1 || plan.pp == 1 || same_nodes) {
        plan.order = PlacementOrder::tp_pp_dp;
    }
    if (!validates_later(plan)) {
        plan.post_validation = PostValidation::off;
    }
    // The 4 layers of these tests are 2 2 or 1 2 1 in two or three chunks, whether the ends count or
    // not; 1 1 1 1 or 0 2 2 0 in four.
    EXPECT_EQ(scenario.workload.layers(), 4);
    if (plan.pp * plan.chunks <= 3) {
        plan.split = LayerSplit::layers;
    }
    if ((plan.pp == 1 || phase.global_batch == plan.dp * plan.microbatch) &&
        plan.schedule == Schedule::gpipe) {
        plan.schedule = Schedule::one_f_one_b;
    }
    return plan;
}

/// Factors of the nodes, place by place and phase by phase: of a node order this is all that counts.
std::vector<double> slowness_of_places(const ParallelPlan& plan, const Scenario& scenario)
{
    std::vector<double> factors;
    if (scenario.cluster.nodes_known()) {
        for (const Phase& phase : scenario.phases) {
            for (const int node : nodes_in_order(plan_in_phase(plan, phase), scenario.cluster)) {
                factors.push_back(scenario.cluster.node_factors.at(node));
            }
        }
    }
    return factors;
}

/// The plan of a raw tuple by the labels of its axes; none where the GPUs do not divide.
std::optional<ParallelPlan> named_plan(const Space& space, const Point& point)
{
    ParallelPlan plan;
    int gpus = 0;
    for (std::size_t a = 0; a < point.size(); ++a) {
        const std::string& axis = space.axes()[a].name;
        const std::string& label = space.axes()[a].labels[point[a]];
        if (axis == "gpus") {
            gpus = std::stoi(label);
        } else if (axis == "tp") {
            plan.tp = std::stoi(label);
        } else if (axis == "cp") {
            plan.cp = std::stoi(label);
        } else if (axis == "ep") {
            plan.ep = std::stoi(label);
        } else if (axis == "etp") {
            plan.etp = std::stoi(label);
        } else if (axis == "recomputed_layers") {
            plan.recomputed_layers = std::stoi(label);
        } else if (axis == "shard_gpus") {
            plan.shard_gpus = std::stoi(label);
        } else if (axis == "sequence_parallel") {
            plan.sequence_parallel = *parse<SequenceParallel>(label);
        } else if (axis == "tp_overlap") {
            plan.tp_overlap = *parse<TensorParallelOverlap>(label);
        } else if (axis == "ulysses") {
            plan.ulysses = std::stoi(label);
        } else if (axis == "table_shards") {
            EXPECT_EQ(label, "0");  // no network here has tables
        } else if (axis == "context_exchange") {
            plan.context_exchange = *parse<ContextExchange>(label);
        } else if (axis == "expert_overlap") {
            plan.expert_overlap = *parse<ExpertOverlap>(label);
        } else if (axis == "checkpoint_interval") {
            plan.checkpoint_interval = Seconds{std::stod(label)};
        } else if (axis == "spares") {
            plan.spares = std::stoi(label);
        } else if (axis == "dispatch") {
            plan.dispatch = *parse<Dispatch>(label);
        } else if (axis == "recompute_modules" || axis == "cuda_graphs") {
            EXPECT_EQ(label, text_of(ModuleSet{})) << axis;  // no batch here varies them
        } else if (axis == "offload") {
            plan.offload = *parse<Offload>(label);
        } else if (axis == "pp") {
            plan.pp = std::stoi(label);
        } else if (axis == "v") {
            plan.chunks = std::stoi(label);
        } else if (axis == "microbatch") {
            plan.microbatch = std::stoi(label);
        } else if (axis == "schedule") {
            plan.schedule = *parse<Schedule>(label);
        } else if (axis == "group") {
            // The schedule's axis comes before.
            plan.group = plan.schedule == Schedule::interleaved ? std::stoi(label) : 0;
        } else if (axis == "post_validation") {
            plan.post_validation =
                validates_later(plan) ? *parse<PostValidation>(label) : PostValidation::off;
        } else if (axis == "recompute") {
            plan.recompute = *parse<Recompute>(label);
        } else if (axis == "sharding") {
            plan.sharding = *parse<Sharding>(label);
        } else if (axis == "split") {
            plan.split = *parse<LayerSplit>(label);
        } else if (axis == "dp_overlap") {
            plan.dp_overlap = *parse<DataParallelOverlap>(label);
        } else if (axis == "order") {
            plan.order = *parse<PlacementOrder>(label);
        } else if (axis == "crossing") {
            plan.crossing = *parse<Crossing>(label);
        } else if (axis == "local_steps") {
            plan.local_steps = std::stoi(label);
        } else if (axis == "node_order") {
            plan.node_order = *parse<NodeOrder>(label);
        } else {
            ADD_FAILURE() << "unknown axis " << axis;
        }
    }
    const int replica = plan.tp * plan.cp * plan.pp;
    if (gpus % replica != 0) {
        return std::nullopt;
    }
    plan.dp = gpus / replica;
    return plan;
}

/// Plans that stand the rules, once each, by brute force over the raw tuples.
std::vector<std::uint64_t> brute_force(const Space& space, const Scenario& scenario)
{
    std::vector<std::uint64_t> expected;
    std::set<std::pair<std::vector<decltype(as_tuple({}))>, std::vector<double>>> seen;
    for (std::uint64_t index = 0; index < space.size(); ++index) {
        const auto plan = named_plan(space, space.point(index));
        if (!plan || structural_problem(*plan, scenario)) {
            continue;
        }
        std::vector<decltype(as_tuple({}))> in_phases;
        for (const Phase& phase : scenario.phases) {
            in_phases.push_back(as_tuple(without_idle_choices(plan_in_phase(*plan, phase), phase, scenario)));
        }
        if (seen.insert({in_phases, slowness_of_places(*plan, scenario)}).second) {
            expected.push_back(index);
        }
    }
    return expected;
}

class DesignMapOfBatch : public testing::TestWithParam<int> {};

TEST_P(DesignMapOfBatch, SpaceHoldsWhatStandsTheRulesOnceEach)
{
    const Scenario scenario = wide(GetParam());
    const DesignMap designs(scenario);
    const Space& space = designs.space();
    const std::vector<std::uint64_t> expected = brute_force(space, scenario);
    ASSERT_GT(expected.size(), 500U);

    std::vector<std::uint64_t> allowed;
    std::map<std::string, std::uint64_t> counts;
    std::uint64_t rejected = 0;
    for (const Rejected& reason :
         space.enumerate(0, space.size(), [&](std::uint64_t index, std::span<const int> point) {
             allowed.push_back(index);
             EXPECT_EQ(as_tuple(designs.plan(point)), as_tuple(*named_plan(space, space.point(index))))
                 << index;
         })) {
        counts[reason.reason] = reason.count;
        rejected += reason.count;
    }
    EXPECT_EQ(allowed, expected);
    EXPECT_EQ(allowed.size() + rejected, space.size());
    for (const Reason reason : {Reason::tp_and_nodes, Reason::gpus_and_replica, Reason::batch_and_replicas,
                                Reason::same_plan, Reason::schedule_undefined, Reason::layers_and_chunks}) {
        EXPECT_GT(counts[std::string(name(reason))], 0U) << name(reason) << " is not put to the test";
    }
}

/// Global batches of the second phase; the first has 8 sequences. With 12 some plans suit one phase only.
INSTANTIATE_TEST_SUITE_P(Batches, DesignMapOfBatch, testing::Values(8, 12, 16));

/// Four buildings of a node each, whose nodes are known.
TEST(DesignMap, PlacesEachPlanOnceInEachWay)
{
    Scenario scenario = tiny_scenario(R"(gpus = [4, 12, 24]
tp = [1, 2]
pp = [1, 2, 3, 6]
split = ["slots"]
)");
    scenario.cluster.tiers.back().aggregate = BytesPerSecond{1e12};
    scenario.cluster.node_factors = {1.0, 1.2, 1.0, 1.1};
    scenario.space.crossing = {Crossing::pp, Crossing::dp, Crossing::none, Crossing::pp_interleaved,
                               Crossing::by_order};
    scenario.space.local_steps = {4, 1};
    scenario.space.spares = {0, 1, 3};
    scenario.space.node_order = {NodeOrder::spread, NodeOrder::as_listed, NodeOrder::packed,
                                 NodeOrder::first_stage, NodeOrder::last_stage};
    const DesignMap designs(scenario);
    const Space& space = designs.space();
    std::vector<std::uint64_t> allowed;
    for (const Rejected& reason : space.enumerate(
             0, space.size(), [&](std::uint64_t index, std::span<const int>) { allowed.push_back(index); })) {
        if (reason.reason == name(Reason::crossing) || reason.reason == name(Reason::local_steps) ||
            reason.reason == name(Reason::spares_and_nodes)) {
            EXPECT_GT(reason.count, 0U) << reason.reason;
        }
    }
    EXPECT_EQ(allowed, brute_force(space, scenario));
}

/// Chunks that a layout is given for, or one, which needs none; a balanced split is a
/// plan of its own but for one chunk.
TEST(DesignMap, TakesLayoutsForTheirNumbersOfChunks)
{
    const Scenario scenario = tiny_scenario(R"(gpus = [4]
pp = [1, 2, 4]
split = ["layers", "given", "balanced"]
layout = ["Ettt|tL"]
)");
    const DesignMap designs(scenario);
    std::map<LayerSplit, std::set<int>> stages;
    std::map<std::string, std::uint64_t> rejected;
    for (const Rejected& reason :
         designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t index, std::span<const int>) {
             const ParallelPlan plan = designs.plan(designs.space().point(index));
             stages[plan.split].insert(plan.pp);
         })) {
        rejected[reason.reason] += reason.count;
    }
    EXPECT_EQ(stages[LayerSplit::layers], (std::set{1, 2, 4}));
    EXPECT_EQ(stages[LayerSplit::given], (std::set{2}));
    EXPECT_EQ(stages[LayerSplit::balanced], (std::set{2, 4}));
    EXPECT_EQ(rejected[std::string(name(Reason::no_layout))], 1U);
}

/// Of four nodes, two at work: with two spares those are equally fast, and all node assignments
/// are one; with none they are not.
TEST(DesignMap, NodeOrdersThatChangeNothingAreOnePlan)
{
    Scenario scenario = tiny_scenario("gpus = [12]\ntp = [2]\npp = [6]\nsplit = [\"slots\"]\n");
    scenario.cluster.node_factors = {1.0, 1.2, 1.0, 1.1};
    scenario.space.node_order = {NodeOrder::as_listed, NodeOrder::first_stage, NodeOrder::last_stage};
    scenario.space.spares = {2, 0};
    const DesignMap designs(scenario);
    std::vector<std::pair<int, NodeOrder>> allowed;
    designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
        const ParallelPlan plan = designs.plan(point);
        allowed.emplace_back(plan.spares, plan.node_order);
    });
    // Nodes 0 and 1 hold the first and the last three stages as listed, and with the slow one last; the
    // other way round with it first.
    EXPECT_EQ(allowed, (std::vector<std::pair<int, NodeOrder>>{{2, NodeOrder::as_listed},
                                                               {0, NodeOrder::as_listed},
                                                               {0, NodeOrder::first_stage}}));
}

/// Fused attention has no core_attn to recompute, so that this set alone is the plan without recompute, and
/// beside another one no difference; a dense network has no experts.
TEST(DesignMap, ModulesThatRecomputeTheSameAreOnePlan)
{
    Scenario scenario = tiny_scenario(R"(gpus = [4]
recompute = ["none", "selective"]
recompute_modules = [["core_attn"], ["layernorm"], ["core_attn", "layernorm"], ["moe"], ["mlp", "moe_act"]]
)");
    scenario.phases.resize(1);
    const auto plans = [&scenario] {
        const DesignMap designs(scenario);
        std::vector<std::string> texts;
        designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
            const ParallelPlan plan = designs.plan(point);
            texts.push_back(std::string(name(plan.recompute)) + " " + text_of(plan.recompute_modules));
        });
        return texts;
    };
    EXPECT_EQ(plans(),
              (std::vector<std::string>{"none core_attn", "selective layernorm", "selective mlp+moe_act"}));
    scenario.space.recompute = {Recompute::selective};
    EXPECT_EQ(plans(), (std::vector<std::string>{"selective core_attn", "selective layernorm",
                                                 "selective mlp+moe_act"}));
}

/// A mixture of 8 experts; axes of what dense plans on short sequences do not have.
Scenario mixed()
{
    Scenario scenario = tiny_scenario(R"(gpus = [4, 6, 8, 16]
tp = [1, 2, 4, 8]
cp = [1, 2, 3, 4]
pp = [1, 2]
recompute = ["full", "none"]
sharding = ["zero1", "none"]
recomputed_layers = [0, 2]
tp_overlap = ["off", "on"]
ulysses = [1, 2, 0]
context_exchange = ["ring", "all-gather"]
)");
    change_decoder(scenario.workload,
                   [](Transformer& t) { t.experts = {.count = 8, .active = 2, .feed_forward = 512}; });
    scenario.space.offload = {Offload::none, Offload::activations};
    scenario.space.ep = {1, 2, 8};
    scenario.space.etp = {1, 2};
    scenario.space.expert_overlap = {ExpertOverlap::off, ExpertOverlap::microbatches};
    scenario.phases.front().sequence = 508;  // 4 * 127: cp of 3 leaves no even parts
    return scenario;
}

TEST(DesignMap, SpaceOfAMixtureHoldsWhatStandsTheRulesOnceEach)
{
    const Scenario scenario = mixed();
    const DesignMap designs(scenario);
    const Space& space = designs.space();
    const std::vector<std::uint64_t> expected = brute_force(space, scenario);
    ASSERT_GT(expected.size(), 500U);
    std::vector<std::uint64_t> allowed;
    std::set<std::string> reasons;
    for (const Rejected& reason :
         space.enumerate(0, space.size(), [&](std::uint64_t index, std::span<const int> point) {
             allowed.push_back(index);
             const ParallelPlan plan = designs.plan(point);
             EXPECT_EQ(as_tuple(plan), as_tuple(*named_plan(space, space.point(index)))) << index;
             EXPECT_EQ(as_tuple(parse_design(design_text(plan), scenario)), as_tuple(plan))
                 << design_text(plan);
         })) {
        if (reason.count > 0) {
            reasons.insert(reason.reason);
        }
    }
    EXPECT_EQ(allowed, expected);
    for (const char* reason :
         {"tp*cp does not fit the nodes", "cp does not divide the sequence", "gpus not divisible by tp*cp*pp",
          "ep does not divide the experts or the GPUs", "expert_overlap does not apply"}) {
        EXPECT_TRUE(reasons.contains(reason)) << reason << " is not put to the test";
    }
}

Job first_phase(const Scenario& scenario)
{
    Job job = scenario;
    job.phases.resize(1);
    return job;
}

/// The conflict and facts of a plan; without facts, the conflict alone is compared.
testing::AssertionResult is_refused(const std::optional<Infeasible>& why, Conflict conflict,
                                    const Facts& facts = {})
{
    if (!why) {
        return testing::AssertionFailure() << "is feasible";
    }
    if (why->conflict != conflict) {
        return testing::AssertionFailure() << "is refused for " << name(why->conflict);
    }
    return facts.empty() || why->facts == facts
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << testing::PrintToString(why->facts.size()) << " other facts";
}

Fact named(FactKey key, const char* text) { return {key, std::string(text)}; }

TEST(DesignMap, ContextsShareASequenceOnlyInBlocksThatCan)
{
    Scenario scenario = mixed();
    const auto why = [&scenario](const ParallelPlan& plan) {
        return structural_problem(plan, first_phase(scenario));
    };
    const ParallelPlan plan{.dp = 4, .cp = 2};
    EXPECT_FALSE(why(plan));
    change_decoder(scenario.workload, [](Transformer& t) { t.attention = AttentionKernel::plain; });
    EXPECT_TRUE(is_refused(why(plan), Conflict::contexts_and_block,
                           {{FactKey::tp, 1},
                            {FactKey::cp, 2},
                            {FactKey::quantity, Undivided::whole_sequences},
                            named(FactKey::block, "attention"),
                            named(FactKey::layer, scenario.workload.kinds.front().name.c_str())}));
    scenario.workload.kinds.front().blocks = {Mamba2Block{.heads = 7, .head = 64}};
    EXPECT_TRUE(is_refused(why(plan), Conflict::contexts_and_block));
    EXPECT_EQ(std::get<std::string>(*why(plan)->find(FactKey::block)), "mamba2");
    scenario.workload.kinds.front().blocks = {Mamba2Block{.heads = 8, .head = 64}};
    EXPECT_FALSE(why(plan));
}

TEST(DesignMap, TablesAreHeldOnceAndSkipsStayOnAStage)
{
    Scenario scenario = mixed();
    scenario.cluster.gpus = 24;
    const auto why = [&scenario](const char* network, const ParallelPlan& plan) {
        Job job = first_phase(scenario);
        job.workload = catalog_workload(network);
        return structural_problem(plan, job);
    };
    EXPECT_TRUE(is_refused(why("dlrm-dcnv2", {.dp = 8}), Conflict::expert_shards_and_stage,
                           {{FactKey::ep, 1}, {FactKey::etp, 1}, {FactKey::stage_gpus, 8}}));
    EXPECT_FALSE(why("dlrm-dcnv2", {.dp = 8, .ep = 8}));
    EXPECT_TRUE(
        is_refused(why("sdxl-unet", {.pp = 2, .dp = 4}), Conflict::skips_and_stages, {{FactKey::pp, 2}}));
    EXPECT_FALSE(why("sdxl-unet", {.dp = 8}));
}

TEST(DesignMap, OverlapOfExpertsFollowsTheTrainersConstraints)
{
    Scenario scenario = mixed();
    const auto why = [&scenario](const ParallelPlan& plan) {
        return structural_problem(plan, first_phase(scenario));
    };
    ParallelPlan plan{.dp = 4, .ep = 4};
    EXPECT_FALSE(why(plan));
    plan.expert_overlap = ExpertOverlap::shared_experts;
    EXPECT_TRUE(is_refused(why(plan), Conflict::overlap_without_shared_experts,
                           {{FactKey::expert_overlap, plan.expert_overlap}}));
    change_decoder(scenario.workload, [](Transformer& t) { t.experts.shared = 512; });
    EXPECT_FALSE(why(plan));
    plan.expert_overlap = ExpertOverlap::microbatches;
    EXPECT_FALSE(why(plan));
    plan.microbatch = 2;
    EXPECT_TRUE(is_refused(why(plan), Conflict::overlap_of_one_microbatch));
    plan.microbatch = 1;
    plan.recompute = Recompute::full;
    EXPECT_TRUE(is_refused(why(plan), Conflict::overlap_with_recompute));
    plan.recompute = Recompute::none;
    plan.pp = 2;
    plan.dp = 2;
    plan.ep = 2;
    EXPECT_TRUE(is_refused(why(plan), Conflict::overlap_and_schedule));
    plan.schedule = Schedule::interleaved;
    plan.chunks = 2;
    EXPECT_FALSE(why(plan));
    plan.recompute = Recompute::selective;
    plan.recompute_modules = {Module::shared_experts};
    EXPECT_FALSE(why(plan));
    plan.expert_overlap = ExpertOverlap::shared_experts;
    EXPECT_TRUE(is_refused(why(plan), Conflict::recompute_beside_exchanges));
    plan.recompute = Recompute::none;
    plan.ep = 1;  // nothing to overlap, and nothing against it
    plan.schedule = Schedule::one_f_one_b;
    plan.chunks = 1;
    EXPECT_FALSE(why(plan));
}

/// DeepEP has nodes of up to 8 GPUs.
TEST(DesignMap, DispatchFollowsTheNodes)
{
    Scenario scenario = mixed();
    scenario.cluster.tiers = {{"domain", 16, BytesPerSecond{450e9}, 1.0, Seconds{1e-6}}};
    scenario.cluster.gpus = 16;
    ParallelPlan plan{.dp = 16, .ep = 8, .dispatch = Dispatch::deepep};
    const auto feasible = [&] { return !structural_problem(plan, first_phase(scenario)); };
    scenario.phases.front().global_batch = 16;
    EXPECT_TRUE(feasible());
    plan.etp = 2;
    EXPECT_FALSE(feasible());
    plan.dispatch = Dispatch::hybridep;
    EXPECT_TRUE(feasible());
}

/// A second phase with a plan of its own: choices that are idle in the first
/// phase may distinguish plans in it.
TEST(DesignMap, SpaceWithAPhaseOfItsOwnPlanHoldsWhatStandsTheRulesOnceEach)
{
    Scenario scenario = mixed();
    scenario.space.ep = {1};
    scenario.space.etp = {1};
    scenario.space.schedule = {Schedule::zb_h1, Schedule::one_f_one_b, Schedule::gpipe};
    scenario.space.post_validation = {PostValidation::on, PostValidation::off};
    scenario.phases.resize(1);
    const std::size_t shared = brute_force(DesignMap(scenario).space(), scenario).size();
    Phase second = scenario.phases.front();
    second.sequence = 1020;
    second.own.gpus = 12;
    second.own.tp = 2;
    second.own.cp = 3;
    second.own.pp = 2;
    second.own.schedule = Schedule::one_f_one_b;
    second.own.recompute = Recompute::full;
    scenario.phases.push_back(second);
    const DesignMap designs(scenario);
    const Space& space = designs.space();
    std::vector<std::uint64_t> allowed;
    space.enumerate(0, space.size(),
                    [&](std::uint64_t index, std::span<const int>) { allowed.push_back(index); });
    EXPECT_EQ(allowed, brute_force(space, scenario));
    EXPECT_GT(allowed.size(), shared);
    scenario.phases.back().own.pp = 4;  // tp*cp*pp is 24
    const DesignMap none(scenario);
    none.space().enumerate(0, space.size(),
                           [&](std::uint64_t index, std::span<const int>) { ADD_FAILURE() << index; });
}

/// A later phase that names a schedule and no chunks has that schedule's chunks, so plans with other chunks
/// stay in the space; what a phase rejects is counted under it.
TEST(DesignMap, PhasesWithASchedulesOfTheirOwnKeepInterleavedPlans)
{
    Scenario scenario = wide();
    scenario.phases.resize(1);
    const auto plans = [](const Scenario& of) {
        std::size_t interleaved = 0;
        std::map<std::string, std::uint64_t> counts;
        const DesignMap designs(of);
        for (const Rejected& reason : designs.space().enumerate(
                 0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
                     interleaved += designs.plan(point).schedule == Schedule::interleaved ? 1 : 0;
                 })) {
            counts[reason.reason] = reason.count;
        }
        return std::pair(interleaved, counts);
    };
    const auto count = [](const Scenario& of) {
        std::size_t all = 0;
        const DesignMap designs(of);
        designs.space().enumerate(0, designs.space().size(),
                                  [&](std::uint64_t, std::span<const int>) { ++all; });
        return all;
    };
    const std::size_t alone = plans(scenario).first;
    ASSERT_GT(alone, 0U);
    scenario.phases.push_back(scenario.phases.front());
    scenario.phases.back().own.schedule = Schedule::one_f_one_b;
    EXPECT_EQ(plans(scenario).first, alone);
    scenario.phases.back().own.schedule.reset();
    scenario.phases.back().own.pp = 1;  // no pipeline to interleave
    EXPECT_GT(plans(scenario).first, 0U);
    scenario.phases.back().own = {.pp = 2, .schedule = Schedule::interleaved};
    const std::size_t with_usual_chunks = count(scenario);
    scenario.phases.back().own.chunks = 2;
    EXPECT_EQ(with_usual_chunks, count(scenario));
    scenario.phases.back().own.schedule.reset();  // interleaved, unless the plan's has two chunks
    EXPECT_EQ(count(scenario), brute_force(DesignMap(scenario).space(), scenario).size());
    EXPECT_GT(count(scenario), 0U);
    scenario.phases.back().own = {.pp = 2, .chunks = 3, .schedule = Schedule::interleaved};
    const auto [some, counts] = plans(scenario);
    EXPECT_GT(counts.at("fewer layers than chunks in phase 2"), 0U);
}

/// Tables of noise are made for each size: for those of all plans, and few more.
TEST(DesignMap, LayerGroupsAreThoseOfThePlansThatRulesAllow)
{
    Scenario scenario = mixed();
    const std::vector<int> groups = layer_groups(scenario);
    const std::set<int> known(groups.begin(), groups.end());
    const DesignMap designs(scenario);
    designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
        for (const Phase& phase : scenario.phases) {
            const ParallelPlan plan = plan_in_phase(designs.plan(point), phase);
            EXPECT_TRUE(known.contains(plan.tp * plan.cp)) << plan.tp << " * " << plan.cp;
        }
    });
    for (int context = 1; context <= 2000; ++context) {
        scenario.space.cp.push_back(context);
    }
    EXPECT_LT(layer_groups(scenario).size(), 40U);
}

TEST(DesignMap, TextNamesThePlan)
{
    const Scenario scenario = wide();
    const DesignMap designs(scenario);
    designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
        const ParallelPlan plan = designs.plan(point);
        EXPECT_EQ(as_tuple(parse_design(design_text(plan), scenario)), as_tuple(plan)) << design_text(plan);
    });
}

TEST(ParseDesign, TakesWhatIsNotNamedFromTheSpace)
{
    const Scenario scenario = tiny_scenario(R"(gpus = [4, 16]
tp = [2]
pp = [1, 2]
microbatch = [4]
recompute = ["full"]
)");
    const ParallelPlan plan = parse_design("pp=2", scenario);
    EXPECT_EQ(as_tuple(plan), as_tuple(ParallelPlan{.tp = 2,
                                                    .pp = 2,
                                                    .dp = 4,
                                                    .microbatch = 4,
                                                    .recompute = Recompute::full,
                                                    .order = PlacementOrder::tp_pp_dp}));
    EXPECT_EQ(parse_design("", scenario).pp, 1);  // two choices: the default of a plan
    EXPECT_EQ(parse_design("gpus=4", scenario).dp, 2);
}

TEST(ParseDesign, RefusesWithTheValueAndWhatToDo)
{
    const Scenario scenario = wide();
    const auto complaint = [&](const std::string& text) -> std::string {
        try {
            parse_design(text, scenario);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(complaint("tq=2"),
                HasSubstr("unknown name 'tq'; names are gpus tp cp ulysses pp ep etp table_shards order"));
    EXPECT_THAT(complaint("tp"),
                HasSubstr("tp= is not a whole number from 1 to 2147483647; write for example tp=8"));
    EXPECT_THAT(complaint("tp=0"), HasSubstr("tp=0 is not a whole number from 1 to"));
    EXPECT_THAT(complaint("tp=99999999999"), HasSubstr("tp=99999999999 is not a whole number from 1 to"));
    EXPECT_THAT(complaint("spares=-1"), HasSubstr("spares=-1 is not a whole number from 0 to"));
    EXPECT_THAT(complaint("tp=-2"), HasSubstr("tp=-2 is not"));
    EXPECT_THAT(complaint("tp=2x"), HasSubstr("tp=2x is not"));
    EXPECT_THAT(complaint("tp=99999999999"), HasSubstr("tp=99999999999 is not"));
    EXPECT_THAT(complaint("tp=2 tp=4"), HasSubstr("tp is given twice; remove one"));
    EXPECT_THAT(complaint("schedule=dualpipe3"),
                HasSubstr("schedule=dualpipe3 is unknown; choose from: gpipe, 1f1b, interleaved, zb_h1"));
    const auto degrees = [&scenario](const char* design) -> std::optional<Infeasible> {
        try {
            parse_design(design, scenario);
        } catch (const DegreesDoNotFit& error) {
            return error.as_infeasible();
        }
        return std::nullopt;
    };
    EXPECT_TRUE(is_refused(degrees("gpus=32"), Conflict::gpus_and_cluster,
                           {{FactKey::gpus, 32}, {FactKey::cluster_gpus, 24}}));
    EXPECT_TRUE(
        is_refused(degrees("gpus=16 tp=3 pp=2"), Conflict::replica_and_given_gpus,
                   {named(FactKey::product, "tp*pp"), {FactKey::replica_gpus, 6.0}, {FactKey::gpus, 16}}));
    const auto too_large = [&](const char* design, const char* axis, int degree, int gpus) {
        return is_refused(degrees(design), Conflict::degree_and_gpus,
                          {named(FactKey::axis, axis), {FactKey::degree, degree}, {FactKey::gpus, gpus}});
    };
    EXPECT_TRUE(too_large("tp=65536 pp=65536", "tp", 65536, 12));
    EXPECT_TRUE(too_large("gpus=16 tp=1073741824 pp=1073741824 cp=16", "tp", 1073741824, 16));
    EXPECT_TRUE(too_large("gpus=16 tp=2 pp=1 ep=65536 etp=65536", "ep", 65536, 16));
}

TEST(StructuralProblem, NamesTheRuleAndTheValues)
{
    const Scenario scenario = wide();
    const auto problem = [&](const std::string& design) {
        return structural_problem(parse_design(design, scenario), scenario);
    };
    EXPECT_FALSE(problem("gpus=16 tp=2 pp=2"));
    EXPECT_TRUE(is_refused(problem("gpus=6 tp=3"), Conflict::tp_and_block,
                           {{FactKey::tp, 3},
                            {FactKey::degree_below, 2},
                            {FactKey::degree_above, 4},
                            {FactKey::count, 8},
                            {FactKey::quantity, Undivided::heads},
                            named(FactKey::block, "attention"),
                            named(FactKey::layer, "dense")}));
    EXPECT_TRUE(is_refused(problem("gpus=16 tp=16"), Conflict::tp_and_block));
    const auto at_once = [&](const char* design) {
        const auto found = problem(design);
        EXPECT_TRUE(is_refused(found, Conflict::batch_and_replicas));
        EXPECT_EQ(found->reason(), Reason::batch_and_replicas);
        return std::get<std::int64_t>(*found->find(FactKey::sequences_at_once));
    };
    EXPECT_EQ(at_once("gpus=16 microbatch=2"), 32);
    EXPECT_EQ(at_once("microbatch=2147483647"), 25769803764);
    EXPECT_TRUE(is_refused(problem("gpus=2 schedule=interleaved"), Conflict::needs_stages_and_chunks,
                           {{FactKey::schedule, Schedule::interleaved}}));
    EXPECT_TRUE(is_refused(problem("gpus=2 v=2"), Conflict::needs_one_chunk,
                           {{FactKey::schedule, Schedule::one_f_one_b}}));
    EXPECT_TRUE(is_refused(problem("gpus=2 pp=2 schedule=zb_v v=3"), Conflict::needs_two_chunks,
                           {{FactKey::schedule, Schedule::zb_v}}));
    EXPECT_TRUE(is_refused(problem("gpus=2 pp=2 schedule=interleaved v=2 group=3"),
                           Conflict::last_group_below_stages));
    EXPECT_FALSE(problem("gpus=2 pp=2 schedule=zb_h1 post_validation=on"));
    EXPECT_TRUE(is_refused(problem("gpus=2 pp=2 post_validation=on"), Conflict::no_late_validation,
                           {{FactKey::pp, 2}, {FactKey::schedule, Schedule::one_f_one_b}}));
    EXPECT_TRUE(is_refused(problem("gpus=8 pp=8 split=layers"), Conflict::layers_and_chunks,
                           {{FactKey::chunks, 8}, {FactKey::layers, 4}}));
}

/// Of 8 replicas, groups of 8 are all of them; 4 have none. Without sharding there are no groups.
TEST(DesignMap, HasEachHybridShardingOnce)
{
    const Scenario scenario = tiny_scenario(R"(gpus = [8]
tp = [1, 2]
sharding = ["none", "zero3"]
shard_gpus = [0, 2, 8]
)");
    const DesignMap designs(scenario);
    const Space& space = designs.space();
    std::multiset<std::tuple<int, Sharding, int>> found;
    space.enumerate(0, space.size(), [&](std::uint64_t, std::span<const int> point) {
        const ParallelPlan plan = designs.plan(point);
        found.emplace(plan.tp, plan.sharding, plan.shard_gpus);
    });
    const std::multiset<std::tuple<int, Sharding, int>> expected{
        {1, Sharding::none, 0}, {1, Sharding::zero3, 0}, {1, Sharding::zero3, 2},
        {2, Sharding::none, 0}, {2, Sharding::zero3, 0}, {2, Sharding::zero3, 2}};
    EXPECT_EQ(found, expected);
}

/// Degrees that no axis searches are named in a design, and come back from its text.
TEST(ParseDesign, TakesContextAndExpertGroups)
{
    Scenario scenario = wide();
    change_decoder(scenario.workload,
                   [](Transformer& t) { t.experts = {.count = 8, .active = 2, .feed_forward = 64}; });
    const std::string text =
        "gpus=16 tp=1 pp=2 cp=2 ep=4 context_exchange=all-gather shard_gpus=2 sharding=zero1";
    const ParallelPlan plan = parse_design(text, scenario);
    EXPECT_EQ(plan.cp, 2);
    EXPECT_EQ(plan.ep, 4);
    EXPECT_EQ(plan.dp, 4);
    EXPECT_EQ(plan.context_exchange, ContextExchange::all_gather);
    EXPECT_EQ(plan.sharding_gpus(), 2);
    EXPECT_EQ(design_text(parse_design(design_text(plan), scenario)), design_text(plan));
    const auto problem = [&](const std::string& design) {
        return structural_problem(parse_design(design, scenario), scenario);
    };
    EXPECT_FALSE(problem(text));
    EXPECT_TRUE(is_refused(problem("gpus=16 tp=2 ep=3"), Conflict::ep_and_experts));
    EXPECT_TRUE(is_refused(problem("gpus=16 ep=8 etp=4"), Conflict::experts_and_stage,
                           {{FactKey::ep, 8}, {FactKey::etp, 4}, {FactKey::stage_gpus, 16}}));
    const auto sequence_chunks = [](const std::optional<Infeasible>& why) {
        return std::get<std::int64_t>(*why->find(FactKey::sequence_chunks));
    };
    EXPECT_TRUE(is_refused(problem("gpus=15 cp=3"), Conflict::ring_and_sequence));
    EXPECT_EQ(sequence_chunks(problem("gpus=15 cp=3")), 6);
    EXPECT_TRUE(is_refused(problem("gpus=15 cp=3 ulysses=0"), Conflict::cp_and_sequence));
    EXPECT_EQ(sequence_chunks(problem("gpus=15 cp=3 ulysses=0")), 3);
    EXPECT_TRUE(is_refused(problem("gpus=12 cp=6 ulysses=4"), Conflict::ulysses_and_cp,
                           {{FactKey::ulysses, 4}, {FactKey::cp, 6}}));
    EXPECT_TRUE(is_refused(problem("gpus=16 shard_gpus=3"), Conflict::shards_and_replicas));
    change_decoder(scenario.workload, [](Transformer& t) { t.experts = {}; });
    EXPECT_TRUE(
        is_refused(problem("gpus=16 ep=2"), Conflict::no_experts, {{FactKey::ep, 2}, {FactKey::etp, 1}}));
}

/// Tables are shared by all GPUs of a stage, by ep or independently of it.
TEST(ParseDesign, SharesTablesSeparatelyFromExperts)
{
    Scenario scenario = wide();
    change_decoder(scenario.workload,
                   [](Transformer& t) { t.experts = {.count = 8, .active = 2, .feed_forward = 64}; });
    const auto problem = [&](const std::string& design) {
        return structural_problem(parse_design(design, scenario), scenario);
    };
    EXPECT_TRUE(
        is_refused(problem("gpus=8 table_shards=8"), Conflict::no_tables, {{FactKey::table_shards, 8}}));
    scenario.workload.kinds.front().blocks.emplace_back(TablesBlock{26, 1e6, 128, 214.0});
    EXPECT_FALSE(problem("gpus=8 ep=8"));
    EXPECT_FALSE(problem("gpus=8 ep=1 table_shards=8"));
    EXPECT_FALSE(problem("gpus=8 tp=2 ep=2 pp=2 table_shards=4"));
    EXPECT_TRUE(is_refused(problem("gpus=8 ep=2"), Conflict::expert_shards_and_stage,
                           {{FactKey::ep, 2}, {FactKey::etp, 1}, {FactKey::stage_gpus, 8}}));
    EXPECT_TRUE(is_refused(problem("gpus=8 table_shards=4"), Conflict::shards_and_stage,
                           {{FactKey::table_shards, 4}, {FactKey::stage_gpus, 8}}));
    scenario.space.gpus = {8};
    scenario.space.ep = {1, 8};
    scenario.space.table_shards = {0, 8};
    const DesignMap designs(scenario);
    std::set<std::pair<int, int>> found;
    designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t index, std::span<const int>) {
        const ParallelPlan plan = designs.plan(designs.space().point(index));
        found.emplace(plan.ep, plan.table_shards);
        EXPECT_EQ(plan.table_gpus(), plan.tp * plan.cp * plan.dp);
    });
    EXPECT_EQ(found, (std::set<std::pair<int, int>>{{1, 8}, {8, 0}}));
}

}  // namespace
}  // namespace prismopt
