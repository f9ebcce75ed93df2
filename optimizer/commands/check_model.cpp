#include "optimizer/accuracy/check_model.hpp"
#include "io/base/json_number.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr const char* comparison_note =
    "Compared: mean step times. The constants of the catalog were fitted to runs like these (docs/accuracy.md). Inside: "
    "percentage "
    "of rows inside their 95 % prediction interval.";

constexpr double small_regret = 0.01;

/// Error in percent; null if there is nothing to compare.
nlohmann::json percent(double relative) { return json_number(100.0 * relative); }

nlohmann::json to_json(const SourceAccuracy& s)
{
    nlohmann::json json{{"name", s.name},
                        {"rows", s.rows},
                        {"skipped", s.skipped},
                        {"mape", percent(s.mean_absolute)},
                        {"median_ape", percent(s.median_absolute)},
                        {"bias", percent(s.bias)},
                        {"worst", percent(s.worst)},
                        {"regret", percent(s.largest_regret())},
                        {"regret_beyond_repeats", percent(s.largest_regret_beyond_repeats())},
                        {"groups", s.regrets.size()},
                        {"groups_of_least_regret", s.groups_within(small_regret)},
                        {"rank_correlation", json_number(s.rank_correlation)},
                        {"worst_row", s.worst_row},
                        {"worst_reason", s.worst_reason},
                        {"inside_model_interval", percent(s.inside)},
                        {"memory_rows", s.memory_rows},
                        {"memory_error", percent(s.memory_error)}};
    return json;
}

nlohmann::json to_json(const CheckedRun& c)
{
    const ParallelPlan& p = c.run.plan;
    return {{"source", c.run.source},
            {"name", c.run.row},
            {"assumed", c.run.assumed},
            {"measured_s", c.run.measured_s},
            {"predicted_mean_s", c.predicted_s},
            {"noise_free_s", c.noise_free_s},
            {"error", 100.0 * c.relative_error()},
            {"model_low_s", c.predicted_s * c.interval.low},
            {"model_high_s", c.predicted_s * c.interval.high},
            {"model_interval", c.interval.fitted ? "fitted" : "extrapolated"},
            {"bubble", c.bubble},
            {"exposed_communication", c.exposed_communication},
            {"memory_bytes", c.memory_bytes},
            {"measured_memory_bytes", c.run.memory_bytes},
            {"memory_capacity_bytes", c.run.cluster.accelerator.memory.si},
            {"memory",
             {{"parameters", c.memory.parameters.si},
              {"gradients", c.memory.gradients.si},
              {"states", c.memory.optimizer_state.si},
              {"activations", c.memory.activations.si},
              {"workspace", c.memory.workspace.si},
              {"reserved", c.memory.reserved.si}}},
            {"refused", c.refused()},
            {"stack", c.run.cluster.stack.name},
            {"design", design_text(p)},
            {"layers", c.run.workload.layers()},
            {"hidden", c.run.workload.hidden},
            {"sequence", c.run.phase().sequence},
            {"global_batch", c.run.phase().global_batch},
            {"cp", p.cp},
            {"ep", p.ep}};
}

nlohmann::json report_json(const CheckedModel& checked, const std::vector<SourceAccuracy>& sources)
{
    nlohmann::json json{{"sources", nlohmann::json::array()}, {"total", to_json(sources.back())},
                        {"groups", nlohmann::json::array()},  {"collectives", nlohmann::json::array()},
                        {"runs", nlohmann::json::array()},    {"skipped", nlohmann::json::array()}};
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        json["sources"].push_back(to_json(sources[i]));
    }
    json["kinds"] = nlohmann::json::array();
    for (const SourceAccuracy& kind : accuracy_by_kind(checked)) {
        json["kinds"].push_back(to_json(kind));
    }
    for (const Regret& regret : sources.back().regrets) {
        json["groups"].push_back({{"name", regret.group}, {"rows", regret.rows}, {"regret", 100.0 * regret.excess}});
    }
    for (const SourceAccuracy& system : accuracy_of_collectives(checked)) {
        json["collectives"].push_back({{"name", system.name},
                                       {"rows", system.rows},
                                       {"mape", percent(system.mean_absolute)},
                                       {"median_ape", percent(system.median_absolute)},
                                       {"bias", percent(system.bias)},
                                       {"worst", percent(system.worst)}});
    }
    for (const CheckedRun& run : checked.runs) {
        json["runs"].push_back(to_json(run));
    }
    for (const SkippedRow& row : checked.skipped) {
        json["skipped"].push_back({{"source", row.source}, {"row", row.row}, {"reason", row.reason}});
    }
    return json;
}

/// A value in percent, or a dash.
std::string figure(double relative, bool with_sign = false)
{
    if (std::isnan(relative)) {
        return "-";
    }
    return with_sign ? fmt::format("{:+.1f}", 100.0 * relative) : fmt::format("{:.1f}", 100.0 * relative);
}

void print_runs(const CheckedModel& checked)
{
    fmt::print("{:<64}{:>12}{:>12}{:>9}{:>12}\n", "run", "measured s", "predicted s", "error %", "memory GB");
    for (const CheckedRun& c : checked.runs) {
        fmt::print("{:<64}{:>12.3f}{:>12.3f}{:>+9.1f}{:>12.1f}\n", c.run.row, c.run.measured_s, c.predicted_s,
                   100.0 * c.relative_error(), c.memory_bytes / 1e9);
    }
}

void print_sources(const std::vector<SourceAccuracy>& sources)
{
    fmt::print("\n{:<40}{:>6}{:>8}{:>8}{:>9}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}\n", "source", "rows", "skipped", "mean %", "median %",
               "bias %", "worst %", "inside %", "rank", "regret %", "memory %");
    for (const SourceAccuracy& s : sources) {
        const std::string rank = std::isnan(s.rank_correlation) ? "-" : fmt::format("{:.3f}", s.rank_correlation);
        fmt::print("{:<40}{:>6}{:>8}{:>8}{:>9}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}\n", s.name, s.rows, s.skipped,
                   figure(s.mean_absolute), figure(s.median_absolute), figure(s.bias, true), figure(s.worst, true),
                   figure(s.inside), rank, figure(s.largest_regret()), figure(s.memory_error));
    }
    fmt::print("\nLargest error of each source:\n");
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        if (sources[i].rows > 0) {
            fmt::print("  {} ({} %): {}\n", sources[i].worst_row, figure(sources[i].worst, true), sources[i].worst_reason);
        }
    }
}

void print_errors(const char* title, const std::vector<SourceAccuracy>& of)
{
    if (of.empty()) {
        return;
    }
    fmt::print("\n{:<54}{:>6}{:>8}{:>9}{:>8}{:>9}\n", title, "rows", "mean %", "median %", "bias %", "worst %");
    for (const SourceAccuracy& s : of) {
        fmt::print("{:<54}{:>6}{:>8}{:>9}{:>8}{:>9}\n", s.name, s.rows, figure(s.mean_absolute), figure(s.median_absolute),
                   figure(s.bias, true), figure(s.worst, true));
    }
}

void print_errors_in_markdown(const char* title, const char* column, const std::vector<SourceAccuracy>& of)
{
    if (of.empty()) {
        return;
    }
    fmt::print("\n## {}\n\n| {} | rows | mean | median | bias | worst |\n| --- | ---: | ---: | ---: | ---: | ---: |\n", title,
               column);
    for (const SourceAccuracy& s : of) {
        fmt::print("| {} | {} | {} | {} | {} | {} |\n", s.name, s.rows, figure(s.mean_absolute), figure(s.median_absolute),
                   figure(s.bias, true), figure(s.worst, true));
    }
}

/// Errors, shares inside and half-widths in percent.
std::string error_columns(const FamilyErrors& e)
{
    return fmt::format("{} | {:.0f} | {}", figure(e.error), 100.0 * e.inside, figure(e.half_width));
}

/// Families left out of the fit beside the fit of all rows, as jobs/fit_constants found them.
void print_left_out_in_markdown(const std::vector<LeftOutErrors>& families)
{
    fmt::print(
        "\n## Left out of the fit\n\n"
        "| rows of | rows | fitted | inside | half-width | left out | inside (95 % limits) | half-width | sources | median | "
        "largest |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for (const LeftOutAccuracy& a : left_out_by_kind(families)) {
        fmt::print("| {} | {} | {} | {} | {:.0f} ({:.0f} to {:.0f}) | {} | {} | {} | {}{} |\n", name(a.kind), a.rows,
                   error_columns(a.fitted), figure(a.left_out.error), 100.0 * a.left_out.inside, 100.0 * a.coverage_low,
                   100.0 * a.coverage_high, figure(a.left_out.half_width), a.sources, figure(a.median_source),
                   a.worst_name.empty() ? "-" : figure(a.worst_source) + " ", a.worst_name);
    }
    fmt::print(
        "\n| family, kind (* accelerator or stack in no other family) | rows | fitted | inside | half-width | left out | inside "
        "| "
        "half-width | bias |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (const LeftOutErrors& f : families) {
        fmt::print("| {}: {}, {}{} | {} | {} | {} | {} |\n", f.source, f.line, name(f.kind), f.known ? "" : " *", f.rows,
                   error_columns(f.fitted), error_columns(f.left_out), figure(f.bias, true));
    }
}

constexpr double gigabyte = 1e9;

/// Runs that took place but would be refused without headroom: how many of each source, and which.
void print_refused_in_markdown(const CheckedModel& checked)
{
    struct Count {
        std::size_t rows = 0;
        std::size_t refused = 0;
    };
    std::map<std::string, Count> sources;
    Count all;
    for (const CheckedRun& run : checked.runs) {
        for (Count* count : {&sources[run.run.source], &all}) {
            ++count->rows;
            count->refused += run.refused() ? 1 : 0;
        }
    }
    fmt::print("\n## Memory\n\n| source | rows | refused |\n| --- | ---: | ---: |\n");
    for (const auto& [source, count] : sources) {
        if (count.refused > 0) {
            fmt::print("| {} | {} | {} |\n", source, count.rows, count.refused);
        }
    }
    fmt::print("| total | {} | {} |\n", all.rows, all.refused);
    fmt::print(
        "\n| refused | predicted, GB | memory, GB | parameters, gradients, states | activations, workspace | assumed |\n"
        "| --- | ---: | ---: | ---: | ---: | --- |\n");
    for (const CheckedRun& run : checked.runs) {
        if (run.refused()) {
            const MemoryUse& m = run.memory;
            fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} |\n", run.run.row, m.total().si / gigabyte,
                       run.run.cluster.accelerator.memory.si / gigabyte,
                       (m.parameters + m.gradients + m.optimizer_state).si / gigabyte,
                       (m.activations + m.workspace).si / gigabyte, run.run.assumed);
        }
    }
}

/// Judged rows that are far from their prediction, by kind of run.
void print_missed_in_markdown(const CheckedModel& checked)
{
    constexpr double far = 0.2;
    fmt::print(
        "\n## Rows that are a fifth or more off\n\n| rows of | row | error | memory error | why |\n"
        "| --- | --- | ---: | ---: | --- |\n");
    for (int kind = 0; kind < run_kinds; ++kind) {
        for (const CheckedRun& run : checked.runs) {
            const bool measured = run.run.memory_bytes > 0.0;
            const double of_memory = measured ? run.memory_bytes / run.run.memory_bytes - 1.0 : SourceAccuracy::none;
            const bool missed = (std::abs(run.relative_error()) >= far && judged(run.run)) || std::abs(of_memory) >= far;
            if (missed && kind_of(run.run.workload, run.run.cluster) == static_cast<RunKind>(kind)) {
                fmt::print("| {} | {} | {} | {} | {} |\n", name(static_cast<RunKind>(kind)), run.run.row,
                           figure(run.relative_error(), true), figure(of_memory, true), likely_cause(run));
            }
        }
    }
}

/// The page results/model-accuracy.md.
void print_markdown(const CheckedModel& checked, const std::vector<SourceAccuracy>& sources)
{
    fmt::print(
        "# How well the model matches measured runs\n\nWritten by `prismopt check-model --data DIR --markdown`; errors in "
        "percent of the measured step time. What the columns mean: "
        "[docs/methods/result-pages.md](../docs/methods/result-pages.md#model-accuracymd).\n\n");
    fmt::print(
        "| source | rows | skipped | mean | median | bias | worst | inside | rank correlation | groups (of regret up to 1) | "
        "largest regret | beyond repeats | memory (rows) |\n");
    fmt::print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (const SourceAccuracy& s : sources) {
        const std::string rank = std::isnan(s.rank_correlation) ? "-" : fmt::format("{:.3f}", s.rank_correlation);
        fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} ({}) |\n", s.name, s.rows, s.skipped,
                   figure(s.mean_absolute), figure(s.median_absolute), figure(s.bias, true), figure(s.worst, true),
                   figure(s.inside), rank, s.regrets.size(), s.groups_within(small_regret), figure(s.largest_regret()),
                   figure(s.largest_regret_beyond_repeats()), figure(s.memory_error), s.memory_rows);
    }
    print_errors_in_markdown("By kind of run", "rows of", accuracy_by_kind(checked));
    print_missed_in_markdown(checked);
    print_refused_in_markdown(checked);
    print_left_out_in_markdown(fitted_model().left_out);
    fmt::print("\n## Largest error of each source\n\n| row | error | why |\n| --- | ---: | --- |\n");
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        if (sources[i].rows > 0) {
            fmt::print("| {} | {} | {} |\n", sources[i].worst_row, figure(sources[i].worst, true), sources[i].worst_reason);
        }
    }
    fmt::print("\n## Regret\n\n| group | plans | regret |\n| --- | ---: | ---: |\n");
    for (const Regret& regret : sources.back().regrets) {
        if (regret.rows > 3) {
            fmt::print("| {} | {} | {} |\n", regret.group, regret.rows, figure(regret.excess));
        }
    }
    print_errors_in_markdown("Collectives alone", "system", accuracy_of_collectives(checked));
    std::map<std::pair<std::string, std::string>, int> reasons;
    for (const SkippedRow& row : checked.skipped) {
        ++reasons[{row.source, row.reason}];
    }
    for (const SkippedRow& row : checked.skipped_collectives) {
        ++reasons[{row.source, row.reason}];
    }
    fmt::print("\n## Skipped rows\n\n| source | rows | reason |\n| --- | ---: | --- |\n");
    for (const auto& [what, count] : reasons) {
        fmt::print("| {} | {} | {} |\n", what.first, count, what.second);
    }
}

void print_skipped(const CheckedModel& checked)
{
    if (checked.skipped.empty()) {
        return;
    }
    fmt::print("\nSkipped:\n");
    for (const SkippedRow& row : checked.skipped) {
        fmt::print("  {}: {}\n", row.row, row.reason);
    }
}

}  // namespace

int check_model_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("data", po::value<std::string>()->value_name("DIR"),
                          "folder with tables of measured runs to check in addition to those of the catalog")(
        "json", po::bool_switch(), "print one JSON object instead of a table; errors in percent")(
        "markdown", po::bool_switch(), "print the tables of results/model-accuracy.md");
    const auto values = parse_options("check-model", options, "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    MeasuredRuns runs = shipped_runs();
    if (values->count("data") > 0) {
        runs = with_folder(std::move(runs), (*values)["data"].as<std::string>());
    }
    CheckedModel checked = check_model(runs);
    if (values->count("data") > 0) {
        check_collectives((*values)["data"].as<std::string>(), checked);
    }
    const std::vector<SourceAccuracy> sources = accuracy_by_source(checked);
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", report_json(checked, sources).dump(2));
        return exit_done;
    }
    if ((*values)["markdown"].as<bool>()) {
        print_markdown(checked, sources);
        return exit_done;
    }
    print_runs(checked);
    print_sources(sources);
    print_errors("by kind", accuracy_by_kind(checked));
    print_errors("collectives alone", accuracy_of_collectives(checked));
    print_skipped(checked);
    fmt::print("\n{}\n", comparison_note);
    return exit_done;
}

}  // namespace prismopt
