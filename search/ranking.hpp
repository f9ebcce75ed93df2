#pragma once

/// Orders of points by their objectives (all minimised): layers, crowding, and niches along reference directions.

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

using Values = std::vector<double>;

/// Layer of each point: 0 where none dominates it, 1 where only points of layer 0 do, and so on. Equal points share a layer.
std::vector<std::size_t> layers(std::span<const Values> points);

/// Crowding distance of each point among these: the larger the lonelier, infinite at the ends.
/// Source: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182-197.
std::vector<double> crowding(std::span<const Values> points);

/// Positions by layer, the lonelier first within one.
std::vector<std::size_t> best_first(std::span<const Values> points);

/// Directions evenly spread over the simplex: as many divisions as give at most `most` of them, at least the axes.
/// Source: Das, Dennis, SIAM J. Optim. 8 (1998) 631-657.
std::vector<Values> reference_directions(std::size_t objectives, std::size_t most);

/// `keep` positions: whole layers, then of the layer that is cut the points whose reference direction has fewest members.
/// Source: Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577-601, with the nadir of the first layer for the intercepts.
std::vector<std::size_t> survivors_by_niche(std::span<const Values> points, std::span<const Values> directions, std::size_t keep);

}  // namespace prismopt
