#pragma once

/// Replicas in different buildings that exchange only every few steps
/// (DiLoCo, arXiv 2311.08105): what that costs in tokens.

#include <map>
#include <optional>
#include <vector>

namespace prismopt {

/// Steps between two exchanges, and groups of replicas that use local updates, of the
/// runs of published_local_gap().
inline constexpr int most_published_local_steps = 300;
inline constexpr int most_published_groups = 8;
/// Parameters of the largest network among them with more than four groups, and with up to four.
inline constexpr double largest_published_network = 2.4e9;
inline constexpr double largest_published_network_of_four = 10e9;

/// Returns the relative increase of the loss over synchronous training at equal tokens, for 2 to 8
/// groups; zero where they gained.
///
/// Charles et al., arXiv 2503.09799, tables 4 and 5: 35e6 to 10e9 parameters, H = 30 inner steps, the best
/// learning rates of each. Linear in the logarithms of parameters and groups; beyond the table as at its end.
/// The paper finds that the loss rises slowly with H from 1 to 300: no dependence is taken from it.
double published_local_gap(double parameters, int groups);

/// Tokens that local updates need, over those of synchronous training.
struct LocalUpdates {
    std::map<int, double> by_steps{};   // given, by the steps between two exchanges
    std::optional<double> any_steps{};  // given, for any
    std::vector<double> by_groups{};    // from a loss gap: [groups]; empty: not from one

    bool stated() const { return any_steps || !by_steps.empty() || !by_groups.empty(); }
    /// The plan has replicas that use local updates.
    double tokens_factor(int local_steps, int groups) const;
};

}  // namespace prismopt
