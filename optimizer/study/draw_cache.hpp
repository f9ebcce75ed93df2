#pragma once

/// Draws of points, for the rungs that extend them.

#include "model/predictor.hpp"
#include "search/strategy.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace prismopt {

/// The draws of a point from one source.
using DrawnPoint = std::pair<DrawSource, std::uint64_t>;

std::uint64_t bytes_of(const PhaseDraws& draws);

/// Keeps the draws put last, up to a number of bytes. Draws are a function of their point, so those that it
/// dropped can be made again: answers do not depend on its size.
class DrawCache {
public:
    explicit DrawCache(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

    /// Fleets drawn so far, kept or not.
    int fleets(const DrawnPoint& point) const;
    /// Moves the draws out; empty if they were dropped.
    PhaseDraws extract(const DrawnPoint& point);
    void put(const DrawnPoint& point, int fleets, PhaseDraws draws);

private:
    struct Drawn {
        int fleets = 0;
        PhaseDraws draws = {};
        std::uint64_t put = 0;  // number of the put() that they are from
    };

    std::uint64_t most_bytes_;
    std::uint64_t bytes_ = 0;
    std::uint64_t puts_ = 0;
    std::map<DrawnPoint, Drawn> drawn_;
    // of puts, whether their draws are still there or not
    std::deque<std::pair<std::uint64_t, DrawnPoint>> order_;
};

}  // namespace prismopt
