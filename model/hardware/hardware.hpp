#pragma once

/// On what it is trained: an accelerator, the nested tiers of its network, and the cluster they form.

#include "model/units.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Shares of the peak that kernels reach, fitted to measured runs (the catalog names them); dimensionless.
struct Efficiency {
    double gemm = 0.0;       // large matrix products, before tile and wave quantisation
    double attention = 0.0;  // fused attention, forward
    double attention_backward = 0.0;
    double memory = 0.0;  // elementwise kernels, against memory bandwidth
};

struct Accelerator {
    std::string name;
    FlopsPerSecond peak_bf16;  // dense, without sparsity
    int multiprocessors = 0;   // for wave quantisation
    Bytes memory;
    Bytes memory_reserved;  // CUDA context, communication buffers, fragmentation
    BytesPerSecond memory_bandwidth;
    Watts power;     // board limit
    Seconds launch;  // gap between consecutive kernels
    Efficiency efficiency;
    double model_error = 0.0;  // relative: error to expect of the mean model; the catalog says from what
};

/// One level of the network. A tier joins units of `group_gpus` GPUs; the first is the innermost (NVLink domain).
struct NetworkTier {
    std::string name;
    int group_gpus = 0;             // GPUs that this tier joins; the last tier joins the whole cluster
    BytesPerSecond bandwidth;       // per GPU and direction, as the datasheet says
    double efficiency = 1.0;        // share of it that large collectives reach (bus bandwidth)
    Seconds latency;                // one hop of a ring on this tier
    double oversubscription = 1.0;  // 7 means: the sum of the members' bandwidth is 7 times what leaves the unit below
};

struct Cluster {
    std::string name;
    Accelerator accelerator;
    int gpus = 0;
    std::vector<NetworkTier> tiers;  // innermost first; group_gpus nest
    DollarsPerSecond gpu_price;      // of one GPU with its share of the cluster

    int gpus_per_node() const { return tiers.front().group_gpus; }
};

}  // namespace prismopt
