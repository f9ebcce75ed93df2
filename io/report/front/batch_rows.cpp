#include "io/report/front/batch_rows.hpp"

#include "io/report/front/plan_words.hpp"
#include "io/scenario/batch_stability.hpp"
#include "io/toml/reading_units.hpp"
#include "model/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

double factor_of(const Learning& learning) { return std::exp(two_sided_95 * learning.spread); }

/// The phases of a global batch as rows without values.
std::vector<BatchRow> rows_of(const Learning& learning, int global_batch)
{
    const double factor = factor_of(learning);
    const std::vector<Phase> phases = phases_of(learning, global_batch);
    const std::vector<Phase> less =
        phases_of(with_larger_critical_batches(learning, 1.0 / factor), global_batch);
    const std::vector<Phase> more = phases_of(with_larger_critical_batches(learning, factor), global_batch);
    std::vector<BatchRow> rows;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const auto tokens = [i](const std::vector<Phase>& of) { return i < of.size() ? of[i].tokens : 0.0; };
        const auto [low, high] = std::minmax({tokens(less), tokens(more)});
        rows.push_back({.global_batch = phases[i].global_batch,
                        .tokens = phases[i].tokens,
                        .tokens_low = low,
                        .tokens_high = high,
                        .steps = phases[i].steps()});
    }
    return rows;
}

/// Of the whole run, by the limits of this phase.
TokensInterval interval_of(const BatchRow& row, double other_tokens)
{
    const double expected = row.tokens + other_tokens;
    return {(row.tokens_low + other_tokens) / expected, (row.tokens_high + other_tokens) / expected};
}

std::string tokens_of_row(const BatchRow& row)
{
    return row.tokens_low == row.tokens_high
               ? short_count(row.tokens)
               : fmt::format("{} ({} to {})", short_count(row.tokens), short_count(row.tokens_low),
                             short_count(row.tokens_high));
}

std::string critical_text(const Learning& learning)
{
    const double factor = factor_of(learning);
    std::string text;
    for (const CriticalBatch& at : learning.critical) {
        const std::string batch = fmt::format("{} tokens ({} to {})", short_count(at.batch),
                                              short_count(at.batch / factor), short_count(at.batch * factor));
        text += learning.critical.size() == 1
                    ? batch
                    : fmt::format("{}{} after {}", text.empty() ? "" : ", ", batch, short_count(at.tokens));
    }
    return fmt::format(
        "{}; {}{}", text, learning.source,
        learning.extrapolated > 1.0 ? fmt::format("; extrapolated by x{:.3g}", learning.extrapolated) : "");
}

/// Choices whose tokens come on top: "the precision and local updates".
std::string choices_outside_text(const Scenario& scenario)
{
    const std::string precision = scenario.numerics.loss_gap.empty() ? "" : "the precision";
    const std::string local_updates = local_updates_text(scenario).empty() ? "" : "local updates";
    return fmt::format("{}{}{}", precision, precision.empty() || local_updates.empty() ? "" : " and ",
                       local_updates);
}

/// What the ramp is compared with: the batch of the phase from the start.
std::string without_ramp_text(Learning learning, const std::vector<BatchRow>& rows)
{
    double tokens = 0.0;
    double steps = 0.0;
    for (const BatchRow& row : rows) {
        tokens += row.tokens;
        steps += row.steps;
    }
    learning.ramp.clear();
    const Phase alone = phases_of(learning, learning.as_given.global_batch).front();
    return fmt::format(
        "Together {} tokens in {} steps; batches of {} sequences from the start need {} tokens in {} "
        "steps.\n",
        short_count(tokens), short_count(steps), alone.global_batch, short_count(alone.tokens),
        short_count(alone.steps()));
}

}  // namespace

std::vector<BatchRow> batch_rows(const Scenario& scenario, const Results& results)
{
    if (!scenario.learning) {
        return {};
    }
    const Learning& learning = *scenario.learning;
    if (!learning.ramp.empty()) {
        return rows_of(learning, learning.as_given.global_batch);
    }
    const std::vector<VariantChoice> choices = variant_choices(results);
    const auto batch = std::find_if(choices.begin(), choices.end(), [](const VariantChoice& choice) {
        return choice.name == "global_batch";
    });
    const std::map<std::string, BestPlan> best = best_plans(results, [&](const Point& point) {
        return batch == choices.end() ? "" : batch->at(point);
    });
    std::vector<BatchRow> rows;
    for (const int of : std::set<int>(learning.global_batch.begin(), learning.global_batch.end())) {
        rows.push_back(rows_of(learning, of).front());
        if (const auto found = best.find(std::to_string(of)); found != best.end()) {
            rows.back().best = found->second;
        }
    }
    return rows;
}

ChoiceTable batch_table(const Scenario& scenario, const Results& results)
{
    const std::vector<BatchRow> rows = batch_rows(scenario, results);
    if (rows.empty()) {
        return {};
    }
    const Learning& learning = *scenario.learning;
    const bool ramp = !learning.ramp.empty();
    const bool judged = !results.objectives.empty();
    ChoiceTable table;
    table.title =
        fmt::format("{}: tokens to the loss of {} tokens in batches of {} tokens; critical batch {}",
                    ramp ? "Batch ramp" : "Global batch", short_count(learning.as_given.tokens),
                    short_count(learning.reference_batch), critical_text(learning));
    std::vector<std::string>& head = table.cells.emplace_back(std::vector<std::string>{
        "batch", "tokens each", "tokens (95 % limits of the critical batch)", "steps"});
    if (!ramp) {
        add_best_head(results, head);
    }
    const double given = tokens_of(phases_of(learning, learning.as_given.global_batch));
    const double other_tokens = tokens_of(scenario.phases) - given;
    for (const BatchRow& row : rows) {
        std::vector<std::string>& line = table.cells.emplace_back(std::vector<std::string>{
            fmt::format("{}", row.global_batch),
            short_count(static_cast<double>(row.global_batch) * learning.as_given.sequence),
            tokens_of_row(row), short_count(row.steps)});
        if (!ramp) {
            add_best(row.best, results, line, interval_of(row, other_tokens));
        }
    }
    if (ramp) {
        table.note = without_ramp_text(learning, rows);
    } else if (judged) {
        table.note = fmt::format(
            "{} Intervals of times and costs are those of the tokens: the limits of the critical batch.\n",
            best_plans_note);
    }
    const std::string unpriced = choices_outside_text(scenario);
    table.note +=
        unpriced.empty() ? "" : fmt::format("Tokens are without those that make up for {}.\n", unpriced);
    const std::string stability = batch_stability_text(scenario);
    table.note += stability.empty() ? "" : fmt::format("Note: {}.\n", stability);
    return table;
}

std::string learning_text(const Scenario& scenario, const std::vector<Phase>& phases)
{
    if (!scenario.learning) {
        return "";
    }
    const Learning& learning = *scenario.learning;
    std::string text;
    for (std::size_t i = 0; i <= learning.ramp.size(); ++i) {
        const Phase& phase = phases[learning.phase + i];
        text += fmt::format("{}{} tokens in {} steps of {} sequences", text.empty() ? "" : ", then ",
                            short_count(phase.tokens), short_count(phase.steps()), phase.global_batch);
    }
    return fmt::format("{}, to the loss of {} tokens in batches of {} tokens ([learning])", text,
                       short_count(learning.as_given.tokens), short_count(learning.reference_batch));
}

}  // namespace prismopt
