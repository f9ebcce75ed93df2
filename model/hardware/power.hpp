#pragma once

/// What a training run draws from the grid, and what that emits.

#include "model/base/units.hpp"

#include <algorithm>
#include <string>

namespace prismopt {

struct Power {
    std::string name;
    double board_share = 1.0;  // of the accelerator's board limit that training draws
    double idle_share = 1.0;   // of it that a board draws that waits: for a node, a restart, a checkpoint, or as a spare
    Watts host;                // of a GPU's share of its node and network, beside the board
    double pue = 1.0;          // power of the building over that of its computers
    CarbonIntensity carbon;    // of the electricity
};

/// Of the building, for each GPU that trains.
constexpr Watts training_power(const Power& power, Watts board) { return power.pue * (power.board_share * board + power.host); }
/// The same for each that is held and waits; its host runs on. Waiting never draws more than training.
constexpr Watts idle_power(const Power& power, Watts board)
{
    return power.pue * (std::min(power.idle_share, power.board_share) * board + power.host);
}

}  // namespace prismopt
