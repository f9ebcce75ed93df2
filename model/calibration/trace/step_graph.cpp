#include "model/calibration/trace/step_graph.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/trace/step_slots.hpp"

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

/// What clocks of different hosts, aligned after the run, may disagree by. Launch gaps
/// of the traces known are below.
constexpr double clock_error_s = 200e-6;
using Waits = std::vector<int>;  // slots that a slot waits for

/// Operations looked at for what ended before: beyond, something nearer did.
constexpr std::size_t most_steps_back = 16;

/// Whether a slot has ended when another starts, in nearly all steps.
bool ended_before(const std::vector<SlotTimes>& before, const std::vector<SlotTimes>& slot)
{
    std::size_t overlaps = 0;
    for (std::size_t t = 0; t < slot.size(); ++t) {
        overlaps += before[t].end_s > slot[t].start_s + clock_error_s ? 1 : 0;
    }
    return 20 * overlaps <= slot.size();
}

/// Slots further back than `before` that end after its start, and so may end
/// after its end, but before `slot`.
Waits overlapping_waits(const TimedSlots& timed, std::size_t before, std::size_t slot)
{
    Waits waits;
    for (std::size_t back = 1; back <= std::min(before, most_steps_back); ++back) {
        const std::size_t earlier = before - back;
        if (timed.slots[earlier].worker != timed.slots[slot].worker) {
            break;
        }
        const std::vector<SlotTimes>& times = timed.times[earlier];
        if (!ended_before(times, timed.times[before]) && ended_before(times, timed.times[slot])) {
            waits.push_back(static_cast<int>(earlier));
        }
    }
    return waits;
}

/// What a slot waits for on its own worker: the nearest slot that ended before, and what overlaps that. What
/// this one waits for itself ended earlier still.
Waits own_waits(const TimedSlots& timed, std::size_t slot)
{
    for (std::size_t back = 1; back <= std::min(slot, most_steps_back); ++back) {
        const std::size_t before = slot - back;
        if (timed.slots[before].worker != timed.slots[slot].worker) {
            break;
        }
        if (ended_before(timed.times[before], timed.times[slot])) {
            Waits waits = overlapping_waits(timed, before, slot);
            waits.insert(waits.begin(), static_cast<int>(before));
            return waits;
        }
    }
    return {};
}

/// Latest end of what a slot waits for, in a step; zero, the step's start, where that is nothing.
double ready_s(const std::vector<std::vector<SlotTimes>>& times, const Waits& waits, std::size_t step)
{
    double latest = 0.0;
    for (const int wait : waits) {
        latest = std::max(latest, times[static_cast<std::size_t>(wait)][step].end_s);
    }
    return latest;
}

/// Mean distance of the gaps from their median; nothing where starts do not wait so long.
std::optional<double> gap_spread(const std::vector<std::vector<SlotTimes>>& times, std::size_t slot,
                                 const Waits& waits)
{
    std::vector<double> gaps(times[slot].size());
    std::size_t negative = 0;
    for (std::size_t t = 0; t < gaps.size(); ++t) {
        gaps[t] = times[slot][t].start_s - ready_s(times, waits, t);
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

Waits united(Waits a, const Waits& b)
{
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    return a;
}

/// The kind that receives what a kind sends; -1: none.
int receiving_kind(const std::vector<OpKind>& kinds, int send)
{
    const OpKind& kind = kinds[static_cast<std::size_t>(send)];
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const OpKind& other) {
        return other.role == OpRole::receive && !kind.transfer.empty() && other.transfer == kind.transfer;
    });
    return found == kinds.end() ? -1 : static_cast<int>(found - kinds.begin());
}

std::optional<int> find_slot(const Trace& trace, const TimedSlots& timed, TraceWorker worker, int kind,
                             int sequence)
{
    const auto place = std::find(trace.workers.begin(), trace.workers.end(), worker);
    if (place == trace.workers.end()) {
        return std::nullopt;
    }
    const auto found = timed.slot_of.find({static_cast<int>(place - trace.workers.begin()), kind, sequence});
    return found == timed.slot_of.end() ? std::nullopt : std::optional(found->second);
}

/// The other end of a transfer: "x-recv" of "x-send", of the next stage or the one
/// before, whichever starts with it.
std::optional<int> peer_of(const Trace& trace, const TimedSlots& timed, const OperationIdentity& sender,
                           int slot)
{
    const auto& [worker_index, kind, sequence] = sender;
    const TraceWorker worker = trace.workers[static_cast<std::size_t>(worker_index)];
    const int receiving = receiving_kind(trace.kinds, kind);
    const std::vector<SlotTimes>& own = timed.times[static_cast<std::size_t>(slot)];
    std::optional<int> best;
    double nearest = std::numeric_limits<double>::infinity();
    for (const int stage : {worker.stage + 1, worker.stage - 1}) {
        const auto peer = find_slot(trace, timed, {worker.dp, stage}, receiving, sequence);
        if (!peer) {
            continue;
        }
        const std::vector<SlotTimes>& other = timed.times[static_cast<std::size_t>(*peer)];
        double distance = 0.0;
        for (std::size_t t = 0; t < own.size(); ++t) {
            distance += std::abs(own[t].start_s - other[t].start_s);
        }
        if (distance < nearest) {
            nearest = distance;
            best = peer;
        }
    }
    return best;
}

/// Union-find over slots that exchange.
int root_of(const std::vector<int>& peers, int slot)
{
    while (peers[static_cast<std::size_t>(slot)] != slot) {
        slot = peers[static_cast<std::size_t>(slot)];
    }
    return slot;
}

/// The exchange of each slot: one of its slots. Transfers share it with their other ends.
std::vector<int> exchanges_of(const Trace& trace, const TimedSlots& timed)
{
    std::vector<int> peers(timed.slots.size());
    std::iota(peers.begin(), peers.end(), 0);
    for (const auto& [id, slot] : timed.slot_of) {
        if (trace.kinds[static_cast<std::size_t>(std::get<1>(id))].role != OpRole::send) {
            continue;
        }
        if (const std::optional<int> peer = peer_of(trace, timed, id, slot)) {
            peers[static_cast<std::size_t>(root_of(peers, slot))] = root_of(peers, *peer);
        }
    }
    std::vector<int> exchanges(peers.size());
    for (std::size_t slot = 0; slot < peers.size(); ++slot) {
        exchanges[slot] = root_of(peers, static_cast<int>(slot));
    }
    return exchanges;
}

/// Counterparts of a slot: kind, sequence, where, and which there. On the replica's workers (0), on
/// those of a stage (1), on all (2).
using Scope = std::tuple<int, int, int, int>;

std::vector<Scope> scopes_of(const StepSlot& s, const std::vector<TraceWorker>& workers)
{
    const TraceWorker worker = workers[static_cast<std::size_t>(s.worker)];
    return {{s.kind, s.sequence, 0, worker.dp},
            {s.kind, s.sequence, 1, worker.stage},
            {s.kind, s.sequence, 2, 0}};
}

/// The scopes of a slot, and those of the other stages.
std::vector<Scope> scopes_everywhere(const StepSlot& s, const std::vector<TraceWorker>& workers)
{
    std::vector<Scope> result = scopes_of(s, workers);
    std::vector<int> stages;
    for (const TraceWorker& worker : workers) {
        stages.push_back(worker.stage);
    }
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    for (const int stage : stages) {
        result.emplace_back(s.kind, s.sequence, 1, stage);
    }
    return result;
}

/// What the slots of each scope wait for, of all but transfers.
std::map<Scope, Waits> waits_by_scope(const Trace& trace, const std::vector<StepSlot>& slots,
                                      const std::vector<Waits>& own)
{
    std::map<Scope, Waits> by_scope;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        if (is_transfer(trace, slots[slot].kind)) {
            continue;
        }
        for (const Scope& scope : scopes_of(slots[slot], trace.workers)) {
            Waits& waits = by_scope[scope];
            waits.insert(waits.end(), own[slot].begin(), own[slot].end());
        }
    }
    return by_scope;
}

/// What a slot that is no transfer waits for: also for the predecessors of its counterparts, if these
/// explain its start times better.
Waits best_waits(const Trace& trace, const TimedSlots& timed, std::size_t slot, const Waits& own,
                 const std::map<Scope, Waits>& counterparts)
{
    Waits best = own;
    double least = gap_spread(timed.times, slot, own).value_or(std::numeric_limits<double>::infinity());
    for (const Scope& scope : scopes_everywhere(timed.slots[slot], trace.workers)) {
        if (least <= clock_error_s) {
            break;
        }
        const auto found = counterparts.find(scope);
        if (found == counterparts.end()) {
            continue;
        }
        const Waits waits = united(own, found->second);
        const std::optional<double> spread = gap_spread(timed.times, slot, waits);
        if (spread && *spread < 0.5 * least) {
            least = *spread;
            best = waits;
        }
    }
    return best;
}

/// What each slot waits for: [slot].
std::vector<Waits> find_waits(const Trace& trace, const TimedSlots& timed)
{
    std::vector<Waits> own;
    for (std::size_t slot = 0; slot < timed.slots.size(); ++slot) {
        own.push_back(own_waits(timed, slot));
    }
    const std::vector<int> exchanges = exchanges_of(trace, timed);
    std::map<int, Waits> of_exchange;  // what all its members wait for
    for (std::size_t slot = 0; slot < own.size(); ++slot) {
        Waits& waits = of_exchange[exchanges[slot]];
        waits = united(waits, own[slot]);
    }
    const std::map<Scope, Waits> counterparts = waits_by_scope(trace, timed.slots, own);
    std::vector<Waits> all;
    for (std::size_t slot = 0; slot < own.size(); ++slot) {
        if (is_transfer(trace, timed.slots[slot].kind)) {
            all.push_back(of_exchange.at(exchanges[slot]));
        } else {
            all.push_back(best_waits(trace, timed, slot, own[slot], counterparts));
        }
    }
    return all;
}

/// Kahn's order of the slots, each after all that it waits for. Incomplete where waits form a circle: where
/// clocks disagree by more than operations take.
std::vector<int> order_of(const std::vector<Waits>& waits)
{
    std::vector<int> order;
    std::vector<int> missing(waits.size(), 0);
    std::vector<std::vector<int>> next(waits.size());
    for (std::size_t slot = 0; slot < waits.size(); ++slot) {
        missing[slot] = static_cast<int>(waits[slot].size());
        for (const int wait : waits[slot]) {
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
    return order;
}

/// Adds the slots of a graph, in this order, with their gaps and durations.
void add_slots(const TimedSlots& timed, const std::vector<Waits>& waits, const std::vector<int>& order,
               StepGraph& graph)
{
    std::vector<int> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
    graph.gap_s.reserve(order.size() * graph.steps.size());
    graph.duration_s.reserve(order.size() * graph.steps.size());
    for (const int slot : order) {
        const auto from = static_cast<std::size_t>(slot);
        StepSlot& added = graph.slots.emplace_back(timed.slots[from]);
        for (const int wait : waits[from]) {
            added.after.push_back(place[static_cast<std::size_t>(wait)]);
        }
        for (std::size_t t = 0; t < graph.steps.size(); ++t) {
            const SlotTimes& times = timed.times[from][t];
            graph.gap_s.push_back(static_cast<float>(times.start_s - ready_s(timed.times, waits[from], t)));
            graph.duration_s.push_back(static_cast<float>(times.end_s - times.start_s));
        }
    }
}

}  // namespace

StepGraph step_graph(const Trace& trace)
{
    StepGraph graph;
    if (trace.ops.empty()) {
        return graph;
    }
    const StepSlots slots = step_slots(trace);
    graph.others = slots.others;
    const std::vector<Waits> waits = find_waits(trace, slots.timed);
    const std::vector<int> order = order_of(waits);
    if (order.size() < slots.timed.slots.size()) {
        return graph;
    }
    graph.steps = slots.steps;
    add_slots(slots.timed, waits, order, graph);
    return graph;
}

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
