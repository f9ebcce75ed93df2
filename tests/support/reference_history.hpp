#pragma once

/// One history of failures, minute by minute as an operator would report it: the slow judge of
/// model/run/histories.cpp. It shares nothing with it but the keys of the draws.

#include "model/run/histories.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace prismopt {

class ReferenceHistory {
public:
    ReferenceHistory(const std::vector<RunSegment>& segments, FailureTables& tables, std::uint64_t seed,
                     std::uint32_t history)
        : tables_(tables), seed_(seed), history_(history)
    {
        for (std::uint32_t p = 0; p < segments.size(); ++p) {
            run(segments[p].model, p, segments[p].productive_s[history]);
        }
    }

    double seconds = 0.0;
    double waited = 0.0;
    int failures = 0;
    std::vector<double> failed_at;  // seconds of the clock

private:
    std::uint32_t word(Stream stream, std::uint32_t segment, std::uint32_t event, int which,
                       std::uint32_t kind = 0) const
    {
        return philox(seed_, {history_, segment << 16, event,
                              use(stream, Purpose::search, kind)})[static_cast<std::size_t>(which)];
    }
    double gap(const FailureModel::Source& s, std::uint32_t bits)
    {
        return static_cast<double>(tables_.gaps(s.gaps)(bits));
    }
    double first_gap(const FailureModel::Source& s, std::uint32_t bits)
    {
        return static_cast<double>(tables_.first_gaps(s.gaps)(bits));
    }

    void run(const FailureModel& m, std::uint32_t segment, double productive)
    {
        double node_rate = 1.0;
        if (m.node_cv > 0.0) {
            node_rate = static_cast<double>(tables_.rate(m.node_cv)(word(Stream::node_rate, 0, 0, 0)));
        }
        const auto rate = [&](const FailureModel::Source& s) {
            const auto kind = static_cast<std::uint32_t>(1 + s.cause);
            const double known =
                s.rate_cv > 0.0
                    ? static_cast<double>(tables_.rate(s.rate_cv)(word(Stream::node_rate, 0, 0, 0, kind)))
                    : 1.0;
            return s.rate * (s.by_node ? node_rate : 1.0) * known;
        };
        bool first = true;
        for (const auto& s : m.sources) {
            if (!left_.contains(s.cause)) {
                const bool main_stream = first && segment == 0;
                left_[s.cause] = first_gap(s, main_stream ? word(Stream::failure, segment, 0, 0)
                                                          : word(Stream::failure, segment, 0, 0,
                                                                 static_cast<std::uint32_t>(1 + s.cause)));
            }
            first = false;
        }
        double position = 0.0;
        double restart = 0.0;
        for (std::uint32_t failure = 0;; ++failure) {
            // The attempt, event by event: work, copies in memory, stalls, writes that reach storage.
            const FailureModel::Source* strikes = nullptr;
            double until = std::numeric_limits<double>::infinity();
            for (const auto& s : m.sources) {
                if (left_[s.cause] / rate(s) < until) {
                    until = left_[s.cause] / rate(s);
                    strikes = &s;
                }
            }
            const double interval = std::min(m.interval_s, productive);
            double clock = std::min(restart, until);
            restart -= clock;
            double at = position;
            double stored = position;
            std::vector<std::pair<double, double>> writes;  // when it is in storage, and what is
            bool done = false;
            while (clock < until) {
                const double rest = productive - at;
                const bool last = rest <= interval * (1.0 + 1e-12);
                const double work = last ? rest : interval;
                const double took = work * m.pace;
                if (clock + took > until) {
                    at += (until - clock) / m.pace;
                    break;
                }
                clock += took;
                at += work;
                if (last) {
                    done = true;
                    break;
                }
                if (clock + m.stall_s > until) {
                    break;
                }
                clock += m.stall_s;
                writes.emplace_back(clock + m.lag_s, at);
            }
            const double ran = done ? clock : until;
            for (const auto& s : m.sources) {
                left_[s.cause] -= ran * rate(s);
            }
            seconds += ran;
            if (done) {
                return;
            }
            for (const auto& [when, what] : writes) {
                if (when <= until) {
                    stored = what;
                }
            }
            ++failures;
            failed_at.push_back(seconds);
            const std::uint32_t repair_bits = word(Stream::repair, segment, failure, 0);
            const bool copies = m.memory_interval_s > 0.0 &&
                                word(Stream::repair, segment, failure, 1) * 0x1p-32 < strikes->memory_kept;
            double next = strikes->planned ? at : stored;
            if (copies) {
                next = std::max(next, position + std::floor((at - position) / m.memory_interval_s) *
                                                     m.memory_interval_s);
            }
            const double repaired =
                seconds +
                strikes->repair_s * static_cast<double>(tables_.repair(strikes->repair_cv)(repair_bits));
            seconds += strikes->detection_s + (strikes->planned && at > position ? m.stall_s : 0.0);
            position = next;
            const double place = word(Stream::repair, segment, failure, 2) * 0x1p-32 * strikes->units;
            const bool whole = static_cast<int>(place) + 1 < strikes->units;
            const int nodes = whole ? strikes->unit_nodes : strikes->last_unit_nodes;
            std::erase_if(in_repair_, [&](double when) { return when <= seconds; });
            const bool hot =
                strikes->switch_s < strikes->restart_s &&
                (m.spares == enough_spares || static_cast<int>(in_repair_.size()) + nodes <= m.spares);
            if (m.spares != enough_spares && strikes->repair_s > 0.0) {
                in_repair_.insert(in_repair_.end(), static_cast<std::size_t>(nodes), repaired);
                std::erase_if(in_repair_, [&](double when) { return when <= seconds; });
                // So many nodes are being repaired that some of the job's are missing:
                // the first to come back end that.
                while (in_repair_.size() > static_cast<std::size_t>(m.spares)) {
                    const auto back = std::min_element(in_repair_.begin(), in_repair_.end());
                    waited += *back - seconds;
                    seconds = *back;
                    in_repair_.erase(back);
                }
            }
            restart = std::max(restart, hot ? strikes->switch_s : strikes->restart_s);
            left_[strikes->cause] = gap(*strikes, word(Stream::failure, segment, (failure + 1) / 4,
                                                       static_cast<int>((failure + 1) % 4)));
        }
    }

    FailureTables& tables_;
    std::uint64_t seed_;
    std::uint32_t history_;
    std::map<std::size_t, double> left_;  // [cause]: in units of its mean gap
    std::vector<double> in_repair_;
};

}  // namespace prismopt
