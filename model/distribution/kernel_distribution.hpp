#pragma once

/// Residual distribution of one kernel class, compiled for composition
/// (model/distribution/grid_distribution.hpp).

#include "model/distribution/quantile_table.hpp"
#include "model/distribution/variability.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Distribution of mean one in pieces of even density. Quantiles are at probabilities spaced by octave
/// towards both tails, 16 per power of two, down to 2^-45 (deeper than a QuantileTable, because the op's tail
/// is a kernel's much further out), and closer where the quantile function jumps. Mean and variance are
/// exact. Plain numbers, so that it can be broadcast.
class KernelDistribution {
public:
    static constexpr double beyond = 0x1p-45;  // probability below the first knot, and above the last

    /// The constant one.
    KernelDistribution() = default;
    explicit KernelDistribution(const Quantile& quantile);

    /// Share of a sum of factors at one draw. The distribution belongs to the caller of of_one_draw().
    struct Share {
        double of_all;
        const KernelDistribution* distribution;
    };
    /// Returns the sum of factors at one draw: its quantile is the sum of `of_all` times
    /// theirs. The shares must sum to one.
    static KernelDistribution of_one_draw(std::span<const Share> shares);

    /// Returns the distribution of min(factor, most), divided by its mean.
    KernelDistribution limited(double most) const;

    bool operator==(const KernelDistribution&) const = default;

    double cv() const { return cv_; }
    /// Returns half the distance of the quantiles at 16 and 84 %, which a grid must
    /// resolve. Between cv / 4 and cv.
    double core() const { return core_; }
    std::size_t pieces() const { return mass_.size(); }
    double quantile(std::size_t knot) const { return quantile_[knot]; }  // knot 0 ... pieces(), ascending
    double mass(std::size_t piece) const
    {
        return mass_[piece];
    }  // probability between knots `piece` and `piece` + 1

    /// Calls visit(number) for each number of the representation, to write or to read it.
    template <class Visit>
    void for_numbers(Visit&& visit)
    {
        std::uint64_t count = pieces();
        visit(count);
        visit(cv_);
        visit(core_);
        mass_.resize(count);
        quantile_.resize(count + 1);
        for (auto* list : {&mass_, &quantile_}) {
            for (double& x : *list) {
                visit(x);
            }
        }
    }

private:
    struct Sums {
        double first = 0.0;  // of deviations from one
        double second = 0.0;
        void add(double mass, double x);
        void add_chord(double mass, double from, double to);  // even density between two quantiles
        double deviation() const;
    };
    void add_pieces(const Quantile& quantile, double from, double to, bool upper, double jump, Sums& sums);
    void normalise(const Sums& distribution);

    double cv_ = 0.0;
    double core_ = 0.0;
    std::vector<double> mass_;           // [piece]
    std::vector<double> quantile_{1.0};  // [knot]
};

/// Random load of the most loaded member of an expert-parallel group beyond the
/// mean, relative to its own mean.
struct ExpertImbalance {
    KernelDistribution distribution;
    double correlation = 1.0;  // between layers
};

/// Residual distributions of a scenario, by kernel class.
using ResidualDistributions = std::array<KernelDistribution, kernel_classes>;

}  // namespace prismopt
