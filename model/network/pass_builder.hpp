#pragma once

/// Construction of a pass over a part, kernel by kernel. docs/methods/collectives.md.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"

#include <initializer_list>
#include <optional>

namespace prismopt {

/// Kernels by how the host launches them; nodes of a CUDA graph, which it launches
/// together, are in neither number.
struct Launches {
    double python = 0.0;  // each by an operator that Python calls
    double native = 0.0;  // from C++, back to back inside one operator
};

/// Host time per launch of each way.
struct HostTimes {
    double python_s = 0.0;
    double native_s = 0.0;

    double of(const Launches& launches) const
    {
        return launches.python * python_s + launches.native * native_s;
    }
};
inline HostTimes host_times(const SoftwareStack& stack)
{
    return {stack.host.si, stack.host_native.si > 0.0 ? stack.host_native.si : stack.host.si};
}

/// Collects the kernels of one pass between barriers.
class PassBuilder {
public:
    explicit PassBuilder(const SoftwareStack& stack)
        : share_(stack.communication_share), launch_s_(host_times(stack))
    {
    }

    /// Adds kernels of one class. `launches`: those that `time` is the sum of.
    PassBuilder& kernel(KernelClass kind, Seconds time, const Launches& launches = {1.0},
                        const Surplus& surplus = {});
    /// Adds a blocking collective, which ends a segment: all members wait for the slowest. A
    /// collective of zero time is ignored.
    PassBuilder& collective(KernelClass kind, Seconds time, Meeting members = Meeting::tensor)
    {
        return hidden_collective(kind, time, Seconds{0.0}, members);
    }
    /// Adds a collective beside kernels of `behind` seconds, which hide no other. Only its exposed part takes
    /// time, but its members wait for each other.
    PassBuilder& hidden_collective(KernelClass kind, Seconds time, Seconds behind,
                                   Meeting members = Meeting::tensor, const Surplus& surplus = {});
    /// Adds a collective in `rounds` beside the product that consumes or produces its data (asynchronous
    /// tensor parallelism, Wang et al., ASPLOS 2023); the first or last round is exposed.
    PassBuilder& pipelined_collective(KernelClass kind, Seconds time, Seconds beside, double rounds);
    /// Records the links that the collective added last uses.
    PassBuilder& on_links(Seconds time, bool between_nodes)
    {
        if (between_nodes) {
            cost_.between_nodes_s += time.si;
        } else {
            cost_.in_nodes_s += time.si;
        }
        return *this;
    }
    /// The next collective is part of a CUDA graph: the host does not launch it by itself.
    PassBuilder& launched_with_others()
    {
        in_graph_ = true;
        return *this;
    }
    /// Adds collectives of which a share `hidden` runs beside the compute that hides no other
    /// yet. `time`: of all `messages`.
    PassBuilder& beside_all(Seconds time, std::initializer_list<Kernel> messages, double hidden);
    /// Adds copies to or from the host beside the whole pass, on copy engines: what is longer
    /// than all that was added before.
    PassBuilder& copied_beside(Seconds time);
    /// Adds the time that the accelerator waits for a host that launches more slowly than kernels run.
    /// Collectives count as launches from Python. `speed`: of the host, relative to the stack's constants.
    PassBuilder& wait_for_host(double speed = 1.0);

    PassCost done();

private:
    /// Adds collectives of `seconds` in all, of which compute hides `hidden`, but is slowed.
    void expose(double seconds, double hidden, const Exposed::Shares& shares, const Surplus& surplus = {});
    void close_segment();

    double share_;  // share of compute lost while a collective runs beside it
    HostTimes launch_s_;
    double host_s_ = 0.0;  // of all launches
    bool in_graph_ = false;
    PassCost cost_;
    Segment segment_;
};

/// Collectives that run beside another pass, and the share of passes that have such a pass beside them.
struct Beside {
    std::optional<KernelClass> only;  // of one class; else all
    double passes = 1.0;
};

/// Returns a pass whose collectives run beside the compute of another pass that hides none of
/// that pass's own, and that loses a share of its speed meanwhile: the mean over passes with
/// and without another beside them.
PassCost side_by_side(const PassCost& pass, const PassCost& other, const SoftwareStack& stack,
                      const Beside& beside = {});

}  // namespace prismopt
