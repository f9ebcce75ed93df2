#pragma once

/// Errors of predictions against measured runs, by source.

#include "optimizer/accuracy/check_model.hpp"

#include <limits>

namespace prismopt {

/// Plans with the same model, GPUs and batch: measured time of the plan that the model ranks first, over the best measured.
struct Regret {
    std::string group;
    std::size_t rows = 0;
    double excess = 0.0;  // relative: 0 where the model picks the best
};

/// Repeats of one configuration differ by 2 to 8 % (rows of NVIDIA Megatron-Bridge and BigScience that repeat one).
inline constexpr double repeats_differ = 0.08;

/// Errors are relative and signed where they can be; NaN where there is nothing to compare.
struct SourceAccuracy {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::string name;
    std::size_t rows = 0;
    std::size_t skipped = 0;
    double mean_absolute = none;
    double median_absolute = none;
    double bias = none;
    double worst = none;
    std::string worst_row;
    std::string worst_reason;        // why that row is hard, as far as the model's own parts tell
    double rank_correlation = none;  // Spearman's, between predicted and measured times
    std::vector<Regret> regrets;     // groups of at least three plans
    double memory_error = none;      // mean absolute, of rows with a published peak
    std::size_t memory_rows = 0;
    double inside = none;  // share of the rows inside their 95 % model interval

    double largest_regret() const;
    /// The same with plans that are no further apart than repeats of one plan counted as equal.
    double largest_regret_beyond_repeats() const;
    /// Groups whose regret is at most this.
    std::size_t groups_within(double regret) const;
};

/// All rows of one name.
SourceAccuracy accuracy_of(const std::string& name, const std::vector<const CheckedRun*>& runs, std::size_t skipped);

/// Collectives by system, in the order of names: rows, mean, median, bias and worst.
std::vector<SourceAccuracy> accuracy_of_collectives(const CheckedModel& checked);

/// By source in the order of names, the total last.
std::vector<SourceAccuracy> accuracy_by_source(const CheckedModel& checked);

/// By kind of run: dense models in 16 bits or more, mixtures of experts, fewer than 16 bits (dense or not). Of the sources that
/// have several kinds, named "source: kind", then of all rows.
std::vector<SourceAccuracy> accuracy_by_kind(const CheckedModel& checked);

}  // namespace prismopt
