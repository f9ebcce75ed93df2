/// Fits the constants of the catalog to a folder of measured runs: `fit_constants DIR
/// [--write model/catalog] [--leave-one-out]
/// [--found FOLDER]`, or those of new entries alone: `fit_constants DIR --new [--again ENTRY.KEY...]`.

#include "io/results/posix_file.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "model/base/median.hpp"
#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"
#include "optimizer/fit/catalog_writer.hpp"
#include "optimizer/fit/fit_json.hpp"
#include "optimizer/fit/held_out_accelerators.hpp"
#include "optimizer/fit/held_out_families.hpp"
#include "optimizer/fit/plan_groups.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>

namespace {

namespace po = boost::program_options;
using namespace prismopt;

constexpr int most_steps = 60;

struct Errors {
    double mean = 0.0;
    double median = 0.0;
};

Errors errors_of(std::vector<double> errors)
{
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    return {sum / static_cast<double>(errors.size()), median_of(std::move(errors))};
}

std::vector<double> absolute_errors(const std::vector<FittedRow>& rows,
                                    const std::vector<FitConstant>& constants, const NoiseByProfile& noise)
{
    const std::vector<double> times = predicted_times(rows, constants, noise);
    std::vector<double> errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        errors.push_back(std::abs(times[i] / rows[i].run.measured_s - 1.0));
    }
    return errors;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

void print_constants(const Fit& fit, const std::vector<FitConstant>& start)
{
    fmt::print("{:<44}{:>12}{:>12}{:>8}   {}\n", "constant", "before", "fitted", "+- %",
               "near (within +- %)");
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        const FitConstant& constant = fit.constants[k];
        const std::string near = constant.parent.empty()
                                     ? ""
                                     : fmt::format("{} ({:.0f})", constant.parent, 100.0 * constant.spread);
        fmt::print("{:<44}{:>12.4g}{:>12.4g}{:>8.1f}   {}\n",
                   constant.name() + (constant.is_mean() ? " (mean)" : ""), start[k].value, constant.value,
                   100.0 * fit.deviation[k], near);
    }
}

void print_sources(const std::vector<FittedRow>& rows, const std::vector<double>& errors)
{
    std::map<std::string, std::vector<double>> sources;
    std::map<std::string, std::vector<double>> kinds;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        sources[rows[i].run.source].push_back(errors[i]);
        kinds[std::string("all: ") + name(kind_of(rows[i].run.workload, rows[i].run.cluster))].push_back(
            errors[i]);
    }
    sources.merge(kinds);
    fmt::print("\n{:<44}{:>6}{:>9}{:>10}\n", "source", "rows", "mean %", "median %");
    for (const auto& [name, list] : sources) {
        const Errors e = errors_of(list);
        fmt::print("{:<44}{:>6}{:>9.2f}{:>10.2f}\n", name, list.size(), 100.0 * e.mean, 100.0 * e.median);
    }
}

void print_errors(const std::string& name, int rows, const FamilyErrors& fitted, const FamilyErrors& held_out)
{
    fmt::print("{:<66}{:>6}{:>9.2f}{:>9.0f}{:>9.1f}{:>11.2f}{:>9.0f}{:>9.1f}\n", name, rows,
               100.0 * fitted.error, 100.0 * fitted.inside, 100.0 * fitted.half_width, 100.0 * held_out.error,
               100.0 * held_out.inside, 100.0 * held_out.half_width);
}

/// In the sample, then left out of the fit. Inside: percentage of rows inside their 95 % interval,
/// whose mean half-width follows.
void print_held_out(const std::vector<HeldOutErrors>& families, const std::vector<double>& widening)
{
    fmt::print("\n{:<66}{:>6}{:>9}{:>9}{:>9}{:>11}{:>9}{:>9}\n",
               "family, kind (* no other has its accelerator or stack)", "rows", "fitted %", "inside %",
               "+- %", "held out %", "inside %", "+- %");
    for (const HeldOutErrors& family : families) {
        print_errors(fmt::format("{}: {}, {}{}", family.source, family.line, name(family.kind),
                                 family.known ? "" : " *"),
                     family.rows, family.fitted, family.held_out);
    }
    for (const HeldOutAccuracy& kind : held_out_by_kind(families)) {
        print_errors(fmt::format("all: {}", name(kind.kind)), kind.rows, kind.fitted, kind.held_out);
    }
    for (int kind = 0; kind < run_kinds; ++kind) {
        fmt::print(
            "variance of the constants multiplied by {:.3g} for {}, so that 95 % of its rows are inside\n",
            widening[static_cast<std::size_t>(kind)], name(static_cast<RunKind>(kind)));
    }
}

void print_borrowed(const std::vector<BorrowedShares>& pairs, double deviation)
{
    fmt::print("\n{:<26}{:<26}{:>6}{:>9}{:>9}\n", "predicted accelerator", "shares of (* its family)", "rows",
               "mean %", "bias %");
    for (const BorrowedShares& pair : pairs) {
        double absolute = 0.0;
        double bias = 0.0;
        for (const double error : pair.errors) {
            absolute += std::abs(std::expm1(error)) / static_cast<double>(pair.errors.size());
            bias += std::expm1(error) / static_cast<double>(pair.errors.size());
        }
        fmt::print("{:<26}{:<26}{:>6}{:>9.1f}{:>+9.1f}\n", pair.measured,
                   pair.shares_of + (pair.sibling ? " *" : ""), pair.errors.size(), 100.0 * absolute,
                   100.0 * bias);
    }
    fmt::print(
        "\nstandard deviation of an accelerator that was not measured: {:.3f}, which covers 95 % of these "
        "rows (by weight)\n",
        deviation);
}

/// Whether the catalog's fit lacks the constant, or it is to be fitted again.
bool is_new(const FitConstant& constant, const FittedModel& known, const std::vector<std::string>& again)
{
    if (constant.is_mean() || std::find(again.begin(), again.end(), constant.name()) != again.end()) {
        return true;
    }
    return std::none_of(
        known.constants.begin(), known.constants.end(), [&constant](const FittedConstant& other) {
            return other.key == constant.key &&
                   std::any_of(other.entries.begin(), other.entries.end(), [&](const std::string& entry) {
                       return std::find(constant.sections.begin(), constant.sections.end(), entry) !=
                              constant.sections.end();
                   });
        });
}

/// Fits new constants to the rows that they concern, with all others as in the catalog, and prints them.
void fit_new(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& all,
             const NoiseByProfile& noise, const std::vector<std::string>& again)
{
    for (const std::string& name : again) {
        if (std::none_of(all.begin(), all.end(),
                         [&name](const FitConstant& constant) { return constant.name() == name; })) {
            throw std::invalid_argument(fmt::format("--again {} is no constant of the fit", name));
        }
    }
    const FittedModel known = fitted_model();
    std::vector<FitConstant> constants;
    std::copy_if(all.begin(), all.end(), std::back_inserter(constants),
                 [&](const FitConstant& constant) { return is_new(constant, known, again); });
    if (std::all_of(constants.begin(), constants.end(),
                    [](const FitConstant& constant) { return constant.is_mean(); })) {
        fmt::print("no new constants: the catalog has all of them; --again ENTRY.KEY fits one again\n");
        return;
    }
    std::vector<FittedRow> concerned;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(concerned), [&constants](const FittedRow& row) {
        return std::any_of(constants.begin(), constants.end(),
                           [&row](const FitConstant& constant) { return constant.concerns(row.run); });
    });
    const HierarchicalFit fit = fit_hierarchy(concerned, constants, noise, most_steps);
    print_constants(fit.fit, constants);
    print_sources(concerned, absolute_errors(concerned, fit.fit.constants, noise));
}

po::options_description fit_options()
{
    po::options_description options("Options");
    options.add_options()("help,h", "print this help")("data", po::value<std::string>()->value_name("DIR"),
                                                       "folder of measured runs")(
        "write", po::value<std::string>()->value_name("CATALOG"),
        "write the fitted constants to the catalog in this folder")(
        "leave-one-out", po::bool_switch(),
        "fit again without each family and predict it (implied by --write and --found)")(
        "found", po::value<std::string>()->value_name("FOLDER"),
        "write into this folder how well collectives and kernels alone are predicted (components.json), and "
        "what shortlists of "
        "measured plans are worth (shortlist.json)")("new", po::bool_switch(),
                                                     "fit the constants of new entries alone, with means of "
                                                     "their families from beliefs alone, and print them")(
        "again", po::value<std::vector<std::string>>()->multitoken()->value_name("ENTRY.KEY"),
        "with --new: also these constants");
    return options;
}

void refuse_contradictions(const po::variables_map& values)
{
    if (values["new"].as<bool>() && (values.count("write") > 0 || values.count("found") > 0)) {
        throw std::invalid_argument("--new only prints constants; remove --write and --found, or --new");
    }
    if (values.count("again") > 0 && !values["new"].as<bool>()) {
        throw std::invalid_argument("--again needs --new");
    }
}

/// Runs that constants are fitted to.
struct RunsToFit {
    std::vector<MeasuredRun> runs;
    std::vector<double> inflation;  // of each run: predicted mean over noise-free step
};

RunsToFit runs_to_fit(const CheckedModel& checked)
{
    RunsToFit chosen;
    for (const CheckedRun& run : checked.runs) {
        if (run.run.fitted) {
            chosen.runs.push_back(run.run);
            chosen.inflation.push_back(run.predicted_s / run.noise_free_s);
        }
    }
    return chosen;
}

/// The errors that plans of one job share and do not share, and those of memory.
Discrepancy discrepancy_of(const std::vector<PlanGroup>& groups, double repeat, const CheckedModel& checked)
{
    std::vector<MeasuredGroup> all;
    for (const PlanGroup& group : groups) {
        all.push_back(group.errors);
    }
    Discrepancy discrepancy = fit_discrepancy(all, repeat);
    const MemoryDeviations memory = memory_deviations(checked.runs);
    discrepancy.memory = memory.common;
    discrepancy.memory_of_plan = memory.of_plan;
    discrepancy.memory_of_stack = memory.of_stack;
    return discrepancy;
}

int run(int argc, char** argv)
{
    const po::options_description options = fit_options();
    po::positional_options_description positional;
    positional.add("data", 1);
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(), values);
    if (values.count("help") > 0 || values.count("data") == 0) {
        fmt::print("Usage: fit_constants DIR [options]\n{}", fmt::streamed(options));
        return values.count("help") > 0 ? 0 : 2;
    }
    refuse_contradictions(values);
    const CheckedModel checked = check_model(with_folder(shipped_runs(), values["data"].as<std::string>()));
    const auto [runs, inflation] = runs_to_fit(checked);
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FittedRow> rows = fitted_rows(runs, inflation);
    const Components components = fit_components(values["data"].as<std::string>());
    const bool found = values.count("found") > 0;
    if (found) {
        replace_file(values["found"].as<std::string>() + "/components.json", components_json(components));
    }
    const std::vector<FitConstant> start = observed(fitted_constants(runs), components);
    if (values["new"].as<bool>()) {
        fit_new(rows, start, noise,
                values.count("again") > 0 ? values["again"].as<std::vector<std::string>>()
                                          : std::vector<std::string>{});
        return 0;
    }
    const Errors before = errors_of(absolute_errors(rows, start, noise));
    fmt::print("{} rows, {} constants; before: mean {:.2f} %, median {:.2f} %\n", rows.size(), start.size(),
               100.0 * before.mean, 100.0 * before.median);
    std::fflush(stdout);
    const HierarchicalFit full = fit_hierarchy(rows, start, noise, most_steps);
    Fit fit = full.fit;
    const bool write = values.count("write") > 0;
    std::vector<HeldOutErrors> held_out;
    std::vector<PlanGroup> groups;
    fit.widening.assign(run_kinds, 1.0);
    if (write || found || values["leave-one-out"].as<bool>()) {
        const std::vector<HeldOutFamily> families = held_out_families(rows, full, noise, most_steps);
        fit.widening = widening_of(rows, families);
        held_out = held_out_errors(rows, families, fit, predicted_times(rows, fit.constants, noise),
                                   constants_deviations(rows, fit, noise));
        groups = plan_groups(rows, families, fit, noise);
        if (found) {
            replace_file(values["found"].as<std::string>() + "/left_out_rows.json",
                         held_out_rows_json(rows, families, fit.widening));
        }
    }
    const std::vector<BorrowedShares> borrowed = borrowed_shares(rows, fit, noise);
    fit.unmeasured = unmeasured_deviation(borrowed);
    const std::vector<double> errors = absolute_errors(rows, fit.constants, noise);
    const Errors after = errors_of(errors);
    print_constants(fit, start);
    print_sources(rows, errors);
    fmt::print("\nfitted: mean {:.2f} %, median {:.2f} %, cost {:.4f} after {} evaluations\n",
               100.0 * after.mean, 100.0 * after.median, fit.cost, fit.evaluations);
    if (!held_out.empty()) {
        print_held_out(held_out, fit.widening);
    }
    print_borrowed(borrowed, fit.unmeasured);
    if (write || found) {
        const double repeat = repeat_deviation_of(groups);
        const Discrepancy discrepancy = discrepancy_of(groups, repeat, checked);
        fmt::print("\n{}", discrepancy_text(discrepancy, today()));
        if (found) {
            replace_file(values["found"].as<std::string>() + "/shortlist.json",
                         shortlists_json(shortlist_accuracy(groups, repeat), discrepancy));
        }
        if (write) {
            replace_file(values["write"].as<std::string>() + "/discrepancy.toml",
                         discrepancy_text(discrepancy, today()));
        }
    }
    if (write) {
        write_catalog(values["write"].as<std::string>(), fit, rows, today(), after.mean, after.median,
                      held_out, components);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "fit_constants: {}\n", error.what());
        return 1;
    }
}
