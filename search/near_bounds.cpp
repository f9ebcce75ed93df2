#include "search/near_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {

NearBounds::NearBounds(const NearRequest& request)
    : objective_(request.objective), within_(request.within), most_(request.most)
{
    narrow(request.regions);
}

void NearBounds::narrow(std::span<const RegionLimit> limits)
{
    for (const RegionLimit& limit : limits) {
        Region& region = regions_[limit.region];
        region.most = std::min(region.most, limit.most);
    }
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
    if (!admits(point.region, bound)) {
        return;
    }
    Region& region = regions_[point.region];
    region.most = std::min(region.most, (1.0 + within_) * bound);
    region.points.push_back(std::move(point.bound));
    if (region.points.size() == 2 * most_) {
        cut(region);
    }
}

void NearBounds::cut(Region& region) const
{
    std::sort(region.points.begin(), region.points.end(),
              [this](const Bound& a, const Bound& b) { return before(a, b); });
    region.points.resize(std::min(region.points.size(), most_));
    if (region.points.size() == most_) {
        region.most = std::min(region.most, region.points.back().objectives[objective_]);
    }
}

std::vector<NearBound> NearBounds::best() const
{
    std::vector<NearBound> all;
    for (const auto& [number, held] : regions_) {
        Region region = held;
        cut(region);
        for (Bound& point : region.points) {
            if (point.objectives[objective_] <= region.most) {
                all.push_back({number, std::move(point)});
            }
        }
    }
    return all;
}

std::vector<RegionLimit> NearBounds::limits(double share) const
{
    const auto rank = static_cast<std::size_t>(std::ceil(2.0 * share * static_cast<double>(most_)));
    std::vector<RegionLimit> limits;
    for (const auto& [number, held] : regions_) {
        Region region = held;
        cut(region);
        if (region.points.size() >= rank) {
            region.most = std::min(region.most, region.points[rank - 1].objectives[objective_]);
        }
        limits.push_back({number, region.most});
    }
    return limits;
}

}  // namespace prismopt
