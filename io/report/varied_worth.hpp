#pragma once

/// What values of the knobs are worth if each machine runs its best plan:
/// break-evens from a table of machines.

#include "io/results/results.hpp"
#include "model/break_even.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// A hardware parameter that a study chose.
struct VariedParameter {
    std::string name;
    std::string unit;
    double cluster_value = 0.0;            // in that unit
    std::optional<double> price_per_unit;  // USD per GPU-hour and unit; negative where less is better
    /// Direction in which no plan takes longer or loses its memory; none of sizes of domains.
    enum class Better { unknown, more, less } better = Better::unknown;
};

/// What is known of the best plan of a machine. Only the first two have an upper limit of their cost.
enum class BestPlanStatus {
    known,        // no other plan is better
    limited,      // another plan may be better than the evaluated ones
    excluded,     // the search excluded all plans by their lower bounds: none can be on the front
    unevaluated,  // plans have lower bounds only
    unlisted,     // the results have no plan of the machine: all were excluded, or none is feasible
    unexamined,   // the search has not examined all plans of the machine
    infeasible,   // all plans were examined, and none is feasible
};
/// In the order of BestPlanStatus, as reports have them.
inline constexpr std::array<const char*, 7> best_plan_status_names{
    "known", "limited", "excluded", "not evaluated", "not listed", "not examined", "infeasible"};

/// One machine: a value of each knob, and the least GPU-hours of the same work on it.
struct MachineRow {
    std::vector<double> values;  // [knob]
    std::string others;          // further choices of the study, in words
    double price = 0.0;          // USD per GPU-hour
    MachineUse use;
    // what its plans are if none has an upper limit of its cost
    BestPlanStatus without_limit = BestPlanStatus::excluded;
};

/// Why a machine is the base of a curve.
enum class BaseChoice {
    of_cluster,    // it has the value of [cluster]
    lowest_price,  // of the machines with an upper limit of their cost, which that of [cluster] lacks
};
/// In the order of BaseChoice, as JSON and CSV have them.
inline constexpr std::array<const char*, 2> base_choice_names{"cluster", "lowest price"};

/// Break-evens over the values of a knob. All else is as on the cheapest machine.
struct VariedWorth {
    std::size_t parameter = 0;
    // values of the other knobs and choices: "cluster.latency 2 us"; empty: there are none
    std::string others;
    BreakEvenCurve curve;
    BaseChoice base_choice = BaseChoice::of_cluster;
    // [point]: of the best plan; unless it is known, the worth has limits, of which the value is one
    std::vector<BestPlanStatus> statuses;
};

/// Two knobs at the values of the cheapest machine, or at the dearest where that has the value of the base.
struct VariedPair {
    std::size_t a = 0;
    std::size_t b = 0;
    double value_a = 0.0;
    double value_b = 0.0;
    Estimate joint;
    Estimate interaction;
};

struct VariedWorths {
    std::vector<VariedParameter> parameters;
    std::vector<VariedWorth> curves;
    std::vector<VariedPair> pairs;  // whose interaction excludes zero
    std::string why;                // there are no curves; empty: there are, or no knobs
};

/// From any table of machines. A machine that is better in everything needs no more GPU-hours, which narrows
/// the limits of both. The base of a curve is the value of the cluster if its machine has an upper limit of
/// the GPU-hours, otherwise the value with the lowest price of those that have one. Knobs with less than two
/// values, or without a base, have no curve.
VariedWorths varied_worths(const std::vector<VariedParameter>& parameters,
                           const std::vector<MachineRow>& given);

/// From the plans that a study evaluated, and the bounds of the others. Needs the objective cost or
/// expected_cost, and a price of GPUs that includes electricity.
VariedWorths varied_worths(const Results& results);

/// Section of the text report; empty without knobs.
std::string varied_worth_text(const Results& results);

/// The same as a table of texts, with its heads first; empty without curves. For the page.
std::vector<std::vector<std::string>> varied_worth_cells(const VariedWorths& found);

/// Sentences on the words of the table that need one: how a base was chosen that is not of the cluster, and
/// why worths have no lower limit or no value.
std::vector<std::string> varied_worth_notes(const VariedWorths& found);

/// The same as CSV, a line per value: limits that do not exist are empty.
std::string varied_worth_csv(const VariedWorths& found);

/// The same for programs: "curves" and "pairs", or "why" there are none; null without knobs.
nlohmann::ordered_json varied_worth_json(const VariedWorths& found);

}  // namespace prismopt
