#pragma once

/// Distributions from repeated measurements outside a job: a benchmark on every GPU of a
/// cluster, repeated collectives.

#include "model/calibration/calibration.hpp"
#include "model/calibration/records/faults.hpp"
#include "model/calibration/records/kernel_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// One run of one benchmark on one GPU. Node empty: unknown.
struct GpuRun {
    std::string benchmark;
    std::string gpu;
    std::string node;
    double seconds = 0.0;    // or the inverse of a throughput: only ratios matter
    std::uint32_t line = 0;  // of the file
};

/// Returns whether a table names this place: it writes -1, or nothing, where it is not known.
bool is_known_place(const std::string& place);

/// A node with more GPUs than one machine has.
struct CrowdedNode {
    std::string node;
    std::size_t gpus = 0;
};
/// Returns the numbered node with the most different GPUs in one benchmark if no machine has as many
/// (more than 16): its number is probably that of several nodes, one in each cabinet or rack. Names that are
/// no numbers are taken as given.
std::optional<CrowdedNode> crowded_node(const std::vector<GpuRun>& runs);

/// Calibrates "gpu" and "node" from the benchmark with the most GPUs.
///
/// "gpu": medians of the GPUs over their median. If nodes differ significantly (Kruskal and Wallis, 1 %),
/// "node" is fitted to the means of nodes, and "gpu" is relative to the mean of its node. The scatter of
/// runs about the median of their GPU carries no information about kernels, of which a run has millions:
/// residual.gemm stays that of the profile. Nodes also differ if slow GPUs share nodes more often than by
/// chance (hypergeometric, Holm's correction, 1 %); slow nodes are then the slow mode of "node". Slow
/// members are excluded from the spread of the others. A GPU name that occurs on several nodes ("0" to "7")
/// means one GPU of each. Slow GPUs and nodes are listed by name; implausibly fast GPUs, a sign of values
/// that are not times, in the notes.
Calibration calibrate_gpu_runs(const std::vector<GpuRun>& runs, const std::string& source);

/// One measured time of a collective. `series`: operation, size, members and algorithm,
/// which must be equal for comparison.
struct CollectiveRun {
    std::string series;
    double seconds = 0.0;
    int iterations = 1;      // number of iterations that the time is the mean of
    std::uint32_t line = 0;  // of the file
    double members = 0.0;    // nodes or ranks, as the file counts them; zero: not known
};

/// Law by which rare long times of collectives grow with their members: a share of times beyond a limit
/// in proportion to members^exponent. One if members delay a collective independently of each other,
/// zero if what delays it is one.
struct TailGrowth {
    double exponent = 0.5;
    double low = 0.0;  // 95 % interval
    double high = 1.0;
    double members = 0.0;   // for which the distribution of all times holds
    bool measured = false;  // with several numbers of members; otherwise what is believed before
};
/// Estimates the distribution by Poisson regression of the times beyond a limit, each over the median of
/// its series: the limit that a hundredth of all exceed, or six robust deviations above the median if
/// that is more; errors by the jackknife over series. Before the measurement, the exponent is 0.5 +-
/// 0.5. docs/methods/calibration.md.
TailGrowth tail_growth(const std::vector<CollectiveRun>& times);

/// Removes and counts times longer than credible for their benchmark or series: 100 times its median, and 10
/// times the longest median of those with five times.
void exclude_absurd(std::vector<GpuRun>& runs, std::vector<Fault>& faults);
void exclude_absurd(std::vector<CollectiveRun>& times, std::vector<Fault>& faults);

/// Calibrates "residual.dp_collective", and tp_collective or p2p for series that op_kind() recognises as such
/// (all-to-all, sendrecv): times over the median of their series, all series with at least five times
/// together; a narrower class if has_own_distribution(). Means of iterations vary less than single
/// iterations; the source states this. `members`: of the job's collectives, to which distributions are
/// carried by tail_growth(); zero: as measured.
Calibration calibrate_collectives(const std::vector<CollectiveRun>& times, const std::string& source,
                                  const KernelNames& names, double members = 0.0);

/// Adds the results of another calibration: distributions with new keys, all signatures and slow parts.
void merge(Calibration& calibration, const Calibration& other);

}  // namespace prismopt
