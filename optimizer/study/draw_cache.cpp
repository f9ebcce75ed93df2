#include "optimizer/study/draw_cache.hpp"

namespace prismopt {

std::uint64_t bytes_of(const PhaseDraws& draws)
{
    std::uint64_t bytes = 0;
    for (const std::vector<double>& of_phase : draws) {
        bytes += of_phase.size() * sizeof(double);
    }
    return bytes;
}

int DrawCache::fleets(const DrawnPoint& point) const
{
    const auto found = drawn_.find(point);
    return found == drawn_.end() ? 0 : found->second.fleets;
}

PhaseDraws DrawCache::extract(const DrawnPoint& point)
{
    const auto found = drawn_.find(point);
    if (found == drawn_.end()) {
        return {};
    }
    bytes_ -= bytes_of(found->second.draws);
    return std::exchange(found->second.draws, {});
}

void DrawCache::put(const DrawnPoint& point, int fleets, PhaseDraws draws)
{
    extract(point);
    bytes_ += bytes_of(draws);
    drawn_[point] = {fleets, std::move(draws), ++puts_};
    order_.emplace_back(puts_, point);
    const auto is_newest = [this] { return drawn_.at(order_.front().second).put == order_.front().first; };
    while (!order_.empty() && (bytes_ > most_bytes_ || !is_newest())) {
        if (is_newest()) {
            extract(order_.front().second);
        }
        order_.pop_front();
    }
}

}  // namespace prismopt
