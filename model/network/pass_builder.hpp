#pragma once

/// A pass over a part, put together kernel by kernel.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"

#include <initializer_list>
#include <optional>

namespace prismopt {

/// Collects the kernels of one pass between barriers.
class PassBuilder {
public:
    explicit PassBuilder(const SoftwareStack& stack) : share_(stack.communication_share), host_s_(stack.host.si) {}

    /// `launches`: kernels that `time` is the sum of.
    PassBuilder& kernel(KernelClass kind, Seconds time, double launches = 1.0, const Surplus& surplus = {});
    /// A blocking collective ends a segment: all members wait for the slowest. One that takes no time is not there.
    PassBuilder& collective(KernelClass kind, Seconds time, Meeting members = Meeting::tensor)
    {
        return hidden_collective(kind, time, Seconds{0.0}, members);
    }
    /// A collective beside a kernel costs what the kernel does not hide; the members wait for each other all the same.
    PassBuilder& hidden_collective(KernelClass kind, Seconds time, Seconds behind, Meeting members = Meeting::tensor,
                                   const Surplus& surplus = {});
    /// A collective in rounds beside the product that needs or makes its data (asynchronous tensor parallelism, Wang et al.,
    /// ASPLOS 2023): the first or last of its `rounds` has nothing to hide behind.
    PassBuilder& pipelined_collective(KernelClass kind, Seconds time, Seconds beside, double rounds);
    /// Collectives of which `hidden` (a share) runs beside the whole pass. `time`: of all `messages`.
    PassBuilder& beside_all(Seconds time, std::initializer_list<Kernel> messages, double hidden);
    /// Copies to or from the host beside the whole pass, by engines of their own.
    PassBuilder& copied_beside(Seconds time);
    /// The accelerator waits for a host that launches more slowly than kernels run; a collective is a launch as well.
    PassBuilder& wait_for_host();

    PassCost done();

private:
    void expose(double seconds, const Exposed::Parts& parts, const Surplus& surplus = {});
    void close_segment();

    double share_;   // of compute that is lost while a collective runs beside it
    double host_s_;  // to launch a kernel
    double launches_ = 0.0;
    PassCost cost_;
    Segment segment_;
};

/// Which collectives run beside another pass, and in what share of all passes.
struct Beside {
    std::optional<KernelClass> only;  // those of one class; else all
    double passes = 1.0;
};

/// A pass whose collectives run beside the compute of another, which loses a share of its speed meanwhile: the mean over all passes.
PassCost side_by_side(const PassCost& pass, const PassCost& other, const SoftwareStack& stack, const Beside& beside = {});

}  // namespace prismopt
