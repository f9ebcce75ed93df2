#include "io/report/machine_report.hpp"

#include "io/base/aligned.hpp"
#include "io/report/csv_text.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/varied_worth.hpp"
#include "io/toml/reading_units.hpp"
#include "search/strategies/alternatives/judgement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace prismopt {

namespace {

using Row = std::vector<std::string>;

/// Machines listed beside those of the front.
constexpr std::size_t most_others = 12;

std::string spaced(std::string name)
{
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

/// The value with three decimals of its size, or the bound where no plan is known to be the best.
std::string figure(const Known& known, bool exact, double size, int decimals)
{
    if (std::isinf(known.low)) {
        return "none";
    }
    const double shown = (exact ? known.value : known.low) / size;
    return fmt::format("{}{:.{}f}", exact ? "" : ">= ", shown, decimals);
}

int decimals_of(double largest)
{
    if (largest >= 100.0) {
        return 1;
    }
    return largest >= 10.0 ? 2 : 3;
}

std::string weights_text(const MachineTable& table)
{
    std::string text;
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        const double weight = table.weights[n];
        text += (text.empty() ? "" : ", ") +
                (table.by_share
                     ? fmt::format("{} {:.3g} % of the GPU-hours", table.networks[n], 100.0 * weight)
                     : fmt::format("{} {:g} {}", table.networks[n], weight, weight == 1.0 ? "run" : "runs"));
    }
    return text;
}

/// How values are shown: in units of the objective, or as multiples of the best where weights are shares.
struct Scale {
    ReadingUnit cell;
    ReadingUnit weighted;
    std::string weighted_name;
};

Scale scale_of(const Results& results)
{
    const MachineTable& table = results.machines;
    double cell = 0.0;
    double sum = 0.0;
    for (const Machine& machine : table.machines) {
        for (const MachineCell& of_network : machine.cells) {
            cell = std::max(cell, std::isfinite(of_network.least.low) ? of_network.least.low : 0.0);
        }
        sum = std::max(sum, std::isfinite(machine.weighted.low) ? machine.weighted.low : 0.0);
    }
    const ObjectiveInfo& objective = results.objectives.front();
    return {.cell = reading_unit(objective.units, cell),
            .weighted =
                table.by_share ? ReadingUnit{"times the best", 1.0} : reading_unit(objective.units, sum),
            .weighted_name = "weighted " + spaced(objective.name)};
}

/// `all_regrets`: of all cells of the table.
Row machine_row(const MachineTable& table, const std::vector<Known>& all_regrets, const Scale& scale,
                std::size_t number)
{
    const Machine& machine = table.machines[number];
    const bool exact = machine.settled();
    Row row{machine.name + (machine.on_front ? "" : " *"), fmt::format("{:.3f}", machine.gpu_price_usd_h),
            figure(machine.weighted, exact, scale.weighted.size,
                   decimals_of(machine.weighted.low / scale.weighted.size)),
            figure(machine.regret, exact, 0.01, 1)};
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        const MachineCell& cell = machine.cells[n];
        const Known& regret = all_regrets[number * table.networks.size() + n];
        row.push_back(
            figure(cell.least, cell.settled, scale.cell.size, decimals_of(cell.least.low / scale.cell.size)));
        row.push_back(figure(regret, cell.settled, 0.01, 1));
    }
    return row;
}

std::string matrix(const Results& results, const Scale& scale)
{
    const MachineTable& table = results.machines;
    std::vector<Row> rows{{"machine", "GPU price", scale.weighted_name, "worst regret"},
                          {"", "USD/h", scale.weighted.name, "%"}};
    for (const std::string& network : table.networks) {
        rows[0].insert(rows[0].end(), {network, "regret"});
        rows[1].insert(rows[1].end(), {scale.cell.name, "%"});
    }
    const std::vector<Known> all_regrets = regrets_of(table);
    std::size_t others = 0;
    for (const std::size_t m : machines_in_order(table)) {
        others += table.machines[m].on_front ? 0 : 1;
        if (others <= most_others) {
            rows.push_back(machine_row(table, all_regrets, scale, m));
        }
    }
    std::string text = aligned(rows, 0);
    if (others > 0) {
        text +=
            "* not on the front of the two. Bounds (>=) stand for values of machines that surely have more "
            "than another one in "
            "both.\n";
    }
    if (others > most_others) {
        text += fmt::format("{} more machines are in the CSV and on the page.\n", others - most_others);
    }
    return text;
}

/// The machine on which the network has least.
const Machine& best_for(const MachineTable& table, std::size_t network)
{
    return *std::ranges::min_element(table.machines, {},
                                     [network](const Machine& m) { return m.cells[network].least.value; });
}

/// Why no machine is on the front.
std::string without_front(const MachineTable& table)
{
    const auto serves = [](const MachineCell& cell) { return std::isfinite(cell.least.low); };
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        const bool somewhere =
            std::ranges::any_of(table.machines, [&](const Machine& m) { return serves(m.cells[n]); });
        if (!somewhere) {
            return fmt::format(
                "No machine serves all networks: no plan of {} is feasible on any of them; the reasons are "
                "below. Widen [space], "
                "or "
                "search without that network.\n",
                table.networks[n]);
        }
    }
    const bool some = std::ranges::any_of(table.machines, [&](const Machine& m) {
        return std::ranges::all_of(m.cells, serves);
    });
    return some ? "No machine was settled before the search ended.\n"
                : "No machine serves all networks: each lacks a feasible plan for one of them. Widen [space] "
                  "or the choices of "
                  "hardware.\n";
}

/// What the error of the model does to the networks' values on a machine; all other figures
/// assume that the model is exact.
std::string model_error_text(const Results& results, const Scale& scale, const Machine& machine)
{
    const MachineTable& table = results.machines;
    std::string limits;
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        const MachineCell& cell = machine.cells[n];
        const auto plan = std::ranges::find(results.front, cell.point, &FrontPoint::index);
        if (plan == results.front.end() || !std::isfinite(plan->model_low)) {
            return "  model error     not included\n";
        }
        const double value = cell.least.value / scale.cell.size;
        const int decimals = decimals_of(value);
        limits += fmt::format("{}{} {:.{}f} to {:.{}f}", limits.empty() ? "" : ", ", table.networks[n],
                              value * plan->model_low, decimals, value * plan->model_high, decimals);
    }
    return fmt::format("  model error     {} {} (95 % prediction intervals); not included in other figures\n",
                       limits, scale.cell.name);
}

std::string best_machine(const Results& results, const Scale& scale)
{
    const MachineTable& table = results.machines;
    const std::size_t best = machines_in_order(table).front();
    const Machine& machine = table.machines[best];
    if (!machine.on_front) {
        return without_front(table);
    }
    double bound = machine.weighted.value;
    for (const Machine& other : table.machines) {
        bound = std::min(bound, other.weighted.low);
    }
    const std::size_t networks = table.networks.size();
    const std::vector<Known> all_regrets = regrets_of(table);
    const auto own = all_regrets.begin() + static_cast<std::ptrdiff_t>(best * networks);
    const auto most = std::max_element(own, own + static_cast<std::ptrdiff_t>(networks),
                                       [](const Known& a, const Known& b) { return a.value < b.value; });
    const auto worst = static_cast<std::size_t>(most - own);
    std::string text = fmt::format("Best machine by {}: {} at {:.3f} USD per GPU-hour\n", scale.weighted_name,
                                   machine.name, machine.gpu_price_usd_h);
    const int decimals = decimals_of(machine.weighted.value / scale.weighted.size);
    text += fmt::format("  {:<15} {:.{}f} {}; no machine has less than {:.{}f} (gap {:.2g} %)\n",
                        scale.weighted_name, machine.weighted.value / scale.weighted.size, decimals,
                        scale.weighted.name, bound / scale.weighted.size, decimals,
                        100.0 * (1.0 - bound / machine.weighted.value));
    text +=
        machine.regret.value > 0.0
            ? fmt::format("  {:<15} {:.1f} %: {} has that much more than on {}\n", "worst regret",
                          100.0 * machine.regret.value, table.networks[worst], best_for(table, worst).name)
            : fmt::format("  {:<15} none: it is the best machine of each network\n", "worst regret");
    return text + model_error_text(results, scale, machine);
}

std::string plans_text(const Results& results)
{
    const ReadingUnit time =
        reading_unit("s", std::accumulate(results.front.begin(), results.front.end(), 0.0,
                                          [](double most, const FrontPoint& p) {
                                              return std::max(most, p.prediction.training.p99.value);
                                          }));
    std::vector<Row> rows{{"plan", "point", "GPUs", "p99 training time", "mem"},
                          {"", "", "", time.name, "free %"}};
    for (const FrontPoint& plan : results.front) {
        if (!plan.dominated) {
            rows.push_back({plan_words(results, plan), std::to_string(plan.index),
                            std::to_string(plan.prediction.gpus),
                            fmt::format("{:.4g}", plan.prediction.training.p99.value / time.size),
                            fmt::format("{:.1f}", 100.0 * plan.prediction.memory_headroom)});
        }
    }
    return rows.size() == 2 ? "" : "Best plans on the machines of the front:\n" + aligned(rows, 0);
}

/// The words of a machine's choices: "domain.group=72" has the name "domain.group".
std::vector<std::pair<std::string, std::string>> choices_of(const std::string& name)
{
    std::vector<std::pair<std::string, std::string>> choices;
    std::istringstream words_of(name);
    for (std::string word; words_of >> word;) {
        const std::size_t at = word.find('=');
        if (at != std::string::npos) {
            choices.emplace_back(word.substr(0, at), word.substr(at + 1));
        }
    }
    return choices;
}

std::string known_fields(const Known& known)
{
    const auto field = [](double value) { return std::isfinite(value) ? csv_number(value) : std::string(); };
    return fmt::format(",{},{},{}", field(known.value), field(known.low), field(known.high));
}

}  // namespace

std::vector<std::size_t> machines_in_order(const MachineTable& table)
{
    std::vector<std::size_t> order(table.machines.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t m) {
        const Machine& machine = table.machines[m];
        return std::pair(!machine.on_front,
                         machine.settled() ? machine.weighted.value : machine.weighted.low);
    });
    return order;
}

std::vector<Known> regrets_of(const MachineTable& table)
{
    return regrets(table.least(), table.networks.size());
}

std::string machines_title(const Results& results)
{
    const MachineTable& table = results.machines;
    return fmt::format("{} for {}", counted(table.machines.size(), "machine"),
                       fmt::join(table.networks, ", "));
}

std::string best_machine_text(const Results& results) { return best_machine(results, scale_of(results)); }

std::string machines_text(const Results& results, const StudyNotes& notes)
{
    const Scale scale = scale_of(results);
    const MachineTable& table = results.machines;
    const auto front =
        std::ranges::count_if(table.machines, [](const Machine& machine) { return machine.on_front; });
    std::string text =
        fmt::format("Study {}: {} of {} machines on the front of {} and worst regret\n",
                    results.study.scenario_name, front, table.machines.size(), scale.weighted_name);
    text += fmt::format("Networks: {}; software: {}.\n", weights_text(table), notes.trained_with);
    text += notes.price.empty() ? "" : fmt::format("Costs are at {}.\n", notes.price);
    text += "\n" + best_machine(results, scale) + "\n" + matrix(results, scale) + "\n" +
            varied_worth_text(results) + plans_text(results);
    return text;
}

std::string machines_csv(const Results& results, const std::string& file)
{
    const MachineTable& table = results.machines;
    const ObjectiveInfo& objective = results.objectives.front();
    std::map<std::uint64_t, const FrontPoint*> plans;
    for (const FrontPoint& plan : results.front) {
        plans[plan.index] = &plan;
    }
    const std::vector<Known> all_regrets = regrets_of(table);
    std::string text = "machine";
    for (const auto& [choice, value] : choices_of(table.machines.front().name)) {
        text += "," + csv_field(choice);
    }
    const std::string least = csv_column(objective.name, "", objective.units);
    const std::string weighted =
        csv_column("weighted_" + objective.name, "", table.by_share ? "1" : objective.units);
    text += fmt::format(
        ",gpu_price_usd_per_h,on_front,{0},{0}_bound,{0}_limit,worst_regret,worst_regret_bound,worst_regret_"
        "limit"
        ",network,weight,settled,{1},{1}_bound,{1}_limit,regret,regret_bound,regret_limit,point,plan,study,"
        "file\n",
        weighted, least);
    for (const std::size_t m : machines_in_order(table)) {
        const Machine& machine = table.machines[m];
        for (std::size_t n = 0; n < table.networks.size(); ++n) {
            const MachineCell& cell = machine.cells[n];
            text += csv_field(machine.name);
            for (const auto& [choice, value] : choices_of(machine.name)) {
                text += "," + csv_field(value);
            }
            text += fmt::format(",{},{}{}{}", csv_number(machine.gpu_price_usd_h), machine.on_front ? 1 : 0,
                                known_fields(machine.weighted), known_fields(machine.regret));
            text += fmt::format(",{},{},{}{}{}", csv_field(table.networks[n]), csv_number(table.weights[n]),
                                cell.settled ? 1 : 0, known_fields(cell.least),
                                known_fields(all_regrets[m * table.networks.size() + n]));
            const auto plan = plans.find(cell.point);
            const bool known = std::isfinite(cell.least.value);
            text += fmt::format(",{},{},{},{}\n", known ? std::to_string(cell.point) : "",
                                csv_field(known && plan != plans.end()
                                              ? plan_words(results, *plan->second, variant_axis)
                                              : ""),
                                csv_field(results.study.scenario_name), csv_field(file));
        }
    }
    return text;
}

}  // namespace prismopt
