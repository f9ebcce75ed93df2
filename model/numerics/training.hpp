#pragma once

/// A small attention network, trained in an emulated format.
///
/// Two layers of causal attention with one head and residual connections, an embedding of tokens and
/// positions, and a head; no norms. The task: the second half of a sequence repeats the first, which is
/// random. Adam's moments are FP32.

#include "model/numerics/attention.hpp"
#include "model/numerics/formats/arithmetic.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

struct TrainingShape {
    std::size_t vocabulary = 16;
    std::size_t sequence = 32;
    std::size_t width = 32;
    std::size_t batch = 16;  // sequences
    double learning_rate = 3e-3;
};

/// What the optimizer updates.
enum class MasterWeights {
    fp32,  // weights in FP32, which products round
    // weights in the format of stored results: an update below half a unit in the last place is lost
    as_stored
};

struct TrainingChoice {
    NumberFormat format = number_formats[0];
    Arithmetic arithmetic = Arithmetic::fp32_accumulation;
    AttentionMethod kernel = AttentionMethod::plain;
    TileShape tile{.queries = 16, .keys = 16};
    MasterWeights master = MasterWeights::fp32;
    std::uint64_t weight_seed = 1;  // of the initial weights
};

struct TrainingState {
    int step = 0;
    double loss = 0.0;           // mean of the steps since the state before, in nats per repeated token
    std::vector<float> weights;  // of all tensors
};

/// States after each of `steps`, which ascend. Data depend on `data_seed` and the step only.
std::vector<TrainingState> train(const TrainingShape& shape, const TrainingChoice& choice,
                                 const std::vector<int>& steps, std::uint64_t data_seed);

}  // namespace prismopt
