#pragma once

/// Networks: a sequence of kinds of layers, each a list of operators. docs/methods/network-model.md.

#include "model/network/blocks.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// One kind of layer.
struct LayerKind {
    std::string name;
    double width = 0.0;  // columns of its input, which is saved under full recompute and sent between stages
    std::vector<Operator> operators;
    double tokens = 1.0;   // per token of the phase's sequence
    bool backward = true;  // has a backward pass: it, or something before it, is trained
};

/// A network.
struct Network {
    std::vector<LayerKind> kinds;
    std::vector<int> layers;  // [layer]: index in kinds
    LayerKind embedding;
    LayerKind head;
    OptimizerSettings optimizer;
    ActivationStorage activation_storage = ActivationStorage::bf16;
    LossKernel loss = LossKernel::of_stack;
    bool wide_stream = false;

    /// Calls visit(kind, count) for the embedding, each kind of layer, and the head.
    template <class Visit>
    void for_kinds(Visit&& visit) const
    {
        visit(embedding, 1);
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            visit(kinds[k], static_cast<int>(std::count(layers.begin(), layers.end(), static_cast<int>(k))));
        }
        visit(head, 1);
    }
};

/// Returns the network of a workload.
Network network_of(const Workload& workload);
/// What WideLayers::blocks may name beside kinds of blocks: the prediction modules with all their blocks.
inline constexpr std::string_view prediction_modules = "predictions";
/// Returns all that WideLayers::blocks may name.
std::vector<std::string> wide_block_names();
/// Returns whether some product of the layers has the precision of the workload, which
/// Workload::wide does not keep in 16 bits.
bool has_narrow_products(const Network& network);
/// Returns one kind of layer of a workload.
LayerKind layer_kind(const LayerDescription& description, const Workload& workload);

/// Returns the parameters of one kind of layer on one GPU.
Parameters parameters_of(const LayerKind& kind, const LayerShape& shape);
/// Returns the number of parameters of the whole network; a matrix shared by two operators counts once.
double parameters_of(const Network& network);
/// Returns the parameters that one token uses: all but the routed experts that it is not sent to and the rows
/// of tables that it does not look up.
double active_parameters_of(const Network& network);
/// Returns the parameters that training changes.
double trained_parameters_of(const Network& network);
/// Returns the floating-point operations needed mathematically for one sequence, forward and backward,
/// without recompute and elementwise operators. `lengths`: of the samples whose tokens are trained on;
/// null: one that fills the sequence.
double model_flops_per_sequence(const Network& network, int sequence, const LengthMix* lengths = nullptr);
/// Returns the floating-point operations of attention kernels, forward and backward,
/// for one sample of so many tokens.
double attention_flops(const Network& network, int tokens);

}  // namespace prismopt
