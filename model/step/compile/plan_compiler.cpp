#include "model/step/compile/plan_compiler.hpp"

#include "model/step/compile/balanced_layout.hpp"
#include "model/step/compile/busiest_stage.hpp"
#include "model/step/compile/graph_builder.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/placed_plan.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace prismopt {

namespace {

CompiledProgram program_of(const ScheduleShape& shape, const PartOrders& orders)
{
    auto on_stages = orders_on_stages(shape, orders);
    if (auto* refusal = std::get_if<Infeasible>(&on_stages)) {
        return *refusal;
    }
    return compile_program(shape, std::get<TaskOrders>(on_stages));
}

CompiledProgram compiled_schedule(const ScheduleShape& shape, const Setting& setting)
{
    return setting.orders ? program_of(shape, *setting.orders) : compiled_program(shape);
}

Bytes capacity_of(const Setting& setting) { return setting.cluster.accelerator.memory * (1.0 - setting.memory_headroom); }

std::optional<Infeasible> over_capacity(const MemoryUse& memory, LayerSplit split, const Setting& setting)
{
    const double capacity = capacity_of(setting).si;
    const double need = memory.total().si;
    if (need <= capacity) {
        return std::nullopt;
    }
    const int places = need - capacity < 0.1e9 ? 4 : 1;  // the two differ
    char text[160];
    std::snprintf(text, sizeof text, "stage %d needs %.*f GB%s, but %.*f GB are usable; use more pp or tp, or recompute",
                  memory.stage, places, need / 1e9,
                  split == LayerSplit::balanced ? " in the fastest split, and no split fits" : "", places, capacity / 1e9);
    return Infeasible{Reason::out_of_memory, text, need - capacity};
}

/// Share of a layer's activations held after the gradient of its input for that of its weights.
double held_for_weights(const PartCost& layer)
{
    return layer.saved_bytes > 0.0 ? std::min(1.0, layer.held_bytes / layer.saved_bytes) : 1.0;
}

}  // namespace

const LayerCosts& PlanCompiler::costs(const LayerShape& shape)
{
    auto found = costs_.find(shape);
    if (found == costs_.end()) {
        found = costs_.emplace(shape, layer_costs(network_, setting_.workload.precision, shape, setting_.cluster)).first;
    }
    return found->second;
}

std::variant<CompiledPlan, Infeasible> PlanCompiler::compile(const ParallelPlan& plan, CompileFor purpose)
{
    const auto in_phase = place_in_phase(plan, setting_.phase, setting_.cluster);
    if (const auto* refusal = std::get_if<Infeasible>(&in_phase)) {
        return *refusal;
    }
    const auto& placed = std::get<PlacedPlan>(in_phase);
    const auto compiled = compiled_schedule(placed.shape, setting_);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    const auto& program = std::get<std::shared_ptr<const Program>>(compiled);
    const LayerCosts& layer = costs(layer_shape(plan, setting_.phase.sequence, setting_.phase.global_batch));
    const Accelerator& accelerator = setting_.cluster.accelerator;
    const OptimizerSettings& optimizer = network_.optimizer;
    const ParallelPlan building = plan_of_building(plan, setting_.cluster);
    auto layers = plan.split == LayerSplit::balanced
                      ? balanced_layout(layer, *program, building, accelerator, optimizer, capacity_of(setting_))
                      : layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    if (const auto* refusal = std::get_if<Infeasible>(&layers)) {
        return *refusal;
    }
    CompiledPlan result;
    result.chunks = std::move(std::get<std::vector<Chunk>>(layers));
    const PlacedChunks chunks(placed.shape, result.chunks, layer);
    result.stages = memory_by_stage(*program, chunks.made_of(), building, accelerator, optimizer, peaks_);
    result.memory = fullest(result.stages);
    result.held_for_weights = held_for_weights(layer.typical());
    if (auto refusal = over_capacity(result.memory, plan.split, setting_)) {
        return *refusal;
    }
    result.graph = build_graph(placed, program, chunks, layer, optimizer, setting_);
    if (purpose == CompileFor::bounds) {
        add_waiting(placed, chunks, chains_, result.graph);
    }
    if (purpose == CompileFor::sampling) {
        add_distributions(placed, chunks, setting_.cluster, chains_, result.graph);
    }
    return result;
}

std::shared_ptr<const Program> PlanCompiler::program(const ScheduleShape& shape) const
{
    const auto compiled = compiled_schedule(shape, setting_);
    const auto* found = std::get_if<std::shared_ptr<const Program>>(&compiled);
    return found == nullptr ? nullptr : *found;
}

std::optional<double> PlanCompiler::least_step(const ParallelPlan& plan)
{
    if (plan.split == LayerSplit::balanced || setting_.orders || setting_.cluster.nodes_listed()) {
        return std::nullopt;
    }
    ParallelPlan plain = plan;
    plain.sharding = Sharding::none;
    const ScheduleShape shape = schedule_shape(plan, setting_.phase.global_batch);
    const LayerShape layer = layer_shape(plain, setting_.phase.sequence, setting_.phase.global_batch);
    const auto same = [&](const LeastStep& known) {
        return known.schedule == shape && known.layer == layer && known.split == plan.split;
    };
    auto found = std::find_if(least_steps_.begin(), least_steps_.end(), same);
    if (found == least_steps_.end()) {
        found = least_steps_.begin() + static_cast<std::ptrdiff_t>(oldest_);
        oldest_ = (oldest_ + 1) % least_steps_.size();
        *found = {shape, layer, plan.split, busiest_stage_of(plain, shape, layer)};
    }
    return found->seconds;
}

/// Of a plan without sharding. Nothing if its schedule is not defined, or if its layers do not fill the chunks.
std::optional<double> PlanCompiler::busiest_stage_of(const ParallelPlan& plan, const ScheduleShape& shape,
                                                     const LayerShape& layer)
{
    const auto layers = layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    if (undefined(shape) || std::holds_alternative<Infeasible>(layers)) {
        return std::nullopt;
    }
    const auto& of_chunks = std::get<std::vector<Chunk>>(layers);
    const PlacedChunks chunks(shape, of_chunks, costs(layer));
    const double factor = least_factor(plan.tp * plan.cp);
    const BarrierWidths widths = inside_replica(barrier_widths(plan));
    const int passes = passes_of(shape.schedule);
    std::vector<double> seconds(static_cast<std::size_t>(chunks.count()) * passes);
    for (int chunk = 0; chunk < chunks.count(); ++chunk) {
        chunks.with_passes(chunk, passes, [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                seconds[static_cast<std::size_t>(chunk) * passes + static_cast<std::size_t>(kinds[i])] =
                    factor * chains_.mean_compute(costs_of[i], widths) + costs_of[i].communication_s();
            }
        });
    }
    constexpr double single_precision = 1e-6;  // of the durations in a graph
    return busiest_stage(shape, seconds) * (1.0 - single_precision);
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
