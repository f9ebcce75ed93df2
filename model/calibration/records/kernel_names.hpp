#pragma once

/// Classes and roles of kernels and operations by their names. The table of names is data:
/// model/catalog/kernel_names.toml.

#include "model/hardware/kernel_class.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Role of an operation in the dependencies of a step.
enum class OpRole : std::uint8_t { compute, send, receive, collective };
template <>
inline constexpr auto names_of<OpRole> = std::to_array<Named<OpRole>>({{OpRole::compute, "compute"},
                                                                       {OpRole::send, "send"},
                                                                       {OpRole::receive, "receive"},
                                                                       {OpRole::collective, "collective"}});

/// Role of kernels of a class; transfers are sends.
OpRole usual_role(KernelClass kernel);

/// Kind of operation.
struct OpKind {
    std::string name;
    OpRole role = OpRole::compute;
    KernelClass kernel = KernelClass::elementwise;  // class of its residual distribution
    std::string transfer{};  // of a send or receive: its name without the direction, the same for both ends
    bool known = true;       // whether a row of the table matches the name
};

/// Row of the table: names that contain these parts in this order, in upper or lower case, are of this class.
struct KernelName {
    std::vector<std::string> fragments;  // in lower case
    KernelClass kernel = KernelClass::elementwise;
    OpRole role = OpRole::compute;
};
/// The first row that matches decides.
using KernelNames = std::vector<KernelName>;

/// Row of a pattern such as "triton_tem*mm"; its class's usual role if none is given.
KernelName kernel_name(const std::string& pattern, KernelClass kernel,
                       std::optional<OpRole> role = std::nullopt);

/// Kind of a name; elementwise and not known if no row matches. Of a collective whose class is all of
/// dp_collective or tp_collective, the class is narrowed by the process group and the kind of collective that
/// the name contains: "nccl _allgather_base of a tensor-parallel group".
OpKind op_kind(const std::string& name, const KernelNames& names);

}  // namespace prismopt
