#include "model/network/vocabulary_cost.hpp"

#include <cmath>

namespace prismopt {

namespace {

// Share of the loss's traffic that comes in the forward pass; of Megatron-LM's unfused loss 38 of 52 bytes a logit.
constexpr double loss_forward = 0.6;
// A tensor parallel member holds a multiple of this of the vocabulary (Megatron-LM, --make-vocab-size-divisible-by).
constexpr double vocabulary_step = 128.0;

}  // namespace

PartCost VocabularyModel::embedding() const
{
    PartCost part;
    part.parameters = static_cast<double>(workload.vocabulary) * workload.hidden / size.tp;
    part.forward = pass().kernel(KernelClass::elementwise, elementwise(4.0 * size.activation())).collective(reduce()).done();
    part.backward = pass()
                        .collective(shape.sequence_parallel ? gather() : Seconds{0.0})
                        .kernel(KernelClass::elementwise, elementwise(8.0 * size.activation()))
                        .done();
    part.input_gradient = part.backward;  // frameworks do not put the embedding's gradient off
    pair(part);
    part.saved_bytes = dropout(1.0) * size.activation() / size.outside_split;
    return part;
}

PartCost VocabularyModel::head() const
{
    PartCost part;
    const double columns =
        size.tp > 1.0 ? vocabulary_step * std::ceil(workload.vocabulary / (vocabulary_step * size.tp)) : workload.vocabulary;
    const double logits = size.tokens * columns;
    const double traffic = cluster.stack.loss_traffic * logits;
    const Seconds product = wide_product(size.tokens, columns, size.hidden);
    const Seconds input_gradient = wide_product(size.tokens, size.hidden, columns);
    const Seconds weight_gradient = wide_product(size.hidden, columns, size.tokens);
    part.parameters = static_cast<double>(workload.vocabulary) * workload.hidden / size.tp;
    const Sharded sharded = sharded_messages(part.parameters);
    part.forward = pass()
                       .kernel(KernelClass::elementwise, outside(norm_traffic))
                       .collective(shape.sequence_parallel ? gather() : Seconds{0.0})
                       .kernel(KernelClass::gemm, product)
                       .kernel(KernelClass::elementwise, elementwise(loss_forward * traffic))
                       .wait_for_host()
                       .beside_all(sharded.forward, sharded.hidden)
                       .done();
    part.backward = pass()
                        .kernel(KernelClass::elementwise, elementwise((1.0 - loss_forward) * traffic))
                        .kernel(KernelClass::gemm, input_gradient)
                        .hidden_collective(reduce(), weight_gradient)
                        .kernel(KernelClass::gemm, weight_gradient)
                        .kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic))
                        .wait_for_host()
                        .beside_all(sharded.backward, sharded.hidden)
                        .done();
    part.input_gradient = pass()
                              .kernel(KernelClass::elementwise, elementwise((1.0 - loss_forward) * traffic))
                              .kernel(KernelClass::gemm, input_gradient)
                              .collective(reduce())
                              .kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic))
                              .wait_for_host()
                              .beside_all(sharded.backward - sharded.reduced, sharded.hidden)
                              .done();
    part.weight_gradient =
        pass().kernel(KernelClass::gemm, weight_gradient).wait_for_host().beside_all(sharded.reduced, sharded.hidden).done();
    pair(part);
    part.held_bytes =
        2.0 * size.width * size.activation() / size.outside_split + 2.0 * logits;  // product's input, logits' gradient
    part.saved_bytes =
        4.0 * size.width * size.activation() / size.outside_split + 4.0 * logits;  // norm in and out, 32-bit logits
    part.workspace_bytes = 2.0 * logits + 4.0 * size.width * size.activation();
    return part;
}

}  // namespace prismopt
