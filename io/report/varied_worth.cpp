#include "io/report/varied_worth.hpp"

#include "io/base/input_error.hpp"
#include "io/base/json_number.hpp"
#include "io/report/csv_text.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/machine_report.hpp"
#include "io/results/merge_results.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr double hour_s = (1_h).si;

BestPlanStatus best_plan_status(const MachineRow& machine)
{
    const MachineUse& use = machine.use;
    if (!std::isfinite(use.gpu_hours)) {
        return BestPlanStatus::infeasible;
    }
    if (!use.open) {
        return BestPlanStatus::known;
    }
    return std::isfinite(use.high) ? BestPlanStatus::limited : machine.without_limit;
}

/// Whether some plan's GPU-hours are known.
bool has_plan(const MachineRow& machine)
{
    const BestPlanStatus status = best_plan_status(machine);
    return status == BestPlanStatus::known || status == BestPlanStatus::limited;
}
double cost_of(const MachineRow& machine) { return machine.price * machine.use.gpu_hours; }

/// The machine with the least cost of those with an evaluated plan.
const MachineRow* cheapest(const std::vector<MachineRow>& machines)
{
    const MachineRow* best = nullptr;
    for (const MachineRow& machine : machines) {
        if (has_plan(machine) && (best == nullptr || cost_of(machine) < cost_of(*best))) {
            best = &machine;
        }
    }
    return best;
}

/// The machine with these values and the same further choices; null: there is none.
const MachineRow* machine_with(const std::vector<MachineRow>& machines, const std::vector<double>& values,
                               const std::string& others)
{
    const auto found = std::find_if(machines.begin(), machines.end(), [&](const MachineRow& machine) {
        return machine.values == values && machine.others == others;
    });
    return found == machines.end() ? nullptr : &*found;
}

constexpr std::size_t most_compared = 2000;  // machines

/// Whether a value that differs by `difference` is at least as good.
bool no_worse(double difference, VariedParameter::Better better)
{
    switch (better) {
        case VariedParameter::Better::more: return difference >= 0.0;
        case VariedParameter::Better::less: return difference <= 0.0;
        case VariedParameter::Better::unknown: break;
    }
    return difference == 0.0;
}

/// Whether `a` is at least as good as `b` in all knobs.
bool at_least_as_good(const MachineRow& a, const MachineRow& b,
                      const std::vector<VariedParameter>& parameters)
{
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (!no_worse(a.values[k] - b.values[k], parameters[k].better)) {
            return false;
        }
    }
    return a.others == b.others;
}

/// Narrows the limits: the plan of a worse machine runs on a better one and takes no longer there
/// (tests of better hardware), so that its GPU-hours are an upper limit there, and the lower limit of the
/// better machine is one of the worse.
std::vector<MachineRow> narrowed(std::vector<MachineRow> machines,
                                 const std::vector<VariedParameter>& parameters)
{
    if (machines.size() > most_compared) {
        return machines;
    }
    const std::vector<MachineRow> given = machines;
    for (MachineRow& machine : machines) {
        MachineUse& use = machine.use;
        for (const MachineRow& other : given) {
            if (at_least_as_good(machine, other, parameters)) {
                use.high = std::min(use.high, other.use.high);
            }
            if (at_least_as_good(other, machine, parameters)) {
                use.low = std::max(use.low, other.use.low);
            }
        }
        use.low = std::min(use.low, use.high);
        const bool known = std::isfinite(use.high);
        use.gpu_hours = use.open && known ? use.high : std::clamp(use.gpu_hours, use.low, use.high);
    }
    return machines;
}

/// Machines that differ from `reference` in one knob only, by its value.
std::vector<const MachineRow*> along(const std::vector<MachineRow>& machines, std::size_t parameter,
                                     const MachineRow& reference)
{
    std::vector<const MachineRow*> line;
    for (const MachineRow& machine : machines) {
        std::vector<double> values = machine.values;
        values[parameter] = reference.values[parameter];
        if (values == reference.values && machine.others == reference.others) {
            line.push_back(&machine);
        }
    }
    std::sort(line.begin(), line.end(), [parameter](const MachineRow* a, const MachineRow* b) {
        return a->values[parameter] < b->values[parameter];
    });
    return line;
}

/// Whether this value of a knob is that of the cluster.
bool is_of_cluster(const VariedParameter& parameter, double value)
{
    return std::abs(value - parameter.cluster_value) <= 1e-9 * std::abs(parameter.cluster_value);
}

/// Position of the base in a line, and why it is the base.
struct ChosenBase {
    std::size_t at = 0;
    BaseChoice choice = BaseChoice::of_cluster;
};

/// The machine with the value of the cluster, otherwise the one with the lowest price; it has an
/// evaluated plan. Nothing: there is none.
std::optional<ChosenBase> base_of(const std::vector<const MachineRow*>& line, std::size_t k,
                                  const VariedParameter& parameter)
{
    std::optional<ChosenBase> base;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const MachineRow& machine = *line[at];
        if (!has_plan(machine)) {
            continue;
        }
        if (is_of_cluster(parameter, machine.values[k])) {
            return ChosenBase{at, BaseChoice::of_cluster};
        }
        if (!base || machine.price < line[base->at]->price) {
            base = ChosenBase{at, BaseChoice::lowest_price};
        }
    }
    return base;
}

std::string value_of_parameter(const VariedParameter& parameter, double value)
{
    return fmt::format("{:.4g}{}{}", value, parameter.unit.empty() ? "" : " ", parameter.unit);
}

std::string other_values(const std::vector<VariedParameter>& parameters, std::size_t except,
                         const MachineRow& machine)
{
    std::string text = machine.others;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (k != except) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parameters[k].name,
                                value_of_parameter(parameters[k], machine.values[k]));
        }
    }
    return text;
}

/// Names the pair if its interaction excludes zero. `bases`: values of the bases, [knob].
void add_pair(const std::vector<MachineRow>& machines, const MachineRow& reference,
              const std::vector<double>& bases, const std::vector<double>& turned, std::size_t a,
              std::size_t b, VariedWorths& found)
{
    const auto machine = [&](bool a_turned, bool b_turned) {
        std::vector<double> values = reference.values;
        values[a] = a_turned ? turned[a] : bases[a];
        values[b] = b_turned ? turned[b] : bases[b];
        const MachineRow* row = machine_with(machines, values, reference.others);
        return row != nullptr && has_plan(*row) ? row : nullptr;
    };
    const MachineRow* neither = machine(false, false);
    const MachineRow* of_a = machine(true, false);
    const MachineRow* of_b = machine(false, true);
    const MachineRow* both = machine(true, true);
    if (neither == nullptr || of_a == nullptr || of_b == nullptr || both == nullptr) {
        return;
    }
    VariedPair pair{
        .a = a, .b = b, .value_a = turned[a], .value_b = turned[b], .joint = {}, .interaction = {}};
    pair.joint = break_even(neither->use, both->use, neither->price);
    pair.interaction = break_even_interaction(neither->use, of_a->use, of_b->use, both->use, neither->price);
    if (pair.interaction.low > 0.0 || pair.interaction.high < 0.0) {
        found.pairs.push_back(pair);
    }
}

VariedParameter::Better better_direction(HardwareTarget target)
{
    switch (target) {
        case HardwareTarget::bandwidth:
        case HardwareTarget::aggregate:
        case HardwareTarget::memory:
        case HardwareTarget::memory_bandwidth:
        case HardwareTarget::compute:
        case HardwareTarget::power: return VariedParameter::Better::more;
        case HardwareTarget::latency:
        case HardwareTarget::oversubscription: return VariedParameter::Better::less;
        default: return VariedParameter::Better::unknown;
    }
}

/// Value with its unit, of a label such as "cluster.bandwidth=50GB/s".
VariedParameter varied_parameter(const StudyChoice& choice, const Cluster& cluster)
{
    const HardwareLevel level{value_of(*choice.hardware, cluster)};
    const std::string text = value_text(choice, level).substr(choice.name.size() + 1);
    VariedParameter parameter{.name = choice.name,
                              .unit = {},
                              .cluster_value = 0.0,
                              .price_per_unit = {},
                              .better = better_direction(choice.hardware->target)};
    const auto [rest, error] =
        std::from_chars(text.data(), text.data() + text.size(), parameter.cluster_value);
    parameter.unit = error == std::errc{} ? std::string(rest, text.data() + text.size()) : "";
    const double unit_si = parameter.cluster_value != 0.0 ? level.si / parameter.cluster_value : 1.0;
    const double price = choice.hardware->price_per_unit.si * unit_si * hour_s;
    parameter.price_per_unit = price != 0.0 ? std::optional(price) : std::nullopt;
    return parameter;
}

/// Costs of the plans of one variant.
struct VariantCost {
    double value = no_limit;  // of the cheapest evaluated plan, with its limits
    double low = no_limit;
    double high = no_limit;
    double bound = no_limit;  // of all other plans
    bool listed = false;      // the results have a plan of it
};

/// Lower bound of the costs of plans that are not listed; infinite: the search examined the whole space, and
/// all feasible plans are listed. Otherwise a proved search excluded them: a plan of the front, whose costs
/// are at least `least_of_front`, is at least as good in everything.
double bound_of_unlisted(const Results& results, double least_of_front)
{
    const bool all_examined =
        covered_combinations(results) == results.raw_tuples && results.study.outcome.unchecked == 0;
    if (all_examined && results.evaluations.size() >= results.feasible) {
        return no_limit;
    }
    return results.study.outcome.proved ? least_of_front : 0.0;
}

std::vector<std::optional<VariantCost>> costs_of_variants(const Results& results, std::size_t axis,
                                                          std::size_t objective)
{
    std::vector<std::optional<VariantCost>> costs(results.axes[axis].labels.size(), VariantCost{});
    std::map<std::uint64_t, const FrontPoint*> confirmed;
    for (const FrontPoint& point : results.front) {
        confirmed.emplace(point.index, &point);
    }
    double least = no_limit;  // of the front
    for (const EvaluatedPoint& point : results.evaluations) {
        VariantCost& of = *costs[static_cast<std::size_t>(point.point.at(axis))];
        of.listed = true;
        const auto on_front = confirmed.find(point.index);
        if (on_front == confirmed.end() && point.objectives.empty()) {
            of.bound = std::min(of.bound, point.bounds.at(objective));
            continue;
        }
        const Estimate& cost =
            (on_front != confirmed.end() ? on_front->second->objectives : point.objectives).at(objective);
        if (on_front != confirmed.end()) {
            least = std::min(least, cost.low);
        }
        of.value = std::min(of.value, cost.value);
        of.low = std::min(of.low, cost.low);
        of.high = std::min(of.high, cost.high);
    }
    const double unlisted = bound_of_unlisted(results, least);
    for (std::optional<VariantCost>& of : costs) {
        of->bound = std::max(0.0, std::min(of->bound, unlisted));
    }
    return costs;
}

/// The weighted costs of machines that serve several networks, at the first variant
/// of each; nothing at the others.
std::vector<std::optional<VariantCost>> costs_of_machines(const Results& results, const Scenario& scenario,
                                                          const std::vector<std::string>& labels)
{
    std::vector<std::optional<VariantCost>> costs(labels.size());
    std::set<std::string> seen;
    for (std::size_t label = 0; label < labels.size(); ++label) {
        const auto values = variant_values(scenario.choices, labels[label]);
        const std::string name = values ? machine_text(scenario.choices, *values) : "";
        const auto machine = std::ranges::find(results.machines.machines, name, &Machine::name);
        if (machine != results.machines.machines.end() && seen.insert(name).second) {
            const Known& cost = machine->weighted;
            costs[label] = {.value = cost.value,
                            .low = machine->settled() ? cost.low : cost.value,
                            .high = cost.high,
                            .bound = cost.low,
                            .listed = true};
        }
    }
    return costs;
}

/// The GPU-hours of the best plan at this price.
MachineUse use_at(const VariantCost& cost, double price)
{
    const bool drawn = std::isfinite(cost.value);
    MachineUse use{.gpu_hours = cost.value / price,
                   .low = std::min(cost.low, cost.bound) / price,
                   .high = cost.high / price};
    use.open = !drawn || cost.bound < cost.low;
    if (use.open) {
        use.gpu_hours = std::isfinite(use.high) ? use.high : use.low;
    }
    return use;
}

/// What the plans of a variant are if none has an upper limit of its cost.
BestPlanStatus without_limit(const VariantCost& cost, bool proved)
{
    if (!cost.listed) {
        return proved ? BestPlanStatus::unlisted : BestPlanStatus::unexamined;
    }
    if (proved) {
        return BestPlanStatus::excluded;
    }
    return cost.bound > 0.0 ? BestPlanStatus::unevaluated : BestPlanStatus::unexamined;
}

/// Why the costs of a study say nothing on GPU-hours; empty: they do. `objective`: position of the cost.
std::string unusable(const Results& results, const Scenario& scenario, std::optional<std::size_t> objective)
{
    if (!objective) {
        return "the search does not minimise cost; add \"cost\" to [objectives]";
    }
    if (scenario.power.electricity_price.si > 0.0) {
        return "costs include electricity, which best plans use differently; prismopt sensitivity computes "
               "it for one plan";
    }
    return results.front.empty() ? "the front is empty" : "";
}

std::optional<std::size_t> cost_objective(const Results& results)
{
    for (const char* name : {"cost", "expected_cost"}) {
        for (std::size_t k = 0; k < results.objectives.size(); ++k) {
            if (results.objectives[k].name == name) {
                return k;
            }
        }
    }
    return std::nullopt;
}

const char* name_of(BaseChoice choice) { return base_choice_names[static_cast<std::size_t>(choice)]; }
const char* name_of(BestPlanStatus status)
{
    return best_plan_status_names[static_cast<std::size_t>(status)];
}

std::string judged_words(const BreakEvenPoint& point)
{
    return point.pays == Pays::unpriced ? "" : pays_names[static_cast<std::size_t>(point.pays)];
}

/// Of a best plan that is not known.
std::string open_worth(const Estimate& worth, double price)
{
    const bool has_low = worth.low > -price;  // below, GPU-hours would have a negative price
    if (!std::isfinite(worth.high)) {
        return has_low ? fmt::format("at least {:+.3g}", worth.low) : "unknown";
    }
    return has_low ? fmt::format("{:+.3g} to {:+.3g}", worth.low, worth.high)
                   : fmt::format("at most {:+.3g}", worth.high);
}

/// Which machine the base is, at which price.
std::string base_words(const VariedWorth& worth)
{
    return fmt::format("base: {}, at {:.4g} USD per GPU-hour",
                       worth.base_choice == BaseChoice::of_cluster ? "value of [cluster]" : "lowest price",
                       worth.curve.base_price);
}

/// Worth of a point with its limits.
std::string worth_words(const VariedWorth& worth, std::size_t at)
{
    const BreakEvenPoint& point = worth.curve.points[at];
    if (!point.worth) {
        return name_of(BestPlanStatus::infeasible);
    }
    if (point.value == worth.curve.base_value) {
        return base_words(worth);
    }
    const BestPlanStatus status = worth.statuses[at];
    if (status == BestPlanStatus::known) {
        return fmt::format("{:+.3g} ({:+.3g} to {:+.3g})", point.worth->value, point.worth->low,
                           point.worth->high);
    }
    const std::string limits = open_worth(*point.worth, worth.curve.base_price);
    return status == BestPlanStatus::limited ? limits : fmt::format("{} ({})", limits, name_of(status));
}

/// Of a base that does not have the value of the cluster.
std::string base_note(const VariedParameter& parameter, const VariedWorth& worth)
{
    const bool searched = std::ranges::any_of(worth.curve.points, [&](const BreakEvenPoint& point) {
        return is_of_cluster(parameter, point.value);
    });
    return fmt::format("base of {}: the value of [cluster], {}, {}, {} has the lowest price", parameter.name,
                       value_of_parameter(parameter, parameter.cluster_value),
                       searched ? "has no plan whose cost has an upper limit; of the values with one"
                                : "is not searched; of the values with a plan whose cost has an upper limit",
                       value_of_parameter(parameter, worth.curve.base_value));
}

/// What the name means; empty: the table needs no note.
std::string meaning(BestPlanStatus status)
{
    switch (status) {
        case BestPlanStatus::known:
        case BestPlanStatus::limited: break;
        case BestPlanStatus::excluded:
            return "the search excluded all plans of the value by their lower bounds, so that none can be on "
                   "the front; the bounds limit the worth";
        case BestPlanStatus::unevaluated:
            return "the search has not evaluated plans of the value until their cost had an upper limit; "
                   "their lower bounds limit the worth";
        case BestPlanStatus::unlisted:
            return "the results have no plan of the value: the search excluded all of them by their lower "
                   "bounds, or none is feasible";
        case BestPlanStatus::unexamined: return "the search has not examined all plans of the value";
        case BestPlanStatus::infeasible:
            return "the search examined all plans of the value; none is feasible";
    }
    return "";
}

std::string point_row(const VariedParameter& parameter, const VariedWorth& worth, std::size_t at)
{
    const BreakEvenPoint& point = worth.curve.points[at];
    const bool is_base = point.value == worth.curve.base_value;
    const bool compared = point.worth && !is_base;
    std::string line = fmt::format("  {:<24} {:>13}  {}{}", at == 0 ? parameter.name : "",
                                   value_of_parameter(parameter, point.value), compared ? "worth " : "",
                                   worth_words(worth, at));
    if (worth.curve.stated_per_unit && !is_base) {
        line += fmt::format("; costs {:+.3g}", point.stated);
        line += compared ? "  " + judged_words(point) : "";
    }
    return line + "\n";
}

}  // namespace

VariedWorths varied_worths(const std::vector<VariedParameter>& parameters,
                           const std::vector<MachineRow>& given)
{
    const std::vector<MachineRow> machines = narrowed(given, parameters);
    VariedWorths found{.parameters = parameters, .curves = {}, .pairs = {}, .why = {}};
    const MachineRow* reference = cheapest(machines);
    if (reference == nullptr) {
        found.why = "no plan was evaluated";
        return found;
    }
    std::vector<double> bases = reference->values;
    std::vector<double> turned = reference->values;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const std::vector<const MachineRow*> line = along(machines, k, *reference);
        const std::optional<ChosenBase> chosen = base_of(line, k, parameters[k]);
        if (!chosen || line.size() < 2) {
            continue;
        }
        const MachineRow& base = *line[chosen->at];
        std::vector<ParameterLevel> levels;
        VariedWorth worth{.parameter = k,
                          .others = other_values(parameters, k, *reference),
                          .curve = {},
                          .base_choice = chosen->choice,
                          .statuses = {}};
        for (const MachineRow* machine : line) {
            levels.push_back({machine->values[k], machine->use});
            worth.statuses.push_back(best_plan_status(*machine));
        }
        worth.curve = break_even_curve(levels, chosen->at, base.price, parameters[k].price_per_unit);
        found.curves.push_back(std::move(worth));
        bases[k] = base.values[k];
        if (turned[k] == bases[k]) {
            turned[k] =
                (*std::max_element(line.begin(), line.end(), [](const MachineRow* a, const MachineRow* b) {
                    return a->price < b->price;
                }))->values[k];
        }
    }
    for (std::size_t a = 0; a < parameters.size(); ++a) {
        for (std::size_t b = a + 1; b < parameters.size(); ++b) {
            if (turned[a] != bases[a] && turned[b] != bases[b]) {
                add_pair(machines, *reference, bases, turned, a, b, found);
            }
        }
    }
    return found;
}

VariedWorths varied_worths(const Results& results)
{
    const auto axis = std::find_if(results.axes.begin(), results.axes.end(),
                                   [](const Axis& one) { return one.name == variant_axis; });
    if (axis == results.axes.end()) {
        return {};
    }
    std::optional<Scenario> read;
    try {
        read = scenario_of(results.study);
    } catch (const InputError&) {
        return {};  // of another version: the report says so elsewhere
    }
    const Scenario& scenario = *read;
    std::vector<VariedParameter> parameters;
    std::vector<std::size_t> choice_of_parameter;
    for (std::size_t c = 0; c < scenario.choices.size(); ++c) {
        if (scenario.choices[c].hardware) {
            parameters.push_back(varied_parameter(scenario.choices[c], scenario.cluster));
            choice_of_parameter.push_back(c);
        }
    }
    if (parameters.empty()) {
        return {};
    }
    const std::optional<std::size_t> objective = cost_objective(results);
    if (std::string why = unusable(results, scenario, objective); !why.empty()) {
        return {.parameters = parameters, .curves = {}, .pairs = {}, .why = why};
    }
    std::vector<MachineRow> machines;
    const std::vector<std::string>& labels = axis->labels;
    const auto costs =
        has_machines(results)
            ? costs_of_machines(results, scenario, labels)
            : costs_of_variants(results, static_cast<std::size_t>(axis - results.axes.begin()), *objective);
    for (std::size_t label = 0; label < labels.size(); ++label) {
        const auto values = variant_values(scenario.choices, labels[label]);
        const auto variant = values ? variant_at(scenario, *values) : std::nullopt;
        if (!variant || !costs[label]) {
            continue;
        }
        MachineRow row;
        row.price = variant->cluster.gpu_price.si * hour_s;
        for (std::size_t c = 0; c < scenario.choices.size(); ++c) {
            const auto parameter = std::find(choice_of_parameter.begin(), choice_of_parameter.end(), c);
            const bool of_network =
                has_machines(results) && std::holds_alternative<TrainedNetwork>((*values)[c]);
            if (parameter != choice_of_parameter.end()) {
                const std::string text =
                    value_text(scenario.choices[c], (*values)[c]).substr(scenario.choices[c].name.size() + 1);
                std::from_chars(text.data(), text.data() + text.size(), row.values.emplace_back());
            } else if (!of_network) {
                row.others += (row.others.empty() ? "" : " ") + value_text(scenario.choices[c], (*values)[c]);
            }
        }
        row.use = use_at(*costs[label], row.price);
        row.without_limit = without_limit(*costs[label], results.study.outcome.proved);
        machines.push_back(std::move(row));
    }
    return varied_worths(parameters, machines);
}

std::string varied_worth_text(const Results& results)
{
    const VariedWorths found = varied_worths(results);
    if (found.parameters.empty()) {
        return "";
    }
    if (!found.why.empty()) {
        return fmt::format("Break-even of knobs: unknown, because {}.\n\n", found.why);
    }
    if (found.curves.empty()) {
        return "";
    }
    std::string text = fmt::format(
        "Break-even of knobs, with the cheapest plan of each machine: USD per GPU-hour beyond the price of "
        "the base, assuming the model is exact{}\n",
        results.provisional ? " (provisional: the search was stopped)" : "");
    for (const VariedWorth& worth : found.curves) {
        const VariedParameter& parameter = found.parameters[worth.parameter];
        for (std::size_t at = 0; at < worth.curve.points.size(); ++at) {
            text += point_row(parameter, worth, at);
        }
        text += worth.others.empty() ? "" : fmt::format("  {:<24} at {}\n", "", worth.others);
    }
    for (const VariedPair& pair : found.pairs) {
        const VariedParameter& a = found.parameters[pair.a];
        const VariedParameter& b = found.parameters[pair.b];
        text += fmt::format(
            "  {} {} & {} {} interact: together worth {:+.3g}, {:+.3g} ({:+.3g} to {:+.3g}) beyond the sum "
            "of both\n",
            a.name, value_of_parameter(a, pair.value_a), b.name, value_of_parameter(b, pair.value_b),
            pair.joint.value, pair.interaction.value, pair.interaction.low, pair.interaction.high);
    }
    for (const std::string& note : varied_worth_notes(found)) {
        text += fmt::format("  {}\n", note);
    }
    return text + "\n";
}

std::vector<std::vector<std::string>> varied_worth_cells(const VariedWorths& found)
{
    std::vector<std::vector<std::string>> cells;
    for (const VariedWorth& worth : found.curves) {
        if (cells.empty()) {
            cells.push_back({"knob", "value", "worth (USD/h)", "costs (USD/h)", "verdict", "all else as"});
        }
        const VariedParameter& parameter = found.parameters[worth.parameter];
        for (std::size_t at = 0; at < worth.curve.points.size(); ++at) {
            const BreakEvenPoint& point = worth.curve.points[at];
            const bool is_base = point.value == worth.curve.base_value;
            const bool priced = worth.curve.stated_per_unit && !is_base;
            cells.push_back({parameter.name, value_of_parameter(parameter, point.value),
                             worth_words(worth, at), priced ? fmt::format("{:+.3g}", point.stated) : "",
                             is_base ? "" : judged_words(point), worth.others});
        }
    }
    return cells;
}

std::vector<std::string> varied_worth_notes(const VariedWorths& found)
{
    std::vector<std::string> notes;
    std::set<BestPlanStatus> statuses;
    for (const VariedWorth& worth : found.curves) {
        if (worth.base_choice == BaseChoice::lowest_price) {
            notes.push_back(base_note(found.parameters[worth.parameter], worth));
        }
        statuses.insert(worth.statuses.begin(), worth.statuses.end());
    }
    for (const BestPlanStatus status : statuses) {
        if (const std::string words = meaning(status); !words.empty()) {
            notes.push_back(fmt::format("{}: {}", name_of(status), words));
        }
    }
    return notes;
}

std::string varied_worth_csv(const VariedWorths& found)
{
    std::string text = "parameter,unit,value";
    for (const auto& [column, units] :
         {std::pair{"gpu_hours", "h"}, std::pair{"worth", "USD/h"}, std::pair{"worth_per_unit", "USD/h"}}) {
        for (const char* limit : {"", "_low", "_high"}) {
            text += "," + csv_column(column, limit, units);
        }
    }
    text += fmt::format(",{},pays,best_plan,base,base_choice,{},others\n", csv_column("price", "", "USD/h"),
                        csv_column("base_gpu_price", "", "USD/h"));
    const auto number = [](double value) { return std::isfinite(value) ? csv_number(value) : ""; };
    const auto estimate = [&](const std::optional<Estimate>& e) {
        return e ? fmt::format("{},{},{}", number(e->value), number(e->low), number(e->high)) : ",,";
    };
    for (const VariedWorth& worth : found.curves) {
        const VariedParameter& parameter = found.parameters[worth.parameter];
        const BreakEvenCurve& curve = worth.curve;
        for (std::size_t at = 0; at < curve.points.size(); ++at) {
            const BreakEvenPoint& point = curve.points[at];
            text +=
                fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(parameter.name),
                            csv_field(parameter.unit), number(point.value), estimate(point.gpu_hours),
                            estimate(point.worth), estimate(point.per_unit),
                            curve.stated_per_unit ? number(point.stated) : "", judged_words(point),
                            name_of(worth.statuses[at]), number(curve.base_value), name_of(worth.base_choice),
                            number(curve.base_price), csv_field(worth.others));
        }
    }
    return text;
}

nlohmann::ordered_json varied_worth_json(const VariedWorths& found)
{
    using Json = nlohmann::ordered_json;
    if (found.parameters.empty()) {
        return nullptr;
    }
    const auto estimate = [](const Estimate& e) {
        return Json{{"value", json_number<Json>(e.value)},
                    {"low", json_number<Json>(e.low)},
                    {"high", json_number<Json>(e.high)}};
    };
    Json json{{"units", "USD/h"},
              {"why", json_text<Json>(found.why)},
              {"curves", Json::array()},
              {"pairs", Json::array()}};
    for (const VariedWorth& worth : found.curves) {
        const VariedParameter& parameter = found.parameters[worth.parameter];
        const BreakEvenCurve& curve = worth.curve;
        Json one{{"name", parameter.name},
                 {"unit", parameter.unit},
                 {"base", curve.base_value},
                 {"base_choice", name_of(worth.base_choice)},
                 {"base_gpu_price", curve.base_price},
                 {"cluster_value", parameter.cluster_value},
                 {"price_per_unit", curve.stated_per_unit ? Json(*curve.stated_per_unit) : Json()},
                 {"others", json_text<Json>(worth.others)},
                 {"points", Json::array()}};
        for (std::size_t at = 0; at < curve.points.size(); ++at) {
            const BreakEvenPoint& point = curve.points[at];
            one["points"].push_back({{"value", point.value},
                                     {"best_plan", name_of(worth.statuses[at])},
                                     {"best_plan_known", worth.statuses[at] == BestPlanStatus::known},
                                     {"gpu_hours", point.worth ? estimate(point.gpu_hours) : Json()},
                                     {"worth", point.worth ? estimate(*point.worth) : Json()},
                                     {"worth_per_unit", point.per_unit ? estimate(*point.per_unit) : Json()},
                                     {"price", curve.stated_per_unit ? Json(point.stated) : Json()},
                                     {"pays", json_text<Json>(judged_words(point))}});
        }
        json["curves"].push_back(std::move(one));
    }
    for (const VariedPair& pair : found.pairs) {
        json["pairs"].push_back({{"names", {found.parameters[pair.a].name, found.parameters[pair.b].name}},
                                 {"values", {pair.value_a, pair.value_b}},
                                 {"joint", estimate(pair.joint)},
                                 {"interaction", estimate(pair.interaction)}});
    }
    return json;
}

}  // namespace prismopt
