#pragma once

/// A scenario's variability, compiled to tables for the sampler. Computed once on rank 0 and broadcast, so
/// that ranks with different mathematics libraries draw the same bits.

#include "model/distribution/kernel_distribution.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/distribution/quantile_table.hpp"
#include "model/distribution/variability.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

/// Probability counted from the nearer end, so that it keeps its digits.
struct TailProbability {
    double p = 0.5;
    bool upper = false;  // survival probability

    double below() const { return upper ? 1.0 - p : p; }
};

/// Tables of the microbatch factor to powers, at exponents that are multiples of `step`.
struct MicrobatchPowers {
    // an exponent is off by at most half of it, and so by 2.5 % of the factor's deviation
    static constexpr double step = 0.05;

    MicrobatchExponents exponents;
    std::int32_t first = 0;  // exponent of the first table, in steps
    std::vector<QuantileTable> tables;

    /// Returns the table's index for a pass of a part of the pipeline.
    std::uint32_t index(bool forward, int chunk, int chunks) const;
    /// ... for the mean of the forward and the backward pass.
    std::uint32_t index_of_both(int chunk, int chunks) const;
};

/// Tables of all distributions of a scenario.
struct NoiseTables {
    /// The standard distributions have skewness index / per_unit_skewness.
    static constexpr int per_unit_skewness = 8;
    static constexpr int standard_distributions = 4 * per_unit_skewness + 1;
    /// The group tables have segment cvs of zero, then from 0.1 % to 100 % by
    /// factors of sqrt(2) (index 1, 2, ...).
    static constexpr int group_distributions = 22;

    ResidualDistributions residual;  // by kernel class, for composing chains of kernels
    KernelDistribution operation;    // factor of a whole op
    ExpertImbalance expert_imbalance;
    NormalScores scores;
    StandardDistribution::NodeProbabilities node_probability{};
    std::vector<StandardDistribution> standard;  // skewness index / 8: shifted gamma distributions
    /// Persistent factor of a tensor-parallel group, [cv index] by degree; see group_factor().
    std::map<int, std::vector<QuantileTable>> group;
    QuantileTable node, site, common_compute, common_communication, stage, microbatch, p2p;
    MicrobatchPowers microbatch_powers;  // without tables: the factor is the same in all passes
    QuantileTable dp_all_gather, dp_reduce_scatter, dp_all_reduce;
    QuantileTable exponential;  // mean one: gaps between failures
    // [tier]: per-step factor of all traffic that crosses it; empty if no tier varies
    std::vector<QuantileTable> tier;
    /// Quantiles of the factor of the whole step at step_node_probabilities(); integrated, never drawn.
    std::vector<double> common_step;
    bool step_varies = false;
    bool node_varies = false;
    bool stage_varies = false;
    bool microbatch_varies = false;
    bool lengths_vary = true;  // where samples have different lengths; their tables are those of the graph

    /// Returns the factor of a transfer: from `p2p_by_score` if that is accurate, else from the table.
    float transfer_factor(std::uint32_t bits) const
    {
        return p2p_is_smooth ? p2p_by_score(scores(bits)) : p2p(bits);
    }
    StandardDistribution p2p_by_score;  // factor of mean one as a function of normal scores
    bool p2p_is_smooth = false;

    /// Returns the probabilities of the nodes of `common_step`: from 2^-32 up, eight per octave to a half,
    /// and symmetric above. Between nodes, quantile functions are linear; for a normal distribution, the
    /// error is 3e-4 of its deviation.
    static std::vector<TailProbability> step_node_probabilities();
    /// Returns the index of the standard distribution with the nearest skewness.
    static int standard_index(double skewness);
    /// Returns the persistent factor of a tensor-parallel group whose segments have this cv, interpolated
    /// between the two nearest tables. Throws std::out_of_range for a degree without tables.
    QuantileTable group_factor(int tensor_parallel_degree, double segment_cv) const;

    std::vector<std::byte> encode() const;
    static NoiseTables decode(std::span<const std::byte> bytes);
};

/// Table of a collective at the ends of a step.
struct ExchangeTable {
    KernelClass kernel;
    QuantileTable NoiseTables::*table;
};
inline constexpr std::array<ExchangeTable, 3> exchange_tables{
    {{KernelClass::dp_all_gather, &NoiseTables::dp_all_gather},
     {KernelClass::dp_reduce_scatter, &NoiseTables::dp_reduce_scatter},
     {KernelClass::dp_all_reduce, &NoiseTables::dp_all_reduce}}};

/// Builds the tables for these tensor-parallel degrees. `tiers`: tiers of the network, whose per-step factors
/// may vary (NetworkTier::regime).
///
/// The factor of a tensor-parallel group of n unequal GPUs with persistent
/// factors S_i (distribution `gpu`) is
///     g(x) = E[max_i S_i R_i | max_i S_i = x] / E[max_i R_i]   at x = Q_S(u^(1/n)),
/// with R_i the residual of a segment between two barriers, assumed lognormal. One draw for the group; exact
/// in the tail where one slow GPU decides. Not modelled: the variation of E[max | S] at equal max S
/// (second order). docs/methods/composition-of-distributions.md.
NoiseTables build_noise_tables(const Variability& variability, std::span<const int> tensor_parallel_degrees);

}  // namespace prismopt
