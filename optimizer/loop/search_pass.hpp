#pragma once

#include "io/results/results.hpp"
#include "search/archive.hpp"
#include "search/strategy.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace prismopt {

/// A search of the space on rank 0: for plans that fit into memory, or for those that may not.
struct SearchPass {
    Feasibility feasibility = Feasibility::certain;
    std::unique_ptr<Strategy> strategy;
    bool within_limits = true;  // only of plans that may keep what the study allows
    // Of what is known before: plans that they exclude are not asked for.
    std::vector<std::vector<double>> limits{};
    Archive archive{};
    std::map<std::uint64_t, FrontPoint> drawn{};  // newest predictions, by index
};

}  // namespace prismopt
