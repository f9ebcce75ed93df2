#include "optimizer/design_map.hpp"

#include "io/hardware_variants.hpp"
#include "model/step/schedule.hpp"
#include "model/workload/layout.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

namespace prismopt {

namespace {

/// Axes in the order in which they are set: what rules out most comes first.
enum AxisPosition {
    gpus,
    tp,
    cp,
    pp,
    ep,
    etp,
    order,
    microbatch,
    schedule,
    v,
    group,
    split,
    recompute,
    recomputed_layers,
    sharding,
    dp_overlap,
    tp_overlap,
    context_exchange,
    offload,
    post_validation
};

template <class Enum>
Axis named_axis(std::string axis, const std::vector<Enum>& values)
{
    Axis result{std::move(axis), false, {}};
    for (const Enum value : values) {
        result.labels.emplace_back(name(value));
    }
    return result;
}

Axis number_axis(std::string axis, const std::vector<int>& values)
{
    Axis result{std::move(axis), true, {}};
    for (const int value : values) {
        result.labels.push_back(std::to_string(value));
    }
    return result;
}

std::vector<Axis> axes(const SpaceSettings& s)
{
    return {number_axis("gpus", s.gpus),
            number_axis("tp", s.tp),
            number_axis("cp", s.cp),
            number_axis("pp", s.pp),
            number_axis("ep", s.ep),
            number_axis("etp", s.etp),
            named_axis("order", s.order),
            number_axis("microbatch", s.microbatch),
            named_axis("schedule", s.schedule),
            number_axis("v", s.v),
            number_axis("group", s.group),
            named_axis("split", s.split),
            named_axis("recompute", s.recompute),
            number_axis("recomputed_layers", s.recomputed_layers),
            named_axis("sharding", s.sharding),
            named_axis("dp_overlap", s.dp_overlap),
            named_axis("tp_overlap", s.tp_overlap),
            named_axis("context_exchange", s.context_exchange),
            named_axis("offload", s.offload),
            named_axis("post_validation", s.post_validation)};
}

/// The plan as far as the point is set; the other choices keep their defaults.
ParallelPlan partial_plan(const SpaceSettings& s, std::span<const int> point)
{
    ParallelPlan plan;
    const auto set = [&](AxisPosition axis, auto& target, const auto& values) {
        if (point.size() > static_cast<std::size_t>(axis)) {
            target = values[point[axis]];
        }
    };
    set(tp, plan.tp, s.tp);
    set(cp, plan.cp, s.cp);
    set(pp, plan.pp, s.pp);
    if (point.size() > pp) {
        plan.dp = s.gpus[point[gpus]] / (plan.tp * plan.cp * plan.pp);
    }
    set(ep, plan.ep, s.ep);
    set(etp, plan.etp, s.etp);
    set(order, plan.order, s.order);
    set(microbatch, plan.microbatch, s.microbatch);
    set(schedule, plan.schedule, s.schedule);
    set(v, plan.chunks, s.v);
    if (plan.schedule == Schedule::interleaved) {
        set(group, plan.group, s.group);
    }
    set(split, plan.split, s.split);
    set(recompute, plan.recompute, s.recompute);
    set(recomputed_layers, plan.recomputed_layers, s.recomputed_layers);
    set(sharding, plan.sharding, s.sharding);
    set(dp_overlap, plan.dp_overlap, s.dp_overlap);
    set(post_validation, plan.post_validation, s.post_validation);
    set(tp_overlap, plan.tp_overlap, s.tp_overlap);
    set(context_exchange, plan.context_exchange, s.context_exchange);
    set(offload, plan.offload, s.offload);
    return plan;
}

// One rule each; the same for the space's constraints and for a single design.

bool tp_fits_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    return plan.tp <= node ? node % plan.tp == 0 : plan.tp % node == 0;
}

/// Tensor parallel GPUs hold whole attention heads, and key and value heads whole or as whole copies.
bool tp_divides_heads(const ParallelPlan& plan, const Workload& workload)
{
    return workload.heads % plan.tp == 0 && (workload.kv_heads % plan.tp == 0 || plan.tp % workload.kv_heads == 0);
}

/// Members of a tensor and a context parallel group meet in each layer: both fill nodes evenly.
bool contexts_fit_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    ParallelPlan group = plan;
    group.tp *= plan.cp;
    return tp_fits_nodes(group, cluster);
}

/// Each GPU has two parts of a sequence, for equal shares of a causal mask.
bool contexts_divide(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return plan.cp == 1 ||
           std::all_of(phases.begin(), phases.end(), [&plan](const Phase& phase) { return phase.sequence % (2 * plan.cp) == 0; });
}

/// Experts, and the GPUs of a stage, are divided whole.
bool experts_divide(const ParallelPlan& plan, const Workload& workload)
{
    return !workload.mixture() ||
           (workload.experts.count % plan.ep == 0 && plan.tp * plan.gradient_gpus() % (plan.ep * plan.etp) == 0);
}

/// Sequences that all replicas compute at once.
std::int64_t sequences_at_once(const ParallelPlan& plan) { return static_cast<std::int64_t>(plan.dp) * plan.microbatch; }

bool batch_divides(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return plan.dp > 0 && std::all_of(phases.begin(), phases.end(),
                                      [&plan](const Phase& phase) { return phase.global_batch % sequences_at_once(plan) == 0; });
}

/// Of the first phase for which the schedule is not defined.
std::optional<Infeasible> undefined_schedule(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    for (const Phase& phase : phases) {
        if (auto refusal = undefined(schedule_shape(plan, phase.global_batch))) {
            return refusal;
        }
    }
    return std::nullopt;
}

std::int64_t chunk_count(const ParallelPlan& plan) { return network_parts(plan.schedule, plan.pp, plan.chunks); }

bool chunks_have_layers(const ParallelPlan& plan, const Workload& workload)
{
    return chunk_count(plan) <= workload.layers + (plan.split == LayerSplit::slots ? 2 : 0);
}

bool one_microbatch(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return std::all_of(phases.begin(), phases.end(),
                       [&plan](const Phase& phase) { return plan.microbatches(phase.global_batch) == 1; });
}

std::vector<Constraint> constraints(const Scenario& scenario)
{
    const SpaceSettings& s = scenario.space;
    const std::vector<Phase>& phases = scenario.phases;
    const auto on_plan = [&s](std::string reason, AxisPosition last, auto rule) {
        return Constraint{std::move(reason), static_cast<std::size_t>(last) + 1,
                          [s, rule](std::span<const int> point) { return rule(partial_plan(s, point)); }};
    };
    const auto microbatch_of_one = [](ParallelPlan plan) {
        plan.microbatch = 1;
        return plan;
    };
    return {
        on_plan("tp does not fit the nodes", tp,
                [cluster = scenario.cluster](const ParallelPlan& plan) { return tp_fits_nodes(plan, cluster); }),
        on_plan("tp*cp does not fit the nodes", cp,
                [cluster = scenario.cluster](const ParallelPlan& plan) { return contexts_fit_nodes(plan, cluster); }),
        on_plan("cp does not divide the sequence", cp,
                [phases](const ParallelPlan& plan) { return contexts_divide(plan, phases); }),
        {"gpus not divisible by tp*cp*pp", pp + 1,
         [s](std::span<const int> point) {
             const std::int64_t replica = static_cast<std::int64_t>(s.tp[point[tp]]) * s.cp[point[cp]] * s.pp[point[pp]];
             return s.gpus[point[gpus]] % replica == 0;
         }},
        on_plan("global batch not divisible by dp*microbatch", pp,
                [phases, microbatch_of_one](const ParallelPlan& plan) { return batch_divides(microbatch_of_one(plan), phases); }),
        on_plan("ep does not divide the experts or the GPUs", etp,
                [workload = scenario.workload](const ParallelPlan& plan) { return experts_divide(plan, workload); }),
        // With one stage, replica, chunk or microbatch some choices name the same plan again; only the first stays.
        {"same plan under another name", order + 1,
         [s](std::span<const int> point) {
             const ParallelPlan plan = partial_plan(s, point);
             return point[order] == 0 || (plan.gradient_gpus() > 1 && plan.pp > 1);
         }},
        on_plan("global batch not divisible by dp*microbatch", microbatch,
                [phases](const ParallelPlan& plan) { return batch_divides(plan, phases); }),
        {"same plan under another name", schedule + 1,
         [s, phases](std::span<const int> point) {
             const auto chosen = s.schedule.begin() + point[schedule];
             const auto plain = [](Schedule other) { return other == Schedule::gpipe || other == Schedule::one_f_one_b; };
             return !plain(*chosen) || !one_microbatch(partial_plan(s, point), phases) ||
                    std::none_of(s.schedule.begin(), chosen, plain);
         }},
        on_plan("schedule not defined", v,
                [phases, groups = s.group](ParallelPlan plan) {
                    return std::any_of(groups.begin(), groups.end(), [&](int size) {
                        plan.group = plan.schedule == Schedule::interleaved ? size : 0;
                        return !undefined_schedule(plan, phases);
                    });
                }),
        {"same plan under another name", group + 1,
         [s](std::span<const int> point) {
             return point[group] == 0 || partial_plan(s, point).schedule == Schedule::interleaved;
         }},
        on_plan("schedule not defined", group, [phases](const ParallelPlan& plan) { return !undefined_schedule(plan, phases); }),
        {"same plan under another name", split + 1,
         [s](std::span<const int> point) {
             const ParallelPlan plan = partial_plan(s, point);
             return point[split] == 0 || plan.pp * plan.chunks > 1;
         }},
        on_plan("fewer layers than chunks", split,
                [workload = scenario.workload](const ParallelPlan& plan) { return chunks_have_layers(plan, workload); }),
        {"same plan under another name", recomputed_layers + 1,
         [s](std::span<const int> point) {
             return point[recomputed_layers] == 0 || s.recompute[point[recompute]] == Recompute::full;
         }},
        {"same plan under another name", sharding + 1,
         [s](std::span<const int> point) { return point[sharding] == 0 || partial_plan(s, point).gradient_gpus() > 1; }},
        {"same plan under another name", dp_overlap + 1,
         [s](std::span<const int> point) { return point[dp_overlap] == 0 || partial_plan(s, point).gradient_gpus() > 1; }},
        {"same plan under another name", tp_overlap + 1,
         [s](std::span<const int> point) { return point[tp_overlap] == 0 || s.tp[point[tp]] > 1; }},
        {"same plan under another name", context_exchange + 1,
         [s](std::span<const int> point) { return point[context_exchange] == 0 || s.cp[point[cp]] > 1; }},
        {"same plan under another name", post_validation + 1,
         [s](std::span<const int> point) { return point[post_validation] == 0 || partial_plan(s, point).pp > 1; }},
    };
}

/// The kinds of hardware as the first axis, in front of those of the plan, whose rules depend on the hardware.
Space space_of_hardware(const Scenario& scenario)
{
    std::vector<Axis> all = axes(scenario.space);
    all.insert(all.begin(), {"hardware", false, {}});
    std::vector<std::vector<Constraint>> rules;  // [hardware]: in the same order for each
    for (const std::vector<double>& values : scenario.hardware) {
        all.front().labels.push_back(hardware_text(scenario.knobs, values));
        Scenario variant = scenario;
        variant.cluster = hardware_at(scenario, values)->cluster;
        rules.push_back(constraints(variant));
    }
    std::vector<Constraint> joint = rules.front();
    for (std::size_t r = 0; r < joint.size(); ++r) {
        ++joint[r].depth;
        std::vector<std::function<bool(std::span<const int>)>> by_hardware;
        for (const std::vector<Constraint>& of_variant : rules) {
            by_hardware.push_back(of_variant[r].allows);
        }
        joint[r].allows = [by_hardware](std::span<const int> point) { return by_hardware[point.front()](point.subspan(1)); };
    }
    return {std::move(all), std::move(joint)};
}

int parse_number(const std::string& key, const std::string& value, int least = 1)
{
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < least) {
        throw InputError("--design: " + key + "=" + value + " is not a positive whole number; write for example " + key + "=8");
    }
    return number;
}

template <class Enum>
Enum parse_name(const std::string& key, const std::string& value)
{
    if (const auto parsed = parse<Enum>(value)) {
        return *parsed;
    }
    throw InputError("--design: " + key + "=" + value + " is unknown; choose from: " + choices<Enum>());
}

/// The only choice of an axis, or the plan's own default.
template <class T>
void take_single(T& target, const std::vector<T>& values)
{
    if (values.size() == 1) {
        target = values.front();
    }
}

}  // namespace

DesignMap::DesignMap(const Scenario& scenario)
    : choices_(scenario.space), knobs_(!scenario.knobs.empty()),
      space_(knobs_ ? space_of_hardware(scenario) : Space(axes(scenario.space), constraints(scenario)))
{
}

std::vector<int> layer_groups(const SpaceSettings& space)
{
    std::set<int> sizes;
    for (const int tensor : space.tp) {
        for (const int context : space.cp) {
            sizes.insert(tensor * context);
        }
    }
    return {sizes.begin(), sizes.end()};
}

ParallelPlan DesignMap::plan(std::span<const int> point) const
{
    return partial_plan(choices_, knobs_ ? point.subspan(1) : point);
}

ParallelPlan parse_design(const std::string& text, const Scenario& scenario)
{
    const SpaceSettings& s = scenario.space;
    int gpu_count = *std::max_element(s.gpus.begin(), s.gpus.end());
    ParallelPlan plan;
    take_single(plan.tp, s.tp);
    take_single(plan.cp, s.cp);
    take_single(plan.pp, s.pp);
    take_single(plan.ep, s.ep);
    take_single(plan.etp, s.etp);
    take_single(plan.recomputed_layers, s.recomputed_layers);
    take_single(plan.tp_overlap, s.tp_overlap);
    take_single(plan.context_exchange, s.context_exchange);
    take_single(plan.offload, s.offload);
    take_single(plan.chunks, s.v);
    take_single(plan.microbatch, s.microbatch);
    take_single(plan.schedule, s.schedule);
    take_single(plan.recompute, s.recompute);
    take_single(plan.sharding, s.sharding);
    take_single(plan.split, s.split);
    take_single(plan.dp_overlap, s.dp_overlap);
    take_single(plan.post_validation, s.post_validation);
    take_single(plan.order, s.order);
    std::istringstream words(text);
    std::set<std::string> named;
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (!named.insert(key).second) {
            throw InputError("--design: " + key + " is given twice; remove one of the two");
        }
        if (key == "gpus") {
            gpu_count = parse_number(key, value);
        } else if (key == "tp") {
            plan.tp = parse_number(key, value);
        } else if (key == "pp") {
            plan.pp = parse_number(key, value);
        } else if (key == "v") {
            plan.chunks = parse_number(key, value);
        } else if (key == "group") {
            plan.group = parse_number(key, value);
        } else if (key == "microbatch") {
            plan.microbatch = parse_number(key, value);
        } else if (key == "schedule") {
            plan.schedule = parse_name<Schedule>(key, value);
        } else if (key == "recompute") {
            plan.recompute = parse_name<Recompute>(key, value);
        } else if (key == "sharding") {
            plan.sharding = parse_name<Sharding>(key, value);
        } else if (key == "split") {
            plan.split = parse_name<LayerSplit>(key, value);
        } else if (key == "dp_overlap") {
            plan.dp_overlap = parse_name<DataParallelOverlap>(key, value);
        } else if (key == "post_validation") {
            plan.post_validation = parse_name<PostValidation>(key, value);
        } else if (key == "order") {
            plan.order = parse_name<PlacementOrder>(key, value);
        } else if (key == "cp") {
            plan.cp = parse_number(key, value);
        } else if (key == "ep") {
            plan.ep = parse_number(key, value);
        } else if (key == "etp") {
            plan.etp = parse_number(key, value);
        } else if (key == "shard_gpus") {
            plan.shard_gpus = parse_number(key, value);
        } else if (key == "recomputed_layers") {
            plan.recomputed_layers = parse_number(key, value, 0);
        } else if (key == "tp_overlap") {
            plan.tp_overlap = parse_name<TensorParallelOverlap>(key, value);
        } else if (key == "offload") {
            plan.offload = parse_name<Offload>(key, value);
        } else if (key == "context_exchange") {
            plan.context_exchange = parse_name<ContextExchange>(key, value);
        } else {
            throw InputError("--design: unknown name '" + key +
                             "'; names are gpus tp pp v group microbatch schedule recompute sharding split dp_overlap "
                             "post_validation order cp ep etp shard_gpus recomputed_layers tp_overlap context_exchange offload");
        }
    }
    if (gpu_count > scenario.cluster.gpus) {
        throw InputError("--design: gpus=" + std::to_string(gpu_count) + " is more than the cluster's " +
                         std::to_string(scenario.cluster.gpus) + "; name at most that many");
    }
    for (const auto& [key, degree] :
         {std::pair{"tp", plan.tp}, {"pp", plan.pp}, {"cp", plan.cp}, {"ep", plan.ep}, {"etp", plan.etp}}) {
        if (degree > gpu_count) {
            throw InputError("--design: " + std::string(key) + "=" + std::to_string(degree) +
                             " is more than gpus=" + std::to_string(gpu_count) + "; name at most that many");
        }
    }
    if (static_cast<std::int64_t>(plan.ep) * plan.etp > std::numeric_limits<int>::max()) {
        throw InputError("--design: ep*etp = " + std::to_string(static_cast<std::int64_t>(plan.ep) * plan.etp) +
                         " is more than gpus=" + std::to_string(gpu_count) + "; lower one of them");
    }
    const std::int64_t replica = static_cast<std::int64_t>(plan.tp) * plan.pp * plan.cp;
    if (gpu_count % replica != 0) {
        throw InputError(std::string("--design: tp*pp") + (plan.cp > 1 ? "*cp" : "") + " = " + std::to_string(replica) +
                         " does not divide gpus=" + std::to_string(gpu_count) + "; change one of them");
    }
    plan.dp = static_cast<int>(gpu_count / replica);
    if (plan.schedule == Schedule::interleaved && named.count("group") == 0) {
        take_single(plan.group, s.group);
    }
    return plan;
}

std::string design_text(const ParallelPlan& plan)
{
    std::ostringstream text;
    text << "gpus=" << plan.gpus() << " tp=" << plan.tp << " pp=" << plan.pp << " v=" << plan.chunks
         << " microbatch=" << plan.microbatch << " schedule=" << name(plan.schedule) << " recompute=" << name(plan.recompute)
         << " sharding=" << name(plan.sharding) << " split=" << name(plan.split) << " dp_overlap=" << name(plan.dp_overlap)
         << " order=" << name(plan.order);
    const auto number = [&text](const char* key, int value, int usual) {
        if (value != usual) {
            text << ' ' << key << '=' << value;
        }
    };
    number("group", plan.group, 0);
    if (plan.post_validation != PostValidation::off) {
        text << " post_validation=" << name(plan.post_validation);
    }
    number("cp", plan.cp, 1);
    number("ep", plan.ep, 1);
    number("etp", plan.etp, 1);
    number("shard_gpus", plan.shard_gpus, 0);
    number("recomputed_layers", plan.recomputed_layers, 0);
    if (plan.tp_overlap != TensorParallelOverlap::off) {
        text << " tp_overlap=" << name(plan.tp_overlap);
    }
    if (plan.offload != Offload::none) {
        text << " offload=" << name(plan.offload);
    }
    if (plan.cp > 1) {
        text << " context_exchange=" << name(plan.context_exchange);
    }
    return text.str();
}

namespace {

/// Context, expert and sharding groups that do not divide what they share.
std::optional<Infeasible> exchange_problem(const ParallelPlan& plan, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (!contexts_fit_nodes(plan, scenario.cluster)) {
        return say("tp*cp does not fit the nodes", "tp*cp=" + std::to_string(plan.tp * plan.cp) + " on nodes of " +
                                                       std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
    }
    if (!contexts_divide(plan, scenario.phases)) {
        return say("cp does not divide the sequence", "2*cp = " + std::to_string(2 * plan.cp) +
                                                          " must divide every phase's sequence_length (" +
                                                          std::to_string(scenario.phases.front().sequence) + " tokens)");
    }
    const int experts = plan.ep * plan.etp;
    if (experts > 1 && !w.mixture()) {
        return say("no experts to share", "ep*etp = " + std::to_string(experts) + " for a dense network");
    }
    if (!experts_divide(plan, w)) {
        return say("ep does not divide the experts or the GPUs",
                   "ep=" + std::to_string(plan.ep) + ", etp=" + std::to_string(plan.etp) + " for " +
                       std::to_string(w.experts.count) + " experts on tp*cp*dp = " + std::to_string(plan.tp * plan.cp * plan.dp) +
                       " GPUs of a stage");
    }
    if (plan.gradient_gpus() % plan.sharding_gpus() != 0) {
        return say("shard_gpus does not divide cp*dp",
                   "shard_gpus=" + std::to_string(plan.shard_gpus) + ", cp*dp = " + std::to_string(plan.gradient_gpus()));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (!tp_divides_heads(plan, w)) {
        return say("tp does not divide the heads", "tp=" + std::to_string(plan.tp) + ", " + std::to_string(w.heads) + " heads, " +
                                                       std::to_string(w.kv_heads) + " key and value heads");
    }
    if (!tp_fits_nodes(plan, scenario.cluster)) {
        return say("tp does not fit the nodes", "tp=" + std::to_string(plan.tp) + " on nodes of " +
                                                    std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
    }
    const Accelerator& gpu = scenario.cluster.accelerator;
    if (plan.offload != Offload::none && (gpu.host_link.si <= 0.0 || gpu.host_memory_bandwidth.si <= 0.0)) {
        return say("no host to offload to", gpu.name + " names no host_link and host_memory_bandwidth");
    }
    if (auto refusal = exchange_problem(plan, scenario)) {
        return refusal;
    }
    if (!batch_divides(plan, scenario.phases)) {
        return say("global batch not divisible by dp*microbatch", "dp*microbatch = " + std::to_string(sequences_at_once(plan)) +
                                                                      " must divide every phase's global_batch (" +
                                                                      std::to_string(scenario.phases.front().global_batch) + ")");
    }
    if (auto refusal = undefined_schedule(plan, scenario.phases)) {
        return refusal;
    }
    if (!chunks_have_layers(plan, w)) {
        return say("fewer layers than chunks",
                   "pp*v = " + std::to_string(chunk_count(plan)) + " chunks, " + std::to_string(w.layers) + " layers");
    }
    return std::nullopt;
}

}  // namespace prismopt
