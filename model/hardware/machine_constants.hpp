#pragma once

/// Constants of accelerators, links, software stacks and libraries of collectives by their key in the
/// catalog, for all that compares, scales or fits them. A new constant gets a row in machine_constants.cpp,
/// and a key where the catalog is read.

#include "model/hardware/hardware.hpp"

#include <span>
#include <string_view>

namespace prismopt {

/// What a machine whose times are all longer by a factor has less or more of.
enum class ConstantKind {
    nominal,  // the same: what shares are of, or a share of a share
    share,    // less, of a peak, a bandwidth, or another machine's share
    rate,     // less
    time,     // more
};

template <class Owner>
struct MachineConstant {
    std::string_view key;
    ConstantKind kind = ConstantKind::nominal;
    double& (*of)(Owner&) = nullptr;                   // SI
    double SoftwareStack::*factor_of_stack = nullptr;  // multiplies it: under()
};

template <class Owner>
std::span<const MachineConstant<Owner>> constants_of();
template <>
std::span<const MachineConstant<Accelerator>> constants_of<Accelerator>();
// Those that a link of the catalog has.
template <>
std::span<const MachineConstant<NetworkTier>> constants_of<NetworkTier>();
template <>
std::span<const MachineConstant<SoftwareStack>> constants_of<SoftwareStack>();
template <>
std::span<const MachineConstant<CollectiveLibrary>> constants_of<CollectiveLibrary>();

/// Returns the row of a key. Throws std::invalid_argument for a key that Owner does not have.
template <class Owner>
const MachineConstant<Owner>& constant_of(std::string_view key);

/// Whether accelerators, links, stacks or libraries have a constant of this key.
bool is_constant(std::string_view key);

/// Multiplies all times that the owner's constants determine by `factor`.
template <class Owner>
void slow_down(Owner& owner, double factor)
{
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        double& value = constant.of(owner);
        switch (constant.kind) {
            case ConstantKind::nominal: break;
            case ConstantKind::share:
            case ConstantKind::rate: value /= factor; break;
            case ConstantKind::time: value *= factor; break;
        }
    }
}

}  // namespace prismopt
