#include "model/run/replica_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

class ReplicaJob {
public:
    ReplicaJob(const FailureModel& model, double productive_s, ReplicaHistory& history)
        : model_(model), productive_s_(productive_s), history_(history), write_at_(model.interval_s)
    {
    }

    /// Trains until the source strikes; returns whether the part ends before.
    bool train(double until_s)
    {
        began_at_ = at_;
        writes_.clear();
        double clock = std::min(restart_s_, until_s);
        restart_s_ -= clock;
        history_.loss[restarts_from_].down_s += clock;
        while (clock < until_s && at_ < productive_s_) {
            const bool last = productive_s_ - write_at_ <= 1e-12 * productive_s_;
            work_until(last ? productive_s_ : write_at_, until_s, clock);
            if (clock < until_s && !last) {
                write(until_s, clock);
            }
        }
        const bool ends = at_ >= productive_s_;
        const double ran = ends ? clock : until_s;
        history_.wall_s += ran;
        for (double& due : history_.due_s) {
            due -= ran;
        }
        for (const auto& [when, what] : writes_) {
            if (when <= until_s) {
                stored_at_ = what;
            }
        }
        return ends;
    }

    void fail(std::size_t which, const FailureDraw& draw)
    {
        const FailureModel::Source& source = model_.sources[which];
        SourceLoss& loss = history_.loss[which];
        loss.failures += 1.0;
        const double failed_s = history_.wall_s;
        const int before = replicas(failed_s);
        const bool last_unit = static_cast<int>(draw.place * source.units) + 1 == source.units;
        const int nodes = std::min(last_unit ? source.last_unit_nodes : source.unit_nodes,
                                   model_.nodes - missing(failed_s));
        if (model_.spares != enough_spares && source.repair_s > 0.0) {
            history_.in_repair.insert(history_.in_repair.end(), static_cast<std::size_t>(nodes),
                                      failed_s + draw.repair_s);
        }
        history_.wall_s += source.detection_s;
        loss.down_s += source.detection_s;
        const bool switches = source.switch_s <= source.restart_s && replicas(history_.wall_s) > 0;
        const bool survives = switches && model_.state_in_each && before > broken_by(nodes);
        loss.waiting_s += wait_for_replica();
        if (source.planned && at_ > began_at_) {
            history_.wall_s += model_.stall_s;
            history_.stalls_s += model_.stall_s;
        }
        go_back(source, survives, draw.copies, loss);
        const double recovery_s = switches ? source.switch_s : source.restart_s;
        if (restart_s_ <= recovery_s) {
            restarts_from_ = which;
        }
        restart_s_ = std::max(restart_s_, recovery_s);
        short_of_nodes_by_ = which;
        history_.due_s[which] = draw.gap_s;
    }

private:
    int missing(double when_s) const
    {
        if (model_.spares == enough_spares) {
            return 0;
        }
        const auto& back = history_.in_repair;
        const auto away =
            std::count_if(back.begin(), back.end(), [when_s](double back_s) { return back_s > when_s; });
        return std::clamp(static_cast<int>(away) - model_.spares, 0, model_.nodes);
    }

    /// Whole replicas of the nodes that are there: healthy nodes of a broken replica complete others.
    int replicas(double when_s) const
    {
        const std::int64_t there = model_.nodes - missing(when_s);
        return static_cast<int>(there * model_.replicas / model_.nodes);
    }

    /// Replicas that have a part in so many neighbouring nodes.
    int broken_by(int nodes) const
    {
        const std::int64_t replica_nodes = static_cast<std::int64_t>(nodes) * model_.replicas;
        return static_cast<int>((replica_nodes + model_.nodes - 1) / model_.nodes);
    }

    double next_back(double when_s) const
    {
        double next = never_s;
        for (const double back_s : history_.in_repair) {
            if (back_s > when_s) {
                next = std::min(next, back_s);
            }
        }
        return next;
    }

    void work_until(double position, double until_s, double& clock)
    {
        while (at_ < position && clock < until_s) {
            const double now_s = history_.wall_s + clock;
            const double speed = static_cast<double>(replicas(now_s)) / model_.replicas;
            const double whole_s = (position - at_) * model_.pace / speed;
            const double some_s = std::min(until_s - clock, speed < 1.0 ? next_back(now_s) - now_s : never_s);
            const double took_s = std::min(whole_s, some_s);
            at_ = whole_s <= some_s ? position : at_ + took_s * speed / model_.pace;
            clock = took_s < until_s - clock ? clock + took_s : until_s;
            history_.loss[short_of_nodes_by_].waiting_s += took_s * (1.0 - speed);
            history_.stalls_s += took_s * speed * (1.0 - 1.0 / model_.pace);  // for copies in memory
        }
    }

    void write(double until_s, double& clock)
    {
        const double took_s = std::min(model_.stall_s, until_s - clock);
        history_.stalls_s += took_s;
        if (clock + model_.stall_s > until_s) {
            clock = until_s;
            return;
        }
        clock += took_s;
        writes_.emplace_back(clock + model_.lag_s, at_);
        write_at_ = at_ + model_.interval_s;
    }

    double wait_for_replica()
    {
        const double known_s = history_.wall_s;
        while (replicas(history_.wall_s) == 0) {
            history_.wall_s = next_back(history_.wall_s);
        }
        std::erase_if(history_.in_repair, [this](double back_s) { return back_s <= history_.wall_s; });
        return history_.wall_s - known_s;
    }

    /// To the state of a surviving replica, a copy in memory, or the last checkpoint in storage.
    void go_back(const FailureModel::Source& source, bool survives, double copies, SourceLoss& loss)
    {
        const double reached = at_;
        if (source.planned) {
            stored_at_ = at_;
        } else if (!survives) {
            if (model_.memory_interval_s > 0.0 && copies < source.memory_kept) {
                const double kept =
                    std::floor((at_ - began_at_) / model_.memory_interval_s) * model_.memory_interval_s;
                stored_at_ = std::max(stored_at_, began_at_ + kept);
            }
            at_ = stored_at_;
        }
        write_at_ = std::max(at_, stored_at_ + model_.interval_s);
        loss.rework_s += reached - at_;
    }

    const FailureModel& model_;
    double productive_s_;
    ReplicaHistory& history_;
    double at_ = 0.0;         // productive seconds
    double stored_at_ = 0.0;  // of those, up to the last checkpoint in storage
    double began_at_ = 0.0;   // at the beginning of the attempt
    double write_at_;         // of the next checkpoint
    double restart_s_ = 0.0;  // at the beginning of the next attempt
    std::size_t restarts_from_ = 0;
    std::size_t short_of_nodes_by_ = 0;              // the last source that failed
    std::vector<std::pair<double, double>> writes_;  // when it is in storage, and what is
};

}  // namespace

void run_with_fewer_replicas(const FailureModel& model, double productive_s, const DrawFailure& draw,
                             ReplicaHistory& history)
{
    history.loss.assign(std::max<std::size_t>(1, model.sources.size()), SourceLoss{});
    history.stalls_s = 0.0;
    ReplicaJob job(model, productive_s, history);
    for (std::uint32_t failure = 0;; ++failure) {
        const auto first = std::min_element(history.due_s.begin(), history.due_s.end());
        if (job.train(first == history.due_s.end() ? never_s : *first)) {
            return;
        }
        const auto which = static_cast<std::size_t>(first - history.due_s.begin());
        job.fail(which, draw(which, failure));
    }
}

}  // namespace prismopt
