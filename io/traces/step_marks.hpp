#pragma once

/// Which step of a trace a kernel belongs to.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace prismopt {

/// Where a step begins and ends.
struct StepMark {
    double start_s, end_s;
    std::int32_t step;
};

/// What places a kernel: its start, the number that it shares with its launch, and its stream.
struct PlacedKernel {
    double start_s;
    std::int64_t correlation;
    std::size_t track;
};

/// Marks of steps of a trace, and launches of kernels.
class StepMarks {
public:
    void add_cpu(const StepMark& mark) { cpu_.push_back(mark); }
    void add_gpu(std::size_t track, const StepMark& mark) { gpu_[track].push_back(mark); }
    void add_launch(std::int64_t correlation, double start_s) { launches_s_[correlation] = start_s; }
    /// To be called when all marks are added.
    void sort();

    /// All is one step where the trace marks none. A kernel belongs to the step of its launch: the CPU runs
    /// ahead of the GPU, so a kernel may start while the CPU is in a later step. Without a launch it is the
    /// mark that the kernel lies in on its own stream, where the trace marks steps there, or else the last
    /// step that started before. Nothing before the first step.
    std::optional<std::int32_t> step_of(const PlacedKernel& kernel) const;
    /// Whether the kernel's launch decides: the CPU marks steps, and the trace has the launch.
    bool has_launch(const PlacedKernel& kernel) const
    {
        return !cpu_.empty() && launches_s_.contains(kernel.correlation);
    }
    /// Whether only the CPU marks steps, where kernels without a launch may be put
    /// into a later step than theirs.
    bool only_on_cpu() const { return !cpu_.empty() && gpu_.empty(); }

private:
    std::unordered_map<std::int64_t, double> launches_s_;  // by correlation
    std::vector<StepMark> cpu_;
    std::map<std::size_t, std::vector<StepMark>> gpu_;  // by stream
    std::vector<StepMark> first_;  // the first of each step on any stream; those of the CPU without any there
};

}  // namespace prismopt
