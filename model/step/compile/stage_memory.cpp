#include "model/step/compile/stage_memory.hpp"

#include "model/step/compile/outer_exchange.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

namespace {

/// Numbers that one GPU holds of a state that the plan's sharding level divides, or not.
class ShareOfStates {
public:
    explicit ShareOfStates(const ParallelPlan& plan)
        : level_(plan.sharding), dense_(plan.sharding_gpus()),
          expert_(std::max(1, plan.tp * plan.gradient_gpus() / (plan.ep * plan.etp)))
    {
    }
    /// `from`: the lowest level that divides the state; `whole`: what is held undivided beside it.
    double of(const Parameters& own, Sharding from, double whole) const
    {
        return level_ < from ? own.all : std::min(own.all, divided(own) + whole);
    }
    double divided(const Parameters& own) const { return own.dense() / dense_ + own.expert / expert_; }

private:
    Sharding level_;
    double dense_;
    double expert_;
};

/// Of a parameter of a stage, in the mean.
double state_bytes(const OptimizerSettings& optimizer, const Parameters& own)
{
    if (own.all == 0.0) {
        return optimizer.state_bytes(false);
    }
    const double ends = own.ends / own.all;
    const double projected = optimizer.projected_bytes() * own.projected / own.all;
    return (1.0 - ends) * optimizer.state_bytes(true) + ends * optimizer.state_bytes(false) + projected;
}

/// Per parameter, in the mean.
double stored_bytes(const OptimizerSettings& optimizer, const Parameters& own)
{
    const double bytes = optimizer.parameter_bytes() - (own.all > 0.0 ? own.saved_bytes / own.all : 0.0);
    const bool of_their_own = optimizer.product_bytes > 0.0 && own.all > 0.0;
    return of_their_own ? bytes + (optimizer.product_bytes - bytes) * own.products / own.all : bytes;
}

bool is_end(const LayerCost& layer_cost) { return layer_cost.parameters.ends > 0.0; }

double stored_numbers(const LayerCost& layer_cost)
{
    return layer_cost.parameters.all - layer_cost.parameters.rows;
}

/// Bytes of a part's gradients on their way to a reduction: as computed, and in the type of messages
/// (PyTorch, FSDP2, _fsdp_collectives.py, foreach_reduce: gradients are copied to the input of the
/// reduce-scatter, in the type of the reduction).
double reduced_bytes(const LayerCost& layer_cost, const MemoryCase& of)
{
    if (!of.model.stack.holds.layer_gradients || !shards_gradients(of.plan.sharding)) {
        return 0.0;
    }
    const OptimizerSettings& optimizer = of.model.optimizer;
    return (optimizer.parameter_bytes() + optimizer.message_bytes(of.model.stack.gradient_bytes)) *
           layer_cost.parameters.trained().all;
}

/// Whether accumulated gradients are whole between microbatches.
bool whole_gradients(const MemoryCase& of)
{
    if (!shards_gradients(of.plan.sharding) || of.microbatches == 1) {
        return false;
    }
    switch (of.model.stack.holds.whole_gradients) {
        case WholeGradients::never: return false;
        case WholeGradients::pipelines: return of.plan.pp > 1;
        case WholeGradients::accumulation: break;
    }
    return true;
}

/// A moment of a step, whose peak a stage may have.
struct Moment {
    double parameters = 0.0;
    double gradients = 0.0;
    double activations = 0.0;
    double workspace = 0.0;
    double cached = 0.0;  // freed blocks, beside the sum

    double sum() const { return parameters + gradients + activations + workspace; }
};

/// States, gradients and parameters that a stage holds throughout, in bytes.
struct Held {
    double parameters = 0.0;  // between passes
    double in_passes = 0.0;   // with those that are whole for a pass
    double gradients = 0.0;   // of a step, all computed
    double states = 0.0;
};

/// From the first forward pass to the last backward pass: most is saved, and gradients are
/// those of earlier microbatches.
Moment passes(const Held& held, double activations, double workspace, double cached,
              const Parameters& trained, const MemoryCase& of)
{
    Moment result{held.in_passes, 0.0, activations, workspace, cached};
    if (whole_gradients(of)) {
        result.gradients = of.model.optimizer.message_bytes(of.model.stack.gradient_bytes) * trained.all;
    } else if (of.model.stack.holds.gradient_buffers || of.microbatches > 1) {
        result.gradients = held.gradients;
    }
    return result;
}

/// Parameters and states that are on the host, and what stays on the accelerator.
MemoryUse placed(const Moment& moment, const Held& held, int stage, const MemoryCase& of)
{
    MemoryUse use;
    use.stage = stage;
    use.parameters = Bytes{moment.parameters};
    use.gradients = Bytes{moment.gradients};
    use.activations = Bytes{moment.activations};
    use.workspace = Bytes{moment.workspace};
    const bool states_leave = updates_on_host(of.plan.offload);
    use.optimizer_state = Bytes{states_leave ? 0.0 : held.states};
    switch (of.plan.offload) {
        case Offload::optimizer: use.host = Bytes{held.states}; break;
        case Offload::parameters: use.host = Bytes{held.parameters + held.gradients + held.states}; break;
        case Offload::none:
        case Offload::activations:
        case Offload::nvme: break;
    }
    const Bytes allocated = use.total();
    use.reserved = of.model.accelerator.memory_reserved + of.model.stack.holds.fragmentation * allocated;
    use.cached = of.model.stack.holds.cached * allocated + Bytes{moment.cached};
    if (of.model.optimizer.paged && !states_leave) {
        // Pages leave once the accelerator is full (bitsandbytes, docs/source/explanations/optimizers.mdx),
        // so that the error of a prediction is not held against states that may leave.
        const Bytes full = std::min(of.model.capacity, of.model.accelerator.memory);
        const Bytes moved = std::clamp(use.total() - full, Bytes{0.0}, use.optimizer_state);
        use.optimizer_state = use.optimizer_state - moved;
        use.host = use.host + moved;
    }
    return use;
}

}  // namespace

void StageContents::add(const ChunkContents& chunk)
{
    parameters_ += chunk.parameters();
    for (const ChunkContents::CountedLayer& one : chunk.counted) {
        layer_costs_.push_back(one.cost);
    }
}

/// Embedding and head are gathered beside a layer, never together.
double StageContents::gathered() const
{
    double layer = 0.0;
    double end = 0.0;
    for (const LayerCost* layer_cost : layer_costs_) {
        double& largest = is_end(*layer_cost) ? end : layer;
        largest = std::max(largest, stored_numbers(*layer_cost));
    }
    return layer + std::max(layer, end);
}

MemoryUse StageContents::peak(int stage, double activations, const MemoryCase& of) const
{
    const MemoryRules& rules = of.model.stack.holds;
    const OptimizerSettings& optimizer = of.model.optimizer;
    const ShareOfStates share(of.plan);
    Parameters own = parameters_;
    own.all -= std::exchange(own.rows, 0.0);
    const Parameters trained = own.trained();

    double workspace = 0.0;
    double last_layer = 0.0;  // saved by it, and temporaries of its backward pass
    double cached = 0.0;
    double dummies = 0.0;
    double largest_trained = 0.0;
    for (const LayerCost* layer_cost : layer_costs_) {
        const double reduced = reduced_bytes(*layer_cost, of);
        // The gradients of the head come when the tensors of the loss are gone.
        const double needed = is_end(*layer_cost) ? std::max(layer_cost->workspace_bytes, reduced)
                                                  : layer_cost->workspace_bytes + reduced;
        workspace = std::max(workspace, needed);
        last_layer = std::max(last_layer, is_end(*layer_cost) ? reduced : layer_cost->saved_bytes + needed);
        cached = std::max(cached, layer_cost->cached_bytes);
        dummies = std::max(dummies, is_end(*layer_cost) ? 0.0 : layer_cost->dummy_bytes);
        largest_trained = std::max(largest_trained, layer_cost->parameters.trained().all);
    }

    // Of divided parameters with a master copy the 16-bit ones need not be stored.
    const bool only_masters =
        rules.only_masters && optimizer.master_bytes() > 0.0 && shards_gradients(of.plan.sharding);
    const double cast = only_masters ? optimizer.parameter_bytes() * share.divided(trained) : 0.0;
    const bool on_host = of.plan.offload == Offload::parameters;
    const double stored = stored_bytes(optimizer, own);
    const double outer = of.plan.local_steps > 1 ? outer_state_bytes : 0.0;
    Held held;
    held.parameters = stored * share.of(own, only_masters ? Sharding::zero2 : Sharding::zero3, 0.0) - cast;
    held.in_passes = stored * share.of(own, Sharding::zero3, gathered()) -
                     (of.plan.sharding == Sharding::zero3 ? cast : 0.0);
    held.gradients = optimizer.gradient_bytes() * share.of(trained, Sharding::zero2, 0.0);
    held.states = (state_bytes(optimizer, trained) + outer) * share.of(trained, Sharding::zero1, 0.0);
    if (optimizer.in_backward) {
        held.gradients = optimizer.gradient_bytes() * std::min(trained.all, largest_trained);
    }

    Moment most = passes(held, activations, workspace + dummies, cached, trained, of);
    if (!rules.gradient_buffers) {
        // The backward pass of the first layer: gradients of all others are there.
        const Moment last{held.in_passes, held.gradients, 0.0, last_layer, 0.0};
        if (last.sum() > most.sum()) {
            most = last;
        }
    }
    const bool updates_here = !updates_on_host(of.plan.offload);
    const double temporary = updates_here ? rules.update_copies * optimizer.temporary_bytes() *
                                                share.of(trained, Sharding::zero1, 0.0)
                                          : 0.0;
    const Moment update{held.parameters, held.gradients, 0.0, temporary, 0.0};
    if (update.sum() > most.sum()) {
        most = update;
    }

    if (on_host) {
        most.parameters = std::min(most.parameters, stored * gathered());
        most.gradients = 0.0;
    }
    most.parameters += parameters_.row_bytes;
    return placed(most, held, stage, of);
}

}  // namespace prismopt
