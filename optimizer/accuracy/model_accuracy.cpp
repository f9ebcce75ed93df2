#include "optimizer/accuracy/model_accuracy.hpp"

#include "io/base/percent.hpp"
#include "model/base/median.hpp"
#include "model/base/statistics.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace prismopt {

namespace {

constexpr std::size_t smallest_group = 3;  // plans to choose from

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Ranks from 1, equal values at their mean rank.
std::vector<double> ranks(const std::vector<double>& values)
{
    std::vector<double> result;
    for (const double value : values) {
        const auto below =
            std::count_if(values.begin(), values.end(), [value](double other) { return other < value; });
        const auto equal = std::count(values.begin(), values.end(), value);
        result.push_back(static_cast<double>(below) + 0.5 * (static_cast<double>(equal) + 1.0));
    }
    return result;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y)
{
    const double mean_x = mean(x);
    const double mean_y = mean(y);
    double xx = 0.0;
    double yy = 0.0;
    double xy = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0.0 && yy > 0.0 ? xy / std::sqrt(xx * yy) : SourceAccuracy::none;
}

/// Figures of signed errors alone.
SourceAccuracy summary(const std::string& name, const std::vector<double>& errors)
{
    SourceAccuracy result;
    result.name = name;
    result.rows = errors.size();
    if (errors.empty()) {
        return result;
    }
    std::vector<double> sizes;
    for (const double error : errors) {
        sizes.push_back(std::abs(error));
        if (std::isnan(result.worst) || std::abs(error) > std::abs(result.worst)) {
            result.worst = error;
        }
    }
    result.mean_absolute = mean(sizes);
    result.median_absolute = median_of(sizes);
    result.bias = mean(errors);
    return result;
}

std::vector<Regret> regrets_of(const std::vector<const CheckedRun*>& runs)
{
    std::map<std::string, std::vector<const CheckedRun*>> groups;
    for (const CheckedRun* checked : runs) {
        groups[job_of(checked->run)].push_back(checked);
    }
    std::vector<Regret> result;
    for (const auto& group : groups) {
        const std::vector<const CheckedRun*>& members = group.second;
        if (members.size() < smallest_group) {
            continue;
        }
        const auto best = [&members](auto&& time) {
            return *std::min_element(members.begin(), members.end(),
                                     [&time](const CheckedRun* a, const CheckedRun* b) {
                                         return time(*a) < time(*b);
                                     });
        };
        const CheckedRun* chosen = best([](const CheckedRun& c) { return c.predicted_s; });
        const CheckedRun* fastest = best([](const CheckedRun& c) { return c.run.measured_s; });
        result.push_back(
            {group.first, members.size(), chosen->run.measured_s / fastest->run.measured_s - 1.0});
    }
    return result;
}

}  // namespace

std::string job_of(const MeasuredRun& run)
{
    const char* numbers = run.workload.precision == Precision::bf16 ? "" : " in fewer bits";
    return fmt::format("{}: {}{} ({} layers, hidden {}, {} heads), {} {}, {}, batch {} x {}", run.source,
                       run.workload.name, numbers, run.workload.layers(), run.workload.hidden,
                       run.workload.heads(), run.plan.gpus(), run.cluster.accelerator.name,
                       run.cluster.stack.name, run.phase().global_batch, run.phase().sequence);
}

std::string likely_cause(const CheckedRun& checked)
{
    const MeasuredRun& run = checked.run;
    std::vector<std::string> reasons;
    if (checked.exposed_communication > 0.25) {
        reasons.push_back(percent_text(checked.exposed_communication, 0) + " exposed communication");
    }
    if (checked.bubble > 0.2) {
        reasons.push_back(percent_text(checked.bubble, 0) + " pipeline bubble");
    }
    if (run.workload.find<ExpertsBlock>() != nullptr) {
        reasons.emplace_back("routing of tokens to experts is not published");
    }
    if (run.workload.precision != Precision::bf16) {
        reasons.emplace_back("kind of 8-bit scaling differs by release");
    }
    if (run.plan.tp > run.cluster.gpus_per_node()) {
        reasons.emplace_back("tensor parallel group spans nodes");
    }
    if (checked.noise_free_s < 0.5) {
        reasons.emplace_back("short step: overheads count");
    }
    if (reasons.empty()) {
        reasons.push_back("assumed: " + run.assumed);
    }
    std::string text;
    for (const std::string& reason : reasons) {
        text += (text.empty() ? "" : "; ") + reason;
    }
    return text;
}

double SourceAccuracy::largest_regret() const
{
    double largest = none;
    for (const Regret& regret : regrets) {
        largest = std::isnan(largest) ? regret.excess : std::max(largest, regret.excess);
    }
    return largest;
}

double SourceAccuracy::largest_regret_beyond_repeats() const
{
    const double largest = largest_regret();
    return largest <= repeats_differ ? 0.0 : largest;
}

std::size_t SourceAccuracy::groups_within(double regret) const
{
    return static_cast<std::size_t>(std::count_if(
        regrets.begin(), regrets.end(), [regret](const Regret& group) { return group.excess <= regret; }));
}

SourceAccuracy accuracy_of(const std::string& name, const std::vector<const CheckedRun*>& runs,
                           std::size_t skipped)
{
    std::vector<double> errors;
    errors.reserve(runs.size());
    for (const CheckedRun* checked : runs) {
        errors.push_back(checked->relative_error());
    }
    SourceAccuracy result = summary(name, errors);
    result.skipped = skipped;
    if (runs.empty()) {
        return result;
    }
    std::vector<double> predicted;
    std::vector<double> measured;
    std::vector<double> memory;
    for (const CheckedRun* checked : runs) {
        predicted.push_back(checked->predicted_s);
        measured.push_back(checked->run.measured_s);
        if (checked->relative_error() == result.worst) {
            result.worst_row = checked->run.row;
            result.worst_reason = likely_cause(*checked);
        }
        if (checked->run.memory_bytes > 0.0) {
            memory.push_back(std::abs(checked->memory_bytes / checked->run.memory_bytes - 1.0));
        }
    }
    const auto inside =
        std::count_if(runs.begin(), runs.end(), [](const CheckedRun* checked) { return checked->inside(); });
    result.inside = static_cast<double>(inside) / static_cast<double>(runs.size());
    result.regrets = regrets_of(runs);
    result.memory_rows = memory.size();
    if (!memory.empty()) {
        result.memory_error = mean(memory);
    }
    if (runs.size() >= smallest_group) {
        result.rank_correlation = correlation(ranks(predicted), ranks(measured));
    }
    return result;
}

std::vector<SourceAccuracy> accuracy_of_collectives(const CheckedModel& checked)
{
    std::map<std::string, std::vector<double>> systems;
    for (const CheckedCollective& row : checked.collectives) {
        systems[row.measured.what].push_back(row.relative_error());
    }
    std::vector<SourceAccuracy> result;
    result.reserve(systems.size());
    for (const auto& [name, errors] : systems) {
        result.push_back(summary(name, errors));
    }
    return result;
}

std::vector<SourceAccuracy> accuracy_by_source(const CheckedModel& checked)
{
    std::map<std::string, std::vector<const CheckedRun*>> sources;
    std::map<std::string, std::size_t> skipped;
    std::vector<const CheckedRun*> all;
    for (const CheckedRun& run : checked.runs) {
        sources[run.run.source].push_back(&run);
        all.push_back(&run);
    }
    for (const SkippedRow& row : checked.skipped) {
        sources[row.source];
        ++skipped[row.source];
    }
    std::vector<SourceAccuracy> result;
    result.reserve(sources.size());
    for (const auto& [name, runs] : sources) {
        result.push_back(accuracy_of(name, runs, skipped[name]));
    }
    result.push_back(accuracy_of("total", all, checked.skipped.size()));
    return result;
}

bool judged(const MeasuredRun& run)
{
    constexpr double large = 1e9;      // parameters
    constexpr double well_used = 0.1;  // of the peak in 16 bits
    if (run.of_formula) {
        return false;
    }
    const Network network = network_of(run.workload);
    const double rate = model_flops_per_sequence(network, run.phase().sequence) * run.phase().global_batch /
                        (run.measured_s * run.plan.gpus());
    return parameters_of(network) > large || rate > well_used * run.cluster.accelerator.peak_bf16.si;
}

std::vector<SourceAccuracy> accuracy_by_kind(const CheckedModel& checked)
{
    using Runs = std::vector<const CheckedRun*>;
    std::map<std::string, std::map<std::string, Runs>> sources;
    std::map<std::string, Runs> all;
    for (const CheckedRun& run : checked.runs) {
        const std::string kind = name(kind_of(run.run.workload, run.run.cluster));
        sources[run.run.source][kind].push_back(&run);
        all[kind + (judged(run.run) ? "" : ", not judged")].push_back(&run);
    }
    std::vector<SourceAccuracy> result;
    for (const auto& [source, kinds] : sources) {
        for (const auto& [kind, runs] : kinds) {
            if (kinds.size() > 1) {
                result.push_back(accuracy_of(source + ": " + kind, runs, 0));
            }
        }
    }
    for (const auto& [kind, runs] : all) {
        result.push_back(accuracy_of("all: " + kind, runs, 0));
    }
    return result;
}

namespace {

/// Adds a family's means to means over rows, of which there are `rows` so far.
void add(FamilyErrors& mean, double rows, const FamilyErrors& family, double more)
{
    const double share = more / (rows + more);
    mean.error += share * (family.error - mean.error);
    mean.inside += share * (family.inside - mean.inside);
    mean.half_width += share * (family.half_width - mean.half_width);
}

struct SourceErrors {
    double sum = 0.0;
    int rows = 0;
};

/// Mean errors of sources: their median, and the largest of those with rows enough.
void summarise_sources(const std::map<std::string, SourceErrors>& sources, HeldOutAccuracy& result)
{
    constexpr int enough = 5;
    std::vector<double> means;
    for (const auto& [name, errors] : sources) {
        means.push_back(errors.sum / errors.rows);
        if (errors.rows >= enough && means.back() > result.worst_source) {
            result.worst_source = means.back();
            result.worst_name = name;
        }
    }
    result.sources = static_cast<int>(means.size());
    result.median_source = means.empty() ? SourceAccuracy::none : median_of(means);
}

}  // namespace

std::vector<HeldOutAccuracy> held_out_by_kind(const std::vector<HeldOutErrors>& families)
{
    std::vector<HeldOutAccuracy> result;
    for (int kind = 0; kind < run_kinds; ++kind) {
        HeldOutAccuracy accuracy;
        accuracy.kind = static_cast<RunKind>(kind);
        std::map<std::string, SourceErrors> sources;
        for (const HeldOutErrors& family : families) {
            if (family.kind != accuracy.kind) {
                continue;
            }
            add(accuracy.fitted, accuracy.rows, family.fitted, family.rows);
            add(accuracy.held_out, accuracy.rows, family.held_out, family.rows);
            accuracy.rows += family.rows;
            if (family.known) {
                sources[family.source].sum += family.rows * family.held_out.error;
                sources[family.source].rows += family.rows;
            }
        }
        if (accuracy.rows == 0) {
            continue;
        }
        summarise_sources(sources, accuracy);
        result.push_back(accuracy);
    }
    return result;
}

}  // namespace prismopt
