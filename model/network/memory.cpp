#include "model/network/memory.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

namespace {

constexpr double parameter_bytes = 2.0;
constexpr double gradient_bytes = 4.0;
constexpr double optimizer_bytes = 12.0;

/// Numbers that one GPU holds of a state that the plan's sharding level divides, or not.
class ShareOfStates {
public:
    explicit ShareOfStates(const ParallelPlan& plan)
        : level_(plan.sharding), dense_(plan.sharding_gpus()),
          expert_(std::max(1, plan.tp * plan.gradient_gpus() / (plan.ep * plan.etp)))
    {
    }
    /// `from`: the lowest level that divides the state; `whole`: what is held undivided beside it.
    double of(const ChunkParameters& own, Sharding from, double whole) const
    {
        return level_ < from ? own.all : std::min(own.all, own.dense() / dense_ + own.expert / expert_ + whole);
    }

private:
    Sharding level_;
    double dense_;
    double expert_;
};

/// What a microbatch leaves in memory on its way through a chunk.
struct Kept {
    double saved = 0.0;  // from forward to the gradient of the input
    double held = 0.0;   // from there to the gradient of the weights, where that comes later
};

/// Largest sum of what is kept over the schedule, by stage. `kept`: [stage * v + chunk].
std::vector<double> peak_activations(const Program& program, const std::vector<Kept>& kept)
{
    std::vector<double> held(program.shape.stages, 0.0);
    std::vector<double> peak(program.shape.stages, 0.0);
    for (const ProgramOp& op : program.ops) {
        const Kept& own = kept[op.stage * program.shape.chunks + op.chunk];
        if (is_forward(op.pass)) {
            held[op.stage] += own.saved;
        } else if (op.pass == Pass::input_gradient) {
            held[op.stage] += own.held - own.saved;
        } else {
            held[op.stage] -= op.pass == Pass::weight_gradient ? own.held : own.saved;
        }
        peak[op.stage] = std::max(peak[op.stage], held[op.stage]);
    }
    return peak;
}

}  // namespace

ChunkParameters chunk_parameters(const Chunk& chunk, const LayerCosts& costs)
{
    return {chunk.layers * costs.layer.parameters + (chunk.embedding ? costs.embedding.parameters : 0.0) +
                (chunk.head ? costs.head.parameters : 0.0) - (chunk.embedding && chunk.head ? costs.shared_parameters : 0.0),
            chunk.layers * costs.layer.expert_parameters};
}

MemoryUse memory_use(const Program& program, std::span<const Chunk> chunks, const LayerCosts& costs, const ParallelPlan& plan,
                     const Accelerator& accelerator)
{
    std::vector<ChunkParameters> parameters(plan.pp);
    std::vector<double> workspace(plan.pp, 0.0);
    std::vector<Kept> kept;
    for (int part = 0; part < plan.pp * plan.chunks; ++part) {
        const int stage = part / plan.chunks;
        const Chunk& chunk = chunks[part_of_network(program.shape, {stage, part % plan.chunks})];
        const ChunkParameters own = chunk_parameters(chunk, costs);
        parameters[stage].all += own.all;
        parameters[stage].expert += own.expert;
        const auto sum = [&chunk, &costs](double PartCost::*bytes) {
            return chunk.layers * costs.layer.*bytes + (chunk.embedding ? costs.embedding.*bytes : 0.0) +
                   (chunk.head ? costs.head.*bytes : 0.0);
        };
        kept.push_back({sum(&PartCost::saved_bytes), sum(&PartCost::held_bytes)});
        workspace[stage] = std::max({workspace[stage], chunk.layers > 0 ? costs.layer.workspace_bytes : 0.0,
                                     chunk.head ? costs.head.workspace_bytes : 0.0});
    }
    const std::vector<double> activations = peak_activations(program, kept);
    const ShareOfStates share(plan);
    MemoryUse fullest;
    for (int stage = 0; stage < plan.pp; ++stage) {
        const ChunkParameters& own = parameters[stage];
        const double working = 2.0 * std::max(costs.layer.parameters, costs.head.parameters);  // gathered: one and the next
        const MemoryUse use{Bytes{parameter_bytes * share.of(own, Sharding::zero3, working)},
                            Bytes{gradient_bytes * share.of(own, Sharding::zero2, 0.0)},
                            Bytes{plan.offload == Offload::optimizer ? 0.0
                                                                     : optimizer_bytes * share.of(own, Sharding::zero1, 0.0)},
                            Bytes{activations[stage]},
                            Bytes{workspace[stage]},
                            accelerator.memory_reserved,
                            stage};
        if (stage == 0 || use.total() > fullest.total()) {
            fullest = use;
        }
    }
    return fullest;
}

}  // namespace prismopt
