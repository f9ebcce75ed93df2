#pragma once

/// Pipelines run task by task, knowing only what waits for what: the judge of
/// schedules and of the compiled program.

#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace prismopt {

/// Seconds of a task on a stage, without those of a pair's other half.
using TaskSeconds = std::function<double(int stage, const Task& task)>;

/// Stages with the given speeds, each chunk an equal share of its stage; DualPipe's chunks are whole stages.
inline TaskSeconds stage_seconds(const ScheduleShape& shape, const StageTimes& times,
                                 std::vector<double> slowness = {})
{
    const double share = chunk_map(shape.schedule) == ChunkMap::both_ways ? 1.0 : 1.0 / shape.chunks;
    return [=](int stage, const Task& t) {
        const double slow = slowness.empty() ? 1.0 : slowness[stage];
        const double forward = is_forward(t.pass) ? times.forward : 0.0;
        const double input = gives_input_gradient(t.pass) ? times.input_gradient : 0.0;
        const double weight = gives_weight_gradient(t.pass) ? times.weight_gradient : 0.0;
        return slow * share * (forward + input + weight);
    };
}

struct Replayed {
    bool deadlocked = false;
    double last_end = 0.0;
    double longest_span = 0.0;                // of a stage, from its first task to the end of its last
    std::vector<std::vector<double>> end_at;  // [stage][place]
};

class ScheduleReplay {
public:
    ScheduleReplay(const ScheduleShape& shape, const TaskOrders& orders) : shape_(shape), orders_(orders) {}

    /// Every task starts as soon as its stage and its inputs allow; a transfer
    /// takes `transfer` between stages.
    Replayed run(const TaskSeconds& seconds, double transfer) const
    {
        std::map<Key, double> done;  // when a result is there, on its own stage
        Replayed result;
        std::vector<double> free(orders_.size(), 0.0);
        std::vector<double> first(orders_.size(), -1.0);
        std::size_t left = 0;
        for (const auto& order : orders_) {
            result.end_at.emplace_back();
            left += order.size();
        }
        for (bool moved = true; moved;) {
            moved = false;
            for (int stage = 0; stage < shape_.stages; ++stage) {
                auto& ends = result.end_at[stage];
                while (ends.size() < orders_[stage].size()) {
                    const Task& t = orders_[stage][ends.size()];
                    double start = free[stage];
                    bool ready = true;
                    for (const auto& [key, other_stage] : inputs(stage, t)) {
                        const auto found = done.find(key);
                        ready = ready && found != done.end();
                        if (found != done.end()) {
                            start = std::max(start, found->second + (other_stage ? transfer : 0.0));
                        }
                    }
                    if (!ready) {
                        break;
                    }
                    // A pair begins when both inputs are there, and ends as one.
                    const bool opens = t.pass == Pass::paired_forward;
                    const bool closes = t.pass == Pass::paired_backward;
                    const Task* forward = closes ? &orders_[stage][ends.size() - 1] : nullptr;
                    const double duration =
                        (opens ? 0.0 : seconds(stage, t)) + (closes ? seconds(stage, *forward) : 0.0);
                    if (first[stage] < 0.0) {
                        first[stage] = start;
                    }
                    free[stage] = start + duration;
                    if (!opens) {
                        done[key_of(stage, t)] = free[stage];
                    }
                    if (closes) {
                        done[key_of(stage, *forward)] = free[stage];
                    }
                    ends.push_back(free[stage]);
                    --left;
                    moved = true;
                }
            }
        }
        result.deadlocked = left > 0;
        for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
            result.last_end = std::max(result.last_end, free[stage]);
            result.longest_span = std::max(result.longest_span, free[stage] - first[stage]);
        }
        return result;
    }

    /// The same when a send blocks until it is received. Stages receive in the order in which results were
    /// made in a run that takes turns, ahead of the task that needs them, as PyTorch's pipelining runtime
    /// lays out its sends and receives.
    bool deadlocks_when_sends_block() const
    {
        const std::vector<std::vector<Event>> events = laid_out();
        std::vector<std::size_t> place(events.size(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < events.size(); ++stage) {
                while (place[stage] < events[stage].size()) {
                    const Event& event = events[stage][place[stage]];
                    if (event.partner >= 0) {
                        const auto& others = events[event.partner];
                        const std::size_t other = place[event.partner];
                        if (other == others.size() || others[other].message != event.message ||
                            others[other].partner != static_cast<int>(stage)) {
                            break;
                        }
                        ++place[event.partner];
                    }
                    ++place[stage];
                    moved = true;
                }
            }
        }
        for (std::size_t stage = 0; stage < events.size(); ++stage) {
            if (place[stage] < events[stage].size()) {
                return true;
            }
        }
        return false;
    }

private:
    using Key = std::tuple<int, int, int,
                           int>;  // 0 forward, 1 input gradient, 2 weight gradient; stage, chunk, microbatch
    struct Event {
        int partner = -1;  // stage that a message goes to or comes from; -1: a task
        Key message{};
    };

    static int kind(Pass pass) { return is_forward(pass) ? 0 : pass == Pass::weight_gradient ? 2 : 1; }
    static Key key_of(int stage, const Task& t) { return {kind(t.pass), stage, t.chunk, t.microbatch}; }

    /// What a task waits for, and whether it comes from another stage.
    std::vector<std::pair<Key, bool>> inputs(int stage, const Task& t) const
    {
        std::vector<std::pair<Key, bool>> list;
        if (!is_forward(t.pass)) {
            list.push_back({{t.pass == Pass::weight_gradient ? 1 : 0, stage, t.chunk, t.microbatch}, false});
        }
        if (t.pass != Pass::weight_gradient) {
            if (const auto from = neighbour(shape_, {stage, t.chunk}, is_forward(t.pass) ? -1 : 1)) {
                list.push_back(
                    {{kind(t.pass), from->stage, from->chunk, t.microbatch}, from->stage != stage});
            }
        }
        return list;
    }

    std::vector<std::vector<Event>> laid_out() const
    {
        std::vector<std::vector<Event>> events(orders_.size());
        std::vector<std::size_t> next(orders_.size(), 0);
        std::set<Key> done;
        for (bool moved = true; moved;) {
            moved = false;
            for (int stage = 0; stage < shape_.stages; ++stage) {
                if (next[stage] == orders_[stage].size()) {
                    continue;
                }
                const Task& t = orders_[stage][next[stage]];
                const auto needs = inputs(stage, t);
                if (!std::all_of(needs.begin(), needs.end(),
                                 [&](const auto& need) { return done.count(need.first) > 0; })) {
                    continue;
                }
                ++next[stage];
                moved = true;
                events[stage].push_back({});
                if (t.pass == Pass::paired_forward) {
                    continue;
                }
                std::vector<Task> made{t};
                if (t.pass == Pass::paired_backward) {
                    made.push_back(orders_[stage][next[stage] - 2]);
                }
                for (const Task& task : made) {
                    const Key key = key_of(stage, task);
                    done.insert(key);
                    const auto to = neighbour(shape_, {stage, task.chunk}, is_forward(task.pass) ? 1 : -1);
                    if (task.pass != Pass::weight_gradient && to && to->stage != stage) {
                        events[stage].push_back({to->stage, key});
                        events[to->stage].push_back({stage, key});
                    }
                }
            }
        }
        return events;
    }

    const ScheduleShape& shape_;
    const TaskOrders& orders_;
};

}  // namespace prismopt
