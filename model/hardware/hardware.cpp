#include "model/hardware/hardware.hpp"

#include "model/hardware/machine_constants.hpp"

namespace prismopt {

FlopsPerSecond Accelerator::peak(Precision precision) const
{
    switch (precision) {
        case Precision::fp32: return peak_fp32;
        case Precision::tf32: return peak_tf32;
        case Precision::fp8:
        case Precision::fp8_delayed:
        case Precision::fp8_current:
        case Precision::fp8_blockwise: return peak_fp8;
        case Precision::mxfp8: return takes_block_scales() ? peak_fp8 : FlopsPerSecond{0.0};
        case Precision::nvfp4: return peak_fp4;
        case Precision::bf16: break;
    }
    return peak_bf16;
}

JoulesPerFlop Accelerator::energy_of(Precision precision) const
{
    switch (precision) {
        case Precision::fp32: return energy.fp32;
        case Precision::tf32: return energy.tf32;
        case Precision::fp8:
        case Precision::fp8_delayed:
        case Precision::fp8_current:
        case Precision::fp8_blockwise:
        case Precision::mxfp8: return energy.fp8;
        case Precision::nvfp4: return energy.fp4;
        case Precision::bf16: break;
    }
    return energy.bf16;
}

namespace {

/// Multiplies constants by the stack's factors of them.
template <class Owner>
void multiply_by_factors(Owner& owner, const SoftwareStack& stack)
{
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        if (constant.factor_of_stack != nullptr) {
            constant.of(owner) *= stack.*constant.factor_of_stack;
        }
    }
}

}  // namespace

Accelerator under(const Accelerator& accelerator, const SoftwareStack& stack)
{
    Accelerator result = accelerator;
    multiply_by_factors(result, stack);
    result.launch += stack.launch;
    return result;
}

NetworkTier under(const NetworkTier& tier, const SoftwareStack& stack)
{
    NetworkTier result = tier;
    multiply_by_factors(result, stack);
    return result;
}

namespace {

/// Replaces the factors of one stack by those of another.
template <class Owner>
void exchange_factors(Owner& owner, const SoftwareStack& from, const SoftwareStack& to)
{
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        if (constant.factor_of_stack != nullptr) {
            constant.of(owner) *= to.*constant.factor_of_stack / (from.*constant.factor_of_stack);
        }
    }
}

}  // namespace

Cluster with_software(Cluster cluster, const PossibleSoftware& other)
{
    Accelerator& accelerator = cluster.accelerator;
    exchange_factors(accelerator, cluster.stack, other.stack);
    accelerator.launch += other.stack.launch - cluster.stack.launch;
    for (NetworkTier& tier : cluster.tiers) {
        exchange_factors(tier, cluster.stack, other.stack);
    }
    cluster.stack = other.stack;
    cluster.library = other.library;
    cluster.software = other.software;
    cluster.possible.clear();
    return cluster;
}

/// Go-back-N, as RDMA adapters do it: of a lost packet all that was sent since is sent again. With W packets
/// under way in a round trip the share (1 - p) / (1 - p + W p) arrives. Bertsekas and Gallager, "Data
/// Networks", 2nd ed., section 2.4.
BytesPerSecond NetworkTier::goodput(BytesPerSecond rate) const
{
    constexpr double packet = 4096.0;  // bytes: the largest transfer unit of InfiniBand and RoCE
    if (loss <= 0.0) {
        return rate;
    }
    const double under_way = 1.0 + 2.0 * latency.si * rate.si / packet;
    return rate * ((1.0 - loss) / (1.0 - loss + under_way * loss));
}

std::size_t Cluster::node_tier() const
{
    std::size_t tier = 0;
    while (tier + 1 < tiers.size() && tiers[tier + 1].kind == TierKind::node) {
        ++tier;
    }
    return tier;
}

int Cluster::building_gpus() const
{
    for (std::size_t t = 1; t < tiers.size(); ++t) {
        if (tiers[t].circuit()) {
            return tiers[t - 1].group_gpus;
        }
    }
    return 0;
}

}  // namespace prismopt
