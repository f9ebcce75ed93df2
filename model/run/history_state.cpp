#include "model/run/history_state.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace prismopt {

SegmentTables segment_tables(const FailureModel& model, FailureTables& tables)
{
    SegmentTables result;
    if (model.node_cv > 0.0) {
        result.node_rate = &tables.rate(model.node_cv);
    }
    for (const FailureModel::Source& source : model.sources) {
        const QuantileTable* gaps = &tables.gaps(source.gaps);
        auto found = std::find(result.gap_tables.begin(), result.gap_tables.end(), gaps);
        if (found == result.gap_tables.end()) {
            result.gap_tables.push_back(gaps);
            found = result.gap_tables.end() - 1;
        }
        const bool replaced = model.spares != enough_spares && source.repair_s > 0.0;
        result.clocks.push_back({.source = &source,
                                 .gap_table = static_cast<std::size_t>(found - result.gap_tables.begin()),
                                 .first_gaps = &tables.first_gaps(source.gaps),
                                 .repair = replaced ? &tables.repair(source.repair_cv) : nullptr,
                                 .rate = source.rate_cv > 0.0 ? &tables.rate(source.rate_cv) : nullptr});
    }
    return result;
}

void HistoryDraws::draw_rates(const QuantileTable& table, std::uint32_t kind, Doubles& factors) const
{
    std::array<Words, 4> words{};
    const Words shared{};
    philox_lanes(seed, histories, shared, 0, use(Stream::node_rate, purpose, kind), words);
    for (int l = 0; l < lanes; ++l) {
        factors.at[l] = static_cast<double>(table(words[0].at[l]));
    }
}

std::uint32_t HistoryDraws::word(int lane, Stream stream, std::uint32_t event, std::size_t which) const
{
    const Counter counter{histories.at[lane], segment.at[lane], event, use(stream, purpose, 0)};
    return philox(seed, counter)[which];
}

void RateFactors::draw(const SegmentTables& tables, const HistoryDraws& draws)
{
    std::fill_n(node_.at, lanes, 1.0);
    if (tables.node_rate != nullptr) {
        draws.draw_rates(*tables.node_rate, 0, node_);
    }
    for (const CauseClock& clock : tables.clocks) {
        const std::size_t cause = clock.source->cause;
        const bool drawn = cause < cause_.size() && cause_[cause].has_value();
        if (clock.rate != nullptr && !drawn) {
            cause_.resize(std::max(cause_.size(), cause + 1));
            draws.draw_rates(*clock.rate, static_cast<std::uint32_t>(1 + cause), cause_[cause].emplace());
        }
    }
}

void CauseClocks::begin(const SegmentTables& tables, const RateFactors& rates, const HistoryDraws& draws,
                        bool first_segment)
{
    due_in_segment_.assign(tables.clocks.size(), Doubles{});
    for (std::size_t c = 0; c < tables.clocks.size(); ++c) {
        const FailureModel::Source& source = *tables.clocks[c].source;
        if (has_due_[source.cause]) {
            const Doubles& due = due_[source.cause];
            const Doubles& last_rate = last_rate_[source.cause];
            for (int l = 0; l < lanes; ++l) {
                due_in_segment_[c].at[l] = due.at[l] * last_rate.at[l] / rates.rate(source, l);
            }
        } else if (c > 0 || !first_segment) {
            std::array<Words, 4> words{};
            draws.draw(Stream::failure, static_cast<std::uint32_t>(1 + source.cause), 0, words);
            set_first_gap(tables.clocks[c], c, rates, words[0]);
        }
    }
    for (const CauseClock& clock : tables.clocks) {
        for (int l = 0; l < lanes; ++l) {
            last_rate_[clock.source->cause].at[l] = rates.rate(*clock.source, l);
        }
        has_due_[clock.source->cause] = true;
    }
}

void CauseClocks::set_first_gap(const CauseClock& clock, std::size_t c, const RateFactors& rates,
                                const Words& bits)
{
    for (int l = 0; l < lanes; ++l) {
        const auto gap = static_cast<double>((*clock.first_gaps)(bits.at[l]));
        due_in_segment_[c].at[l] = gap / rates.rate(*clock.source, l);
    }
}

void CauseClocks::end(const SegmentTables& tables)
{
    for (std::size_t c = 0; c < tables.clocks.size(); ++c) {
        due_[tables.clocks[c].source->cause] = due_in_segment_[c];
    }
}

int Spares::ready_at(int lane, double when) const
{
    const auto is_ready = [&](const Doubles& spare) { return spare.at[lane] <= when; };
    return static_cast<int>(std::count_if(ready_.begin(), ready_.end(), is_ready));
}

double Spares::wait(int lane, int nodes, bool hot, double known, double repaired)
{
    constexpr double in_use = std::numeric_limits<double>::infinity();
    double there = known;
    used_.clear();
    for (int node = 0; node < nodes; ++node) {
        std::size_t first = ready_.size();
        double ready = in_use;
        if (node == 0) {
            if (!ready_.empty()) {
                first = static_cast<std::size_t>(first_.at[lane]);
            }
            ready = first_ready_.at[lane];
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
        used_.push_back(first);
    }
    for (const std::size_t spare : used_) {
        ready_[spare].at[lane] = repaired;
    }
    return there - known;
}

std::vector<double> Spares::ready_times(int lane) const
{
    std::vector<double> times;
    for (const Doubles& spare : ready_) {
        times.push_back(spare.at[lane]);
    }
    return times;
}

void Spares::set_in_repair(int lane, std::vector<double> in_repair)
{
    std::sort(in_repair.begin(), in_repair.end(), std::greater<>());
    in_repair.resize(std::max(ready_.size(), in_repair.size()), 0.0);
    for (std::size_t spare = 0; spare < ready_.size(); ++spare) {
        ready_[spare].at[lane] = in_repair[spare];
    }
    whole_again_.at[lane] = ready_.size() < in_repair.size() ? in_repair[ready_.size()] : 0.0;
}

}  // namespace prismopt
