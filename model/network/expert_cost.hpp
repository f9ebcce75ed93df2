#pragma once

/// The routed experts of a mixture: router, way to them, their products, way back.

#include "model/network/part_times.hpp"

namespace prismopt {

/// What a backward pass computes of a product.
enum class Gradients { both, input };

class ExpertModel : private PartTimes {
public:
    using PartTimes::PartTimes;

    /// Backward (`passes` 2) has each product twice, the ways once.
    void add_experts(PassBuilder& pass, double passes, Gradients gradients = Gradients::both) const;
    /// The products that Gradients::input leaves out.
    void add_weight_gradients(PassBuilder& pass) const;

private:
    /// Tokens of one GPU in a mixture, and its experts.
    struct Routing {
        double kept;     // of the fullest GPU, against the mean
        double routed;   // leave one GPU, and on average reach it
        double fullest;  // tokens on the fullest GPU
        double local;    // experts
        double rows;     // tokens of an expert
        double inner;    // of an expert on one GPU
    };
    Routing routing() const;
    void add_expert_product(PassBuilder& pass, const Routing& r, double rows, double columns, double depth) const;
};

}  // namespace prismopt
