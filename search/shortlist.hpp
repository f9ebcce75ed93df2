#pragma once

/// Which of several points is best, where their values are known by joint draws: probabilities,
/// regrets and shortlists to measure.

#include <cstddef>
#include <vector>

namespace prismopt {

/// Values (smaller is better) of points under joint draws of what is not known. Infinite: the point is not
/// possible in this draw. Draws in which no point is possible do not count.
struct JointDraws {
    std::size_t points = 0;
    std::vector<double> values;  // [draw * points + point], positive

    std::size_t draws() const { return points == 0 ? 0 : values.size() / points; }
    double at(std::size_t draw, std::size_t point) const { return values[draw * points + point]; }
};

struct Chance {
    double possible = 0.0;  // share of draws
    double best = 0.0;      // share of draws
    // Value over the best value, less one, where the point is possible: mean and 95 % quantile. NaN: nowhere.
    double regret = 0.0;
    double most_regret = 0.0;
};

/// Of each point. Equal best values of a draw share it.
std::vector<Chance> chances(const JointDraws& draws);

/// Quantiles of a point's values in the draws in which it is possible; NaN if there are none.
struct Central90 {
    double low = 0.0;  // 5 %
    double median = 0.0;
    double high = 0.0;  // 95 %
};
Central90 central_90(const JointDraws& draws, std::size_t point);

/// Groups of points that are possible in the same draws and differ by at most `difference`
/// (relative) in each: by point, the first point of its group in the order of the mean logarithm of
/// the values, which is the group's best.
inline constexpr double equivalent_difference = 0.005;
std::vector<std::size_t> equivalents(const JointDraws& draws, double difference = equivalent_difference);

/// Points to measure in order to know the best.
struct Shortlist {
    std::vector<std::size_t> points;  // in the order in which they were chosen
    std::vector<double> cover;        // P(the best is equivalent to this point or to one before it)
    std::vector<double> regret;       // expected, of the best measured of this point and those before it
};

/// The fewest groups of equivalents that hold the best with probability `cover`: by decreasing
/// probability, each by its best point.
Shortlist covering(const JointDraws& draws, double cover);

/// At most `most` points, each the one that decreases the expected regret most when they are all measured and
/// the best is kept (greedy). The regret is a supermodular set function, so the decrease is at least 1 - 1/e
/// of the largest possible (Nemhauser, Wolsey, Fisher, Math. Program. 14 (1978) 265-294). In a draw in which
/// none of them is possible the regret is that of the worst possible point.
Shortlist least_regret(const JointDraws& draws, std::size_t most);

}  // namespace prismopt
