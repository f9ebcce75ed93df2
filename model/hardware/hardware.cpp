#include "model/hardware/hardware.hpp"

namespace prismopt {

FlopsPerSecond Accelerator::peak(Precision precision) const
{
    switch (precision) {
        case Precision::fp32: return peak_fp32;
        case Precision::tf32: return peak_tf32;
        case Precision::fp8: return peak_fp8;
        case Precision::nvfp4: return peak_fp4;
        case Precision::bf16: break;
    }
    return peak_bf16;
}

Accelerator under(const Accelerator& accelerator, const SoftwareStack& stack)
{
    Accelerator result = accelerator;
    result.efficiency.gemm *= stack.gemm;
    result.efficiency.gemm_low *= stack.gemm;
    result.efficiency.attention *= stack.attention;
    result.efficiency.attention_backward *= stack.attention;
    result.efficiency.memory *= stack.memory;
    result.launch += stack.launch;
    return result;
}

NetworkTier under(const NetworkTier& tier, const SoftwareStack& stack)
{
    NetworkTier result = tier;
    result.efficiency *= stack.network;
    result.point_to_point *= stack.network;
    return result;
}

/// Go-back-N, as RDMA adapters do it: of a lost packet all that was sent since is sent again. With W packets under way in a round
/// trip the share (1 - p) / (1 - p + W p) arrives. Bertsekas and Gallager, "Data Networks", 2nd ed., section 2.4.
double NetworkTier::reached() const
{
    constexpr double packet = 4096.0;  // bytes: the largest transfer unit of InfiniBand and RoCE
    if (loss <= 0.0) {
        return efficiency;
    }
    const double under_way = 1.0 + 2.0 * latency.si * bandwidth.si / packet;
    return efficiency * (1.0 - loss) / (1.0 - loss + under_way * loss);
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
