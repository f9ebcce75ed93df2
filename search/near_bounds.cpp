#include "search/near_bounds.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

NearBounds::NearBounds(std::size_t objective, std::span<const RegionBest> known) : objective_(objective)
{
    for (const RegionBest& region : known) regions_[region.region] = {region.bound, (1.0 + near_best) * region.bound, {}};
}

bool NearBounds::before(const Bound& a, const Bound& b) const
{
    return std::pair(a.objectives[objective_], a.index) < std::pair(b.objectives[objective_], b.index);
}

bool NearBounds::admits(std::uint64_t region, double bound) const
{
    const auto known = regions_.find(region);
    return known == regions_.end() || bound <= known->second.most;
}

void NearBounds::add(NearBound point)
{
    const double bound = point.bound.objectives[objective_];
    if (!admits(point.region, bound)) return;
    Region& region = regions_.try_emplace(point.region, Region{bound, (1.0 + near_best) * bound, {}}).first->second;
    region.best = std::min(region.best, bound);
    region.most = std::min(region.most, (1.0 + near_best) * region.best);
    region.points.push_back(std::move(point.bound));
    if (region.points.size() == 2 * most_near) cut(region);
}

void NearBounds::cut(Region& region) const
{
    std::sort(region.points.begin(), region.points.end(), [this](const Bound& a, const Bound& b) { return before(a, b); });
    region.points.resize(std::min(region.points.size(), most_near));
    if (region.points.size() == most_near) region.most = std::min(region.most, region.points.back().objectives[objective_]);
}

std::vector<NearBound> NearBounds::best() const
{
    std::vector<NearBound> all;
    for (const auto& [number, held] : regions_) {
        Region region = held;
        cut(region);
        for (Bound& point : region.points) {
            if (point.objectives[objective_] <= region.most) all.push_back({number, std::move(point)});
        }
    }
    return all;
}

}  // namespace prismopt
