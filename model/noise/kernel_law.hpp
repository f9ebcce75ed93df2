#pragma once

/// A residual law of one kernel class, compiled for composing (model/noise/grid_law.hpp).

#include "model/noise/quantile_table.hpp"
#include "model/noise/variability.hpp"

#include <array>
#include <vector>

namespace prismopt {

/// A law of mean one as quantiles at probabilities spaced by octave towards both tails: 16 a power of two, to 2^-45. Linear in p
/// between them, like a QuantileTable, but deeper: the op's tail at 2^-33 is a kernel's much further out. Mean and variance are
/// the law's own. Plain numbers for broadcasting.
class KernelLaw {
public:
    static constexpr int per_octave = 16;
    static constexpr int octaves = 44;
    static constexpr int pieces = 2 * per_octave * octaves;
    static constexpr double beyond = 0x1p-45;  // probability below the first knot, and above the last

    /// Always one.
    KernelLaw() : quantile_(pieces + 1, 1.0) {}
    explicit KernelLaw(const Quantile& quantile);

    double cv() const { return cv_; }
    double quantile(int knot) const { return quantile_[knot]; }  // knot 0 ... pieces, ascending
    /// Probability between knots `piece` and `piece` + 1.
    static double mass(int piece);

    /// Calls visit(number) for each number that it consists of, to write or to read it.
    template <class Visit>
    void for_numbers(Visit&& visit)
    {
        visit(cv_);
        for (double& q : quantile_) {
            visit(q);
        }
    }

private:
    double cv_ = 0.0;
    std::vector<double> quantile_;  // [knot]
};

/// Of a scenario, by kernel class.
using ResidualLaws = std::array<KernelLaw, kernel_classes>;

}  // namespace prismopt
