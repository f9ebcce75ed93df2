#pragma once

/// What a training run draws from the grid, and what that emits.

#include "model/units.hpp"

#include <string>

namespace prismopt {

struct Power {
    std::string name;
    double board_share = 1.0;  // of the accelerator's board limit that training draws
    Watts host;                // of a GPU's share of its node and network, beside the board
    double pue = 1.0;          // power of the building over that of its computers
    CarbonIntensity carbon;    // of the electricity
};

/// Of the building, for each GPU that is held.
constexpr Watts power_per_gpu(const Power& power, Watts board) { return power.pue * (power.board_share * board + power.host); }

}  // namespace prismopt
