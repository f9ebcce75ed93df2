#pragma once

/// Compute factor of a set of coupled replicas whose members differ (FSDP, expert groups that span replicas).
///
/// The op's distribution is composed for a set of c equal members (chain_distribution.hpp). Members with
/// factors X_r (persistent, stage and microbatch factors) get the factor of n equal members of factor Y:
///
///     factor = Y mu(tp n) / mu(tp c),   Y = (P2 / P1)^(1/k),   n = P1^2 / P2,   P1 =
///     sum_r X_r^k,   P2 = sum_r X_r^2k
///
/// with mu(n) the mean of the longest of n members between two barriers. Exact if all members are equal, and
/// if one decides. Root-mean-square and largest error against the integral E[max_r X_r M_r]: 0.03 % and 0.13
/// % at a cv of 2 % between barriers,
/// 0.13 % and 0.31 % at 10 % (tests/model/step/graph/coupled_distribution_test.cpp). Derivation, choice of k
/// and limits: docs/methods/coupling.md.

#include "model/base/random.hpp"
#include "model/distribution/chain_distribution.hpp"
#include "model/distribution/polynomial_pieces.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Returns the compute of passes of a set over a microbatch, forward and backward first. With
/// overlapped gathers, a set synchronises once in these two passes, after the backward pass;
/// their waits add like standard deviations, and other passes (parts of a backward pass, pairs)
/// keep the same share of their waits.
std::vector<ComposedDuration> set_durations(ChainDistributions& chains, std::span<const ChunkPass> passes,
                                            const BarrierWidths& widths);

/// Parameters of set_factor().
struct CoupledDistribution {
    int squarings = 0;              // interpolates between k = 2^squarings and twice that,
    float weight_of_double = 0.0F;  // with this weight of the latter
    /// mu(tp n) / mu(tp c), one piece per octave of n from 1.
    PolynomialPieces<2> waiting;
};

/// Returns the parameters for sets of widths.replicas() members. `passes`: typical passes over a microbatch;
/// the members synchronise as given by `widths`.
CoupledDistribution coupled_distribution(ChainDistributions& chains, std::span<const ChunkPass> passes,
                                         const BarrierWidths& widths);

/// Rows of a set's members, `stride` rows apart. They belong to the caller of set_factor().
struct MemberRows {
    const Floats* first = nullptr;
    std::size_t stride = 0;
};

/// Sets out = factor of the set whose members' factors are the products of `a` and `b`.
void set_factor(const CoupledDistribution& distribution, int members, MemberRows a, MemberRows b,
                Floats& out);

}  // namespace prismopt
