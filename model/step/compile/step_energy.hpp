#pragma once

/// Energy of the work of a step, beyond what boards draw waiting, for accelerators whose energy follows their
/// work. docs/methods/hardware-power.md.

#include "model/network/network.hpp"

namespace prismopt {

/// Returns the energy of the kernels of all layers of a microbatch on one tensor-parallel member of each:
/// products by their operations, memory by its traffic. Excludes the update of the parameters.
Joules microbatch_energy(const Network& network, Precision precision, const LayerShape& shape,
                         const Cluster& cluster);

/// Returns a lower bound of the energy of a sequence for any plan: that of the
/// operations that the network needs.
Joules least_sequence_energy(const Network& network, Precision precision, int sequence,
                             const Accelerator& accelerator);

}  // namespace prismopt
