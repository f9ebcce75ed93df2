#include "model/calibration/trace/thin_trace.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

/// Every n-th of what is numbered from zero, so that about `most` operations of `now` are left
/// and `least` numbers of `count`.
std::size_t stride(std::size_t now, std::size_t most, std::size_t count, std::size_t least)
{
    const std::size_t wanted = (now + most - 1) / most;
    // numbers 0, s, 2 s, ...: least of them
    const std::size_t allowed = count > least ? (count - 1) / (least - 1) : 1;
    return std::max<std::size_t>(1, std::min(wanted, allowed));
}

std::size_t number_of(const TraceOp& op)
{
    return static_cast<std::size_t>(std::max(0, op.microbatch >= 0 ? op.microbatch : op.sequence));
}

/// Rising, each once.
template <class Value>
std::vector<Value> distinct(std::vector<Value> values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

template <class Value>
std::size_t place_of(const std::vector<Value>& rising, const Value& value)
{
    return static_cast<std::size_t>(std::lower_bound(rising.begin(), rising.end(), value) - rising.begin());
}

/// Which operations are kept.
struct KeptOperations {
    std::vector<std::int32_t> steps;   // rising
    std::vector<std::size_t> numbers;  // [kind] every n-th is kept
    std::vector<char> workers;         // [worker] 1: its replica is kept
};

template <class Use>
void visit_kept(const Trace& trace, const KeptOperations& kept, Use use)
{
    const std::int32_t* step = nullptr;  // the last that was looked for
    bool wanted = false;
    for (const TraceOp& op : trace.ops) {
        if (step == nullptr || *step != op.step) {
            step = &op.step;
            wanted = std::binary_search(kept.steps.begin(), kept.steps.end(), op.step);
        }
        if (wanted && number_of(op) % kept.numbers[op.kind] == 0 &&
            kept.workers[static_cast<std::size_t>(op.worker)] != 0) {
            use(op);
        }
    }
}

std::size_t count_kept(const Trace& trace, const KeptOperations& kept)
{
    std::size_t count = 0;
    visit_kept(trace, kept, [&](const TraceOp&) { ++count; });
    return count;
}

/// [kind]: strides of the numbers, so that about `most` operations are left.
std::vector<std::size_t> number_strides(const Trace& trace, const KeptOperations& kept, std::size_t most)
{
    std::size_t count = 0;
    std::vector<std::size_t> numbers(trace.kinds.size(), 0);
    visit_kept(trace, kept, [&](const TraceOp& op) {
        ++count;
        numbers[op.kind] = std::max(numbers[op.kind], number_of(op) + 1);
    });
    std::vector<std::size_t> strides;
    for (const std::size_t of_kind : numbers) {
        strides.push_back(stride(count, most, of_kind, 2));
    }
    return strides;
}

/// [worker]: whether its replica is kept, so that about `most` operations are left.
std::vector<char> thinned_workers(const Trace& trace, const KeptOperations& kept, std::size_t most)
{
    std::vector<int> replicas;
    for (const TraceWorker& worker : trace.workers) {
        replicas.push_back(worker.dp);
    }
    replicas = distinct(replicas);
    const std::size_t every =
        stride(count_kept(trace, kept), most, replicas.size(), static_cast<std::size_t>(least_replicas));
    std::vector<char> workers;
    for (const TraceWorker& worker : trace.workers) {
        workers.push_back(place_of(replicas, worker.dp) % every == 0 ? 1 : 0);
    }
    return workers;
}

/// Steps that are kept, so that about `most` operations are left.
std::vector<std::int32_t> thinned_steps(const Trace& trace, const KeptOperations& kept, std::size_t most)
{
    const std::size_t every = stride(count_kept(trace, kept), most, kept.steps.size(), 2);
    std::vector<std::int32_t> steps;
    for (std::size_t i = 0; i < kept.steps.size(); i += every) {
        steps.push_back(kept.steps[i]);
    }
    return steps;
}

}  // namespace

Trace thin_trace(const Trace& trace, std::vector<std::int32_t> steps, std::size_t most)
{
    KeptOperations kept{.steps = distinct(std::move(steps)),
                        .numbers = std::vector<std::size_t>(trace.kinds.size(), 1),
                        .workers = std::vector<char>(trace.workers.size(), 1)};
    kept.numbers = number_strides(trace, kept, most);
    kept.workers = thinned_workers(trace, kept, most);
    kept.steps = thinned_steps(trace, kept, most);
    Trace subset;
    subset.source = trace.source;
    subset.kinds = trace.kinds;
    subset.workers = trace.workers;
    subset.ops.reserve(count_kept(trace, kept));
    visit_kept(trace, kept, [&](const TraceOp& op) { subset.ops.push_back(op); });
    return subset;
}

}  // namespace prismopt
