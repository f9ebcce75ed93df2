#include "model/distribution/polynomial_pieces.hpp"

#include "model/base/statistics.hpp"

#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

// An even number of nodes: z < 0 up to middle_node - 1.
constexpr int middle_node = StandardDistribution::nodes / 2;

double node_score(int node)
{
    return (static_cast<double>(node) / StandardDistribution::degree -
            0.5 * StandardDistribution::used_pieces) /
           static_cast<double>(StandardDistribution::pieces_per_unit);
}

}  // namespace

/// Newton's divided differences, then the product of (x - node) multiplied out.
template <int Degree>
void PolynomialPieces<Degree>::pass_through(int k, const Values& values)
{
    const auto node = [](int i) { return static_cast<double>(i) / Degree - 0.5; };
    Values difference = values;
    for (int order = 1; order <= Degree; ++order) {
        for (int i = Degree; i >= order; --i) {
            difference[i] = (difference[i] - difference[i - 1]) / (node(i) - node(i - order));
        }
    }
    Values polynomial{};
    for (int i = Degree; i >= 0; --i) {
        for (int power = Degree; power > 0; --power) {
            polynomial[power] = polynomial[power - 1] - node(i) * polynomial[power];
        }
        polynomial[0] = difference[i] - node(i) * polynomial[0];
    }
    for (int power = 0; power <= Degree; ++power) {
        coefficient[power][k] = static_cast<float>(polynomial[power]);
    }
}

namespace {

using Cubic = PolynomialPieces<StandardDistribution::degree>;

/// Where the k-th piece from the lowest is kept: by the low bits of its number from the middle one.
int piece_of(int k) { return (k - StandardDistribution::used_pieces / 2 + Cubic::pieces) % Cubic::pieces; }

/// Whether piece k rises all the way: its slope does at both ends, and at its
/// turning point if that lies within.
bool rises(const Cubic& pieces, int k)
{
    const auto c = [&](int power) { return static_cast<double>(pieces.coefficient[power][k]); };
    const auto slope = [&](double at) { return c(1) + at * (2.0 * c(2) + at * 3.0 * c(3)); };
    const double turn = c(3) == 0.0 ? 0.5 : -c(2) / (3.0 * c(3));
    return slope(-0.5) >= 0.0 && slope(0.5) >= 0.0 && (turn <= -0.5 || turn >= 0.5 || slope(turn) >= 0.0);
}

}  // namespace

NormalScores::NormalScores(const Quantile& normal)
{
    using Octave = decltype(octave);
    for (int k = 0; k < Octave::pieces; ++k) {
        Octave::Values value{};
        for (std::size_t node = 0; node < value.size(); ++node) {
            const double place = static_cast<double>(node) / static_cast<double>(value.size() - 1);
            value[node] = normal(std::ldexp(0.5 * (1.0 + place), k - 32), false);
        }
        octave.pass_through(k, value);
    }
}

StandardDistribution::NodeProbabilities StandardDistribution::node_probabilities()
{
    NodeProbabilities probability{};
    for (int node = 0; node < nodes; ++node) {
        probability[node] = normal_probability(-std::abs(node_score(node)));
    }
    return probability;
}

StandardDistribution::StandardDistribution(const Quantile& quantile, const NodeProbabilities& probability)
{
    std::array<double, nodes> value{};
    for (int node = 0; node < nodes; ++node) {
        value[node] = quantile(probability[node], node >= middle_node);
    }
    for (int k = 0; k < used_pieces; ++k) {
        PolynomialPieces<degree>::Values own{};
        std::copy_n(value.begin() + static_cast<std::ptrdiff_t>(k) * degree, own.size(), own.begin());
        const int index = piece_of(k);
        piece.pass_through(index, own);
        if (!rises(piece, index)) {  // a jump or a corner: the straight line does not overshoot
            const double rise = own.back() - own.front();
            piece.pass_through(index,
                               {own.front(), own.front() + rise / 3.0, own.back() - rise / 3.0, own.back()});
        }
    }
}

namespace {

/// The cubic through values at a piece's nodes.
double interpolated(const std::array<double, StandardDistribution::degree + 1>& value, double at)
{
    double sum = 0.0;
    for (int i = 0; i <= StandardDistribution::degree; ++i) {
        double term = value[i];
        for (int j = 0; j <= StandardDistribution::degree; ++j) {
            term *= i == j ? 1.0
                           : (at + 0.5 - static_cast<double>(j) / StandardDistribution::degree) *
                                 StandardDistribution::degree / (i - j);
        }
        sum += term;
    }
    return sum;
}

}  // namespace

/// The integral of g over the normal distribution in a piece is, by parts, that of g' against its
/// distribution function (or what lies above, in the upper half, where that keeps its digits), which is taken
/// for a cubic: exact by Gauss's rule of five points.
void StandardDistribution::standardise(const NodeProbabilities& probability)
{
    using Gauss = boost::math::quadrature::gauss<double, 5>;
    double mean = 0.0;
    double square = 0.0;
    for (int k = 0; k < used_pieces; ++k) {
        const bool upper = k > used_pieces / 2;
        std::array<double, degree + 1> tail{};
        for (int i = 0; i <= degree; ++i) {
            const int node = k * degree + i;
            tail[i] = (node >= middle_node) == upper ? probability[node] : 1.0 - probability[node];
        }
        const auto c = [&, index = piece_of(k)](int power) {
            return static_cast<double>(piece.coefficient[power][index]);
        };
        const auto value = [&](double at) { return c(0) + at * (c(1) + at * (c(2) + at * c(3))); };
        const auto slope = [&](double at) { return c(1) + at * (2.0 * c(2) + at * 3.0 * c(3)); };
        const auto between = [&](const auto& derivative) {
            return 0.5 * Gauss::integrate(
                             [&](double x) { return derivative(0.5 * x) * interpolated(tail, 0.5 * x); });
        };
        // What lies beyond the first and the last piece has their ends' values.
        const double low = k == 0 ? 0.0 : tail.front();
        const double high = k == used_pieces - 1 ? 0.0 : tail.back();
        const double sign = upper ? -1.0 : 1.0;
        mean += sign * (high * value(0.5) - low * value(-0.5) - between(slope));
        square += sign * (high * value(0.5) * value(0.5) - low * value(-0.5) * value(-0.5) -
                          between([&](double at) { return 2.0 * value(at) * slope(at); }));
    }
    const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
    if (deviation == 0.0) {
        return;
    }
    for (auto& coefficients : piece.coefficient) {
        const double shift = &coefficients == &piece.coefficient.front() ? mean : 0.0;
        for (float& coefficient : coefficients) {
            coefficient = static_cast<float>((coefficient - shift) / deviation);
        }
    }
}

}  // namespace prismopt
