#include "model/run/histories.hpp"

#include "model/base/parallel.hpp"
#include "model/run/history_lanes.hpp"
#include "model/run/history_state.hpp"
#include "model/run/replica_history.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

constexpr double word_unit = 0x1p-32;

/// A segment of a run with its tables.
struct TabledSegment {
    const RunSegment& run;
    SegmentTables tables;
};

/// Losses of a block of histories, summed over lanes.
struct BlockLoss {
    std::vector<CauseLoss> cause;
    double stalls_gpu_s = 0.0;
};

/// What is drawn for the failures of one lane's job that continues with fewer replicas.
DrawFailure failure_draws(const SegmentTables& tables, const HistoryDraws& draws, const RateFactors& rates,
                          int lane)
{
    return [&tables, &draws, &rates, lane](std::size_t c, std::uint32_t failure) {
        const CauseClock& clock = tables.clocks[c];
        const double repair =
            clock.repair != nullptr ? (*clock.repair)(draws.word(lane, Stream::repair, failure, 0)) : 0.0F;
        const std::uint32_t gap_word =
            draws.word(lane, Stream::failure, (failure + 1) / 4, (failure + 1) % 4);
        const double gap = (*tables.gap_tables[clock.gap_table])(gap_word);
        return FailureDraw{.repair_s = clock.source->repair_s * repair,
                           .copies = draws.word(lane, Stream::repair, failure, 1) * word_unit,
                           .place = draws.word(lane, Stream::repair, failure, 2) * word_unit,
                           .gap_s = gap / rates.rate(*clock.source, lane)};
    };
}

/// Adds the losses of one history.
void add_losses(const ReplicaHistory& history, const SegmentTables& tables, int gpus, BlockLoss& loss)
{
    for (std::size_t c = 0; c < tables.clocks.size(); ++c) {
        const SourceLoss& lost = history.loss[c];
        CauseLoss& of_cause = loss.cause[tables.clocks[c].source->cause];
        of_cause.failures += lost.failures;
        of_cause.rework_gpu_s += lost.rework_s * gpus;
        of_cause.down_gpu_s += lost.down_s * gpus;
        of_cause.waiting_gpu_s += lost.waiting_s * gpus;
    }
    loss.stalls_gpu_s += history.stalls_s * gpus;
}

/// All units fail equally often; the job may use only some nodes of the last.
int nodes_of_unit(const FailureModel::Source& source, std::uint32_t bits)
{
    const int unit = static_cast<int>(bits * word_unit * source.units);
    return unit + 1 == source.units ? source.last_unit_nodes : source.unit_nodes;
}

/// 64 histories side by side.
class Block {
public:
    Block(std::size_t first, std::size_t causes, std::uint64_t seed, Purpose purpose)
        : draws_{seed, purpose}, clocks_(causes), loss_{std::vector<CauseLoss>(causes), 0.0}
    {
        for (int l = 0; l < lanes; ++l) {
            draws_.histories.at[l] = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(l);
        }
    }

    /// `productive`: of the block's histories, at most 64.
    void run(const TabledSegment& segment, std::uint32_t number, std::span<const double> productive)
    {
        begin(segment, number, productive);
        std::array<Words, 4> words{};
        draws_.draw(Stream::failure, 0, 0, words);
        if (number == 0 && !segment.tables.clocks.empty()) {
            clocks_.set_first_gap(segment.tables.clocks.front(), 0, rates_, words[0]);
        }
        if (segment.run.model.replicas > 1) {
            for (int l = 0; l < static_cast<int>(productive.size()); ++l) {
                continue_with_fewer(segment, l);
            }
        } else {
            run_to_end(segment, words);
        }
        clocks_.end(segment.tables);
    }

    double seconds(int lane) const { return state_.wall.at[lane]; }
    const BlockLoss& loss() const { return loss_; }

private:
    /// Rates of nodes sum to the lane's own; draws that no segment shares are keyed by the segment.
    void begin(const TabledSegment& segment, std::uint32_t number, std::span<const double> productive)
    {
        const FailureModel& model = segment.run.model;
        std::fill_n(draws_.segment.at, lanes, number << 16);
        for (int l = 0; l < lanes; ++l) {
            const bool there = static_cast<std::size_t>(l) < productive.size();
            state_.running.at[l] = there ? 1 : 0;
            state_.productive.at[l] = there ? productive[static_cast<std::size_t>(l)] : 1.0;
            state_.saved.at[l] = 0.0;
            state_.restart.at[l] = 0.0;
            state_.wall.at[l] = std::max(state_.wall.at[l], spares_.whole_again(l));
        }
        gaps_.resize(segment.tables.gap_tables.size());
        rates_.draw(segment.tables, draws_);
        if (model.spares != enough_spares) {
            spares_.set_count(static_cast<std::size_t>(model.spares));
        }
        clocks_.begin(segment.tables, rates_, draws_, number == 0);
    }

    /// Runs a lane by itself: the moments at which nodes come back differ. A
    /// segment begins with all of its nodes.
    void continue_with_fewer(const TabledSegment& segment, int lane)
    {
        std::vector<Doubles>& due = clocks_.due();
        ReplicaHistory history;
        history.wall_s = state_.wall.at[lane];
        history.in_repair = spares_.ready_times(lane);
        for (const Doubles& of_clock : due) {
            history.due_s.push_back(of_clock.at[lane]);
        }
        const DrawFailure draw = failure_draws(segment.tables, draws_, rates_, lane);
        run_with_fewer_replicas(segment.run.model, state_.productive.at[lane], draw, history);
        add_losses(history, segment.tables, segment.run.gpus, loss_);
        for (std::size_t c = 0; c < due.size(); ++c) {
            due[c].at[lane] = history.due_s[c];
        }
        state_.wall.at[lane] = history.wall_s;
        spares_.set_in_repair(lane, std::move(history.in_repair));
    }

    /// Runs all lanes from failure to failure. `words`: of the first four rounds.
    void run_to_end(const TabledSegment& segment, std::array<Words, 4>& words)
    {
        const FailureModel& model = segment.run.model;
        const int gpus = segment.run.gpus;
        const HistoryPace pace{model.interval_s, model.stall_s, model.lag_s, model.memory_interval_s,
                               model.pace};
        for (std::uint32_t round = 0;; ++round) {
            run_to_failures(pace, clocks_.due(), state_, round_);
            for (int l = 0; l < lanes; ++l) {
                loss_.stalls_gpu_s += round_.ends.at[l] * gpus;
                if (round_.restarted.at[l] > 0.0) {
                    loss_.cause[restarts_from_.at[l]].down_gpu_s += round_.restarted.at[l] * gpus;
                }
            }
            if (round_.failing == 0) {
                return;
            }
            if ((round + 1) % 4 == 0) {
                draws_.draw(Stream::failure, 0, (round + 1) / 4, words);
            }
            fail(segment, round, words[(round + 1) % 4]);
        }
    }

    /// Sets the lanes that fail in this round back to a checkpoint, and draws the next gap of the cause.
    void fail(const TabledSegment& segment, std::uint32_t round, const Words& next)
    {
        for (std::size_t table = 0; table < gaps_.size(); ++table) {
            lookup(*segment.tables.gap_tables[table], next, gaps_[table]);
        }
        const FailureModel& model = segment.run.model;
        std::array<Words, 4> extra{};
        const bool replaced = model.spares != enough_spares;
        if (replaced || model.memory_interval_s > 0.0) {  // [repair time, copies kept, unit]
            draws_.draw(Stream::repair, 0, round, extra);
        }
        if (replaced) {
            spares_.find_first();
        }
        for (int l = 0; l < lanes; ++l) {
            if (round_.fails.at[l] != 0) {
                const FailureWords words{extra[0].at[l], extra[1].at[l], extra[2].at[l]};
                fail(segment, l, words);
            }
        }
    }

    /// Random numbers of one failure.
    struct FailureWords {
        std::uint32_t repair;
        std::uint32_t copies;
        std::uint32_t unit;
    };

    void fail(const TabledSegment& segment, int l, const FailureWords& words)
    {
        const FailureModel& model = segment.run.model;
        const int gpus = segment.run.gpus;
        const auto c = static_cast<std::size_t>(round_.source.at[l]);
        const CauseClock& clock = segment.tables.clocks[c];
        const FailureModel::Source& source = *clock.source;
        const double work = round_.work.at[l];
        const double ran = round_.ran.at[l];
        const double restarted = round_.restarted.at[l];
        double gained = source.planned ? work : round_.stored.at[l];
        if (source.memory_kept > 0.0 && words.copies * word_unit < source.memory_kept) {
            gained = std::max(gained, round_.copied.at[l]);
        }
        double waiting = source.planned && work > 0.0 ? model.stall_s : 0.0;
        const double failed = state_.wall.at[l] + ran;
        const double known = failed + source.detection_s;
        const int nodes = nodes_of_unit(source, words.unit);
        const bool can_switch = source.switch_s < source.restart_s;
        const bool hot = can_switch && (model.spares == enough_spares || spares_.ready_at(l, known) >= nodes);
        const double recovery = hot ? source.switch_s : source.restart_s;
        if (clock.repair != nullptr) {
            const double repaired =
                failed + source.repair_s * static_cast<double>((*clock.repair)(words.repair));
            waiting += spares_.wait(l, nodes, hot, known, repaired);
        }
        CauseLoss& loss = loss_.cause[source.cause];
        loss.failures += 1.0;
        loss.rework_gpu_s += (work - gained) * gpus;
        loss.down_gpu_s += source.detection_s * gpus;
        loss.waiting_gpu_s += (source.planned ? 0.0 : waiting) * gpus;
        loss_.stalls_gpu_s += ((source.planned ? waiting : 0.0) + ran - restarted - work) * gpus;
        state_.saved.at[l] += gained;
        state_.wall.at[l] += ran + source.detection_s + waiting;
        const double restart = state_.restart.at[l] - restarted;  // of the failure before
        state_.restart.at[l] = std::max(restart, recovery);
        if (restart <= recovery) {
            restarts_from_.at[l] = source.cause;
        }
        clocks_.due()[c].at[l] = static_cast<double>(gaps_[clock.gap_table].at[l]) / rates_.rate(source, l);
    }

    HistoryDraws draws_;
    RateFactors rates_;
    CauseClocks clocks_;
    Spares spares_;
    HistoryState state_{};
    HistoryRound round_{};
    std::vector<Floats> gaps_;            // [gap table]: drawn in this round
    Lanes<std::size_t> restarts_from_{};  // the cause whose restart takes longest
    BlockLoss loss_;
};

}  // namespace

Histories sample_histories(std::span<const RunSegment> segments, std::size_t causes, FailureTables& tables,
                           std::uint64_t seed, Purpose purpose)
{
    std::vector<TabledSegment> with_tables;
    for (const RunSegment& segment : segments) {
        with_tables.push_back(TabledSegment{segment, segment_tables(segment.model, tables)});
    }
    const std::size_t count = segments.front().productive_s.size();
    Histories result;
    result.seconds.resize(count);
    result.cause.resize(causes);
    std::vector<BlockLoss> losses((count + lanes - 1) / lanes);
    parallel_for(static_cast<std::int64_t>(losses.size()), [&](int, std::int64_t b) {
        const std::size_t first = static_cast<std::size_t>(b) * lanes;
        const std::size_t size = std::min<std::size_t>(lanes, count - first);
        Block block(first, causes, seed, purpose);
        for (std::size_t s = 0; s < with_tables.size(); ++s) {
            const std::span<const double> productive = with_tables[s].run.productive_s;
            block.run(with_tables[s], static_cast<std::uint32_t>(s), productive.subspan(first, size));
        }
        for (std::size_t l = 0; l < size; ++l) {
            result.seconds[first + l] = block.seconds(static_cast<int>(l));
        }
        losses[static_cast<std::size_t>(b)] = block.loss();
    });
    for (const BlockLoss& block : losses) {
        for (std::size_t c = 0; c < causes; ++c) {
            result.cause[c].failures += block.cause[c].failures;
            result.cause[c].rework_gpu_s += block.cause[c].rework_gpu_s;
            result.cause[c].down_gpu_s += block.cause[c].down_gpu_s;
            result.cause[c].waiting_gpu_s += block.cause[c].waiting_gpu_s;
        }
        result.checkpoint_gpu_s += block.stalls_gpu_s;
    }
    const auto runs = static_cast<double>(count);
    for (CauseLoss& loss : result.cause) {
        loss = {loss.failures / runs, loss.rework_gpu_s / runs, loss.down_gpu_s / runs,
                loss.waiting_gpu_s / runs};
    }
    result.checkpoint_gpu_s /= runs;
    return result;
}

}  // namespace prismopt
