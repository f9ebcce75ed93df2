#pragma once

/// Derivative-free minimisation over continuous hardware parameters, and scalarisations of several
/// objectives. Only the source file of this header uses NLopt.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// Local: Subplex (Rowan 1990, as NLopt's Sbplx) and BOBYQA (Powell, DAMTP 2009/NA06). Global: DIRECT-L
/// (Gablonsky, Kelley, J. Global Optim. 21 (2001) 27-37) and CRS2 with local mutation (Kaelo, Ali, JOTA 130
/// (2006) 253-264). `global_then_local`: DIRECT-L with half of the evaluations, then Subplex from its best.
enum class TuneMethod { sbplx, bobyqa, direct_l, crs2, global_then_local };

struct TuneOptions {
    TuneMethod method = TuneMethod::global_then_local;
    int max_evaluations = 200;
    double tolerance = 1e-4;  // of a hardware parameter, relative to its range
    unsigned long seed = 1;   // of crs2
};

struct Box {
    std::vector<double> low;
    std::vector<double> high;
};

struct Tuned {
    std::vector<double> x;
    double value = 0.0;
    int evaluations = 0;
};

using Cost = std::function<double(std::span<const double>)>;

/// Returns the best of all points tried, which is no worse than `start`. `cost` must be deterministic (a
/// noise-free model, or an average over the same draws), and may be infinite for infeasible points. Its
/// exceptions end the search and pass through. Throws std::invalid_argument if box and start do not match.
Tuned minimise(const Cost& cost, const Box& box, std::span<const double> start,
               const TuneOptions& options = {});

/// Augmented Chebyshev scalarisation: max_k w_k z_k + share * sum_k w_k z_k with z = (value - ideal) /
/// (nadir - ideal); its minima are Pareto optimal, and weights reach parts of a front that is not convex.
/// Source: Steuer, Choo, Math. Program. 26 (1983) 326-344.
struct Scalarisation {
    std::vector<double> weight;
    std::vector<double> ideal;
    std::vector<double> nadir;
    double share = 0.01;

    double operator()(std::span<const double> values) const;
};

}  // namespace prismopt
