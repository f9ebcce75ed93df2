#pragma once

/// How it is trained: degrees of parallelism, pipeline schedule, recompute, sharding, placement.

#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

enum class Schedule { gpipe, one_f_one_b, interleaved };
enum class Recompute { none, selective, full };
/// Sharding level over data parallel replicas: nothing, or the optimizer state (ZeRO-1, Megatron's distributed optimizer).
enum class Sharding { none, zero1 };
/// `layers`: the L layers are divided evenly, embedding and loss head ride on the first and last chunk.
/// `slots`: embedding and loss head count as one layer each (Llama 3 405B: 126 + 2 slots over 16 stages).
enum class LayerSplit { layers, slots };
/// Whether gradient reduce-scatter and parameter all-gather run beside compute, chunk by chunk: a chunk waits for all its
/// parameters, and its gradients leave when its last backward is done. With one chunk a stage that hides nothing; buckets smaller
/// than a chunk are left out, which is a disadvantage for such plans.
enum class DataParallelOverlap { off, on };
/// Order of the parallel dimensions over the GPUs, innermost first.
enum class PlacementOrder { tp_pp_dp, tp_dp_pp };

struct ParallelPlan {
    int tp = 1;
    int pp = 1;
    int dp = 1;
    int chunks = 1;      // v: model chunks per pipeline rank
    int microbatch = 1;  // sequences
    Schedule schedule = Schedule::one_f_one_b;
    Recompute recompute = Recompute::none;
    Sharding sharding = Sharding::zero1;
    LayerSplit split = LayerSplit::layers;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    PlacementOrder order = PlacementOrder::tp_pp_dp;
    bool sequence_parallel = true;

    int gpus() const { return tp * pp * dp; }
    int microbatches(int global_batch) const { return global_batch / (dp * microbatch); }
};

/// A plan that cannot work, and why. Infeasible is a value, not an exception.
struct Infeasible {
    std::string reason;  // category, counted by the search: "out of memory"
    std::string detail;  // with the offending values: "stage 0 needs 91.2 GB, 80.0 GB present"
    double miss = 0.0;   // how far from feasible, in the unit of the reason (bytes for memory); 0 where it has none
};

/// Names as files and the command line spell them.
std::string_view name(Schedule value);
std::string_view name(Recompute value);
std::string_view name(Sharding value);
std::string_view name(LayerSplit value);
std::string_view name(DataParallelOverlap value);
std::string_view name(PlacementOrder value);

/// The enumerator of that name, or nothing.
template <class Enum>
std::optional<Enum> parse(std::string_view text);
/// All names of an enumeration, in order, separated by ", ".
template <class Enum>
std::string choices();

}  // namespace prismopt
