#pragma once

/// Rankings of points by their objectives (all minimised): non-dominated fronts, crowding distance,
/// niches along reference directions.

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

using Values = std::vector<double>;

/// Non-dominated sorting: front number of each point. 0 if no point dominates it, 1 if only points of front 0
/// do, and so on. Equal points share a front.
std::vector<std::size_t> layers(std::span<const Values> points);

/// Crowding distance of each point, infinite at the ends.
/// Source: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182-197.
std::vector<double> crowding(std::span<const Values> points);

/// Positions by front, and by decreasing crowding distance within a front.
std::vector<std::size_t> by_rank_and_crowding(std::span<const Values> points);

/// Reference directions evenly spread over the simplex: at most `most`, at least one per objective.
/// Source: Das, Dennis, SIAM J. Optim. 8 (1998) 631-657.
std::vector<Values> reference_directions(std::size_t objectives, std::size_t most);

/// `keep` positions: whole fronts, then from the last front the points whose reference directions have the
/// fewest members. Source: Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577-601, with the nadir of the
/// first front for the intercepts.
std::vector<std::size_t> survivors_by_niche(std::span<const Values> points,
                                            std::span<const Values> directions, std::size_t keep);

}  // namespace prismopt
