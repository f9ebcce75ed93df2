#pragma once

/// State that 64 histories carry from one segment of a run to the next: rates of causes, clocks, spares.

#include "model/base/random.hpp"
#include "model/run/failure_model.hpp"
#include "model/run/failure_tables.hpp"
#include "model/run/history_lanes.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

/// A cause at one segment's size, with its tables, which belong to the FailureTables, and its source, which
/// belongs to the failure model. Both must outlive it.
struct CauseClock {
    const FailureModel::Source* source;
    std::size_t gap_table;  // index in SegmentTables::gap_tables
    const QuantileTable* first_gaps;
    const QuantileTable* repair = nullptr;
    const QuantileTable* rate = nullptr;  // if it is uncertain
};

/// A segment's tables, which all blocks of histories share, on any threads: nobody changes them. They belong
/// to the FailureTables, which must outlive this.
struct SegmentTables {
    std::vector<CauseClock> clocks;
    std::vector<const QuantileTable*> gap_tables;
    const QuantileTable* node_rate = nullptr;  // if nodes differ
};
SegmentTables segment_tables(const FailureModel& model, FailureTables& tables);

/// Random numbers of 64 histories in one segment.
struct HistoryDraws {
    std::uint64_t seed;
    Purpose purpose;
    Words histories{};
    Words segment{};

    void draw(Stream stream, std::uint32_t kind, std::uint32_t event, std::array<Words, 4>& words) const
    {
        philox_lanes(seed, histories, segment, event, use(stream, purpose, kind), words);
    }
    /// Factors of rates that all segments and plans share.
    void draw_rates(const QuantileTable& table, std::uint32_t kind, Doubles& factors) const;
    /// One of the words of one lane.
    std::uint32_t word(int lane, Stream stream, std::uint32_t event, std::size_t which) const;
};

/// Factors of the failure rates of nodes and causes.
class RateFactors {
public:
    void draw(const SegmentTables& tables, const HistoryDraws& draws);
    double rate(const FailureModel::Source& source, int lane) const
    {
        const double known = source.by_node ? source.rate * node_.at[lane] : source.rate;
        return source.rate_cv > 0.0 ? known * cause_[source.cause]->at[lane] : known;
    }

private:
    Doubles node_{};
    std::vector<std::optional<Doubles>> cause_;  // [cause]: if its rate is uncertain
};

/// Running time until causes strike.
class CauseClocks {
public:
    explicit CauseClocks(std::size_t causes) : due_(causes), last_rate_(causes), has_due_(causes, false) {}

    /// Begins a segment: the remainder of gaps goes on at its rates. A cause that begins here draws its first
    /// gap; that of the first clock in the first segment is set afterwards.
    void begin(const SegmentTables& tables, const RateFactors& rates, const HistoryDraws& draws,
               bool first_segment);
    void set_first_gap(const CauseClock& clock, std::size_t c, const RateFactors& rates, const Words& bits);
    void end(const SegmentTables& tables);

    std::vector<Doubles>& due() { return due_in_segment_; }

private:
    std::vector<Doubles> due_in_segment_;  // [clock]
    std::vector<Doubles> due_;             // [cause]: the same, at the end of the segment before
    std::vector<Doubles> last_rate_;       // [cause]
    std::vector<bool> has_due_;            // [cause]
};

/// Nodes that replace failed ones, in each of 64 histories.
class Spares {
public:
    void set_count(std::size_t spares) { ready_.resize(spares, Doubles{}); }

    /// Prepares wait(): finds the spare that is ready first.
    void find_first() { earliest(ready_, first_, first_ready_); }
    int ready_at(int lane, double when) const;
    /// Seconds after `known` until so many nodes are there; the failed ones come back at `repaired`, and if
    /// the spares are `hot`, none of them is waited for.
    double wait(int lane, int nodes, bool hot, double known, double repaired);

    /// Times at which a lane's spares are ready.
    std::vector<double> ready_times(int lane) const;
    /// Sets a lane's spares as they are once no node of the job is missing.
    void set_in_repair(int lane, std::vector<double> in_repair);
    /// When the nodes are back that the job of the segment before was short of.
    double whole_again(int lane) const { return whole_again_.at[lane]; }

private:
    std::vector<Doubles> ready_;  // [spare]: when it is
    Ints first_{};                // ready first
    Doubles first_ready_{};
    Doubles whole_again_{};
    std::vector<std::size_t> used_;  // spares that replace the nodes of one failure
};

}  // namespace prismopt
