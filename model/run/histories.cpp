#include "model/run/histories.hpp"

#include "model/base/parallel.hpp"
#include "model/run/history_lanes.hpp"
#include "model/run/replica_history.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>

namespace prismopt {

namespace {

using Source = FailureModel::Source;

/// A cause at one part's size, with its tables.
struct Clock {
    const Source* source;
    std::size_t gap_table;  // which of its part
    const QuantileTable* first_gaps;
    const QuantileTable* repair = nullptr;
    const QuantileTable* rate = nullptr;  // if it is uncertain
};

/// A part of a run with its tables, which all blocks of histories share.
struct Part {
    Part(const RunSegment& of, FailureTables& tables) : segment(of), model(of.model)
    {
        if (model.node_cv > 0.0) {
            node_rate = &tables.rate(model.node_cv);
        }
        for (const Source& source : model.sources) {
            const QuantileTable* gaps = &tables.gaps(source.gaps);
            auto found = std::find(gap_tables.begin(), gap_tables.end(), gaps);
            if (found == gap_tables.end()) {
                gap_tables.push_back(gaps);
                found = gap_tables.end() - 1;
            }
            const bool replaced = model.spares != enough_spares && source.repair_s > 0.0;
            clocks.push_back({&source, static_cast<std::size_t>(found - gap_tables.begin()), &tables.first_gaps(source.gaps),
                              replaced ? &tables.repair(source.repair_cv) : nullptr,
                              source.rate_cv > 0.0 ? &tables.rate(source.rate_cv) : nullptr});
        }
    }

    const RunSegment& segment;
    const FailureModel& model;
    std::vector<Clock> clocks;
    std::vector<const QuantileTable*> gap_tables;
    const QuantileTable* node_rate = nullptr;  // if nodes differ
};

constexpr double word_unit = 0x1p-32;

/// 64 histories side by side.
class Block {
public:
    Block(std::size_t first, std::size_t causes, std::uint64_t seed, Purpose purpose)
        : seed_(seed), purpose_(purpose), due_(causes), has_due_(causes, false), loss_(causes)
    {
        for (int l = 0; l < lanes; ++l) {
            fleet_.at[l] = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(l);
        }
    }

    /// `productive`: of the block's histories, at most 64.
    void run(const Part& part, std::uint32_t number, std::span<const double> productive)
    {
        const int gpus = part.segment.gpus;
        begin(part, number, productive);
        std::array<Words, 4> words{};
        draw(Stream::failure, 0, 0, words);
        if (number == 0) {
            first_gaps(part, words[0]);
        }
        if (part.model.replicas > 1) {
            continue_with_fewer(part, number, static_cast<int>(productive.size()));
            end(part);
            return;
        }
        for (std::uint32_t round = 0;; ++round) {
            run_to_failures(pace_, due_in_part_, state_, round_);
            for (int l = 0; l < lanes; ++l) {
                stalls_gpu_s_ += round_.ends.at[l] * gpus;
                if (round_.restarted.at[l] > 0.0) {
                    loss_[restarts_from_.at[l]].down_gpu_s += round_.restarted.at[l] * gpus;
                }
            }
            if (round_.failing == 0) {
                break;
            }
            if ((round + 1) % 4 == 0) {
                draw(Stream::failure, 0, (round + 1) / 4, words);
            }
            fail(part, round, words[(round + 1) % 4]);
        }
        end(part);
    }

    double seconds(int lane) const { return state_.wall.at[lane]; }
    const std::vector<CauseLoss>& loss() const { return loss_; }
    double stalls_gpu_s() const { return stalls_gpu_s_; }

private:
    void draw(Stream stream, std::uint32_t kind, std::uint32_t event, std::array<Words, 4>& words) const
    {
        philox_lanes(seed_, fleet_, part_, event, use(stream, purpose_, kind), words);
    }

    /// Rates of nodes sum to the lane's own; draws that no part shares are keyed by the part.
    void begin(const Part& part, std::uint32_t number, std::span<const double> productive)
    {
        const FailureModel& model = part.model;
        std::fill_n(part_.at, lanes, number << 16);
        for (int l = 0; l < lanes; ++l) {
            const bool there = static_cast<std::size_t>(l) < productive.size();
            state_.running.at[l] = there ? 1 : 0;
            state_.productive.at[l] = there ? productive[static_cast<std::size_t>(l)] : 1.0;
            state_.saved.at[l] = 0.0;
            state_.restart.at[l] = 0.0;
            state_.wall.at[l] = std::max(state_.wall.at[l], whole_again_.at[l]);
        }
        pace_ = {model.interval_s, model.stall_s, model.lag_s, model.memory_interval_s, model.pace};
        draws_.resize(part.gap_tables.size());
        set_node_rates(part);
        set_cause_rates(part);
        if (model.spares != enough_spares) {
            ready_.resize(static_cast<std::size_t>(model.spares), Doubles{});
        }
        resume_clocks(part, number);
    }

    void end(const Part& part)
    {
        for (std::size_t c = 0; c < part.clocks.size(); ++c) {
            due_[part.clocks[c].source->cause] = due_in_part_[c];
        }
    }

    /// Runs the lanes one by one: the moments at which nodes come back differ. A part begins with all of its nodes.
    void continue_with_fewer(const Part& part, std::uint32_t number, int count)
    {
        for (int l = 0; l < count; ++l) {
            ReplicaHistory history;
            history.wall_s = state_.wall.at[l];
            for (const Doubles& spare : ready_) {
                history.in_repair.push_back(spare.at[l]);
            }
            for (const Doubles& due : due_in_part_) {
                history.due_s.push_back(due.at[l]);
            }
            const auto word = [&](Stream stream, std::uint32_t event, std::size_t which) {
                const Counter counter{fleet_.at[l], number << 16, event, use(stream, purpose_, 0)};
                return philox(seed_, counter)[which];
            };
            const DrawFailure draw = [&](std::size_t c, std::uint32_t failure) {
                const Clock& clock = part.clocks[c];
                const double repair = clock.repair != nullptr ? (*clock.repair)(word(Stream::repair, failure, 0)) : 0.0F;
                const double gap =
                    (*part.gap_tables[clock.gap_table])(word(Stream::failure, (failure + 1) / 4, (failure + 1) % 4));
                return FailureDraw{clock.source->repair_s * repair, word(Stream::repair, failure, 1) * word_unit,
                                   word(Stream::repair, failure, 2) * word_unit, gap / rate(*clock.source, l)};
            };
            run_with_fewer_replicas(part.model, state_.productive.at[l], draw, history);
            keep(part, l, history);
        }
    }

    /// Adds the losses of a history, and has the spares as they are once no node of the job is missing.
    void keep(const Part& part, int lane, ReplicaHistory& history)
    {
        const int gpus = part.segment.gpus;
        for (std::size_t c = 0; c < part.clocks.size(); ++c) {
            const SourceLoss& lost = history.loss[c];
            CauseLoss& loss = loss_[part.clocks[c].source->cause];
            loss.failures += lost.failures;
            loss.rework_gpu_s += lost.rework_s * gpus;
            loss.down_gpu_s += lost.down_s * gpus;
            loss.waiting_gpu_s += lost.waiting_s * gpus;
            due_in_part_[c].at[lane] = history.due_s[c];
        }
        stalls_gpu_s_ += history.stalls_s * gpus;
        state_.wall.at[lane] = history.wall_s;
        std::sort(history.in_repair.begin(), history.in_repair.end(), std::greater<>());
        history.in_repair.resize(std::max(ready_.size(), history.in_repair.size()), 0.0);
        for (std::size_t spare = 0; spare < ready_.size(); ++spare) {
            ready_[spare].at[lane] = history.in_repair[spare];
        }
        whole_again_.at[lane] = ready_.size() < history.in_repair.size() ? history.in_repair[ready_.size()] : 0.0;
    }

    /// Factors of rates that all parts and plans share.
    void draw_rates(const QuantileTable& table, std::uint32_t kind, Doubles& factors) const
    {
        std::array<Words, 4> words{};
        Words shared{};
        philox_lanes(seed_, fleet_, shared, 0, use(Stream::node_rate, purpose_, kind), words);
        for (int l = 0; l < lanes; ++l) {
            factors.at[l] = static_cast<double>(table(words[0].at[l]));
        }
    }

    void set_node_rates(const Part& part)
    {
        std::fill_n(node_rate_.at, lanes, 1.0);
        if (part.node_rate != nullptr) {
            draw_rates(*part.node_rate, 0, node_rate_);
        }
    }

    void set_cause_rates(const Part& part)
    {
        for (const Clock& clock : part.clocks) {
            const std::size_t cause = clock.source->cause;
            if (clock.rate != nullptr && !(cause < cause_rate_.size() && cause_rate_[cause])) {
                cause_rate_.resize(std::max(cause_rate_.size(), cause + 1));
                draw_rates(*clock.rate, static_cast<std::uint32_t>(1 + cause), cause_rate_[cause].emplace());
            }
        }
    }

    double rate(const Source& source, int lane) const
    {
        const double known = source.by_node ? source.rate * node_rate_.at[lane] : source.rate;
        return source.rate_cv > 0.0 ? known * cause_rate_[source.cause]->at[lane] : known;
    }

    /// What is left of gaps goes on at this part's rates; a cause that begins here draws its first.
    void resume_clocks(const Part& part, std::uint32_t number)
    {
        due_in_part_.assign(part.clocks.size(), Doubles{});
        for (std::size_t c = 0; c < part.clocks.size(); ++c) {
            const Source& source = *part.clocks[c].source;
            if (has_due_[source.cause]) {
                for (int l = 0; l < lanes; ++l) {
                    due_in_part_[c].at[l] = due_[source.cause].at[l] * last_rate_[source.cause].at[l] / rate(source, l);
                }
            } else if (c > 0 || number > 0) {
                std::array<Words, 4> words{};
                draw(Stream::failure, static_cast<std::uint32_t>(1 + source.cause), 0, words);
                set_first_gap(part, c, words[0]);
            }
        }
        last_rate_.resize(due_.size());
        for (const Clock& clock : part.clocks) {
            for (int l = 0; l < lanes; ++l) {
                last_rate_[clock.source->cause].at[l] = rate(*clock.source, l);
            }
            has_due_[clock.source->cause] = true;
        }
    }

    void set_first_gap(const Part& part, std::size_t c, const Words& bits)
    {
        const Clock& clock = part.clocks[c];
        for (int l = 0; l < lanes; ++l) {
            due_in_part_[c].at[l] = static_cast<double>((*clock.first_gaps)(bits.at[l])) / rate(*clock.source, l);
        }
    }

    void first_gaps(const Part& part, const Words& bits)
    {
        if (!part.clocks.empty()) {
            set_first_gap(part, 0, bits);
        }
    }

    /// Takes the lanes that fail in this round back to a checkpoint, and draws the next gap of the cause.
    void fail(const Part& part, std::uint32_t round, const Words& next)
    {
        for (std::size_t t = 0; t < part.gap_tables.size(); ++t) {
            look_up(*part.gap_tables[t], next, draws_[t]);
        }
        const FailureModel& model = part.model;
        const int gpus = part.segment.gpus;
        std::array<Words, 4> extra{};
        const bool replaced = model.spares != enough_spares;
        if (replaced || model.memory_interval_s > 0.0) {  // [repair time, copies kept, unit]
            draw(Stream::repair, 0, round, extra);
        }
        if (replaced) {
            earliest(ready_, spare_, spare_ready_);
        }
        for (int l = 0; l < lanes; ++l) {
            if (round_.fails.at[l] == 0) {
                continue;
            }
            const auto c = static_cast<std::size_t>(round_.source.at[l]);
            const Clock& clock = part.clocks[c];
            const Source& source = *clock.source;
            double gained = source.planned ? round_.work.at[l] : round_.stored.at[l];
            if (source.memory_kept > 0.0 && extra[1].at[l] * word_unit < source.memory_kept) {
                gained = std::max(gained, round_.copied.at[l]);
            }
            double waiting = source.planned && round_.work.at[l] > 0.0 ? model.stall_s : 0.0;
            const double gap = round_.ran.at[l];
            const double failed = state_.wall.at[l] + gap;
            const double known = failed + source.detection_s;
            const int nodes = nodes_of_unit(source, extra[2].at[l]);
            const bool hot = source.switch_s < source.restart_s && (!replaced || spares_ready(l, known) >= nodes);
            const double recovery = hot ? source.switch_s : source.restart_s;
            if (clock.repair != nullptr) {
                waiting +=
                    wait(l, nodes, hot, known, failed + source.repair_s * static_cast<double>((*clock.repair)(extra[0].at[l])));
            }
            CauseLoss& loss = loss_[source.cause];
            loss.failures += 1.0;
            loss.rework_gpu_s += (round_.work.at[l] - gained) * gpus;
            loss.down_gpu_s += source.detection_s * gpus;
            loss.waiting_gpu_s += (source.planned ? 0.0 : waiting) * gpus;
            stalls_gpu_s_ += ((source.planned ? waiting : 0.0) + gap - round_.restarted.at[l] - round_.work.at[l]) * gpus;
            state_.saved.at[l] += gained;
            state_.wall.at[l] += gap + source.detection_s + waiting;
            const double restart = state_.restart.at[l] - round_.restarted.at[l];  // of the failure before
            state_.restart.at[l] = std::max(restart, recovery);
            restarts_from_.at[l] = restart > recovery ? restarts_from_.at[l] : source.cause;
            due_in_part_[c].at[l] = static_cast<double>(draws_[clock.gap_table].at[l]) / rate(source, l);
        }
    }

    /// All units fail equally often; the job may use a part of the last.
    static int nodes_of_unit(const Source& source, std::uint32_t bits)
    {
        const int unit = static_cast<int>(bits * word_unit * source.units);
        return unit + 1 == source.units ? source.last_unit_nodes : source.unit_nodes;
    }

    int spares_ready(int lane, double when) const
    {
        return static_cast<int>(
            std::count_if(ready_.begin(), ready_.end(), [&](const Doubles& spare) { return spare.at[lane] <= when; }));
    }

    /// Seconds after `known` until so many nodes are there; the failed ones come back at `repaired`, and if the spares are `hot`, none
    /// of them is waited for.
    double wait(int lane, int nodes, bool hot, double known, double repaired)
    {
        constexpr double in_use = std::numeric_limits<double>::infinity();
        double there = known;
        taken_.clear();
        for (int node = 0; node < nodes; ++node) {
            std::size_t first = ready_.size();
            double ready = in_use;
            if (node == 0) {
                first = ready_.empty() ? first : static_cast<std::size_t>(spare_.at[lane]);
                ready = spare_ready_.at[lane];
            } else {
                for (std::size_t s = 0; s < ready_.size(); ++s) {
                    if (ready_[s].at[lane] < ready) {
                        first = s;
                        ready = ready_[s].at[lane];
                    }
                }
            }
            if (first == ready_.size() || (ready > repaired && !hot)) {
                there = std::max(there, repaired);
                break;
            }
            there = std::max(there, ready);
            ready_[first].at[lane] = in_use;
            taken_.push_back(first);
        }
        for (const std::size_t spare : taken_) {
            ready_[spare].at[lane] = repaired;
        }
        return there - known;
    }

    std::uint64_t seed_;
    Purpose purpose_;
    Words fleet_{};
    Words part_{};
    HistoryPace pace_{};
    HistoryState state_{};
    HistoryRound round_{};
    Lanes<std::size_t> restarts_from_{};  // the cause whose restart takes longest
    std::vector<Floats> draws_;           // [gap table]
    std::vector<Doubles> due_in_part_;    // [clock]: running time until it strikes
    std::vector<Doubles> due_;            // [cause]: the same, at the end of the part before
    std::vector<Doubles> last_rate_;      // [cause]
    std::vector<bool> has_due_;           // [cause]
    Doubles node_rate_{};
    std::vector<std::optional<Doubles>> cause_rate_;  // [cause]: factor of its rate, if that is uncertain
    std::vector<Doubles> ready_;                      // [spare]: when it is
    Ints spare_{};                                    // ready first
    Doubles spare_ready_{};
    Doubles whole_again_{};           // when the nodes are back that the job of the part before was short of
    std::vector<std::size_t> taken_;  // spares that replace the nodes of one failure
    std::vector<CauseLoss> loss_;     // sums over lanes
    double stalls_gpu_s_ = 0.0;
};

}  // namespace

Histories sample_histories(std::span<const RunSegment> segments, std::size_t causes, FailureTables& tables, std::uint64_t seed,
                           Purpose purpose)
{
    std::vector<Part> parts;
    for (const RunSegment& segment : segments) {
        parts.emplace_back(segment, tables);
    }
    const std::size_t count = segments.front().productive_s.size();
    Histories result;
    result.seconds.resize(count);
    result.cause.resize(causes);
    struct BlockLoss {
        std::vector<CauseLoss> cause;
        double stalls_gpu_s = 0.0;
    };
    std::vector<BlockLoss> losses((count + lanes - 1) / lanes);
    parallel_for(static_cast<std::int64_t>(losses.size()), [&](int, std::int64_t b) {
        const std::size_t first = static_cast<std::size_t>(b) * lanes;
        const std::size_t size = std::min<std::size_t>(lanes, count - first);
        Block block(first, causes, seed, purpose);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            const std::span<const double> productive = parts[part].segment.productive_s;
            block.run(parts[part], static_cast<std::uint32_t>(part), productive.subspan(first, size));
        }
        for (std::size_t l = 0; l < size; ++l) {
            result.seconds[first + l] = block.seconds(static_cast<int>(l));
        }
        losses[static_cast<std::size_t>(b)] = {block.loss(), block.stalls_gpu_s()};
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
        loss = {loss.failures / runs, loss.rework_gpu_s / runs, loss.down_gpu_s / runs, loss.waiting_gpu_s / runs};
    }
    result.checkpoint_gpu_s /= runs;
    return result;
}

}  // namespace prismopt
