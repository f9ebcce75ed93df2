#pragma once

/// The law of one op: a pass over a chunk.

namespace prismopt {

/// mean_s * (1 + cv Z), Z from the graph's law number `shape` (mean 0, deviation 1).
struct DurationLaw {
    float mean_s = 0.0F;
    float cv = 0.0F;
    int shape = 0;
};

/// Law of an op's duration in one step:
///   compute * [group, node, site, stage, microbatch, common compute factors] + communication * [common communication factor];
/// before it a transfer from the neighbouring stage, transfer_s * [common] * [its tier's regime] * [p2p factor].
struct OpLaw {
    float compute_s = 0.0F;  // means without noise: of one member, which waits for nobody
    float communication_s = 0.0F;
    float transfer_s = 0.0F;  // zero where no op on another stage feeds this one
    DurationLaw compute;      // of the group, which waits for its slowest member at each barrier: a longer mean
    DurationLaw communication;
    float held_s = 0.0F;    // of `communication_s`: waiting for a circuit that is busy with others' messages
    int transfer_tier = 0;  // of the network, that the transfer crosses, where tiers have regimes
};

}  // namespace prismopt
