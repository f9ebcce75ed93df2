#pragma once

/// What is trained: a dense decoder-only transformer, and the phases of its training run.

#include <string>
#include <vector>

namespace prismopt {

enum class Activation { gelu, swiglu };
enum class Normalisation { layer_norm, rms_norm };
/// `plain` writes the s^2 score matrix to memory (Korthikanti et al. 2022); `flash` never does (Dao et al. 2022).
enum class AttentionKernel { plain, flash };

/// Shape of the network. Symbols of the literature: L layers, h hidden, a heads, g kv_heads, f feed_forward, V vocabulary.
struct Workload {
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0;      // equal to heads: multi-head attention; fewer: grouped-query attention
    int feed_forward = 0;  // inner size of one MLP matrix
    int vocabulary = 0;
    Activation activation = Activation::gelu;
    Normalisation normalisation = Normalisation::layer_norm;
    AttentionKernel attention = AttentionKernel::flash;
    bool causal = true;           // flash kernels skip the masked half of the scores; plain ones compute it
    bool tied_embedding = false;  // input and output embedding share their weights
    bool dropout = false;         // dropout masks are saved (GPT-3 era runs); modern runs have none

    /// Trainable parameters, in numbers (embedding once if tied).
    double parameters() const;
    /// Parameters of one transformer layer.
    double layer_parameters() const;
};

/// One part of the run. A run has one or more; they share the fleet and the failure history.
struct Phase {
    double tokens = 0.0;   // tokens to train on
    int sequence = 0;      // tokens in a sequence
    int global_batch = 0;  // sequences in an optimizer step

    double steps() const { return tokens / (static_cast<double>(sequence) * global_batch); }
};

}  // namespace prismopt
