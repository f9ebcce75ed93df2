#pragma once

/// Whether the energy of a study's accelerators follows their work, and what that takes.
/// docs/methods/hardware-power.md.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// Gives accelerators energies per operation and byte, if the study changes a rate or an energy of their work
/// or states one: a board whose rates change does not draw the same power for as long as it trains. All of
/// several clusters get them, so that they compare. Where accelerator_override raises a rate and gives no
/// power, the board limit follows.
void settle_energy_of_work(Scenario& scenario);

/// Says how energy follows from the work, and which links draw other power; empty:
/// by the share of the board limit.
std::string energy_note(const Scenario& scenario);

}  // namespace prismopt
