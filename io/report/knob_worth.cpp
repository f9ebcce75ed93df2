#include "io/report/knob_worth.hpp"

#include "io/base/input_error.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/machine_report.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>

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

bool runs(const MachineRow& machine) { return std::isfinite(machine.use.gpu_hours); }
bool best_is_known(const MachineRow& machine) { return runs(machine) && !machine.use.bound_only; }
double cost_of(const MachineRow& machine) { return machine.price * machine.use.gpu_hours; }

/// The machine with the least cost of those whose best plan is known.
const MachineRow* cheapest(const std::vector<MachineRow>& machines)
{
    const MachineRow* best = nullptr;
    for (const MachineRow& machine : machines) {
        if (best_is_known(machine) && (best == nullptr || cost_of(machine) < cost_of(*best))) {
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

/// Machines that differ from `reference` in one knob only, by its value.
std::vector<const MachineRow*> along(const std::vector<MachineRow>& machines, std::size_t knob, const MachineRow& reference)
{
    std::vector<const MachineRow*> line;
    for (const MachineRow& machine : machines) {
        std::vector<double> values = machine.values;
        values[knob] = reference.values[knob];
        if (values == reference.values && machine.others == reference.others) {
            line.push_back(&machine);
        }
    }
    std::sort(line.begin(), line.end(),
              [knob](const MachineRow* a, const MachineRow* b) { return a->values[knob] < b->values[knob]; });
    return line;
}

/// The machine with the value of the cluster, otherwise the one with the lowest price; its best plan is known. Null: there is none.
const MachineRow* base_of(const std::vector<const MachineRow*>& line, std::size_t knob, double cluster_value)
{
    const MachineRow* base = nullptr;
    for (const MachineRow* machine : line) {
        if (!best_is_known(*machine)) {
            continue;
        }
        if (std::abs(machine->values[knob] - cluster_value) <= 1e-9 * std::abs(cluster_value)) {
            return machine;
        }
        if (base == nullptr || machine->price < base->price) {
            base = machine;
        }
    }
    return base;
}

std::string value_of_knob(const Knob& knob, double value)
{
    return fmt::format("{:.4g}{}{}", value, knob.unit.empty() ? "" : " ", knob.unit);
}

std::string other_values(const std::vector<Knob>& knobs, std::size_t except, const MachineRow& machine)
{
    std::string text = machine.others;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        if (k != except) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", knobs[k].name, value_of_knob(knobs[k], machine.values[k]));
        }
    }
    return text;
}

/// Names the pair if its interaction excludes zero. `bases`: values of the bases, [knob].
void add_pair(const std::vector<MachineRow>& machines, const MachineRow& reference, const std::vector<double>& bases,
              const std::vector<double>& turned, std::size_t a, std::size_t b, KnobWorths& found)
{
    const auto machine = [&](bool a_turned, bool b_turned) {
        std::vector<double> values = reference.values;
        values[a] = a_turned ? turned[a] : bases[a];
        values[b] = b_turned ? turned[b] : bases[b];
        const MachineRow* row = machine_with(machines, values, reference.others);
        return row != nullptr && best_is_known(*row) ? row : nullptr;
    };
    const MachineRow* neither = machine(false, false);
    const MachineRow* of_a = machine(true, false);
    const MachineRow* of_b = machine(false, true);
    const MachineRow* both = machine(true, true);
    if (neither == nullptr || of_a == nullptr || of_b == nullptr || both == nullptr) {
        return;
    }
    KnobPair pair{.a = a, .b = b, .value_a = turned[a], .value_b = turned[b], .joint = {}, .interaction = {}};
    pair.joint = break_even(neither->use, both->use, neither->price);
    pair.interaction = break_even_interaction(neither->use, of_a->use, of_b->use, both->use, neither->price);
    if (pair.interaction.low > 0.0 || pair.interaction.high < 0.0) {
        found.pairs.push_back(pair);
    }
}

/// Value with its unit, of a label such as "cluster.bandwidth=50GB/s".
Knob knob_of(const StudyChoice& choice, const Cluster& cluster)
{
    const HardwareLevel level{value_of(*choice.hardware, cluster)};
    const std::string text = value_text(choice, level).substr(choice.name.size() + 1);
    Knob knob{.name = choice.name, .unit = {}, .cluster_value = 0.0, .price_per_unit = {}};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), knob.cluster_value);
    knob.unit = error == std::errc{} ? std::string(rest, text.data() + text.size()) : "";
    const double unit_si = knob.cluster_value != 0.0 ? level.si / knob.cluster_value : 1.0;
    const double price = choice.hardware->price_per_unit.si * unit_si * hour_s;
    knob.price_per_unit = price != 0.0 ? std::optional(price) : std::nullopt;
    return knob;
}

/// Least and best known cost of the plans of one variant.
struct VariantCost {
    double value = no_limit;  // of the cheapest evaluated plan
    double high = no_limit;
    double low = no_limit;  // of all plans
};

std::vector<std::optional<VariantCost>> costs_of_variants(const Results& results, std::size_t axis, std::size_t objective)
{
    std::vector<std::optional<VariantCost>> costs(results.axes[axis].labels.size(), VariantCost{});
    const auto include = [&](const Point& point, const Estimate& cost) {
        VariantCost& of = *costs[static_cast<std::size_t>(point.at(axis))];
        of.value = std::min(of.value, cost.value);
        of.high = std::min(of.high, cost.high);
        of.low = std::min(of.low, cost.low);
    };
    std::map<std::uint64_t, const FrontPoint*> confirmed;
    for (const FrontPoint& point : results.front) {
        confirmed.emplace(point.index, &point);
    }
    double least = no_limit;
    for (const EvaluatedPoint& point : results.evaluations) {
        const auto on_front = confirmed.find(point.index);
        if (on_front != confirmed.end()) {
            include(point.point, on_front->second->objectives.at(objective));
            least = std::min(least, on_front->second->objectives.at(objective).low);
        } else if (!point.objectives.empty()) {
            include(point.point, point.objectives.at(objective));
        } else {
            VariantCost& of = *costs[static_cast<std::size_t>(point.point.at(axis))];
            of.low = std::min(of.low, point.bounds.at(objective));
        }
    }
    // Plans that are not listed were excluded: a plan of the front is at least as good in everything.
    const bool all_listed = results.evaluations.size() >= results.feasible && results.study.outcome.unchecked == 0;
    const double unlisted = all_listed ? no_limit : results.study.outcome.proved ? least : 0.0;
    for (std::optional<VariantCost>& of : costs) {
        of->low = std::max(0.0, std::min(of->low, unlisted));
    }
    return costs;
}

/// The weighted costs of machines that serve several networks, at the first variant of each; nothing at the others.
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
            const bool settled = std::ranges::all_of(machine->cells, &MachineCell::settled);
            costs[label] = {.value = settled ? machine->weighted.value : no_limit,
                            .high = settled ? machine->weighted.high : no_limit,
                            .low = machine->weighted.low};
        }
    }
    return costs;
}

/// Why the costs of a study say nothing on GPU-hours; empty: they do. `objective`: position of the cost.
std::string unusable(const Results& results, const Scenario& scenario, std::optional<std::size_t> objective)
{
    if (!objective) {
        return "the search does not minimise cost; add \"cost\" to [objectives]";
    }
    if (scenario.power.electricity_price.si > 0.0) {
        return "costs include electricity, which best plans use differently; prismopt sensitivity computes it for one plan";
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

std::string judged_words(const BreakEvenPoint& point)
{
    return point.pays == Pays::unpriced ? "" : pays_names[static_cast<std::size_t>(point.pays)];
}

std::string point_row(const Knob& knob, const KnobWorth& worth, std::size_t at)
{
    const BreakEvenPoint& point = worth.curve.points[at];
    std::string line = fmt::format("  {:<24} {:>13}  ", at == 0 ? knob.name : "", value_of_knob(knob, point.value));
    if (!point.worth) {
        line += "infeasible";
    } else if (point.value == worth.curve.base_value) {
        line += "base";
    } else if (worth.bound_only[at]) {
        line += std::isfinite(point.worth->high) ? fmt::format("worth at most {:+.3g}", point.worth->high) : "worth unknown";
        line += worth.curve.stated_per_unit ? fmt::format("; costs {:+.3g}  {}", point.stated, judged_words(point)) : "";
    } else {
        line += fmt::format("worth {:+.3g} ({:+.3g} to {:+.3g})", point.worth->value, point.worth->low, point.worth->high);
        line += worth.curve.stated_per_unit ? fmt::format("; costs {:+.3g}  {}", point.stated, judged_words(point)) : "";
    }
    return line + "\n";
}

}  // namespace

KnobWorths knob_worths(const std::vector<Knob>& knobs, const std::vector<MachineRow>& machines)
{
    KnobWorths found{.knobs = knobs, .curves = {}, .pairs = {}, .why = {}};
    const MachineRow* reference = cheapest(machines);
    if (reference == nullptr) {
        found.why = "no plan was evaluated";
        return found;
    }
    std::vector<double> bases = reference->values;
    std::vector<double> turned = reference->values;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        const std::vector<const MachineRow*> line = along(machines, k, *reference);
        const MachineRow* base = base_of(line, k, knobs[k].cluster_value);
        if (base == nullptr || line.size() < 2) {
            continue;
        }
        std::vector<ParameterLevel> levels;
        KnobWorth worth{.knob = k, .others = other_values(knobs, k, *reference), .curve = {}, .bound_only = {}};
        for (const MachineRow* machine : line) {
            levels.push_back({machine->values[k], machine->use});
            worth.bound_only.push_back(machine->use.bound_only);
        }
        const auto place = static_cast<std::size_t>(std::find(line.begin(), line.end(), base) - line.begin());
        worth.curve = break_even_curve(levels, place, base->price, knobs[k].price_per_unit);
        found.curves.push_back(std::move(worth));
        bases[k] = base->values[k];
        if (turned[k] == bases[k]) {
            turned[k] = (*std::max_element(line.begin(), line.end(), [](const MachineRow* a, const MachineRow* b) {
                            return a->price < b->price;
                        }))->values[k];
        }
    }
    for (std::size_t a = 0; a < knobs.size(); ++a) {
        for (std::size_t b = a + 1; b < knobs.size(); ++b) {
            if (turned[a] != bases[a] && turned[b] != bases[b]) {
                add_pair(machines, *reference, bases, turned, a, b, found);
            }
        }
    }
    return found;
}

KnobWorths knob_worths(const Results& results)
{
    const auto axis =
        std::find_if(results.axes.begin(), results.axes.end(), [](const Axis& one) { return one.name == variant_axis; });
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
    std::vector<Knob> knobs;
    std::vector<std::size_t> choice_of_knob;
    for (std::size_t c = 0; c < scenario.choices.size(); ++c) {
        if (scenario.choices[c].hardware) {
            knobs.push_back(knob_of(scenario.choices[c], scenario.cluster));
            choice_of_knob.push_back(c);
        }
    }
    if (knobs.empty()) {
        return {};
    }
    const std::optional<std::size_t> objective = cost_objective(results);
    if (std::string why = unusable(results, scenario, objective); !why.empty()) {
        return {.knobs = knobs, .curves = {}, .pairs = {}, .why = why};
    }
    std::vector<MachineRow> machines;
    const std::vector<std::string>& labels = axis->labels;
    const auto costs = has_machines(results) ? costs_of_machines(results, scenario, labels)
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
            const auto knob = std::find(choice_of_knob.begin(), choice_of_knob.end(), c);
            const bool of_network = has_machines(results) && std::holds_alternative<TrainedNetwork>((*values)[c]);
            if (knob != choice_of_knob.end()) {
                const std::string text =
                    value_text(scenario.choices[c], (*values)[c]).substr(scenario.choices[c].name.size() + 1);
                std::from_chars(text.data(), text.data() + text.size(), row.values.emplace_back());
            } else if (!of_network) {
                row.others += (row.others.empty() ? "" : " ") + value_text(scenario.choices[c], (*values)[c]);
            }
        }
        const VariantCost& cost = *costs[label];
        const bool drawn = std::isfinite(cost.value);
        row.use = {.gpu_hours = (drawn ? cost.value : cost.low) / row.price,
                   .low = cost.low / row.price,
                   .high = cost.high / row.price,
                   .bound_only = !drawn};
        machines.push_back(std::move(row));
    }
    return knob_worths(knobs, machines);
}

std::string knob_worth_text(const Results& results)
{
    const KnobWorths found = knob_worths(results);
    if (found.knobs.empty()) {
        return "";
    }
    if (!found.why.empty()) {
        return fmt::format("Break-even of knobs: unknown, because {}.\n\n", found.why);
    }
    if (found.curves.empty()) {
        return "";
    }
    std::string text = fmt::format(
        "Break-even of knobs, with the cheapest plan of each machine: USD per GPU-hour beyond the price of the base{}\n",
        results.provisional ? " (provisional: the search was stopped)" : "");
    for (const KnobWorth& worth : found.curves) {
        const Knob& knob = found.knobs[worth.knob];
        for (std::size_t at = 0; at < worth.curve.points.size(); ++at) {
            text += point_row(knob, worth, at);
        }
        text += worth.others.empty() ? "" : fmt::format("  {:<24} at {}\n", "", worth.others);
    }
    for (const KnobPair& pair : found.pairs) {
        const Knob& a = found.knobs[pair.a];
        const Knob& b = found.knobs[pair.b];
        text +=
            fmt::format("  {} {} & {} {} interact: together worth {:+.3g}, {:+.3g} ({:+.3g} to {:+.3g}) beyond the sum of both\n",
                        a.name, value_of_knob(a, pair.value_a), b.name, value_of_knob(b, pair.value_b), pair.joint.value,
                        pair.interaction.value, pair.interaction.low, pair.interaction.high);
    }
    return text + "\n";
}

}  // namespace prismopt
