#include "search/components/kept_bounds.hpp"

#include "search/archive.hpp"
#include "search/components/bound_layers.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {
namespace {

/// Members of a floor; beyond these, one point below all of them says enough.
constexpr std::size_t most_floor = 256;

}  // namespace

void KeptBounds::add(Bound bound)
{
    if (excludes(range_.limits, bound.objectives)) {
        ++excluded_;
        return;
    }
    kept_.push_back(std::move(bound));
    if (kept_.size() / 2 >= range_.keep) {
        cut();
    }
}

void KeptBounds::cut()
{
    if (kept_.size() <= range_.keep) {
        return;
    }
    BoundLayers layers(kept_.front().objectives.size());
    for (std::size_t position = 0; position < kept_.size(); ++position) {
        layers.add(position, kept_[position].objectives);
    }
    layers.put_in_order();
    std::vector<bool> stays(kept_.size(), false);
    for (std::uint64_t left = range_.keep; left > 0;) {
        for (const std::size_t place : layers.next_places(left, {})) {
            stays[layers.index(place)] = true;
            --left;
        }
    }
    std::vector<Bound> best;
    for (std::size_t position = 0; position < kept_.size(); ++position) {
        if (stays[position]) {
            best.push_back(std::move(kept_[position]));
        } else {
            ++unreturned_;
            floor_.push_back(std::move(kept_[position].objectives));
        }
    }
    kept_ = std::move(best);
    std::vector<std::vector<double>> lowest;
    for (const std::size_t position : non_dominated(floor_)) {
        lowest.push_back(std::move(floor_[position]));
    }
    std::sort(lowest.begin(), lowest.end());
    lowest.erase(std::unique(lowest.begin(), lowest.end()), lowest.end());
    if (lowest.size() > most_floor) {
        lowest = {ideal_point(lowest)};
    }
    floor_ = std::move(lowest);
}

void KeptBounds::move_to(Sweep& sweep)
{
    cut();
    sweep.range = range_;
    sweep.feasible = std::move(kept_);
    sweep.excluded = excluded_;
    sweep.unreturned = unreturned_;
    sweep.floor = std::move(floor_);
}

}  // namespace prismopt
