#include "model/calibrate/trace.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <limits>
#include <tuple>

namespace prismopt {

namespace {

struct Word {
    const char* part;
    OpRole role;
    KernelClass kernel;
};

/// The first that a name contains decides.
constexpr std::array words{Word{"tp-all", OpRole::collective, KernelClass::tp_collective},
                           Word{"tp_all", OpRole::collective, KernelClass::tp_collective},
                           Word{"sendrecv", OpRole::send, KernelClass::p2p},
                           Word{"send", OpRole::send, KernelClass::p2p},
                           Word{"recv", OpRole::receive, KernelClass::p2p},
                           Word{"receive", OpRole::receive, KernelClass::p2p},
                           Word{"all-reduce", OpRole::collective, KernelClass::dp_collective},
                           Word{"all_reduce", OpRole::collective, KernelClass::dp_collective},
                           Word{"allreduce", OpRole::collective, KernelClass::dp_collective},
                           Word{"all-gather", OpRole::collective, KernelClass::dp_collective},
                           Word{"all_gather", OpRole::collective, KernelClass::dp_collective},
                           Word{"allgather", OpRole::collective, KernelClass::dp_collective},
                           Word{"reduce-scatter", OpRole::collective, KernelClass::dp_collective},
                           Word{"reduce_scatter", OpRole::collective, KernelClass::dp_collective},
                           Word{"reducescatter", OpRole::collective, KernelClass::dp_collective},
                           Word{"alltoall", OpRole::collective, KernelClass::tp_collective},
                           Word{"all-to-all", OpRole::collective, KernelClass::tp_collective},
                           Word{"all_to_all", OpRole::collective, KernelClass::tp_collective},
                           Word{"broadcast", OpRole::collective, KernelClass::dp_collective},
                           Word{"nccl", OpRole::collective, KernelClass::dp_collective},
                           Word{"flash", OpRole::compute, KernelClass::attention},
                           Word{"attention", OpRole::compute, KernelClass::attention},
                           Word{"attn", OpRole::compute, KernelClass::attention},
                           Word{"softmax", OpRole::compute, KernelClass::attention},
                           Word{"gemm", OpRole::compute, KernelClass::gemm},
                           Word{"matmul", OpRole::compute, KernelClass::gemm},
                           Word{"nvjet", OpRole::compute, KernelClass::gemm},
                           Word{"cutlass", OpRole::compute, KernelClass::gemm},
                           Word{"forward", OpRole::compute, KernelClass::gemm},
                           Word{"backward", OpRole::compute, KernelClass::gemm}};

template <class Key, class Index>
Index index_in(std::vector<std::pair<Key, Index>>& order, const Key& key, Index fresh)
{
    const auto place =
        std::lower_bound(order.begin(), order.end(), key, [](const auto& entry, const Key& k) { return entry.first < k; });
    if (place != order.end() && place->first == key) {
        return place->second;
    }
    order.emplace(place, key, fresh);
    return fresh;
}

}  // namespace

OpKind op_kind(const std::string& name)
{
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Word& word : words) {
        if (lower.find(word.part) != std::string::npos) {
            return {name, word.role, word.kernel};
        }
    }
    return {name, OpRole::compute, KernelClass::elementwise};
}

void Trace::fault(const std::string& reason, std::uint32_t line)
{
    const auto same = std::find_if(faults.begin(), faults.end(), [&](const TraceFault& f) { return f.reason == reason; });
    if (same != faults.end()) {
        ++same->count;
    } else {
        faults.push_back({reason, 1, line});
    }
}

std::uint16_t Trace::kind_index(const std::string& name)
{
    const auto fresh = static_cast<std::uint16_t>(kinds.size());
    const std::uint16_t index = index_in(kind_order_, name, fresh);
    if (index == fresh) {
        kinds.push_back(op_kind(name));
    }
    return index;
}

std::int32_t Trace::worker_index(Worker worker)
{
    const auto fresh = static_cast<std::int32_t>(workers.size());
    const std::int32_t index = index_in(worker_order_, worker, fresh);
    if (index == fresh) {
        workers.push_back(worker);
    }
    return index;
}

void sort_by_start(Trace& trace)
{
    const auto order = [](const TraceOp& a, const TraceOp& b) {
        return std::tie(a.step, a.worker, a.start_s, a.kind, a.sequence, a.line) <
               std::tie(b.step, b.worker, b.start_s, b.kind, b.sequence, b.line);
    };
    if (!std::is_sorted(trace.ops.begin(), trace.ops.end(), order)) {
        std::sort(trace.ops.begin(), trace.ops.end(), order);
    }
}

std::vector<TraceProblem> problems(const Trace& trace)
{
    std::vector<TraceProblem> found;
    constexpr std::size_t most = 10;
    std::vector<TraceOp> of_worker;
    for (auto begin = trace.ops.begin(); begin != trace.ops.end() && found.size() < most;) {
        const auto end = std::find_if(begin, trace.ops.end(),
                                      [&](const TraceOp& op) { return op.step != begin->step || op.worker != begin->worker; });
        of_worker.assign(begin, end);
        std::stable_sort(of_worker.begin(), of_worker.end(), [](const TraceOp& a, const TraceOp& b) {
            return std::tie(a.kind, a.sequence) < std::tie(b.kind, b.sequence);
        });
        for (std::size_t i = 1; i < of_worker.size() && found.size() < most; ++i) {
            const TraceOp& before = of_worker[i - 1];
            const TraceOp& op = of_worker[i];
            if (before.kind == op.kind && before.sequence == op.sequence) {
                found.push_back({std::max(op.line, before.line),
                                 trace.kinds[op.kind].name + " " + std::to_string(op.sequence) + " of step " +
                                     std::to_string(op.step) + " is there twice for one worker, first in line " +
                                     std::to_string(std::min(op.line, before.line)) +
                                     " (two jobs in one file?); give each job a file and calibrate one"});
            } else if (before.kind == op.kind && op.start_s < before.start_s) {
                found.push_back({op.line, trace.kinds[op.kind].name + " " + std::to_string(op.sequence) + " of step " +
                                              std::to_string(op.step) + " starts before number " +
                                              std::to_string(before.sequence) +
                                              " (the clock runs backwards); leave the worker or the step out"});
            }
        }
        begin = end;
    }
    return found;
}

std::vector<StepTime> step_times(const Trace& trace)
{
    std::vector<StepTime> times;
    double first = 0.0;
    double last = 0.0;
    for (const TraceOp& op : trace.ops) {
        if (times.empty() || times.back().step != op.step) {
            times.push_back({op.step, 0.0});
            first = std::numeric_limits<double>::infinity();
            last = -first;
        }
        first = std::min(first, op.start_s);
        last = std::max(last, op.start_s + static_cast<double>(op.duration_s));
        times.back().seconds = last - first;
    }
    return times;
}

Trace steps_of(const Trace& trace, const std::vector<std::int32_t>& steps)
{
    Trace part;
    part.source = trace.source;
    part.kinds = trace.kinds;
    part.workers = trace.workers;
    std::vector<std::int32_t> wanted = steps;
    std::sort(wanted.begin(), wanted.end());
    std::copy_if(trace.ops.begin(), trace.ops.end(), std::back_inserter(part.ops),
                 [&](const TraceOp& op) { return std::binary_search(wanted.begin(), wanted.end(), op.step); });
    return part;
}

}  // namespace prismopt
