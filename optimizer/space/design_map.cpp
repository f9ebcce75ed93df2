#include "optimizer/space/design_map.hpp"

#include "io/scenario/variants.hpp"
#include "io/trainers/trainer.hpp"
#include "model/network/network.hpp"
#include "model/network/passes.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "model/schedule/schedule.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

namespace prismopt {

namespace {

Axis axis_of(std::string name, const std::vector<int>& values)
{
    Axis result{std::move(name), true, {}};
    for (const int value : values) {
        result.labels.push_back(std::to_string(value));
    }
    return result;
}

Axis axis_of(std::string name, const std::vector<Seconds>& values)
{
    Axis result{std::move(name), true, {}};
    for (const Seconds value : values) {
        result.labels.push_back(seconds_text(value));
    }
    return result;
}

Axis axis_of(std::string name, const std::vector<ModuleSet>& values)
{
    Axis result{std::move(name), false, {}};
    for (const ModuleSet& value : values) {
        result.labels.push_back(text_of(value));
    }
    return result;
}

template <class Enum>
Axis axis_of(std::string axis, const std::vector<Enum>& values)
{
    Axis result{std::move(axis), false, {}};
    for (const Enum value : values) {
        result.labels.emplace_back(name(value));
    }
    return result;
}

std::vector<Axis> axes(const SpaceSettings& s)
{
    std::vector<Axis> all{axis_of(std::string(gpus_axis.name), s.gpus)};
    ParallelPlan any;
    for_axes(any, s, [&all](std::string_view axis, auto&, const auto& values) {
        all.push_back(axis_of(std::string(axis), values));
    });
    return all;
}

/// The plan as far as the point is set; the other choices keep their defaults. Without
/// replicas where the GPUs do not divide.
ParallelPlan partial_plan(const SpaceSettings& s, std::span<const int> point)
{
    ParallelPlan plan;
    std::size_t place = 0;  // of the number of GPUs
    for_axes(plan, s, [&](std::string_view, auto& choice, const auto& values) {
        ++place;
        if (place < point.size()) {
            choice = values[point[place]];
        }
    });
    if (point.size() > place_of(&ParallelPlan::pp)) {
        const int gpus = s.gpus[point.front()];
        const std::int64_t replica = static_cast<std::int64_t>(plan.tp) * plan.cp * plan.pp;
        plan.dp = gpus % replica == 0 ? static_cast<int>(gpus / replica) : 0;
    }
    if (!facts_of(plan.schedule).groups) {
        plan.group = 0;  // others have none
    }
    if (!can_validate_later(plan)) {
        plan.post_validation = PostValidation::off;
    }
    return plan;
}

/// A job of one building is the same whatever would cross.
bool stays_in_one(const ParallelPlan& plan, const Cluster& cluster)
{
    return plan.gpus() <= cluster.building_gpus();
}

/// Microbatches of a chunk in a row, for plans that interleave; nothing where no such order is defined.
std::optional<int> microbatches_in_a_row(const ParallelPlan& plan, const Phase& phase)
{
    if (!facts_of(plan.schedule).groups) {
        return 0;
    }
    if (!schedule_defined(plan, phase)) {
        return std::nullopt;
    }
    return std::min(plan.group > 0 ? plan.group : plan.pp, plan.microbatches(phase.global_batch));
}

/// Layers of each chunk; nothing where there are fewer than chunks, or where they depend on what the plan
/// costs: a balanced split that happens to be one of the others is a plan of its own.
std::optional<std::vector<int>> layers_of_chunks(const ParallelPlan& plan, const Workload& workload)
{
    if (plan.split == LayerSplit::balanced && network_chunks(plan.schedule, plan.pp, plan.chunks) > 1) {
        return std::nullopt;
    }
    const auto chunks = layout(workload.layers(), plan, workload.layouts);
    if (std::holds_alternative<Infeasible>(chunks)) {
        return std::nullopt;
    }
    std::vector<int> layers;
    for (const Chunk& chunk : std::get<std::vector<Chunk>>(chunks)) {
        layers.push_back(chunk.layers);
    }
    return layers;
}

/// Layers that recompute all.
std::optional<int> recomputed_in_full(const ParallelPlan& plan, const Workload& workload)
{
    if (plan.recompute != Recompute::full) {
        return 0;
    }
    return plan.recomputed_layers > 0 ? plan.recomputed_layers : workload.layers();
}

/// Operators of all kinds of layers that selective recompute runs again.
std::vector<bool> recomputed_of(const Network& network, const ParallelPlan& plan)
{
    std::vector<bool> all;
    for (const LayerKind& kind : network.kinds) {
        const std::vector<bool> own = plan.recompute == Recompute::selective
                                          ? recomputed_operators(kind, plan.recompute_modules)
                                          : std::vector<bool>(kind.operators.size(), false);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

/// [phase][place]: how long the node there takes. Plans that are equal in this and in
/// all but node_order are the same.
std::vector<std::vector<double>> factors_by_place(const ParallelPlan& plan, const std::vector<Phase>& phases,
                                                  const Cluster& cluster)
{
    std::vector<std::vector<double>> all;
    for (const Phase& phase : phases) {
        std::vector<double>& factors = all.emplace_back();
        for (const int node : nodes_in_order(plan_in_phase(plan, phase), cluster)) {
            factors.push_back(cluster.node_factors[node]);
        }
    }
    return all;
}

/// Whether no earlier order puts nodes that are as slow in the same places.
bool first_order_of_its_kind(const ParallelPlan& plan, const std::vector<NodeOrder>& orders,
                             const std::vector<Phase>& phases, const Cluster& cluster)
{
    if (plan.node_order == orders.front()) {
        return true;
    }
    const auto factors = factors_by_place(plan, phases, cluster);
    const auto same = [&](NodeOrder other) {
        ParallelPlan renamed = plan;
        renamed.node_order = other;
        return factors_by_place(renamed, phases, cluster) == factors;
    };
    return std::none_of(orders.begin(), std::find(orders.begin(), orders.end(), plan.node_order), same);
}

/// What the trainer that [search] names cannot run in some phase.
std::vector<Constraint> trainer_constraints(const Scenario& scenario)
{
    const SpaceSettings& s = scenario.space;
    const std::vector<Axis> all = axes(s);
    std::vector<Constraint> constraints;
    for (const TrainerRule& rule : trainer_rules(scenario.search.runnable_by)) {
        const auto axis =
            std::find_if(all.begin(), all.end(), [&rule](const Axis& a) { return a.name == rule.axis; });
        constraints.push_back(
            {fmt::format("{} cannot run it: {}", scenario.search.runnable_by, rule.reason),
             static_cast<std::size_t>(axis - all.begin()) + 1,
             [s, rule, job = Job(scenario), search = scenario.search](std::span<const int> point) {
                 return in_every_phase(partial_plan(s, point), job.phases,
                                       [&](const ParallelPlan& plan, const Phase& phase) {
                                           return plan.dp == 0 || allows(rule, {plan, phase, job}, search);
                                       });
             }});
    }
    return constraints;
}

/// The rules of all plans, in each phase: at their last axis, and where that excludes
/// more at once, at an earlier one.
void add_rules(const Scenario& scenario, std::vector<Constraint>& all)
{
    struct Judge {
        SpaceSettings space;
        Job job;
    };
    const auto judge = std::make_shared<const Judge>(Judge{scenario.space, scenario});
    for (const PlanRule& rule : plan_rules()) {
        for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
            const auto holds = [judge, i, holds = rule.holds](std::span<const int> point) {
                const Phase& phase = judge->job.phases[i];
                return holds({plan_in_phase(partial_plan(judge->space, point), phase), phase, judge->job});
            };
            const std::string reason = category(rule.reason, static_cast<int>(i) + 1);
            for (const std::size_t axis : std::set{rule.early_axis, rule.last_axis}) {
                all.push_back({reason, axis + 1, holds});
            }
        }
    }
    // Before the group is set: some group must do.
    for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
        all.push_back(
            {category(Reason::schedule_undefined, static_cast<int>(i) + 1),
             place_of(&ParallelPlan::chunks) + 1, [judge, i](std::span<const int> point) {
                 ParallelPlan plan = partial_plan(judge->space, point);
                 return std::any_of(judge->space.group.begin(), judge->space.group.end(), [&](int size) {
                     plan.group = facts_of(plan.schedule).groups ? size : 0;
                     return schedule_defined(plan_in_phase(plan, judge->job.phases[i]), judge->job.phases[i]);
                 });
             }});
    }
}

/// Whether some GPUs are in other nodes with another order of the parallel dimensions; GPUs of a node are
/// equivalent, unless it is a torus.
bool order_moves_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    if (cluster.tiers.front().topology == Topology::torus) {
        return true;  // whose GPUs have neighbours
    }
    if (plan.gpus() <= node) {
        return false;
    }
    if (cluster.building_gpus() > 0) {
        return true;  // the order also decides what crosses buildings
    }
    ParallelPlan other = plan;
    other.order =
        plan.order == PlacementOrder::tp_pp_dp ? PlacementOrder::tp_dp_pp : PlacementOrder::tp_pp_dp;
    const Placement here = place(plan, cluster);
    const Placement there = place(other, cluster);
    for (int replica = 0; replica < plan.dp; ++replica) {
        for (int stage = 0; stage < plan.pp; ++stage) {
            const int first = here.gpu(replica, stage);
            const int other_first = there.gpu(replica, stage);
            if (first / node != other_first / node ||
                (first + here.tp - 1) / node != (other_first + here.tp - 1) / node) {
                return true;
            }
        }
    }
    return false;
}

/// Of choices that make no difference the first name stays.
void add_names(const Scenario& scenario, std::vector<Constraint>& all)
{
    const SpaceSettings& s = scenario.space;
    const std::vector<Phase>& phases = scenario.phases;
    const auto names = [&all](std::size_t axis, std::function<bool(std::span<const int>)> first) {
        all.push_back({std::string(name(Reason::same_plan)), axis + 1, std::move(first)});
    };
    // All values of an axis are the same unless `makes_a_difference` in some phase.
    const auto first_unless = [&](auto choice, auto makes_a_difference) {
        const std::size_t axis = place_of(choice);
        names(axis, [s, phases, axis, makes_a_difference](std::span<const int> point) {
            return point[axis] == 0 || in_any_phase(partial_plan(s, point), phases, makes_a_difference);
        });
    };
    // Values are the same that have the same effect, `effect(plan in the phase, phase)`, in every phase.
    // Those without an effect (nothing) are left to other rules.
    const auto first_of_its_effect = [&](auto choice, const auto& values, auto effect) {
        const std::size_t axis = place_of(choice);
        names(axis, [s, phases, axis, choice, values, effect](std::span<const int> point) {
            const ParallelPlan plan = partial_plan(s, point);
            return std::none_of(values.begin(), values.begin() + point[axis], [&](const auto& earlier) {
                ParallelPlan other = plan;
                other.*choice = earlier;
                return std::all_of(phases.begin(), phases.end(), [&](const Phase& phase) {
                    const auto own = effect(plan_in_phase(plan, phase), phase);
                    return own && own == effect(plan_in_phase(other, phase), phase);
                });
            });
        });
    };
    first_unless(&ParallelPlan::order, [cluster = scenario.cluster](const ParallelPlan& plan, const Phase&) {
        return plan.gradient_gpus() > 1 && plan.pp > 1 && order_moves_nodes(plan, cluster);
    });
    first_unless(&ParallelPlan::crossing,
                 [cluster = scenario.cluster](const ParallelPlan& plan, const Phase&) {
                     return !stays_in_one(plan, cluster);
                 });
    // With one stage or one microbatch it does not matter which of the plain schedules runs.
    names(place_of(&ParallelPlan::schedule), [s, phases](std::span<const int> point) {
        const auto chosen = s.schedule.begin() + point[place_of(&ParallelPlan::schedule)];
        const auto plain = [](Schedule other) { return facts_of(other).one_stage; };
        const auto no_matter = [plain](const ParallelPlan& plan, const Phase& phase) {
            return phase.own.schedule || !plain(plan.schedule) || plan.pp == 1 || one_microbatch(plan, phase);
        };
        return !plain(*chosen) || !in_every_phase(partial_plan(s, point), phases, no_matter) ||
               std::none_of(s.schedule.begin(), chosen, plain);
    });
    first_of_its_effect(&ParallelPlan::group, s.group, microbatches_in_a_row);
    first_of_its_effect(&ParallelPlan::shard_gpus, s.shard_gpus, [](const ParallelPlan& plan, const Phase&) {
        return std::optional(plan.sharding == Sharding::none ? 0 : plan.sharding_gpus());
    });
    first_of_its_effect(&ParallelPlan::ulysses, s.ulysses, [](const ParallelPlan& plan, const Phase&) {
        return std::optional(plan.head_gpus());
    });
    first_of_its_effect(&ParallelPlan::table_shards, s.table_shards,
                        [](const ParallelPlan& plan, const Phase&) {
                            return std::optional(plan.table_gpus());
                        });
    first_of_its_effect(&ParallelPlan::split, s.split,
                        [workload = scenario.workload](const ParallelPlan& plan, const Phase&) {
                            return layers_of_chunks(plan, workload);
                        });
    first_of_its_effect(&ParallelPlan::recomputed_layers, s.recomputed_layers,
                        [workload = scenario.workload](const ParallelPlan& plan, const Phase&) {
                            return recomputed_in_full(plan, workload);
                        });
    const auto network = std::make_shared<const Network>(network_of(scenario.workload));
    first_of_its_effect(&ParallelPlan::recompute_modules, s.recompute_modules,
                        [network](const ParallelPlan& plan, const Phase&) {
                            return std::optional(recomputed_of(*network, plan));
                        });
    // Selective recompute of nothing is the plan without recompute, if the space has that.
    names(place_of(&ParallelPlan::recompute_modules), [s, phases, network](std::span<const int> point) {
        const bool without =
            std::find(s.recompute.begin(), s.recompute.end(), Recompute::none) != s.recompute.end();
        return !without || in_any_phase(partial_plan(s, point), phases,
                                        [&](const ParallelPlan& plan, const Phase& phase) {
                                            const std::vector<bool> again = recomputed_of(*network, plan);
                                            return plan.recompute != Recompute::selective ||
                                                   phase.own.recompute ||
                                                   std::find(again.begin(), again.end(), true) != again.end();
                                        });
    });
    for_each_axis([&](const auto& axis) {
        if (const auto anything = axis.changes.anything) {
            first_unless(axis.choice,
                         [anything](const ParallelPlan& plan, const Phase&) { return anything(plan); });
        }
    });
    first_unless(&ParallelPlan::post_validation,
                 [](const ParallelPlan& plan, const Phase&) { return can_validate_later(plan); });
    names(place_of(&ParallelPlan::spares),
          [s, phases, cluster = scenario.cluster](std::span<const int> point) {
              return first_order_of_its_kind(partial_plan(s, point), s.node_order, phases, cluster);
          });
}

std::vector<Constraint> constraints(const Scenario& scenario)
{
    std::vector<Constraint> all;
    add_rules(scenario, all);
    add_names(scenario, all);
    if (!scenario.machines.empty()) {
        const auto fits = [gpus = scenario.space.gpus,
                           most = scenario.cluster.gpus](std::span<const int> point) {
            return gpus[static_cast<std::size_t>(point.front())] <= most;
        };
        all.push_back({"more GPUs than the cluster has", 1, fits});
    }
    for (Constraint& constraint : trainer_constraints(scenario)) {
        all.push_back(std::move(constraint));
    }
    return all;
}

/// Rules of variants as rules of the space of all: those of the same reason and depth are one.
class JointRules {
public:
    explicit JointRules(std::size_t variants) : variants_(variants) {}

    /// The rules of each variant come in the same order; some variants may have
    /// further ones, of further phases.
    void add(std::size_t variant, const std::vector<Constraint>& rules)
    {
        std::size_t next = 0;  // of the joint rules, behind the last one taken
        for (const Constraint& rule : rules) {
            const auto same = [&rule](const Joint& joint) {
                return joint.reason == rule.reason && joint.depth == rule.depth;
            };
            auto found = std::find_if(joint_.begin() + static_cast<std::ptrdiff_t>(next), joint_.end(), same);
            if (found == joint_.end()) {
                found = joint_.insert(joint_.begin() + static_cast<std::ptrdiff_t>(next),
                                      Joint{rule.reason, rule.depth, {}});
                found->allows.resize(variants_);
            }
            found->allows[variant] = rule.allows;
            next = static_cast<std::size_t>(found - joint_.begin()) + 1;
        }
    }

    std::vector<Constraint> rules() const
    {
        std::vector<Constraint> rules;
        for (const Joint& joint : joint_) {
            const auto allows = [by_variant = joint.allows](std::span<const int> point) {
                const auto& own = by_variant[static_cast<std::size_t>(point.front())];
                return !own || own(point.subspan(1));
            };
            rules.push_back({joint.reason, joint.depth + 1, allows});
        }
        return rules;
    }

private:
    struct Joint {
        std::string reason;
        std::size_t depth = 0;
        // [variant]: empty if it has no such rule.
        std::vector<std::function<bool(std::span<const int>)>> allows;
    };
    std::size_t variants_;
    std::vector<Joint> joint_;
};

/// The variants as the first axis, in front of those of the plan, whose rules depend on the variant.
Space space_of_variants(const Scenario& scenario)
{
    std::vector<Axis> all = axes(scenario.space);
    all.insert(all.begin(), {"variant", false, {}});
    JointRules joint(scenario.variants.size());
    for (std::size_t number = 0; number < scenario.variants.size(); ++number) {
        const ChosenValues& values = scenario.variants[number];
        all.front().labels.push_back(variant_text(scenario.choices, values));
        Scenario variant = scenario;
        static_cast<Job&>(variant) = *variant_at(scenario, values);
        joint.add(number, constraints(variant));
    }
    return {std::move(all), joint.rules()};
}

}  // namespace

DesignMap::DesignMap(const Scenario& scenario)
    : settings_(scenario.space), has_variants_(!scenario.choices.empty()),
      space_(has_variants_ ? space_of_variants(scenario) : Space(axes(scenario.space), constraints(scenario)))
{
}

bool allows(const TrainerRule& rule, const PlannedPhase& plan, const SearchSettings& search)
{
    const std::vector<std::string>& too = search.runs_too;
    if (rule.why(plan).empty()) {
        return true;
    }
    return !too.empty() && std::find(too.begin(), too.end(), axis_text(rule.axis, plan.plan)) != too.end();
}

bool is_on_job(const TrainerRule& rule, int gpus, const Job& job)
{
    ParallelPlan simplest;
    simplest.dp = gpus;
    return rule.axis == "tp" &&
           in_any_phase(simplest, job.phases, [&](const ParallelPlan& plan, const Phase& phase) {
               return !rule.why({plan, phase, job}).empty();
           });
}

std::vector<int> layer_groups(const Scenario& scenario)
{
    const auto may_change = [&scenario](const PlanRule& rule) {  // with the hardware
        return !scenario.choices.empty() &&
               (rule.reason == Reason::tp_and_nodes || rule.reason == Reason::contexts_and_nodes);
    };
    std::vector<Job> all;  // one for each network
    for (const Workload* network : networks(scenario)) {
        all.emplace_back(scenario).workload = *network;
    }
    int most_gpus = 0;
    for (const Cluster* cluster : clusters(scenario)) {
        most_gpus = std::max(most_gpus, cluster->gpus);
    }
    std::set<int> sizes;
    for (const Phase& phase : every_phase(scenario)) {
        for (const int tensor : scenario.space.tp) {
            for (const int context : scenario.space.cp) {
                for (const int heads : scenario.space.ulysses) {
                    ParallelPlan plan;
                    plan.tp = tensor;
                    plan.cp = context;
                    plan.ulysses = heads;
                    plan = plan_in_phase(plan, phase);
                    const auto holds = [&](const PlanRule& rule) {
                        const auto of = [&](const Job& job) { return rule.holds({plan, phase, job}); };
                        return rule.last_axis > place_of(&ParallelPlan::ulysses) || may_change(rule) ||
                               std::any_of(all.begin(), all.end(), of);
                    };
                    const std::int64_t size = static_cast<std::int64_t>(plan.tp) * plan.cp;
                    if (size <= most_gpus && std::all_of(plan_rules().begin(), plan_rules().end(), holds)) {
                        sizes.insert(static_cast<int>(size));
                    }
                }
            }
        }
    }
    return {sizes.begin(), sizes.end()};
}

ParallelPlan DesignMap::plan(std::span<const int> point) const
{
    return partial_plan(settings_, has_variants_ ? point.subspan(1) : point);
}

}  // namespace prismopt
