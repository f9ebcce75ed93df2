#include "model/network/pass_builder.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// How sharply the longer of two streams of kernels decides: both host and accelerator run ahead for a while,
/// and wait for the other now and then. Infinity: only the sums count; 1: each kernel waits for its launch.
/// Assumption, chosen by the fit.
constexpr double run_ahead = 3.0;

void add_hidden(double seconds, const Exposed::Shares& shares, PassCost& cost)
{
    for (const Exposed::Share& share_of : shares) {
        if (seconds > 0.0) {
            cost.hidden.push_back({share_of.kind, share_of.share * seconds});
        }
    }
}

}  // namespace

PassBuilder& PassBuilder::kernel(KernelClass kind, Seconds time, const Launches& launches,
                                 const Surplus& surplus)
{
    segment_.push_back({kind, time.si});
    cost_.compute_s += time.si;
    if (surplus.share > 0.0) {
        cost_.surplus_s += surplus.share * time.si;
        cost_.surplus_most = std::max(cost_.surplus_most, surplus.most);
    }
    host_s_ += launch_s_.of(launches);
    return *this;
}

PassBuilder& PassBuilder::hidden_collective(KernelClass kind, Seconds time, Seconds behind, Meeting members,
                                            const Surplus& surplus)
{
    if (time.si > 0.0) {
        close_segment();
        if (!cost_.ends.empty()) {
            cost_.ends.back() = std::max(cost_.ends.back(), members);
        }
        host_s_ += in_graph_ ? 0.0 : launch_s_.of({.python = 1.0});
    }
    in_graph_ = false;
    expose(time.si, std::min(time.si, behind.si), {{kind, 1.0}}, surplus);
    return *this;
}

PassBuilder& PassBuilder::pipelined_collective(KernelClass kind, Seconds time, Seconds beside, double rounds)
{
    const Seconds first{time.si / rounds};
    const bool in_graph = in_graph_;
    collective(kind, first);
    in_graph_ = in_graph;
    return hidden_collective(kind, time - first, beside);
}

PassBuilder& PassBuilder::beside_all(Seconds time, std::initializer_list<Kernel> messages, double hidden)
{
    double sum = 0.0;
    for (const Kernel& message : messages) {
        sum += message.seconds;
    }
    Exposed::Shares shares;
    for (const Kernel& message : messages) {
        if (message.seconds > 0.0) {
            shares.push_back({message.kind, message.seconds / sum});
        }
    }
    expose(time.si, std::min(hidden * time.si, cost_.free_s()), shares);
    return *this;
}

PassBuilder& PassBuilder::copied_beside(Seconds time)
{
    const double busy_s = cost_.compute_s + cost_.communication_s;
    add_hidden(std::min(time.si, busy_s), {{KernelClass::host_copy, 1.0}}, cost_);
    expose(std::max(0.0, time.si - busy_s), 0.0, {{KernelClass::host_copy, 1.0}});
    return *this;
}

PassBuilder& PassBuilder::wait_for_host(double speed)
{
    const double busy_s = cost_.compute_s + cost_.communication_s;
    const double host_s = host_s_ / speed;
    const double longer_s = std::max(busy_s, host_s);
    if (host_s <= 0.0 || longer_s <= 0.0) {
        return *this;
    }
    const double both_s =
        longer_s * std::pow(1.0 + std::pow(std::min(busy_s, host_s) / longer_s, run_ahead), 1.0 / run_ahead);
    cost_.host_s += both_s - busy_s;
    return kernel(KernelClass::host_wait, Seconds{both_s - busy_s}, {});
}

PassCost PassBuilder::done()
{
    close_segment();
    return cost_;
}

void PassBuilder::expose(double seconds, double hidden, const Exposed::Shares& shares, const Surplus& surplus)
{
    const double slowed_s = share_ * hidden;
    const double exposed_s = seconds - hidden + slowed_s;
    cost_.hiding_s += hidden;
    add_hidden(hidden, shares, cost_);
    if (exposed_s > 0.0) {
        cost_.exposed.push_back({exposed_s, shares, surplus, slowed_s});
        cost_.communication_s += exposed_s;
    }
}

void PassBuilder::close_segment()
{
    if (!segment_.empty()) {
        cost_.segments.push_back(segment_);
        cost_.ends.push_back(Meeting::tensor);
        segment_.clear();
    }
}

PassCost side_by_side(const PassCost& pass, const PassCost& other, const SoftwareStack& stack,
                      const Beside& beside)
{
    PassCost result = pass;
    std::vector<Exposed*> messages;
    double open_s = 0.0;  // what no compute hides yet
    for (Exposed& message : result.exposed) {
        if (!beside.only || is_within(message.shares.front().kind, *beside.only)) {
            messages.push_back(&message);
            open_s += message.seconds - message.slowed_s;
        }
    }
    const double hidden_s = std::min(open_s, other.free_s()) * beside.passes;
    if (hidden_s <= 0.0) {
        return result;
    }
    const double saved = (1.0 - stack.communication_share) * hidden_s / open_s;
    for (Exposed* message : messages) {
        const double open = message->seconds - message->slowed_s;
        add_hidden(hidden_s / open_s * open, message->shares, result);
        const double saved_s = saved * open;
        message->seconds -= saved_s;
        result.communication_s -= saved_s;
    }
    return result;
}

}  // namespace prismopt
