#pragma once

/// Points that limits exclude, but that an error of the model could make the best of their region.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

/// Holds the best bounds of each region: at most twice `most` at a time, all within that share of the best.
/// What it holds depends on the bounds alone, not on their order.
class NearBounds {
public:
    explicit NearBounds(const NearRequest& request);

    /// Whether a point with at least this bound is so near the best that it could be held.
    bool admits(std::uint64_t region, double bound) const;
    /// Holds nothing above these limits any longer.
    void narrow(std::span<const RegionLimit> limits);
    /// Takes the point if it is near the best.
    void add(NearBound point);
    /// The points held, by region, bound and index.
    std::vector<NearBound> best() const;
    /// Limits by region: bounds above these cannot be held. If the points so far are a sample, with this
    /// share of all points, about twice `most` points of a region are expected to meet its limit: these are
    /// the best of the region, but fewer than `most` if the sample misleads.
    std::vector<RegionLimit> limits(double share = 1.0) const;

private:
    struct Region {
        double most = std::numeric_limits<double>::infinity();  // bounds above this are not held
        std::vector<Bound> points;
    };
    void cut(Region& region) const;
    bool before(const Bound& a, const Bound& b) const;

    std::size_t objective_;
    double within_;
    std::size_t most_;
    std::map<std::uint64_t, Region> regions_;
};

}  // namespace prismopt
