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

/// What is kept of the operations; first all of the steps.
class Thinning {
public:
    Thinning(const Trace& trace, std::vector<std::int32_t> steps, std::size_t most)
        : trace_(trace), most_(most), steps_(distinct(std::move(steps))), numbers_(trace.kinds.size(), 1)
    {
        for (const TraceWorker& worker : trace.workers) {
            replicas_.push_back(worker.dp);
        }
        replicas_ = distinct(replicas_);
    }

    Trace make()
    {
        thin_numbers();
        of_replicas_ =
            stride(kept().count, most_, replicas_.size(), static_cast<std::size_t>(least_replicas));
        const std::size_t of_steps = stride(kept().count, most_, steps_.size(), 2);
        for (std::size_t i = 0; i * of_steps < steps_.size(); ++i) {
            steps_[i] = steps_[i * of_steps];
        }
        steps_.resize((steps_.size() + of_steps - 1) / of_steps);
        Trace subset;
        subset.source = trace_.source;
        subset.kinds = trace_.kinds;
        subset.workers = trace_.workers;
        subset.ops.reserve(kept().count);
        visit([&](const TraceOp& op) { subset.ops.push_back(op); });
        return subset;
    }

private:
    struct Kept {
        std::size_t count = 0;
        std::vector<std::size_t> numbers;  // of each kind
    };

    template <class Use>
    void visit(Use use) const
    {
        std::vector<char> replica_kept;
        for (const TraceWorker& worker : trace_.workers) {
            replica_kept.push_back(place_of(replicas_, worker.dp) % of_replicas_ == 0 ? 1 : 0);
        }
        const std::int32_t* step = nullptr;  // the last that was looked for
        bool wanted = false;
        for (const TraceOp& op : trace_.ops) {
            if (step == nullptr || *step != op.step) {
                step = &op.step;
                wanted = std::binary_search(steps_.begin(), steps_.end(), op.step);
            }
            if (wanted && number_of(op) % numbers_[op.kind] == 0 &&
                replica_kept[static_cast<std::size_t>(op.worker)] != 0) {
                use(op);
            }
        }
    }

    Kept kept() const
    {
        Kept result{0, std::vector<std::size_t>(trace_.kinds.size(), 0)};
        visit([&](const TraceOp& op) {
            ++result.count;
            result.numbers[op.kind] = std::max(result.numbers[op.kind], number_of(op) + 1);
        });
        return result;
    }

    void thin_numbers()
    {
        const Kept all = kept();
        for (std::size_t kind = 0; kind < numbers_.size(); ++kind) {
            numbers_[kind] = stride(all.count, most_, all.numbers[kind], 2);
        }
    }

    const Trace& trace_;
    std::size_t most_;
    std::vector<std::int32_t> steps_;   // rising
    std::vector<std::size_t> numbers_;  // [kind] every n-th is kept
    std::vector<int> replicas_;         // rising
    std::size_t of_replicas_ = 1;
};

}  // namespace

Trace thin_trace(const Trace& trace, std::vector<std::int32_t> steps, std::size_t most)
{
    return Thinning(trace, std::move(steps), most).make();
}

}  // namespace prismopt
