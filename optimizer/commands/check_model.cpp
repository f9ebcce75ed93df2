#include "optimizer/accuracy/check_model.hpp"
#include "io/base/json_number.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr const char* comparison_note =
    "Compared: mean step times. The constants of the catalog were fitted to runs like these "
    "(docs/accuracy.md). Inside: "
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
            {"memory_basis", name(c.run.memory_basis)},
            {"memory_capacity_bytes", c.run.cluster.accelerator.memory.si},
            {"memory",
             {{"parameters", c.memory.parameters.si},
              {"gradients", c.memory.gradients.si},
              {"states", c.memory.optimizer_state.si},
              {"activations", c.memory.activations.si},
              {"workspace", c.memory.workspace.si},
              {"reserved", c.memory.reserved.si}}},
            {"fit_probability", c.fits},
            {"refused", c.refused()},
            {"kind", name(kind_of(c.run.workload, c.run.cluster))},
            {"judged", judged(c.run)},
            {"likely_cause", likely_cause(c)},
            {"stack", c.run.cluster.stack.name},
            {"design", design_text(p)},
            {"layers", c.run.workload.layers()},
            {"hidden", c.run.workload.hidden},
            {"sequence", c.run.phase().sequence},
            {"global_batch", c.run.phase().global_batch},
            {"cp", p.cp},
            {"ep", p.ep}};
}

nlohmann::json to_json(const FamilyErrors& e)
{
    return {
        {"error", percent(e.error)}, {"inside", percent(e.inside)}, {"half_width", percent(e.half_width)}};
}

/// Families left out of the fit beside the fit of all rows, as jobs/fit_constants found
/// them, and the same by kind of run.
nlohmann::json held_out_json(const std::vector<HeldOutErrors>& families)
{
    nlohmann::json json{{"families", nlohmann::json::array()}, {"kinds", nlohmann::json::array()}};
    for (const HeldOutErrors& f : families) {
        json["families"].push_back({{"source", f.source},
                                    {"line", f.line},
                                    {"kind", name(f.kind)},
                                    {"known", f.known},
                                    {"rows", f.rows},
                                    {"fitted", to_json(f.fitted)},
                                    {"left_out", to_json(f.held_out)},
                                    {"bias", percent(f.bias)}});
    }
    for (const HeldOutAccuracy& a : held_out_by_kind(families)) {
        json["kinds"].push_back({{"kind", name(a.kind)},
                                 {"rows", a.rows},
                                 {"fitted", to_json(a.fitted)},
                                 {"left_out", to_json(a.held_out)},
                                 {"sources", a.sources},
                                 {"median_source", percent(a.median_source)},
                                 {"worst_source", percent(a.worst_source)},
                                 {"worst_name", a.worst_name}});
    }
    return json;
}

nlohmann::json to_json(const std::vector<SkippedRow>& rows)
{
    nlohmann::json json = nlohmann::json::array();
    for (const SkippedRow& row : rows) {
        json.push_back({{"source", row.source}, {"row", row.row}, {"reason", row.reason}});
    }
    return json;
}

nlohmann::json report_json(const CheckedModel& checked, const std::vector<SourceAccuracy>& sources)
{
    nlohmann::json json{{"sources", nlohmann::json::array()},
                        {"total", to_json(sources.back())},
                        {"groups", nlohmann::json::array()},
                        {"collectives", nlohmann::json::array()},
                        {"runs", nlohmann::json::array()}};
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        json["sources"].push_back(to_json(sources[i]));
    }
    json["kinds"] = nlohmann::json::array();
    for (const SourceAccuracy& kind : accuracy_by_kind(checked)) {
        json["kinds"].push_back(to_json(kind));
    }
    for (const Regret& regret : sources.back().regrets) {
        json["groups"].push_back(
            {{"name", regret.group}, {"rows", regret.rows}, {"regret", 100.0 * regret.excess}});
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
    const FitAccuracy fits = accuracy_of_fits(checked);
    json["fits"] = {{"ran", fits.ran},
                    {"out_of_memory", fits.failed},
                    {"ran_refused", fits.ran_refused},
                    {"ran_doubtful", fits.ran_doubtful},
                    {"stated", fits.stated},
                    {"stated_refused", fits.stated_refused},
                    {"out_of_memory_likely_to_fit", fits.failed_likely},
                    {"brier", fits.brier},
                    {"out_of_memory_rows", nlohmann::json::array()}};
    for (const CheckedRun& run : checked.out_of_memory) {
        json["fits"]["out_of_memory_rows"].push_back(
            {{"source", run.run.source},
             {"name", run.run.row},
             {"memory_bytes", run.memory_bytes},
             {"memory_capacity_bytes", run.run.cluster.accelerator.memory.si},
             {"fit_probability", run.fits}});
    }
    json["run_kinds"] = nlohmann::json::array();
    for (int kind = 0; kind < run_kinds; ++kind) {
        json["run_kinds"].push_back(name(static_cast<RunKind>(kind)));
    }
    json["left_out"] = held_out_json(fitted_model().held_out);
    json["skipped"] = to_json(checked.skipped);
    json["skipped_collectives"] = to_json(checked.skipped_collectives);
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
    fmt::print("\n{:<40}{:>6}{:>8}{:>8}{:>9}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}\n", "source", "rows", "skipped",
               "mean %", "median %", "bias %", "worst %", "inside %", "rank", "regret %", "memory %");
    for (const SourceAccuracy& s : sources) {
        const std::string rank =
            std::isnan(s.rank_correlation) ? "-" : fmt::format("{:.3f}", s.rank_correlation);
        fmt::print("{:<40}{:>6}{:>8}{:>8}{:>9}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}\n", s.name, s.rows, s.skipped,
                   figure(s.mean_absolute), figure(s.median_absolute), figure(s.bias, true),
                   figure(s.worst, true), figure(s.inside), rank, figure(s.largest_regret()),
                   figure(s.memory_error));
    }
    fmt::print("\nLargest error of each source:\n");
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        if (sources[i].rows > 0) {
            fmt::print("  {} ({} %): {}\n", sources[i].worst_row, figure(sources[i].worst, true),
                       sources[i].worst_reason);
        }
    }
}

void print_errors(const char* title, const std::vector<SourceAccuracy>& of)
{
    if (of.empty()) {
        return;
    }
    fmt::print("\n{:<54}{:>6}{:>8}{:>9}{:>8}{:>9}{:>10}\n", title, "rows", "mean %", "median %", "bias %",
               "worst %", "inside %");
    for (const SourceAccuracy& s : of) {
        fmt::print("{:<54}{:>6}{:>8}{:>9}{:>8}{:>9}{:>10}\n", s.name, s.rows, figure(s.mean_absolute),
                   figure(s.median_absolute), figure(s.bias, true), figure(s.worst, true), figure(s.inside));
    }
}

void print_fits(const CheckedModel& checked)
{
    const FitAccuracy fits = accuracy_of_fits(checked);
    fmt::print(
        "\nMemory: {} of {} runs that ran fit with a probability below {:.0f} % by the prediction, {} of {} "
        "whose source states "
        "recompute and offload;\n{} more are below {:.0f} %. Of {} runs out of memory, {} fit with 50 % or "
        "more. Brier score "
        "{:.4f} "
        "(0: perfect, 0.25: a coin)\n",
        fits.ran_refused, fits.ran, 100.0 * least_fit_probability, fits.stated_refused, fits.stated,
        fits.ran_doubtful, 100.0 * usual_fit_probability, fits.failed, fits.failed_likely, fits.brier);
    for (const CheckedRun& run : checked.out_of_memory) {
        fmt::print("  {} ended out of memory: {:.1f} of {:.1f} GB predicted, fits with a probability of {}\n",
                   run.run.row, run.memory_bytes / 1e9, run.run.cluster.accelerator.memory.si / 1e9,
                   chance_text(run.fits));
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
        "without-software", po::bool_switch(),
        "predict each run as if its software were neither named nor measured: with what else is plausible "
        "for its network and "
        "accelerator")("json", po::bool_switch(),
                       "print one JSON object instead of a table; errors in percent");
    const auto values = parse_options("check-model", options, "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    MeasuredRuns runs = shipped_runs();
    if (values->count("data") > 0) {
        runs = with_folder(std::move(runs), (*values)["data"].as<std::string>());
    }
    if ((*values)["without-software"].as<bool>()) {
        runs = without_software(std::move(runs));
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
    print_runs(checked);
    print_sources(sources);
    print_errors("by kind", accuracy_by_kind(checked));
    print_errors("collectives alone", accuracy_of_collectives(checked));
    print_fits(checked);
    print_skipped(checked);
    fmt::print("\n{}\n", comparison_note);
    return exit_done;
}

}  // namespace prismopt
