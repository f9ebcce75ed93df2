#pragma once

/// What is trained: a sequence of kinds of layers, each a list of operators.

#include "model/network/blocks.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct LayerKind {
    std::string name;
    double width = 0.0;  // columns of its input, which is kept under full recompute and sent between stages
    std::vector<Operator> operators;
    double tokens = 1.0;   // for each of the phase's sequence
    bool backward = true;  // whether something before it, or in it, is trained
};

struct Network {
    std::vector<LayerKind> kinds;
    std::vector<int> layers;  // [layer]: its kind
    LayerKind embedding;
    LayerKind head;
    OptimizerSettings optimizer;

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

Network network_of(const Workload& workload);
/// What a kind of layer is made of, in a network of that description.
LayerKind layer_kind(const LayerDescription& description, const Workload& workload);

/// Of one kind of layer on one GPU.
Parameters parameters_of(const LayerKind& kind, const LayerShape& shape);
/// Parameters of the whole network, in numbers; a matrix that two operators share counts once.
double parameters_of(const Network& network);
/// Floating-point operations that the mathematics needs for one sequence, forward and backward, without recompute. Elementwise
/// operators count nothing.
double model_flops_per_sequence(const Network& network, int sequence);

}  // namespace prismopt
