#pragma once

/// Power of accelerators and links that follows their rates: which energy their work takes, and which limit a
/// board needs. docs/methods/hardware-power.md.

#include "model/hardware/hardware.hpp"
#include "model/hardware/power.hpp"

namespace prismopt {

/// Returns the accelerator whose energy follows its work: with the energies that are not given. In a step at
/// half the 16-bit peak and a fifth of the memory bandwidth, its board draws what `power` says of training.
/// Products of other precisions take as much power at their peak.
Accelerator with_energy_of_work(Accelerator accelerator, const Power& power);

/// Returns what its work draws at that step's shares of the peaks, beyond waiting. Board
/// limits are proportional to it.
Watts power_of_work(const Accelerator& accelerator);

/// Returns the accelerator with a board limit for its present peaks and energies,
/// given the one that `before` has.
Accelerator with_board_for_rates(Accelerator accelerator, const Accelerator& before);

/// Returns the energy per byte of bandwidth of a tier, in both directions
/// together: its own, or what is usual. In a torus it is that of a byte that a GPU sends on one of its links.
JoulesPerByte link_energy(const Cluster& cluster, std::size_t tier);

/// Returns the bandwidth of one GPU per direction: of all its links in a torus.
BytesPerSecond bandwidth_of_gpu(const NetworkTier& tier);

/// Returns what the links of one GPU draw.
Watts power_of_links(const Cluster& cluster);

}  // namespace prismopt
