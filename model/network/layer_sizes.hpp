#pragma once

#include "model/network/layer_cost.hpp"
#include "model/network/workload.hpp"

namespace prismopt {

/// Sizes that all parts of a layer share, for one tensor parallel member. Counts of elements.
struct LayerSizes {
    double tokens;  // b s / cp
    double hidden;  // h
    double query;   // columns of Q on one member
    double key;     // columns of K on one member: whole heads, copied where tp exceeds their number
    double value;   // columns of V on one member
    double output;  // rows of the output projection on one member
    double inner;   // f / tp
    double tp;
    double scores;          // elements of the score matrices on one member
    double attention_work;  // FLOPs of both products on one member, forward

    double outside_split;  // members that share what is outside the products: tp with sequence parallelism
    double gate;           // columns of the first product for each of the inner activation
    double width;          // of activations, against 16 bits

    LayerSizes(const Workload& w, const LayerShape& shape);

    double columns_of(double inner_columns) const { return gate * inner_columns; }
    double activation() const { return tokens * hidden; }  // elements of one full layer input
};

}  // namespace prismopt
