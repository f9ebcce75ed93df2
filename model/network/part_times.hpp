#pragma once

/// What the parts of a transformer are timed with: kernels on one member, collectives between them, at the scenario's speeds.

#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/layer_sizes.hpp"
#include "model/network/pass_builder.hpp"

namespace prismopt {

/// Bytes an elementwise kernel moves per 16-bit element of its tensor; derived from its reads and writes.
inline constexpr double norm_traffic = 4.0;          // read, write
inline constexpr double residual_add_traffic = 6.0;  // two reads, one write
inline constexpr double dropout_mask_traffic = 1.0;  // one byte a mask element
inline constexpr double gelu_traffic = 4.0;          // read, write
inline constexpr double swiglu_traffic = 6.0;        // two reads, one write, per element of the product
inline constexpr double backward_traffic = 2.0;      // a backward elementwise kernel reads the saved input as well
// Casts of a product's operand to 8 or 4 bits: reads 16-bit numbers, writes them twice, as they are and transposed.
inline constexpr double cast_traffic = 4.0;

class PartTimes {
public:
    PartTimes(const Workload& trained, const LayerShape& computed, const Cluster& machine)
        : workload(trained), shape(computed), cluster(machine), gpu(cluster.accelerator), size(workload, shape)
    {
    }

protected:
    struct Sharded {
        Seconds forward;   // gathers of a part's parameters in one pass
        Seconds backward;  // and reduction of its gradients
        Seconds reduced;   // the reduction alone
        double hidden;     // share that runs beside compute
    };

    PassBuilder pass() const { return PassBuilder(cluster.stack); }
    double dropout(double bytes) const { return workload.dropout ? bytes : 0.0; }
    /// Precision of what does not follow that of the linear layers.
    Precision wide() const { return size.width > 1.0 ? workload.precision : Precision::bf16; }
    bool low() const { return operand_bytes(workload.precision) < 2.0; }
    Seconds sped_up(KernelClass kind, Seconds time) const { return time / cluster.speed.of(kind); }
    /// `bytes`: for 16-bit elements.
    Seconds elementwise(double bytes) const
    {
        return sped_up(KernelClass::elementwise, elementwise_time(Bytes{size.width * bytes}, gpu));
    }
    Seconds outside(double bytes_per_element) const
    {
        return elementwise(bytes_per_element * size.activation() / size.outside_split);
    }
    Seconds product(double m, double n, double k) const
    {
        return sped_up(KernelClass::gemm, gemm_time(m, n, k, gpu, workload.precision));
    }
    Seconds wide_product(double m, double n, double k) const
    {
        return sped_up(KernelClass::gemm, gemm_time(m, n, k, gpu, wide()));
    }
    Seconds plain_attention(double work) const
    {
        return sped_up(KernelClass::attention, batched_gemm_time(Flops{work}, workload.head_size(), gpu));
    }
    Seconds flash_attention(double work, bool backward) const
    {
        return sped_up(KernelClass::attention, fused_attention_time(Flops{work}, backward, gpu));
    }
    Seconds collective(Collective kind, double bytes, const Group& group) const
    {
        return sped_up(KernelClass::tp_collective, collective_time(kind, Bytes{bytes}, group, cluster).time);
    }
    Seconds collective(Collective kind) const { return collective(kind, 2.0 * size.width * size.activation(), {shape.tp, 1}); }
    /// Into the region: gather the sequence, or nothing when it is whole already. Out of it: sum, and split again.
    Seconds gather() const { return collective(Collective::all_gather); }
    Seconds reduce() const { return collective(shape.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce); }
    Seconds enter() const { return shape.sequence_parallel ? gather() : Seconds{0.0}; }
    double residual_traffic() const { return residual_add_traffic + dropout(dropout_mask_traffic); }
    double activation_traffic() const { return workload.gated() ? swiglu_traffic : gelu_traffic; }
    /// ZeRO-3 gathers for each pass, ZeRO-2 once for both; both reduce gradients as soon as a layer has them.
    Sharded sharded_messages(double parameters) const;

    /// Its passes beside those of another microbatch.
    void pair(PartCost& part) const;

    const Workload& workload;
    const LayerShape& shape;
    const Cluster& cluster;
    const Accelerator& gpu;
    LayerSizes size;
};

}  // namespace prismopt
