#pragma once

/// Distribution of the duration of one op: a pass over a chunk.

namespace prismopt {

/// Duration mean_s * (1 + cv Z), with Z of the graph's distribution number `shape` (mean 0, deviation 1).
struct DurationDistribution {
    float mean_s = 0.0F;
    float cv = 0.0F;
    int shape = 0;
};

/// Duration of an op in one step:
///     compute * [group, node, site, stage, microbatch, common compute factors] + communication *
///     [common communication factor];
/// before it a transfer from the neighbouring stage, transfer_s * [common] *
/// [per-step factor of its tier] * [p2p factor].
struct OpDistribution {
    float compute_s = 0.0F;  // noise-free means: of one member, without waiting
    float communication_s = 0.0F;
    float host_s = 0.0F;      // part of compute_s: waiting for launches by the host
    float transfer_s = 0.0F;  // zero if no op on another stage feeds this one
    // of the group, with waiting for its slowest member at each barrier: a longer mean
    DurationDistribution compute;
    DurationDistribution communication;
    // part of `communication_s`: waiting for a circuit that is busy with others' messages
    float held_s = 0.0F;
    int transfer_tier = 0;  // network tier that the transfer crosses, if tiers have regimes
};

}  // namespace prismopt
