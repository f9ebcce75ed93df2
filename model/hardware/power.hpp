#pragma once

/// Power of a training run, its price and its emissions.

#include "model/base/units.hpp"

#include <algorithm>
#include <string>

namespace prismopt {

/// Power of a GPU with its share of node, network and building.
struct Power {
    std::string name;
    double board_share = 1.0;  // fraction of the accelerator's board limit drawn in training
    // fraction drawn by a waiting board: for a node, a restart, a checkpoint, or as a spare
    double idle_share = 1.0;
    Watts host;              // a GPU's share of its node and network, without the board
    double pue = 1.0;        // power usage effectiveness: power of the building over that of its computers
    CarbonIntensity carbon;  // of the electricity
    DollarsPerJoule electricity_price{};  // beside the price of GPUs; zero: that includes it
};

/// Returns the building's power per GPU in training. `added`: Cluster::added_power.
constexpr Watts training_power(const Power& power, Watts board, Watts added = {})
{
    return power.pue * (power.board_share * board + power.host + added);
}
/// Returns the building's power per waiting GPU; its host runs on. Waiting never draws more than training.
constexpr Watts idle_power(const Power& power, Watts board, Watts added = {})
{
    return power.pue * (std::min(power.idle_share, power.board_share) * board + power.host + added);
}

}  // namespace prismopt
