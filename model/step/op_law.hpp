#pragma once

/// The law of one op: a pass over a chunk, composed of its kernels' laws and the barriers between them.

#include "model/noise/noise_tables.hpp"
#include "model/workload/layer_cost.hpp"

namespace prismopt {

/// Law of an op's duration in one step:
///   compute_s * [group, node, site, stage, microbatch, common compute factors] * (1 + compute_cv * Z)
///   + communication_s * [common communication factor] * (1 + communication_cv * Z')
/// with Z, Z' from standard laws; before it a transfer from the neighbouring stage, transfer_s * [common] * [p2p factor].
struct OpLaw {
    float compute_s = 0.0F;
    float compute_cv = 0.0F;
    float communication_s = 0.0F;
    float communication_cv = 0.0F;
    float transfer_s = 0.0F;
    int compute_law = 0;  // index into NoiseTables::standard
    int communication_law = 0;
};

/// A pass over a chunk: the layer's chain some number of times, and those of the embedding and the head where the chunk holds
/// them. Refers to costs that must outlive it.
struct ChunkPass {
    const PassCost& layer;
    int layers = 0;
    const PassCost* embedding = nullptr;
    const PassCost* head = nullptr;

    double compute_s() const;
    double communication_s() const;
};

/// Typical coefficient of variation of the compute between two barriers of a part, forward and backward, weighted by time.
double segment_cv(const PartCost& part, const ResidualMoments& residual);

/// Composes a pass. Its compute residual is the sum of its kernels' residuals; at a barrier of several members each segment
/// takes the largest, whose mean is in the group factor and whose spread is smaller. Limits: the sum's law is the shifted gamma
/// law with its first three moments: checked for kernels of cv 2 and 10 % (tests/model/step/op_law_test.cpp), not for wide ones.
OpLaw compose(const ChunkPass& pass, double transfer_s, const ResidualMoments& residual, const WidthTables& width);

}  // namespace prismopt
