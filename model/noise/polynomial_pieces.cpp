#include "model/noise/polynomial_pieces.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr int middle_node = StandardLaw::nodes / 2;  // an even number of nodes: z < 0 up to middle_node - 1

double node_score(int node)
{
    return (static_cast<double>(node) / StandardLaw::degree - 0.5 * StandardLaw::used_pieces) /
           static_cast<double>(StandardLaw::pieces_per_unit);
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

using Cubic = PolynomialPieces<StandardLaw::degree>;

/// Whether piece k rises all the way: its slope does at both ends, and at its turning point if that lies within.
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

StandardLaw::NodeProbabilities StandardLaw::node_probabilities()
{
    const boost::math::normal normal;
    NodeProbabilities probability{};
    for (int node = 0; node < nodes; ++node) {
        probability[node] = boost::math::cdf(normal, -std::abs(node_score(node)));
    }
    return probability;
}

StandardLaw::StandardLaw(const Quantile& quantile, const NodeProbabilities& probability)
{
    std::array<double, nodes> value{};
    for (int node = 0; node < nodes; ++node) {
        value[node] = quantile(probability[node], node >= middle_node);
    }
    for (int k = 0; k < used_pieces; ++k) {
        PolynomialPieces<degree>::Values own{};
        std::copy_n(value.begin() + static_cast<std::ptrdiff_t>(k) * degree, own.size(), own.begin());
        const int index = (k - used_pieces / 2 + piece.pieces) % piece.pieces;
        piece.pass_through(index, own);
        if (!rises(piece, index)) {  // a jump or a corner: the straight line does not overshoot
            const double rise = own.back() - own.front();
            piece.pass_through(index, {own.front(), own.front() + rise / 3.0, own.back() - rise / 3.0, own.back()});
        }
    }
}

}  // namespace prismopt
