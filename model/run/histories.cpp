#include "model/run/histories.hpp"

#include "model/run/history_lanes.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace prismopt {

namespace {

using Source = FailureModel::Source;

/// A cause at one part's size, with its tables.
struct Clock {
    const Source* source;
    std::size_t gap_table;  // which of Block's
    const QuantileTable* repair = nullptr;
};

constexpr double word_unit = 0x1p-32;

/// 64 histories side by side.
class Block {
public:
    Block(std::size_t first, std::size_t causes, FailureTables& tables, std::uint64_t seed, Purpose purpose)
        : tables_(tables), seed_(seed), purpose_(purpose), due_(causes), has_due_(causes, false), loss_(causes)
    {
        for (int l = 0; l < lanes; ++l) {
            fleet_.at[l] = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(l);
        }
    }

    /// `productive`: of the block's histories, at most 64.
    void run(const RunSegment& part, std::uint32_t number, std::span<const double> productive)
    {
        begin(part, number, productive);
        std::array<Words, 4> words{};
        draw(Stream::failure, 0, 0, words);
        for (std::uint32_t round = 0;; ++round) {
            if (round == 0 && number == 0) {
                first_gaps(words[0]);
            }
            run_to_failures(pace_, due_in_part_, state_, round_);
            for (int l = 0; l < lanes; ++l) {
                stalls_gpu_s_ += round_.ends.at[l] * part.gpus;
                if (round_.restarted.at[l] > 0.0) {
                    loss_[restarts_from_.at[l]].down_gpu_s += round_.restarted.at[l] * part.gpus;
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
        for (std::size_t c = 0; c < clocks_.size(); ++c) {
            due_[clocks_[c].source->cause] = due_in_part_[c];
        }
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
    void begin(const RunSegment& part, std::uint32_t number, std::span<const double> productive)
    {
        const FailureModel& model = part.model;
        std::fill_n(part_.at, lanes, number << 16);
        for (int l = 0; l < lanes; ++l) {
            const bool there = static_cast<std::size_t>(l) < productive.size();
            state_.running.at[l] = there ? 1 : 0;
            state_.productive.at[l] = there ? productive[static_cast<std::size_t>(l)] : 1.0;
            state_.saved.at[l] = 0.0;
            state_.restart.at[l] = 0.0;
        }
        pace_ = {model.interval_s, model.stall_s, model.lag_s, model.memory_interval_s, model.pace};
        clocks_.clear();
        gap_tables_.clear();
        for (const Source& source : model.sources) {
            const QuantileTable* gaps = &tables_.gaps(source.gaps);
            auto found = std::find(gap_tables_.begin(), gap_tables_.end(), gaps);
            if (found == gap_tables_.end()) {
                gap_tables_.push_back(gaps);
                found = gap_tables_.end() - 1;
            }
            const bool replaced = model.spares != enough_spares && source.repair_s > 0.0;
            clocks_.push_back({&source, static_cast<std::size_t>(found - gap_tables_.begin()),
                               replaced ? &tables_.repair(source.repair_cv) : nullptr});
        }
        draws_.resize(gap_tables_.size());
        set_node_rates(model);
        set_cause_rates(model);
        if (model.spares != enough_spares) {
            ready_.resize(static_cast<std::size_t>(model.spares), Doubles{});
        }
        resume_clocks(number);
    }

    void set_node_rates(const FailureModel& model)
    {
        std::fill_n(node_rate_.at, lanes, 1.0);
        if (model.node_cv > 0.0) {
            std::array<Words, 4> words{};
            Words shared{};  // the same fleet's nodes in all parts
            philox_lanes(seed_, fleet_, shared, 0, use(Stream::node_rate, purpose_), words);
            const QuantileTable& table = tables_.rate(model.node_cv);
            for (int l = 0; l < lanes; ++l) {
                node_rate_.at[l] = static_cast<double>(table(words[0].at[l]));
            }
        }
    }

    /// What the rates of uncertain causes are in each history, in all parts and plans alike.
    void set_cause_rates(const FailureModel& model)
    {
        for (const Source& source : model.sources) {
            if (source.rate_cv > 0.0 && !(source.cause < cause_rate_.size() && cause_rate_[source.cause])) {
                std::array<Words, 4> words{};
                Words shared{};
                philox_lanes(seed_, fleet_, shared, 0,
                             use(Stream::node_rate, purpose_, static_cast<std::uint32_t>(1 + source.cause)), words);
                const QuantileTable& table = tables_.rate(source.rate_cv);
                cause_rate_.resize(std::max(cause_rate_.size(), source.cause + 1));
                Doubles& factor = cause_rate_[source.cause].emplace();
                for (int l = 0; l < lanes; ++l) {
                    factor.at[l] = static_cast<double>(table(words[0].at[l]));
                }
            }
        }
    }

    double rate(const Source& source, int lane) const
    {
        const double known = source.by_node ? source.rate * node_rate_.at[lane] : source.rate;
        return source.rate_cv > 0.0 ? known * cause_rate_[source.cause]->at[lane] : known;
    }

    /// What is left of gaps goes on at this part's rates; a cause that begins here draws its first.
    void resume_clocks(std::uint32_t number)
    {
        due_in_part_.assign(clocks_.size(), Doubles{});
        for (std::size_t c = 0; c < clocks_.size(); ++c) {
            const Source& source = *clocks_[c].source;
            if (has_due_[source.cause]) {
                for (int l = 0; l < lanes; ++l) {
                    due_in_part_[c].at[l] = due_[source.cause].at[l] * last_rate_[source.cause].at[l] / rate(source, l);
                }
            } else if (c > 0 || number > 0) {
                std::array<Words, 4> words{};
                draw(Stream::failure, static_cast<std::uint32_t>(1 + source.cause), 0, words);
                set_first_gap(c, words[0]);
            }
        }
        last_rate_.resize(due_.size());
        for (const Clock& clock : clocks_) {
            for (int l = 0; l < lanes; ++l) {
                last_rate_[clock.source->cause].at[l] = rate(*clock.source, l);
            }
            has_due_[clock.source->cause] = true;
        }
    }

    void set_first_gap(std::size_t c, const Words& bits)
    {
        const QuantileTable& table = tables_.first_gaps(clocks_[c].source->gaps);
        for (int l = 0; l < lanes; ++l) {
            due_in_part_[c].at[l] = static_cast<double>(table(bits.at[l])) / rate(*clocks_[c].source, l);
        }
    }

    void first_gaps(const Words& bits)
    {
        if (!clocks_.empty()) {
            set_first_gap(0, bits);
        }
    }

    /// Takes the lanes that fail in this round back to a checkpoint, and draws the next gap of the cause.
    void fail(const RunSegment& part, std::uint32_t round, const Words& next)
    {
        for (std::size_t t = 0; t < gap_tables_.size(); ++t) {
            look_up(*gap_tables_[t], next, draws_[t]);
        }
        const FailureModel& model = part.model;
        std::array<Words, 4> extra{};
        const bool replaced = model.spares != enough_spares;
        if (replaced || model.memory_interval_s > 0.0) {
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
            const Clock& clock = clocks_[c];
            const Source& source = *clock.source;
            double gained = source.planned ? round_.work.at[l] : round_.stored.at[l];
            if (source.memory_kept > 0.0 && extra[1].at[l] * word_unit < source.memory_kept) {
                gained = std::max(gained, round_.copied.at[l]);
            }
            double waiting = source.planned && round_.work.at[l] > 0.0 ? model.stall_s : 0.0;
            const double gap = round_.ran.at[l];
            if (clock.repair != nullptr) {
                const double failed = state_.wall.at[l] + gap;
                waiting += wait(l, failed + source.detection_s,
                                failed + source.repair_s * static_cast<double>((*clock.repair)(extra[0].at[l])));
            }
            CauseLoss& loss = loss_[source.cause];
            loss.failures += 1.0;
            loss.rework_gpu_s += (round_.work.at[l] - gained) * part.gpus;
            loss.down_gpu_s += source.detection_s * part.gpus;
            loss.waiting_gpu_s += (source.planned ? 0.0 : waiting) * part.gpus;
            stalls_gpu_s_ += ((source.planned ? waiting : 0.0) + gap - round_.restarted.at[l] - round_.work.at[l]) * part.gpus;
            state_.saved.at[l] += gained;
            state_.wall.at[l] += gap + source.detection_s + waiting;
            const double restart = state_.restart.at[l] - round_.restarted.at[l];  // of the failure before
            state_.restart.at[l] = std::max(restart, source.restart_s);
            restarts_from_.at[l] = restart > source.restart_s ? restarts_from_.at[l] : source.cause;
            due_in_part_[c].at[l] = static_cast<double>(draws_[clock.gap_table].at[l]) / rate(source, l);
        }
    }

    /// Seconds after `known` until a node is there; the failed one comes back at `repaired`.
    double wait(int lane, double known, double repaired)
    {
        double taken = repaired;
        if (!ready_.empty() && spare_ready_.at[lane] <= repaired) {
            taken = spare_ready_.at[lane];
            ready_[static_cast<std::size_t>(spare_.at[lane])].at[lane] = repaired;
        }
        return std::max(0.0, taken - known);
    }

    FailureTables& tables_;
    std::uint64_t seed_;
    Purpose purpose_;
    Words fleet_{};
    Words part_{};
    HistoryPace pace_{};
    HistoryState state_{};
    HistoryRound round_{};
    Lanes<std::size_t> restarts_from_{};  // the cause whose restart takes longest
    std::vector<Clock> clocks_;
    std::vector<const QuantileTable*> gap_tables_;
    std::vector<Floats> draws_;         // [gap table]
    std::vector<Doubles> due_in_part_;  // [clock]: running time until it strikes
    std::vector<Doubles> due_;          // [cause]: the same, at the end of the part before
    std::vector<Doubles> last_rate_;    // [cause]
    std::vector<bool> has_due_;         // [cause]
    Doubles node_rate_{};
    std::vector<std::optional<Doubles>> cause_rate_;  // [cause]: factor of its rate, if that is uncertain
    std::vector<Doubles> ready_;                      // [spare]: when it is
    Ints spare_{};                                    // ready first
    Doubles spare_ready_{};
    std::vector<CauseLoss> loss_;  // sums over lanes
    double stalls_gpu_s_ = 0.0;
};

}  // namespace

Histories sample_histories(std::span<const RunSegment> parts, std::size_t causes, FailureTables& tables, std::uint64_t seed,
                           Purpose purpose)
{
    Histories result;
    result.cause.resize(causes);
    const std::size_t count = parts.front().productive_s.size();
    for (std::size_t first = 0; first < count; first += lanes) {
        const std::size_t size = std::min<std::size_t>(lanes, count - first);
        Block block(first, causes, tables, seed, purpose);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            block.run(parts[part], static_cast<std::uint32_t>(part), std::span(parts[part].productive_s).subspan(first, size));
        }
        for (std::size_t l = 0; l < size; ++l) {
            result.seconds.push_back(block.seconds(static_cast<int>(l)));
        }
        for (std::size_t c = 0; c < causes; ++c) {
            result.cause[c].failures += block.loss()[c].failures;
            result.cause[c].rework_gpu_s += block.loss()[c].rework_gpu_s;
            result.cause[c].down_gpu_s += block.loss()[c].down_gpu_s;
            result.cause[c].waiting_gpu_s += block.loss()[c].waiting_gpu_s;
        }
        result.checkpoint_gpu_s += block.stalls_gpu_s();
    }
    const auto runs = static_cast<double>(count);
    for (CauseLoss& loss : result.cause) {
        loss = {loss.failures / runs, loss.rework_gpu_s / runs, loss.down_gpu_s / runs, loss.waiting_gpu_s / runs};
    }
    result.checkpoint_gpu_s /= runs;
    return result;
}

}  // namespace prismopt
