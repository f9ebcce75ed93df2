#pragma once

/// A scenario's variability, compiled: every law that the sampler may meet is a table here. Computed once on rank 0 and
/// broadcast, so that ranks with other mathematics libraries draw the same bits.

#include "model/distribution/kernel_law.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/distribution/quantile_table.hpp"
#include "model/distribution/variability.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

/// A probability from the nearer end, so that it keeps its digits.
struct TailProbability {
    double p = 0.5;
    bool upper = false;  // of what lies above

    double below() const { return upper ? 1.0 - p : p; }
};

struct NoiseTables {
    /// Skewness of the standard laws: index / per_unit_skewness.
    static constexpr int per_unit_skewness = 8;
    static constexpr int standard_laws = 4 * per_unit_skewness + 1;
    /// Segment cv of the group laws: zero, then from 0.1 % to 100 % by factors of sqrt(2) (index 1, 2, ...).
    static constexpr int group_laws = 22;

    ResidualLaws residual;  // by kernel class, for composing chains of kernels
    KernelLaw operation;    // of a whole op
    ExpertImbalance expert_imbalance;
    NormalScores scores;
    StandardLaw::NodeProbabilities node_probability{};
    std::vector<StandardLaw> standard;  // skewness index / 8: shifted gamma laws
    /// [cv index] by tensor parallel degree: persistent factor of a whole group, see group_factor().
    std::map<int, std::vector<QuantileTable>> group;
    QuantileTable node, site, common_compute, common_communication, stage, microbatch, p2p;
    QuantileTable dp_all_gather, dp_reduce_scatter, dp_all_reduce;
    QuantileTable exponential;        // mean one: gaps between failures
    std::vector<QuantileTable> tier;  // [tier]: regime of all that crosses it in a step; empty: none varies
    /// Of the whole step: its quantiles at step_node_probabilities(), integrated, never drawn.
    std::vector<double> common_step;
    bool step_varies = false;
    bool node_varies = false;
    bool stage_varies = false;
    bool microbatch_varies = false;

    /// Factor of a transfer: from `p2p_by_score` where that is as good, else from the table.
    float transfer_factor(std::uint32_t bits) const { return p2p_is_smooth ? p2p_by_score(scores(bits)) : p2p(bits); }
    StandardLaw p2p_by_score;  // the law of mean one itself, by normal scores
    bool p2p_is_smooth = false;

    /// From 2^-32 up: eight an octave to a half, and so to the other end. Between two of them a quantile function is taken for a straight
    /// line: a normal law's is, to 3e-4 of its deviation.
    static std::vector<TailProbability> step_node_probabilities();
    /// The standard law with the nearest skewness.
    static int standard_index(double skewness);
    /// Persistent factor of a tensor parallel group whose segments have this cv: between the two nearest tables.
    QuantileTable group_factor(int tensor_parallel_degree, double segment_cv) const;

    std::vector<std::byte> encode() const;
    static NoiseTables decode(std::span<const std::byte> bytes);
};

/// Collectives at the ends of a step, which are drawn from tables.
struct ExchangeTable {
    KernelClass kernel;
    QuantileTable NoiseTables::*table;
};
inline constexpr std::array<ExchangeTable, 3> exchange_tables{{{KernelClass::dp_all_gather, &NoiseTables::dp_all_gather},
                                                               {KernelClass::dp_reduce_scatter, &NoiseTables::dp_reduce_scatter},
                                                               {KernelClass::dp_all_reduce, &NoiseTables::dp_all_reduce}}};

/// Tables for these tensor parallel degrees.
///
/// Group law. Members i = 1..n of a group have persistent factors S_i (law `gpu`) and meet at a barrier after each segment of
/// kernels, whose residuals R_i (mean one) are fresh each time. Over the many segments of a chunk the time per segment tends
/// to E[max_i S_i R_i | S]; given the largest S it varies little. The laws of ops hold the waiting of equal members,
/// E[max_i R_i] (chain_law.hpp), so the group's factor is what unequal ones add:
///     g(x) = E[max_i S_i R_i | max_i S_i = x] / E[max_i R_i],
///     E[max_i S_i R_i | max_i S_i = x] = integral of 1 - F_R(t/x) H_x(t)^(n-1) dt,  H_x(t) = E[F_R(t/S) | S <= x],
/// at x = Q_S(u^(1/n)): one draw for the group, exact in the tail where one slow GPU decides. R is taken lognormal.
/// Leaves out: the spread of E[max | S] at equal max S (second order).
NoiseTables build_noise_tables(const Variability& variability, std::span<const int> tensor_parallel_degrees);

}  // namespace prismopt
