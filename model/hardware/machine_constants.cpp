#include "model/hardware/machine_constants.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace prismopt {

namespace {

using enum ConstantKind;
using A = Accelerator;
using L = NetworkTier;
using S = SoftwareStack;

constexpr std::array accelerator_rows{
    MachineConstant<A>{"peak_bf16", nominal, [](A& a) -> double& { return a.peak_bf16.si; }},
    MachineConstant<A>{"peak_fp32", nominal, [](A& a) -> double& { return a.peak_fp32.si; }},
    MachineConstant<A>{"peak_tf32", nominal, [](A& a) -> double& { return a.peak_tf32.si; }},
    MachineConstant<A>{"peak_fp8", nominal, [](A& a) -> double& { return a.peak_fp8.si; }},
    MachineConstant<A>{"peak_fp4", nominal, [](A& a) -> double& { return a.peak_fp4.si; }},
    MachineConstant<A>{"sustained_clock", nominal, [](A& a) -> double& { return a.sustained_clock; }},
    MachineConstant<A>{"memory_bandwidth", nominal, [](A& a) -> double& { return a.memory_bandwidth.si; }},
    MachineConstant<A>{"host_link", rate, [](A& a) -> double& { return a.host_link.si; }},
    MachineConstant<A>{"host_memory_bandwidth", rate,
                       [](A& a) -> double& { return a.host_memory_bandwidth.si; }},
    MachineConstant<A>{"launch", time, [](A& a) -> double& { return a.launch.si; }},
    MachineConstant<A>{"gemm", share, [](A& a) -> double& { return a.efficiency.gemm; }, &S::gemm},
    MachineConstant<A>{"gemm_fp8", share, [](A& a) -> double& { return a.efficiency.gemm_fp8; }, &S::gemm},
    MachineConstant<A>{"gemm_fp8_block", share, [](A& a) -> double& { return a.efficiency.gemm_fp8_block; },
                       &S::gemm},
    MachineConstant<A>{"gemm_mxfp8", share, [](A& a) -> double& { return a.efficiency.gemm_mxfp8; },
                       &S::gemm},
    MachineConstant<A>{"gemm_nvfp4", share, [](A& a) -> double& { return a.efficiency.gemm_nvfp4; },
                       &S::gemm},
    MachineConstant<A>{"attention", share, [](A& a) -> double& { return a.efficiency.attention; },
                       &S::attention},
    MachineConstant<A>{"attention_backward", share,
                       [](A& a) -> double& { return a.efficiency.attention_backward; }, &S::attention},
    MachineConstant<A>{"attention_latent", share,
                       [](A& a) -> double& { return a.efficiency.attention_latent; }, &S::attention},
    MachineConstant<A>{"scan", share, [](A& a) -> double& { return a.efficiency.scan; }},
    MachineConstant<A>{"memory", share, [](A& a) -> double& { return a.efficiency.memory; }, &S::memory},
    MachineConstant<A>{"cast", share, [](A& a) -> double& { return a.efficiency.cast; }, &S::memory},
    MachineConstant<A>{"stream", share, [](A& a) -> double& { return a.efficiency.stream; }},
};

/// Not `all_to_all`, a share of `efficiency` whose default hangs on the place of a tier.
constexpr std::array link_rows{
    MachineConstant<L>{"bandwidth", nominal, [](L& l) -> double& { return l.bandwidth.si; }},
    MachineConstant<L>{"efficiency", share, [](L& l) -> double& { return l.efficiency; }, &S::network},
    MachineConstant<L>{"in_network", share, [](L& l) -> double& { return l.in_network; }},
    MachineConstant<L>{"point_to_point", share, [](L& l) -> double& { return l.point_to_point; },
                       &S::network},
    MachineConstant<L>{"latency", time, [](L& l) -> double& { return l.latency.si; }},
};

constexpr std::array stack_rows{
    MachineConstant<S>{"gemm", nominal, [](S& s) -> double& { return s.gemm; }},
    MachineConstant<S>{"attention", nominal, [](S& s) -> double& { return s.attention; }},
    MachineConstant<S>{"memory", nominal, [](S& s) -> double& { return s.memory; }},
    MachineConstant<S>{"network", nominal, [](S& s) -> double& { return s.network; }},
    MachineConstant<S>{"routing", nominal, [](S& s) -> double& { return s.routing; }},
    MachineConstant<S>{"communication_share", nominal, [](S& s) -> double& { return s.communication_share; }},
    MachineConstant<S>{"launch", nominal,
                       [](S& s) -> double& { return s.launch.si; }},  // part of the accelerator's
    MachineConstant<S>{"host", time, [](S& s) -> double& { return s.host.si; }},
    MachineConstant<S>{"host_native", time, [](S& s) -> double& { return s.host_native.si; }},
    MachineConstant<S>{"step", time, [](S& s) -> double& { return s.step.si; }},
};

using C = CollectiveLibrary;

constexpr std::array library_rows{
    MachineConstant<C>{"start", time, [](C& c) -> double& { return c.start.si; }},
    MachineConstant<C>{"low_latency_start", time, [](C& c) -> double& { return c.low_latency_start.si; }},
    MachineConstant<C>{"low_latency_in_nodes", nominal,
                       [](C& c) -> double& { return c.low_latency_in_nodes; }},
    MachineConstant<C>{"low_latency_between_nodes", nominal,
                       [](C& c) -> double& { return c.low_latency_between_nodes; }},
    MachineConstant<C>{"low_latency_bandwidth", nominal,
                       [](C& c) -> double& { return c.low_latency_bandwidth; }},
    MachineConstant<C>{"in_network_start", time, [](C& c) -> double& { return c.in_network_start.si; }},
    MachineConstant<C>{"fill", nominal, [](C& c) -> double& { return c.fill; }},
    MachineConstant<C>{"trees_between_nodes", nominal, [](C& c) -> double& { return c.trees_between_nodes; }},
    MachineConstant<C>{"all_to_all_between_nodes", nominal,
                       [](C& c) -> double& { return c.all_to_all_between_nodes; }},
    MachineConstant<C>{"all_to_all_start", time, [](C& c) -> double& { return c.all_to_all_start.si; }},
    MachineConstant<C>{"token_kernels", rate, [](C& c) -> double& { return c.token_kernels.si; }},
};

}  // namespace

template <>
std::span<const MachineConstant<Accelerator>> constants_of<Accelerator>()
{
    return accelerator_rows;
}

template <>
std::span<const MachineConstant<NetworkTier>> constants_of<NetworkTier>()
{
    return link_rows;
}

template <>
std::span<const MachineConstant<SoftwareStack>> constants_of<SoftwareStack>()
{
    return stack_rows;
}

template <>
std::span<const MachineConstant<CollectiveLibrary>> constants_of<CollectiveLibrary>()
{
    return library_rows;
}

template <class Owner>
const MachineConstant<Owner>& constant_of(std::string_view key)
{
    const auto rows = constants_of<Owner>();
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [key](const MachineConstant<Owner>& row) { return row.key == key; });
    if (found == rows.end()) {
        throw std::invalid_argument("there is no constant " + std::string(key));
    }
    return *found;
}

bool is_constant(std::string_view key)
{
    const auto among = [key](const auto& rows) {
        return std::any_of(rows.begin(), rows.end(), [key](const auto& row) { return row.key == key; });
    };
    return among(accelerator_rows) || among(link_rows) || among(stack_rows) || among(library_rows);
}

template const MachineConstant<Accelerator>& constant_of(std::string_view key);
template const MachineConstant<NetworkTier>& constant_of(std::string_view key);
template const MachineConstant<SoftwareStack>& constant_of(std::string_view key);
template const MachineConstant<CollectiveLibrary>& constant_of(std::string_view key);

}  // namespace prismopt
