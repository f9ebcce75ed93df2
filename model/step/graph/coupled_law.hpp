#pragma once

/// Replicas that meet inside ops (FSDP, expert groups that span replicas): how long a set of them takes when its members differ.
///
/// A set of c replicas waits for its slowest GPU where they meet (model/plan/coupling.hpp). Were that each barrier, it would work like one
/// replica of a larger tensor parallel group; with equal members the op's law is composed for all of them (chain_law.hpp). Members differ by factors X_r that
/// are known in a draw (persistent, stage, microbatch). Between two barriers the set takes, on average,
///     E[max_r X_r M_r],   M_r: longest of tp members, independent, of mean mu(tp),
/// which over mu(tp c), the mean in the op's law, is the set's factor. Here it is that of n equal members of factor Y:
///     factor = Y mu(tp n) / mu(tp c),   Y = (P2 / P1)^(1/k),   n = P1^2 / P2,   P1 = sum_r X_r^k,   P2 = sum_r X_r^2k.
/// For any n equal members beside others that do not matter this is exact: so where all are equal (one), and where one is slow
/// (its X alone, without waiting). In between it needs k: were log M of Gumbel's law, P1^(1/k) mu(tp) would be exact with c^(1/k) =
/// mu(tp c) / mu(tp) (maxima of Gumbel variables: Gumbel, "Statistics of Extremes", 1958). Powers come from squaring: the factor
/// is interpolated between the two k around 1.15 times that, a number found by comparison with the integral of 1 - prod_r F_M(t / X_r).
///
/// Error against that integral, members lognormal of 1 to 10 % with and without a slow one, tp * c of 4 to 256, root mean square
/// and largest: 0.03 % and 0.13 % where the work between barriers has a cv of 2 %, 0.13 % and 0.31 % at 10 %
/// (tests/model/step/graph/coupled_law_test.cpp). Leaves out: how unequal members change the spread of the op's law about its mean;
/// that passes differ in the cv of their segments (one law stands for all); that a tensor parallel group whose factor is that of one
/// slow GPU varies more between barriers than tp equal ones (up to 0.5 % where nothing but GPUs differs, tp = 4, cv = 5 %).

#include "model/distribution/chain_law.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Compute of passes over a microbatch, forward and backward first, each as its set takes it. Replicas that gather ahead meet once in
/// those two, after the backward, and wait for the longest of sums: their waits are those of passes that end with a meeting, added
/// like deviations. Other passes (parts of a backward, pairs) have the same share of theirs.
std::vector<ComposedDuration> set_durations(ChainLaws& chains, std::span<const ChunkPass> passes, const BarrierWidths& widths);

struct CoupledLaw {
    int squarings = 0;              // k = 2^squarings, and twice that,
    float weight_of_double = 0.0F;  // which has this weight
    /// mu(tp n) / mu(tp c), a piece an octave of n from 1.
    PolynomialPieces<2> waiting;
};

/// Of sets of widths.replicas(). `passes`: typical work on a microbatch, in which the members meet as `widths` says.
CoupledLaw coupled_law(ChainLaws& chains, std::span<const ChunkPass> passes, const BarrierWidths& widths);

/// Rows of a set's members, `stride` rows apart.
struct MemberRows {
    const Floats* first = nullptr;
    std::size_t stride = 0;
};

/// out = factor of the set whose members' factors are the products of `a` and `b`.
void set_factor(const CoupledLaw& law, int members, MemberRows a, MemberRows b, Floats& out);

}  // namespace prismopt
