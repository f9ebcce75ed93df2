#pragma once

/// Laws from repeated measurements outside a job: a benchmark on every GPU of a cluster, a collective again and again.

#include "model/calibration/calibration.hpp"
#include "model/calibration/faults.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// One run of one benchmark on one GPU. Node empty: not told.
struct GpuRun {
    std::string benchmark;
    std::string gpu;
    std::string node;
    double seconds = 0.0;    // or the inverse of a throughput: only ratios count
    std::uint32_t line = 0;  // of the file
};

/// Of the benchmark with the most GPUs: "gpu", medians of the GPUs over their median; where nodes differ beyond chance (Kruskal and
/// Wallis, 1 %), "node" takes what the GPUs of one share, and "gpu" is over the mean of its node. Runs about the median of their GPU
/// tell nothing of kernels, of which a run has millions: residual.gemm is left to the profile. A name that several nodes have ("0" to "7") means one GPU of each. Slow GPUs and nodes by
/// name; GPUs too fast to be true in the notes, as numbers that are no times make them.
Calibration calibrate_gpu_runs(const std::vector<GpuRun>& runs, const std::string& source);

/// One measured time of a collective. `series`: what must be equal for times to compare (operation, size, members, algorithm).
struct CollectiveRun {
    std::string series;
    double seconds = 0.0;
    int iterations = 1;      // that the time is the mean of
    std::uint32_t line = 0;  // of the file
};

/// Takes out, and counts, what is longer than is credible of its benchmark or series: 100 times its median, and 10 times that of the
/// longest of them that have five times.
void leave_out_absurd(std::vector<GpuRun>& runs, std::vector<Fault>& faults);
void leave_out_absurd(std::vector<CollectiveRun>& times, std::vector<Fault>& faults);

/// "residual.dp_collective", and tp_collective or p2p for series that op_kind() tells as such (all-to-all, sendrecv): times over the
/// median of their series, all series with at least five times together; a narrower class where has_own_law(). Means of iterations vary less than one does: the source says so.
Calibration calibrate_collectives(const std::vector<CollectiveRun>& times, const std::string& source);

/// Adds what another calibration found: laws whose key is not there yet, all signatures and slow parts.
void merge(Calibration& calibration, const Calibration& other);

}  // namespace prismopt
