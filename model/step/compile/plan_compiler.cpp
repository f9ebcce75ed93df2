#include "model/step/compile/plan_compiler.hpp"

#include "model/step/compile/balanced_layout.hpp"
#include "model/step/compile/busiest_stage.hpp"
#include "model/step/compile/graph_builder.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/placed_plan.hpp"
#include "model/step/compile/step_energy.hpp"
#include "model/step/graph/mean_step.hpp"

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace prismopt {

namespace {

CompiledProgram program_of(const ScheduleShape& shape, const ChunkOrders& orders)
{
    auto on_stages = orders_on_stages(shape, orders);
    if (auto* refusal = std::get_if<Infeasible>(&on_stages)) {
        return *refusal;
    }
    return compile_program(shape, std::get<TaskOrders>(on_stages));
}

CompiledProgram compiled_schedule(const ScheduleShape& shape, const Setting& setting, CompileFor purpose)
{
    if (setting.orders) {
        return program_of(shape, *setting.orders);
    }
    return purpose == CompileFor::bounds ? shortened_program(shape) : compiled_program(shape);
}

/// Of the durations in a graph, relative.
constexpr double single_precision = 1e-6;

std::optional<Infeasible> over_capacity(const MemoryUse& memory, LayerSplit split, const Setting& setting,
                                        Bytes capacity)
{
    const Bytes need = memory.total();
    if (need <= capacity) {
        return std::nullopt;
    }
    const MemoryLimit& limit = setting.memory_limit;
    const Bytes present = setting.cluster.accelerator.memory;
    const MemoryComponent largest = largest_component(memory);
    Infeasible why{.conflict = Conflict::stage_over_memory,
                   .facts = {{FactKey::stage, memory.stage},
                             {FactKey::need_bytes, need.si},
                             {FactKey::usable_bytes, usable_memory(limit, present).si},
                             {FactKey::component, std::string(largest.name)},
                             {FactKey::component_bytes, largest.size.si}},
                   .miss = (need - capacity).si};
    if (limit.deviation > 0.0) {
        why.facts.insert(why.facts.end(), {{FactKey::limit_bytes, capacity.si},
                                           {FactKey::fit_probability, fit_probability(limit, need, present)},
                                           {FactKey::required_probability, limit.probability}});
    }
    if (split == LayerSplit::balanced) {
        why.conflict = Conflict::fastest_split_over_memory;
    }
    return why;
}

std::optional<Infeasible> over_host(const std::vector<MemoryUse>& stages, const Accelerator& accelerator)
{
    const auto keeps_most = std::max_element(
        stages.begin(), stages.end(), [](const MemoryUse& a, const MemoryUse& b) { return a.host < b.host; });
    const double over = keeps_most->host.si - accelerator.host_memory.si;
    if (accelerator.host_memory.si <= 0.0 || over <= 0.0) {
        return std::nullopt;
    }
    return Infeasible{.conflict = Conflict::stage_over_host_memory,
                      .facts = {{FactKey::stage, keeps_most->stage},
                                {FactKey::need_bytes, keeps_most->host.si},
                                {FactKey::usable_bytes, accelerator.host_memory.si}},
                      .miss = over};
}

/// Share of a layer's activations held after the gradient of its input for that of its weights.
double held_for_weights(const LayerCost& layer)
{
    return layer.saved_bytes > 0.0 ? std::min(1.0, layer.held_bytes / layer.saved_bytes) : 1.0;
}

/// Whether the groups of all stages have equivalent places.
bool has_equal_stages(const ReplicaKind& replica)
{
    return std::all_of(replica.layers.begin(), replica.layers.end(),
                       [&](int groups) { return groups == replica.layers.front(); });
}

/// Layer costs held at once: the search of a large space asks for more than fit into memory.
constexpr std::size_t most_costs = 1 << 13;

}  // namespace

/// Costs are valid until room is made for others.
void PlanCompiler::make_room_for_costs(std::size_t count)
{
    if (costs_.size() + count > most_costs) {
        chains_.forget_passes();
        costs_.clear();
    }
}

const LayerCosts& PlanCompiler::costs(const LayerShape& shape, const NumberedPlaces& places, int groups)
{
    const std::pair key(shape, places.numbers[groups]);
    auto found = costs_.find(key);
    if (found == costs_.end()) {
        found = costs_
                    .emplace(key, layer_costs(network_, setting_.workload.precision, shape,
                                              places.groups.layers[groups], setting_.cluster))
                    .first;
    }
    return found->second;
}

PlanCompiler::StageCosts PlanCompiler::costs(const LayerShape& shape, const NumberedPlaces& places,
                                             const ReplicaKind& replica)
{
    StageCosts result;
    const std::size_t stages = has_equal_stages(replica) ? 1 : replica.layers.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
        result.push_back(&costs(shape, places, replica.layers[stage]));
    }
    return result;
}

LayerShape PlanCompiler::shape_of(const ParallelPlan& plan)
{
    LayerShape shape = layer_shape(plan, setting_.phase.sequence, setting_.phase.global_batch);
    if (setting_.phase.lengths) {
        shape.lengths = &lengths_of(plan.microbatch).mix;
    }
    return shape;
}

Joules PlanCompiler::step_energy(const ParallelPlan& plan)
{
    if (!setting_.cluster.accelerator.energy_follows_work) {
        return {};
    }
    constexpr std::size_t most_energies = 1U << 16;
    if (energies_.size() > most_energies) {
        energies_.clear();
    }
    const LayerShape shape = shape_of(plan);
    auto found = energies_.find(shape);
    if (found == energies_.end()) {
        found = energies_
                    .emplace(shape, microbatch_energy(network_, setting_.workload.precision, shape,
                                                      setting_.cluster))
                    .first;
    }
    const double members = static_cast<double>(plan.tp) * plan.cp * plan.dp;
    return plan.microbatches(setting_.phase.global_batch) * members * found->second;
}

Joules PlanCompiler::least_step_energy() const
{
    const Phase& phase = setting_.phase;
    if (!setting_.cluster.accelerator.energy_follows_work || phase.lengths) {
        return {};  // the work of samples of different lengths depends on how they are batched
    }
    return static_cast<double>(phase.global_batch) *
           least_sequence_energy(network_, setting_.workload.precision, phase.sequence,
                                 setting_.cluster.accelerator);
}

PlanCompiler::MicrobatchLengths& PlanCompiler::lengths_of(int microbatch)
{
    const auto [found, is_new] = lengths_.emplace(microbatch, MicrobatchLengths{});
    if (is_new) {
        const Phase& phase = setting_.phase;
        found->second.mix = length_mix(*phase.lengths, phase.sequence, microbatch, phase.filled);
    }
    return found->second;
}

/// Null where microbatches do not differ, or are taken at their mean.
std::shared_ptr<const LengthFactors> PlanCompiler::length_factors_of(int microbatch)
{
    const Phase& phase = setting_.phase;
    if (!phase.lengths || !setting_.noise.lengths_vary) {
        return nullptr;
    }
    MicrobatchLengths& known = lengths_of(microbatch);
    if (!known.factors) {
        const double all = model_flops_per_sequence(network_, phase.sequence);
        const double others = std::max(0.0, all - attention_flops(network_, phase.sequence));
        const SampleWork work{.of_token = others / phase.sequence,
                              .attention = [this](int tokens) { return attention_flops(network_, tokens); }};
        known.factors = std::make_shared<const LengthFactors>(
            length_factors(microbatch_work(*phase.lengths, phase.sequence, microbatch, work)));
    }
    return known.factors;
}

/// A plan that cannot be placed has groups without communication.
std::shared_ptr<const NumberedPlaces> PlanCompiler::places_for_bounds(const ParallelPlan& plan)
{
    if (plan.dp > 0 && expert_groups_divide(plan) && !placement_problem(plan, setting_.cluster)) {
        return places_.of(plan, place(plan, setting_.cluster));
    }
    GroupPlaces nowhere;
    nowhere.layers.emplace_back();
    nowhere.replicas.push_back({1, std::vector<int>(plan.pp, 0), std::vector<ReplicaKind::Link>(plan.pp)});
    return places_.numbered(std::move(nowhere));
}

PlanCompiler::Prepared PlanCompiler::prepared(const PlacedPlan& placed,
                                              std::shared_ptr<const Program> program)
{
    const ParallelPlan& plan = placed.plan;
    Prepared result{placed,
                    std::move(program),
                    shape_of(plan),
                    places_.of(plan, placed.placement),
                    {},
                    plan_of_building(plan, setting_.cluster)};
    make_room_for_costs(result.places->numbers.size());
    result.costs = costs(result.layers, *result.places, result.places->groups.replicas.front());
    return result;
}

ExecutionGraph PlanCompiler::graph_of(const Prepared& prepared, const std::vector<Chunk>& layers,
                                      CompileFor purpose)
{
    const PlacedPlan& placed = prepared.placed;
    const ParallelPlan& building = prepared.building;
    const LayerCosts& layer = *prepared.costs.front();
    const auto exchanges = building.dp == placed.plan.dp
                               ? prepared.places
                               : places_.of(building, place(building, setting_.cluster));
    const auto graph_of_kind = [&](const ReplicaKind& replica, const PlacedChunks& chunks) {
        return build_graph(placed, {replica, exchanges->groups}, prepared.program, chunks, layer,
                           network_.optimizer, setting_);
    };
    const std::vector<ReplicaKind>& replicas = prepared.places->groups.replicas;
    PlacedChunks chunks(placed.shape, layers, {prepared.costs.data(), prepared.costs.size()});
    ExecutionGraph slowest = graph_of_kind(replicas.front(), chunks);
    if (replicas.size() > 1) {
        // The slowest kind of replica sets the step; the others end earlier.
        std::vector<double> step_s{noise_free_step(slowest).step_s};
        double slowest_s = step_s.front();
        for (const ReplicaKind& replica : std::span(replicas).subspan(1)) {
            const StageCosts other_costs = costs(prepared.layers, *prepared.places, replica);
            PlacedChunks other(placed.shape, layers, {other_costs.data(), other_costs.size()});
            ExecutionGraph graph = graph_of_kind(replica, other);
            step_s.push_back(noise_free_step(graph).step_s);
            if (step_s.back() > slowest_s) {
                slowest_s = step_s.back();
                slowest = std::move(graph);
                chunks = std::move(other);
            }
        }
        for (const int kind : prepared.places->groups.kind_of_set) {
            slowest.lead_s.push_back(static_cast<float>(slowest_s - step_s[kind]));
        }
    }
    if (purpose == CompileFor::bounds) {
        add_waiting(placed, chunks, chains_, slowest);
    }
    if (purpose == CompileFor::sampling) {
        add_distributions(placed, chunks, setting_.cluster, chains_, slowest);
        add_lengths(placed, chunks, setting_.cluster, length_factors_of(placed.plan.microbatch), slowest);
    }
    return slowest;
}

std::variant<CompiledPlan, Infeasible> PlanCompiler::compile(const ParallelPlan& plan, CompileFor purpose)
{
    const auto in_phase = place_in_phase(plan, setting_.phase, setting_.cluster);
    if (const auto* refusal = std::get_if<Infeasible>(&in_phase)) {
        return *refusal;
    }
    const auto& placed = std::get<PlacedPlan>(in_phase);
    const auto compiled = compiled_schedule(placed.shape, setting_, purpose);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    const Prepared ready = prepared(placed, std::get<std::shared_ptr<const Program>>(compiled));
    const Accelerator& accelerator = setting_.cluster.accelerator;
    const MemoryModel memory{accelerator, setting_.cluster.stack, network_.optimizer, capacity_};
    auto layers =
        plan.split == LayerSplit::balanced
            ? balanced_layout(*ready.costs.front(), *ready.program, ready.building, memory, capacity_)
            : layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    if (const auto* refusal = std::get_if<Infeasible>(&layers)) {
        return *refusal;
    }
    CompiledPlan result;
    result.chunks = std::move(std::get<std::vector<Chunk>>(layers));
    const PlacedChunks chunks(placed.shape, result.chunks, {ready.costs.data(), ready.costs.size()});
    result.stages = memory_by_stage(*ready.program, chunks.made_of(), ready.building, memory, peaks_);
    result.memory = fullest(result.stages);
    result.held_for_weights = held_for_weights(ready.costs.front()->typical());
    if (auto refusal = over_capacity(result.memory, plan.split, setting_, capacity_)) {
        return *refusal;
    }
    if (auto refusal = over_host(result.stages, accelerator); refusal && std::isfinite(capacity_.si)) {
        return *refusal;
    }
    result.graph = graph_of(ready, result.chunks, purpose);
    return result;
}

ExecutionGraph PlanCompiler::graph_of(const CompiledPlan& compiled, const ParallelPlan& plan)
{
    const auto placed = std::get<PlacedPlan>(place_in_phase(plan, setting_.phase, setting_.cluster));
    return graph_of(prepared(placed, compiled.graph.program), compiled.chunks, CompileFor::noise_free_step);
}

std::shared_ptr<const Program> PlanCompiler::program(const ScheduleShape& shape) const
{
    const auto compiled = compiled_schedule(shape, setting_, CompileFor::bounds);
    const auto* found = std::get_if<std::shared_ptr<const Program>>(&compiled);
    return found == nullptr ? nullptr : *found;
}

template <class Bound>
template <class Make>
const std::optional<Bound>& PlanCompiler::LastBounds<Bound>::of(const WorkKey& key, Make&& make)
{
    auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.key == key; });
    if (found == known_.end()) {
        found = known_.begin() + static_cast<std::ptrdiff_t>(oldest_);
        oldest_ = (oldest_ + 1) % known_.size();
        *found = {key, make()};
    }
    return found->bound;
}

/// The kind of replica whose layers communicate longest, by index.
std::size_t PlanCompiler::longest_communication(const LayerShape& shape, const NumberedPlaces& places)
{
    const std::vector<ReplicaKind>& replicas = places.groups.replicas;
    if (replicas.size() == 1) {
        return 0;
    }
    make_room_for_costs(places.numbers.size());
    std::size_t longest = 0;
    double longest_s = -1.0;
    for (std::size_t kind = 0; kind < replicas.size(); ++kind) {
        double mean_s = 0.0;
        const StageCosts costs = this->costs(shape, places, replicas[kind]);
        for (const LayerCosts* of_stage : costs) {
            const LayerCost& layer = of_stage->typical();
            mean_s += layer.forward.communication_s + layer.backward.communication_s;
        }
        mean_s /= static_cast<double>(costs.size());
        if (mean_s > longest_s) {
            longest_s = mean_s;
            longest = kind;
        }
    }
    return longest;
}

std::optional<PlanCompiler::PlainPlan> PlanCompiler::plain(const ParallelPlan& plan)
{
    if (plan.split == LayerSplit::balanced || setting_.orders || setting_.cluster.nodes_listed()) {
        return std::nullopt;
    }
    PlainPlan plain{
        .plan = plan, .shape = schedule_shape(plan, setting_.phase.global_batch), .layer = {}, .places = {}};
    plain.plan.sharding = Sharding::none;
    plain.plan.shard_gpus = 0;
    plain.layer = shape_of(plain.plan);
    plain.places = places_for_bounds(plain.plan);
    const std::vector<ReplicaKind>& replicas = plain.places->groups.replicas;
    plain.kind = longest_communication(plain.layer, *plain.places);
    int all_sets = 0;
    for (const ReplicaKind& replica : replicas) {
        all_sets += replica.sets;
    }
    plain.replicas = replicas[plain.kind].sets * (plan.dp / all_sets);
    plain.groups = plain.places->of_stages[plain.kind];
    return plain;
}

/// Valid until room is made for others.
PlanCompiler::StageCosts PlanCompiler::costs_of(const PlainPlan& plain)
{
    make_room_for_costs(plain.places->numbers.size());
    return costs(plain.layer, *plain.places, plain.places->groups.replicas[plain.kind]);
}

std::optional<double> PlanCompiler::least_step(const ParallelPlan& plan)
{
    const auto plain = this->plain(plan);
    if (!plain) {
        return std::nullopt;
    }
    return least_steps_.of({plain->shape, plain->layer, plan.split, 0, plain->groups}, [&] {
        const double factor = least_factor(plan.tp * plan.cp);
        const BarrierWidths widths = inside_replica(barrier_widths(plain->plan));
        return busiest_stage_of(*plain, [&](const ChunkPass& pass) {
            return factor * chains_.mean_compute(pass, widths);
        });
    });
}

std::optional<double> PlanCompiler::least_constant_step(const ParallelPlan& plan)
{
    const auto plain = this->plain(plan);
    if (!plain) {
        return std::nullopt;
    }
    return least_constant_steps_.of({plain->shape, plain->layer, plan.split, 0, plain->groups}, [&] {
        return busiest_stage_of(*plain, [](const ChunkPass& pass) { return pass.compute_s(); });
    });
}

std::optional<LeastStep> PlanCompiler::least_step_of_groups(const ParallelPlan& plan,
                                                            std::span<const double> probabilities)
{
    const auto plain = this->plain(plan);
    if (!plain) {
        return std::nullopt;
    }
    return least_steps_of_groups_.of({plain->shape, plain->layer, plan.split, plain->replicas, plain->groups},
                                     [&] { return slowest_groups_of(*plain, probabilities); });
}

template <class Compute, class Visit>
bool PlanCompiler::for_passes(const PlainPlan& plain, Compute&& compute_s, Visit&& visit)
{
    const auto layers =
        layout(static_cast<int>(network_.layers.size()), plain.plan, setting_.workload.layouts);
    if (undefined(plain.shape) || std::holds_alternative<Infeasible>(layers)) {
        return false;
    }
    const auto& of_chunks = std::get<std::vector<Chunk>>(layers);
    const StageCosts of_stages = costs_of(plain);
    const PlacedChunks chunks(plain.shape, of_chunks, {of_stages.data(), of_stages.size()});
    const int passes = passes_of(plain.shape.schedule);
    struct PassSeconds {
        std::size_t pass;
        double compute;
        double communication;
    };
    boost::container::static_vector<PassSeconds, most_passes> seconds;
    for (int chunk = 0; chunk < chunks.count(); ++chunk) {
        const bool paired = passes > static_cast<int>(Pass::paired_backward);  // with those of another chunk
        if (chunk == 0 || paired || chunks.made_of(chunk).counted != chunks.made_of(chunk - 1).counted) {
            seconds.clear();
            chunks.with_passes(
                chunk, passes, [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
                    for (std::size_t i = 0; i < kinds.size(); ++i) {
                        seconds.push_back({static_cast<std::size_t>(kinds[i]), compute_s(costs_of[i]),
                                           costs_of[i].communication_s()});
                    }
                });
        }
        for (const PassSeconds& of : seconds) {
            visit(static_cast<std::size_t>(chunk) * passes + of.pass, of.compute, of.communication);
        }
    }
    return true;
}

/// Nothing if the schedule is not defined, or if the layers do not fill the chunks.
template <class Compute>
std::optional<double> PlanCompiler::busiest_stage_of(const PlainPlan& plain, Compute&& compute_s)
{
    const ScheduleShape& shape = plain.shape;
    std::vector<double> seconds(static_cast<std::size_t>(shape.stages) * shape.chunks *
                                passes_of(shape.schedule));
    const bool known =
        for_passes(plain, compute_s, [&](std::size_t place, double in_compute, double in_communication) {
            seconds[place] = in_compute + in_communication;
        });
    return known ? std::optional(busiest_stage(shape, seconds) * (1.0 - single_precision)) : std::nullopt;
}

/// Sharding and its overlap do not change the kernels of layers, so groups have
/// this factor with every sharding.
std::optional<LeastStep> PlanCompiler::slowest_groups_of(const PlainPlan& plain,
                                                         std::span<const double> probabilities)
{
    const ScheduleShape& shape = plain.shape;
    const BarrierWidths widths = barrier_widths(plain.plan);
    const GroupFactor& group =
        group_of(plain.plan.tp * plain.plan.cp,
                 segment_cv(costs_of(plain).front()->typical(), setting_.noise.residual, widths));
    if (group.constant()) {
        return std::nullopt;
    }
    std::vector<double> compute(static_cast<std::size_t>(shape.stages) * shape.chunks *
                                passes_of(shape.schedule));
    std::vector<double> communication(compute.size());
    const bool known = for_passes(
        plain, [&](const ChunkPass& pass) { return chains_.mean_compute(pass, inside_replica(widths)); },
        [&](std::size_t place, double in_compute, double in_communication) {
            compute[place] = in_compute;
            communication[place] = in_communication;
        });
    const auto paths =
        known ? busy_stage_paths(shape, compute, communication, group.mean()) : std::vector<StagePath>{};
    if (paths.empty()) {
        return std::nullopt;
    }
    LeastStep least = slowest_group_bounds(group, paths, plain.replicas, probabilities);
    least.mean_s *= 1.0 - single_precision;
    for (double& quantile_s : least.quantiles_s) {
        quantile_s *= 1.0 - single_precision;
    }
    return least;
}

const GroupFactor& PlanCompiler::group_of(int degree, double segment_cv)
{
    constexpr std::size_t most_groups = 4096;  // of 16 kB
    const std::pair key(degree, segment_cv);
    auto found = groups_.find(key);
    if (found == groups_.end()) {
        if (groups_.size() == most_groups) {
            groups_.clear();
        }
        found = groups_.emplace(key, GroupFactor(setting_.noise.group_factor(degree, segment_cv))).first;
    }
    return found->second;
}

std::optional<double> PlanCompiler::least_memory(const ParallelPlan& plan)
{
    if (plan.split == LayerSplit::balanced || setting_.orders) {
        return std::nullopt;
    }
    const ScheduleShape shape = schedule_shape(plan, setting_.phase.global_batch);
    const auto layers = layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    const auto* of_chunks = std::get_if<std::vector<Chunk>>(&layers);
    if (of_chunks == nullptr) {
        return std::nullopt;
    }
    const auto places = places_for_bounds(plan);
    make_room_for_costs(1);
    const LayerCosts& layer = costs(shape_of(plan), *places, 0);
    const ParallelPlan building = plan_of_building(plan, setting_.cluster);
    const MemoryModel memory{setting_.cluster.accelerator, setting_.cluster.stack, network_.optimizer,
                             capacity_};
    const auto of_stage = [&](int stage) {
        return least_memory_of(stage, shape, *of_chunks, layer, building, memory);
    };
    return std::max(of_stage(0), of_stage(shape.stages - 1)).si;
}

/// The least mean factor of a group of so many GPUs, whatever its work between two barriers.
double PlanCompiler::least_factor(int degree)
{
    const auto [found, is_new] = least_factors_.emplace(degree, 0.0);
    if (is_new) {
        found->second = std::numeric_limits<double>::infinity();
        for (const QuantileTable& table : setting_.noise.group.at(degree)) {
            found->second = std::min(found->second, table.mean());
        }
    }
    return found->second;
}

}  // namespace prismopt
