#include "model/calibration/trace/step_graph.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace prismopt {

namespace {

/// What clocks of different hosts, aligned after the run, may disagree by. Launch gaps of the traces known are below.
constexpr double clock_error_s = 200e-6;
/// Operations looked at for what ended before: beyond, something nearer did.
constexpr std::size_t look_back = 16;

struct Times {
    double start_s;
    double end_s;
};

using Steps = std::vector<std::vector<Times>>;  // [slot][step]

/// One worker's operations in one step, batches joined.
struct Batch {
    std::vector<const TraceOp*> ops;
    Times times{};
};

/// Where the operations of each step begin and end.
struct StepRange {
    std::int32_t step;
    std::size_t begin, end;
};
std::vector<StepRange> ranges_of(const Trace& trace)
{
    std::vector<StepRange> ranges;
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
        if (ranges.empty() || ranges.back().step != trace.ops[i].step) {
            ranges.push_back({trace.ops[i].step, i, i});
        }
        ranges.back().end = i + 1;
    }
    return ranges;
}

using Identity = std::tuple<int, int, int>;  // worker, kind, sequence
Identity identity(const TraceOp& op) { return {op.worker, op.kind, op.sequence}; }

/// Identities in the order of worker and start.
std::vector<Identity> sorted_identities(const Trace& trace, const StepRange& range)
{
    std::vector<Identity> result;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        result.push_back(identity(trace.ops[i]));
    }
    std::sort(result.begin(), result.end());
    return result;
}

class GraphMaker {
public:
    explicit GraphMaker(const Trace& trace) : trace_(trace) {}

    StepGraph make()
    {
        choose_steps();
        if (graph_.steps.empty()) {
            return graph_;
        }
        make_slots();
        const std::vector<std::vector<int>> own = own_waits();
        join(own);
        measure_gaps();
        put_in_order();
        return graph_;
    }

private:
    /// Steps with the most frequent set of operations.
    void choose_steps()
    {
        std::map<std::vector<Identity>, std::vector<StepRange>> by_shape;
        for (const StepRange& range : ranges_of(trace_)) {
            by_shape[sorted_identities(trace_, range)].push_back(range);
        }
        const auto usual = std::max_element(by_shape.begin(), by_shape.end(),
                                            [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        for (const auto& [shape, ranges] : by_shape) {
            for (const StepRange& range : ranges) {
                if (&shape == &usual->first) {
                    ranges_.push_back(range);
                } else {
                    graph_.others.push_back(range.step);
                }
            }
        }
        std::sort(graph_.others.begin(), graph_.others.end());
        for (const StepRange& range : ranges_) {
            graph_.steps.push_back(range.step);
        }
    }

    bool transfer(int kind) const
    {
        const OpRole role = trace_.kinds[static_cast<std::size_t>(kind)].role;
        return role == OpRole::send || role == OpRole::receive;
    }

    /// Order of the first step; transfers that start together there and in most steps are one batch.
    void make_slots()
    {
        std::map<Identity, std::vector<Times>> times;
        for (const StepRange& range : ranges_) {
            double first = std::numeric_limits<double>::infinity();
            for (std::size_t i = range.begin; i < range.end; ++i) {
                first = std::min(first, trace_.ops[i].start_s);
            }
            for (std::size_t i = range.begin; i < range.end; ++i) {
                const TraceOp& op = trace_.ops[i];
                times[identity(op)].push_back({op.start_s - first, op.start_s - first + static_cast<double>(op.duration_s)});
            }
        }
        const TraceOp* before = nullptr;
        for (std::size_t i = ranges_.front().begin; i < ranges_.front().end; ++i) {
            const TraceOp& op = trace_.ops[i];
            const std::vector<Times>& all = times.at(identity(op));
            const bool batched = before != nullptr && before->worker == op.worker && transfer(before->kind) &&
                                 transfer(op.kind) && start_together(times_.back(), all);
            if (batched) {
                for (std::size_t t = 0; t < all.size(); ++t) {
                    times_.back()[t].end_s = std::max(times_.back()[t].end_s, all[t].end_s);
                }
            } else {
                graph_.slots.push_back({op.worker, op.kind, op.sequence, op.microbatch, {}});
                times_.push_back(all);
            }
            slot_of_[identity(op)] = static_cast<int>(graph_.slots.size()) - 1;
            before = &op;
        }
    }

    static bool start_together(const std::vector<Times>& a, const std::vector<Times>& b)
    {
        std::size_t together = 0;
        for (std::size_t t = 0; t < a.size(); ++t) {
            together += a[t].start_s == b[t].start_s ? 1 : 0;
        }
        return 2 * together > a.size();
    }

    /// Whether `before` has ended when `slot` starts, in nearly all steps.
    bool ended_before(std::size_t before, std::size_t slot) const
    {
        std::size_t overlaps = 0;
        for (std::size_t t = 0; t < ranges_.size(); ++t) {
            overlaps += times_[before][t].end_s > times_[slot][t].start_s + clock_error_s ? 1 : 0;
        }
        return 20 * overlaps <= ranges_.size();
    }

    std::vector<std::vector<int>> own_waits() const
    {
        std::vector<std::vector<int>> own(graph_.slots.size());
        for (std::size_t slot = 0; slot < graph_.slots.size(); ++slot) {
            for (std::size_t back = 1; back <= std::min(slot, look_back); ++back) {
                const std::size_t before = slot - back;
                if (graph_.slots[before].worker != graph_.slots[slot].worker) {
                    break;
                }
                if (ended_before(before, slot)) {
                    own[slot].push_back(static_cast<int>(before));
                    // What it waits for itself ended earlier still: only what it overlaps is left to look at.
                    break_after_overlap(before, slot, own[slot]);
                    break;
                }
            }
        }
        return own;
    }

    /// Slots further back that end after the start of `before`, and so may end after its end.
    void break_after_overlap(std::size_t before, std::size_t slot, std::vector<int>& waits) const
    {
        for (std::size_t back = 1; back <= std::min(before, look_back); ++back) {
            const std::size_t earlier = before - back;
            if (graph_.slots[earlier].worker != graph_.slots[slot].worker) {
                return;
            }
            if (!ended_before(earlier, before) && ended_before(earlier, slot)) {
                waits.push_back(static_cast<int>(earlier));
            }
        }
    }

    std::optional<int> find(TraceWorker worker, int kind, int sequence) const
    {
        const auto place = std::find(trace_.workers.begin(), trace_.workers.end(), worker);
        if (place == trace_.workers.end()) {
            return std::nullopt;
        }
        const auto found = slot_of_.find({static_cast<int>(place - trace_.workers.begin()), kind, sequence});
        return found == slot_of_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Latest end of what a set of slots waits for, in a step; zero, the step's start, where that is nothing.
    double ready(const std::vector<int>& waits, std::size_t step) const
    {
        double latest = 0.0;
        for (const int wait : waits) {
            latest = std::max(latest, times_[static_cast<std::size_t>(wait)][step].end_s);
        }
        return latest;
    }

    /// Mean distance of the gaps from their median; nothing where starts do not wait so long.
    std::optional<double> gap_spread(std::size_t slot, const std::vector<int>& waits) const
    {
        std::vector<double> gaps(ranges_.size());
        std::size_t negative = 0;
        for (std::size_t t = 0; t < gaps.size(); ++t) {
            gaps[t] = times_[slot][t].start_s - ready(waits, t);
            negative += gaps[t] < -clock_error_s ? 1 : 0;
        }
        if (20 * negative > gaps.size()) {
            return std::nullopt;
        }
        const double median = median_of(gaps);
        for (double& gap : gaps) {
            gap = std::abs(gap - median);
        }
        return mean_of(gaps);
    }

    static std::vector<int> united(std::vector<int> a, const std::vector<int>& b)
    {
        a.insert(a.end(), b.begin(), b.end());
        std::sort(a.begin(), a.end());
        a.erase(std::unique(a.begin(), a.end()), a.end());
        return a;
    }

    void join(const std::vector<std::vector<int>>& own)
    {
        peers_.resize(graph_.slots.size());
        std::iota(peers_.begin(), peers_.end(), 0);
        for (const auto& [id, slot] : slot_of_) {
            join_peer(id, slot);
        }
        std::map<int, std::vector<int>> exchanged;  // by the exchange's first slot: what all its members wait for
        for (std::size_t slot = 0; slot < own.size(); ++slot) {
            auto& waits = exchanged[root(static_cast<int>(slot))];
            waits = united(waits, own[slot]);
        }
        std::map<std::tuple<int, int, int, int>, std::vector<int>> counterparts;  // what the slots of a scope wait for
        for (std::size_t slot = 0; slot < own.size(); ++slot) {
            const StepSlot& s = graph_.slots[slot];
            if (!transfer(s.kind)) {
                for (const auto& scope : scopes(s)) {
                    auto& waits = counterparts[scope];
                    waits.insert(waits.end(), own[slot].begin(), own[slot].end());
                }
            }
        }
        for (std::size_t slot = 0; slot < own.size(); ++slot) {
            StepSlot& s = graph_.slots[slot];
            s.after = transfer(s.kind) ? exchanged.at(root(static_cast<int>(slot))) : best_waits(slot, own[slot], counterparts);
        }
    }

    /// Counterparts of a slot: kind, sequence and where. On the replica's workers, on those of its stage, on all.
    std::vector<std::tuple<int, int, int, int>> scopes(const StepSlot& s) const
    {
        const TraceWorker worker = trace_.workers[static_cast<std::size_t>(s.worker)];
        return {{s.kind, s.sequence, 0, worker.dp}, {s.kind, s.sequence, 1, worker.stage}, {s.kind, s.sequence, 2, 0}};
    }

    std::vector<int> best_waits(std::size_t slot, const std::vector<int>& own,
                                const std::map<std::tuple<int, int, int, int>, std::vector<int>>& counterparts) const
    {
        const StepSlot& s = graph_.slots[slot];
        std::vector<int> best = own;
        double least = gap_spread(slot, own).value_or(std::numeric_limits<double>::infinity());
        for (const auto& scope : scopes_everywhere(s)) {
            if (least <= clock_error_s) {
                break;
            }
            const auto found = counterparts.find(scope);
            if (found == counterparts.end()) {
                continue;
            }
            const std::vector<int> waits = united(own, found->second);
            const auto spread = gap_spread(slot, waits);
            if (spread && *spread < 0.5 * least) {
                least = *spread;
                best = waits;
            }
        }
        return best;
    }

    /// The scopes of a slot, and those of the other stages.
    std::vector<std::tuple<int, int, int, int>> scopes_everywhere(const StepSlot& s) const
    {
        auto result = scopes(s);
        std::vector<int> stages;
        for (const TraceWorker& worker : trace_.workers) {
            stages.push_back(worker.stage);
        }
        std::sort(stages.begin(), stages.end());
        stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
        for (const int stage : stages) {
            result.emplace_back(s.kind, s.sequence, 1, stage);
        }
        return result;
    }

    /// A transfer and its other end: "x-send" with "x-recv" of the next stage or the one before, whichever starts with it.
    void join_peer(const Identity& id, int slot)
    {
        const auto& [worker_index, kind, sequence] = id;
        if (trace_.kinds[static_cast<std::size_t>(kind)].role != OpRole::send) {
            return;
        }
        const TraceWorker worker = trace_.workers[static_cast<std::size_t>(worker_index)];
        std::optional<int> best;
        double nearest = std::numeric_limits<double>::infinity();
        for (const int stage : {worker.stage + 1, worker.stage - 1}) {
            const auto peer = find({worker.dp, stage}, receiving_kind(kind), sequence);
            if (!peer) {
                continue;
            }
            double apart = 0.0;
            for (std::size_t t = 0; t < ranges_.size(); ++t) {
                apart += std::abs(times_[static_cast<std::size_t>(slot)][t].start_s -
                                  times_[static_cast<std::size_t>(*peer)][t].start_s);
            }
            if (apart < nearest) {
                nearest = apart;
                best = peer;
            }
        }
        if (best) {
            peers_[static_cast<std::size_t>(root(slot))] = root(*best);
        }
    }

    int root(int slot) const
    {
        while (peers_[static_cast<std::size_t>(slot)] != slot) {
            slot = peers_[static_cast<std::size_t>(slot)];
        }
        return slot;
    }

    int receiving_kind(int send) const
    {
        const OpKind& kind = trace_.kinds[static_cast<std::size_t>(send)];
        const auto found = std::find_if(trace_.kinds.begin(), trace_.kinds.end(), [&](const OpKind& other) {
            return other.role == OpRole::receive && !kind.transfer.empty() && other.transfer == kind.transfer;
        });
        return found == trace_.kinds.end() ? -1 : static_cast<int>(found - trace_.kinds.begin());
    }

    void measure_gaps()
    {
        const std::size_t count = ranges_.size();
        graph_.gap_s.resize(graph_.slots.size() * count);
        graph_.duration_s.resize(graph_.gap_s.size());
        for (std::size_t slot = 0; slot < graph_.slots.size(); ++slot) {
            for (std::size_t t = 0; t < count; ++t) {
                const Times& times = times_[slot][t];
                graph_.gap_s[slot * count + t] = static_cast<float>(times.start_s - ready(graph_.slots[slot].after, t));
                graph_.duration_s[slot * count + t] = static_cast<float>(times.end_s - times.start_s);
            }
        }
    }

    /// Kahn's order. Where waits form a circle (clocks disagree by more than operations take) there is no graph.
    void put_in_order()
    {
        const std::size_t n = graph_.slots.size();
        std::vector<int> order;
        std::vector<int> missing(n, 0);
        std::vector<std::vector<int>> next(n);
        for (std::size_t slot = 0; slot < n; ++slot) {
            missing[slot] = static_cast<int>(graph_.slots[slot].after.size());
            for (const int wait : graph_.slots[slot].after) {
                next[static_cast<std::size_t>(wait)].push_back(static_cast<int>(slot));
            }
            if (missing[slot] == 0) {
                order.push_back(static_cast<int>(slot));
            }
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (const int slot : next[static_cast<std::size_t>(order[i])]) {
                if (--missing[static_cast<std::size_t>(slot)] == 0) {
                    order.push_back(slot);
                }
            }
        }
        if (order.size() < n) {
            graph_ = StepGraph{{}, {}, graph_.others, {}, {}};
            return;
        }
        apply(order);
    }

    void apply(const std::vector<int>& order)
    {
        const std::size_t count = ranges_.size();
        std::vector<int> place(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
        }
        StepGraph sorted{{}, graph_.steps, graph_.others, {}, {}};
        for (const int slot : order) {
            const auto from = static_cast<std::size_t>(slot);
            StepSlot moved = graph_.slots[from];
            for (int& wait : moved.after) {
                wait = place[static_cast<std::size_t>(wait)];
            }
            sorted.slots.push_back(std::move(moved));
            for (std::size_t t = 0; t < count; ++t) {
                sorted.gap_s.push_back(graph_.gap_s[from * count + t]);
                sorted.duration_s.push_back(graph_.duration_s[from * count + t]);
            }
        }
        graph_ = std::move(sorted);
    }

    const Trace& trace_;
    std::vector<StepRange> ranges_;
    StepGraph graph_;
    Steps times_;
    std::map<Identity, int> slot_of_;
    std::vector<int> peers_;  // union-find over slots that exchange
};

}  // namespace

StepGraph step_graph(const Trace& trace) { return trace.ops.empty() ? StepGraph{} : GraphMaker(trace).make(); }

double replay(const StepGraph& graph, const std::vector<float>& gap_s, const std::vector<float>& duration_s)
{
    std::vector<double> end_s(graph.slots.size());
    double first = std::numeric_limits<double>::infinity();
    double last = 0.0;
    for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
        double start = 0.0;
        for (const int wait : graph.slots[slot].after) {
            start = std::max(start, end_s[static_cast<std::size_t>(wait)]);
        }
        start += static_cast<double>(gap_s[slot]);
        first = std::min(first, start);
        end_s[slot] = start + static_cast<double>(duration_s[slot]);
        last = std::max(last, end_s[slot]);
    }
    return last - first;
}

}  // namespace prismopt
