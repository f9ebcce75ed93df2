#include "model/calibration/trace/trace.hpp"

#include "model/base/median.hpp"
#include "model/base/words.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

template <class Key, class Index>
Index index_in(std::vector<std::pair<Key, Index>>& order, const Key& key, Index fresh)
{
    const auto place = std::lower_bound(order.begin(), order.end(), key,
                                        [](const auto& entry, const Key& k) { return entry.first < k; });
    if (place != order.end() && place->first == key) {
        return place->second;
    }
    order.emplace(place, key, fresh);
    return fresh;
}

}  // namespace

void Trace::fault(FaultReason reason, std::uint32_t line, const std::string& of)
{
    add_fault(faults, reason, line, of);
}

std::uint16_t Trace::kind_index(const std::string& name, const KernelNames& names)
{
    const auto fresh = static_cast<std::uint16_t>(kinds.size());
    const std::uint16_t index = index_in(kind_order_, name, fresh);
    if (index == fresh) {
        kinds.push_back(op_kind(name, names));
    }
    return index;
}

std::int32_t Trace::worker_index(TraceWorker worker)
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

std::size_t exclude_absurd(Trace& trace)
{
    std::vector<double> steps;
    for (const TraceStepTime& time : busiest_worker_times(trace)) {
        steps.push_back(time.seconds);
    }
    const double step_s = steps.empty() ? 0.0 : median_of(std::move(steps));
    const double longest = longest_credible({}, step_s);
    std::vector<std::vector<double>> usual(trace.kinds.size());
    std::vector<bool> suspect(trace.kinds.size(), false);
    for (const TraceOp& op : trace.ops) {
        suspect[op.kind] = suspect[op.kind] || static_cast<double>(op.duration_s) > longest;
    }
    for (const TraceOp& op : trace.ops) {
        if (suspect[op.kind]) {
            usual[op.kind].push_back(static_cast<double>(op.duration_s));
        }
    }
    std::vector<double> limits(trace.kinds.size(), std::numeric_limits<double>::infinity());
    for (std::size_t kind = 0; kind < limits.size(); ++kind) {
        if (suspect[kind]) {
            limits[kind] = longest_credible(std::move(usual[kind]), step_s);
        }
    }
    const auto absurd = [&](const TraceOp& op) {
        return static_cast<double>(op.duration_s) > limits[op.kind];
    };
    for (const TraceOp& op : trace.ops) {
        if (absurd(op)) {
            trace.fault(FaultReason::absurd_for_its_kind, op.line, trace.kinds[op.kind].name);
        }
    }
    const std::size_t before = trace.ops.size();
    trace.ops.erase(std::remove_if(trace.ops.begin(), trace.ops.end(), absurd), trace.ops.end());
    return before - trace.ops.size();
}

namespace {

/// Steps after a jump in their numbers that take altogether other times than those before: two jobs one after
/// the other, or a job that was changed between.
std::vector<TraceProblem> seams(const Trace& trace)
{
    constexpr std::int32_t jump = 10;    // times the usual distance of steps
    constexpr std::ptrdiff_t least = 8;  // steps on both sides
    constexpr double longer = 1.5;       // one job's windows differ by less
    std::vector<TraceStepTime> times;    // of all operations of a step together
    for (const TraceOp& op : trace.ops) {
        if (times.empty() || times.back().step != op.step) {
            times.push_back({op.step, 0.0});
        }
        times.back().seconds += static_cast<double>(op.duration_s);
    }
    std::vector<std::int32_t> gaps;
    for (std::size_t i = 1; i < times.size(); ++i) {
        gaps.push_back(times[i].step - times[i - 1].step);
    }
    if (gaps.empty()) {
        return {};
    }
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    const std::int64_t usual = std::max(1, gaps[gaps.size() / 2]);
    const auto parted = [&](const TraceStepTime& a, const TraceStepTime& b) {
        return static_cast<std::int64_t>(b.step) - a.step > jump * usual;
    };
    // Nine tenths of them: a first or last step may be cut off.
    const auto usual_range = [](auto from, auto to) {
        std::vector<double> seconds;
        std::transform(from, to, std::back_inserter(seconds),
                       [](const TraceStepTime& t) { return t.seconds; });
        std::sort(seconds.begin(), seconds.end());
        const std::size_t out = (seconds.size() + 19) / 20;
        return std::pair{seconds[out], seconds[seconds.size() - 1 - out]};
    };
    std::vector<TraceProblem> found;
    auto before = times.begin();
    auto begin = std::adjacent_find(before, times.end(), parted);
    while (begin != times.end()) {
        ++begin;
        const auto next = std::adjacent_find(begin, times.end(), parted);
        const auto end = next == times.end() ? next : next + 1;
        if (begin - before >= least && end - begin >= least) {
            const auto [low, high] = usual_range(before, begin);
            const auto [later_low, later_high] = usual_range(begin, end);
            if (later_low > longer * high || low > longer * later_high) {
                const std::int32_t step = begin->step;
                const auto op = std::find_if(trace.ops.begin(), trace.ops.end(),
                                             [&](const TraceOp& o) { return o.step == step; });
                const StepsOfJob earlier{before->step, (begin - 1)->step, low, high};
                const StepsOfJob later{step, (end - 1)->step, later_low, later_high};
                found.push_back({op->line, JobsInOneFile{earlier, later}});
            }
        }
        before = begin;
        begin = next;
    }
    return found;
}

}  // namespace

std::vector<TraceProblem> problems(const Trace& trace)
{
    std::vector<TraceProblem> found = seams(trace);
    constexpr std::size_t most = 10;
    std::vector<TraceOp> of_worker;
    for (auto begin = trace.ops.begin(); begin != trace.ops.end() && found.size() < most;) {
        const auto end = std::find_if(begin, trace.ops.end(), [&](const TraceOp& op) {
            return op.step != begin->step || op.worker != begin->worker;
        });
        of_worker.assign(begin, end);
        std::stable_sort(of_worker.begin(), of_worker.end(), [](const TraceOp& a, const TraceOp& b) {
            return std::tie(a.kind, a.sequence) < std::tie(b.kind, b.sequence);
        });
        for (std::size_t i = 1; i < of_worker.size() && found.size() < most; ++i) {
            const TraceOp& before = of_worker[i - 1];
            const TraceOp& op = of_worker[i];
            if (before.kind == op.kind && before.sequence == op.sequence) {
                found.push_back({std::max(op.line, before.line),
                                 OperationTwice{.operation = trace.kinds[op.kind].name,
                                                .number = op.sequence,
                                                .step = op.step,
                                                .first_line = std::min(op.line, before.line)}});
            } else if (before.kind == op.kind && op.start_s < before.start_s) {
                found.push_back({op.line, ClockRunsBackwards{.operation = trace.kinds[op.kind].name,
                                                             .number = op.sequence,
                                                             .step = op.step,
                                                             .number_before = before.sequence}});
            }
        }
        begin = end;
    }
    return found;
}

std::vector<TraceProblem> clock_set_back(const Trace& trace)
{
    struct Start {
        double seconds;
        std::int32_t step;
        std::uint32_t line;
    };
    std::vector<Start> starts;
    for (const TraceOp& op : trace.ops) {
        if (starts.empty() || starts.back().step != op.step) {
            starts.push_back({op.start_s, op.step, op.line});
        } else if (op.start_s < starts.back().seconds) {
            starts.back() = {op.start_s, op.step, op.line};
        }
    }
    std::vector<TraceProblem> found;
    std::size_t follow = 0;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        follow += starts[i].seconds > starts[i - 1].seconds ? 1 : 0;
        if (starts[i].seconds < starts[i - 1].seconds) {
            found.push_back({starts[i].line, ClockSetBack{starts[i].step, starts[i - 1].step}});
        }
    }
    // as many follow for each that does not; of starts that scatter about zero every other one does
    constexpr std::size_t mostly = 3;
    return follow >= mostly * found.size() ? found : std::vector<TraceProblem>{};
}

std::vector<TraceProblem> without_microbatch(const Trace& trace)
{
    struct Count {
        std::size_t with = 0;
        std::size_t without = 0;
        std::uint32_t first_line = 0;
    };
    std::vector<Count> counts(trace.kinds.size());
    for (const TraceOp& op : trace.ops) {
        Count& count = counts[op.kind];
        if (op.microbatch >= 0) {
            ++count.with;
        } else {
            count.first_line = count.without == 0 ? op.line : std::min(count.first_line, op.line);
            ++count.without;
        }
    }
    const auto of_microbatches = [&](std::size_t kind) {  // computing that each microbatch has
        const std::string name = lower_case(trace.kinds[kind].name);
        return trace.kinds[kind].role == OpRole::compute &&
               (name.find("forward") != std::string::npos || name.find("backward") != std::string::npos);
    };
    bool any = false;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        any = any || (of_microbatches(kind) && counts[kind].with > 0);
    }
    std::vector<TraceProblem> found;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        const Count& count = counts[kind];
        const bool mixed = trace.kinds[kind].role == OpRole::compute && count.with > 0;
        if (count.without > 0 && (mixed || (any && of_microbatches(kind)))) {
            found.push_back({count.first_line, NoMicrobatch{trace.kinds[kind].name, count.without,
                                                            count.with + count.without}});
        }
    }
    return found;
}

UnknownNames unknown_names(const Trace& trace)
{
    std::vector<std::pair<double, const std::string*>> time_s(trace.kinds.size());
    double all_s = 0.0;
    for (const TraceOp& op : trace.ops) {
        time_s[op.kind].first += static_cast<double>(op.duration_s);
        all_s += static_cast<double>(op.duration_s);
    }
    UnknownNames unknown;
    for (std::size_t kind = 0; kind < trace.kinds.size(); ++kind) {
        time_s[kind].second = &trace.kinds[kind].name;
        if (trace.kinds[kind].known) {
            time_s[kind].first = 0.0;
        }
    }
    std::stable_sort(time_s.begin(), time_s.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [seconds, name] : time_s) {
        if (seconds > 0.0) {
            unknown.share += seconds / all_s;
            unknown.names.push_back(*name);
        }
    }
    return unknown;
}

std::vector<TraceStepTime> step_times(const Trace& trace)
{
    std::vector<TraceStepTime> times;
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

std::vector<TraceStepTime> busiest_worker_times(const Trace& trace)
{
    std::vector<TraceStepTime> times;
    std::int32_t worker = -1;
    double first = 0.0;
    double last = 0.0;
    for (const TraceOp& op : trace.ops) {
        const bool fresh = times.empty() || times.back().step != op.step;
        if (fresh) {
            times.push_back({op.step, 0.0});
        }
        if (fresh || op.worker != worker) {
            worker = op.worker;
            first = op.start_s;  // the earliest: sorted
            last = first;
        }
        last = std::max(last, op.start_s + static_cast<double>(op.duration_s));
        times.back().seconds = std::max(times.back().seconds, last - first);
    }
    return times;
}

Trace steps_of(const Trace& trace, const std::vector<std::int32_t>& steps)
{
    Trace subset;
    subset.source = trace.source;
    subset.kinds = trace.kinds;
    subset.workers = trace.workers;
    std::vector<std::int32_t> wanted = steps;
    std::sort(wanted.begin(), wanted.end());
    std::copy_if(trace.ops.begin(), trace.ops.end(), std::back_inserter(subset.ops), [&](const TraceOp& op) {
        return std::binary_search(wanted.begin(), wanted.end(), op.step);
    });
    return subset;
}

}  // namespace prismopt
