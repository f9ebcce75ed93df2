#include "model/step/compile/plan_compiler.hpp"

#include "model/step/compile/balanced_layout.hpp"
#include "model/step/compile/graph_builder.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/placed_plan.hpp"

#include <algorithm>
#include <cstdio>

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

const LayerCosts& PlanCompiler::costs(const ParallelPlan& plan)
{
    const LayerShape shape = layer_shape(plan, setting_.phase.sequence, setting_.phase.global_batch);
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
    const auto compiled = setting_.orders ? program_of(placed.shape, *setting_.orders) : compiled_program(placed.shape);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    const auto& program = std::get<std::shared_ptr<const Program>>(compiled);
    const LayerCosts& layer = costs(plan);
    const Accelerator& accelerator = setting_.cluster.accelerator;
    const OptimizerSettings& optimizer = network_.optimizer;
    auto layers = plan.split == LayerSplit::balanced
                      ? balanced_layout(layer, *program, plan, accelerator, optimizer, capacity_of(setting_))
                      : layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    if (const auto* refusal = std::get_if<Infeasible>(&layers)) {
        return *refusal;
    }
    CompiledPlan result;
    result.chunks = std::move(std::get<std::vector<Chunk>>(layers));
    const PlacedChunks chunks(placed.shape, result.chunks, layer);
    result.stages = memory_by_stage(*program, chunks.made_of(), plan, accelerator, optimizer, peaks_);
    result.memory = fullest(result.stages);
    result.held_for_weights = held_for_weights(layer.typical());
    if (auto refusal = over_capacity(result.memory, plan.split, setting_)) {
        return *refusal;
    }
    result.graph = build_graph(placed, program, chunks, layer, optimizer, setting_);
    if (purpose == CompileFor::sampling) {
        add_distributions(placed, chunks, setting_.cluster, chains_, result.graph);
    }
    return result;
}

}  // namespace prismopt
