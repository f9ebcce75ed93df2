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

}  // namespace prismopt
