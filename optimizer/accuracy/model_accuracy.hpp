#pragma once

/// Errors of predictions against measured runs, by source.

#include "io/scenario/constants/fitted_model.hpp"
#include "optimizer/accuracy/check_model.hpp"

#include <limits>

namespace prismopt {

/// The job of a run: model, GPUs, precision, batch and software. Runs of one job differ in their plans only;
/// rows that differ in the software, or in the number of heads, are different jobs.
std::string job_of(const MeasuredRun& run);

/// Regret of a group of plans with the same model, GPUs and batch: measured time of the plan that the model
/// ranks first over the best measured time.
struct Regret {
    std::string group;
    std::size_t rows = 0;
    double excess = 0.0;  // relative: 0 where the model picks the best
};

/// Repeats of one configuration differ by 2 to 8 % (rows of NVIDIA Megatron-Bridge
/// and BigScience that repeat one).
inline constexpr double repeats_differ = 0.08;

/// Relative errors, signed unless absolute; NaN if there is nothing to compare.
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
    std::string worst_reason;        // likely cause, from the components of the prediction
    double rank_correlation = none;  // Spearman's, between predicted and measured times
    std::vector<Regret> regrets;     // groups of at least three plans
    double memory_error = none;      // mean absolute, of rows with a published peak
    std::size_t memory_rows = 0;
    double inside = none;  // share of the rows inside their 95 % model interval

    double largest_regret() const;
    /// Largest regret; differences within those of repeated runs count as zero.
    double largest_regret_beyond_repeats() const;
    /// Number of groups with at most this regret.
    std::size_t groups_within(double regret) const;
};

/// What may be wrong with a row's prediction: the parts of it that are hardest to predict,
/// or else what its table assumes.
std::string likely_cause(const CheckedRun& checked);

/// Accuracy over rows that share a name.
SourceAccuracy accuracy_of(const std::string& name, const std::vector<const CheckedRun*>& runs,
                           std::size_t skipped);

/// Accuracy of collectives by system, sorted by name: rows, mean, median, bias and worst.
std::vector<SourceAccuracy> accuracy_of_collectives(const CheckedModel& checked);

/// Accuracy by source, sorted by name, with the total last.
std::vector<SourceAccuracy> accuracy_by_source(const CheckedModel& checked);

/// Whether a row is a test of the model: its step time does not rest on an assumed number of operations, and
/// its network has more than a billion parameters or runs at more than a tenth of the peak in 16 bits; else
/// overheads of small runs decide.
bool judged(const MeasuredRun& run);

/// Accuracy by kind of run: dense models in 16 bits or more, mixtures of experts, fewer than 16 bits
/// (dense or not). First for sources with several kinds, named "source: kind", then for all rows.
std::vector<SourceAccuracy> accuracy_by_kind(const CheckedModel& checked);

/// Families of one kind that were left out of the fit, beside the fit of all rows.
struct HeldOutAccuracy {
    RunKind kind = RunKind::dense;
    int rows = 0;
    FamilyErrors fitted;    // means over rows
    FamilyErrors held_out;  // the same
    // Of the families whose accelerators and stacks occur in others: mean left-out errors of sources.
    int sources = 0;
    double median_source = 0.0;
    double worst_source = 0.0;  // of sources with five rows or more
    std::string worst_name;
};

/// By kind, in the order of RunKind; kinds without rows are omitted.
std::vector<HeldOutAccuracy> held_out_by_kind(const std::vector<HeldOutErrors>& families);

}  // namespace prismopt
