#include "io/scenario/sections/sections.hpp"

#include "io/trainers/trainer.hpp"
#include "model/objective.hpp"
#include "model/plan/plan_axes.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr int fleet_block = 64;  // fleets are drawn in blocks of this many
constexpr Range fleets_range{"number of fleets: random samples of GPUs", fleet_block, 1'000'000, "1024"};
constexpr Range evaluations_range{"maximum number of plans to sample", 1, 1'000'000'000, "5000"};
constexpr Range tune_points_range{"number of front points at which hardware parameters are tuned", 1, 1000,
                                  "12"};
constexpr Range tune_evaluations_range{"evaluations per tuning run", 10, 1'000'000, "200"};
constexpr Range tune_fleets_range{
    "fleets (random samples of GPUs) per evaluation of a tuning run; default: noise-free times", 0, 1'000'000,
    "256"};
constexpr Range steps_range{"steps drawn per fleet", 1, 10'000, "2"};
constexpr Range confidence_range{"confidence level of the study, simultaneous for all comparisons", 0.5, 1,
                                 "0.95", Range::Ends::open_high};
constexpr Range replicas_range{
    "data-parallel replicas simulated operation by operation; the others are approximated", 2, 100'000, "4"};
constexpr std::string_view runs_too_example = R"(["recomputed_layers=40"])";
constexpr std::string_view rung_example = "{ fleets = 2048, steps = 2 }";

int whole_blocks(const Value& value, const Range& range)
{
    const int fleets = value.count(range);
    if (fleets % fleet_block != 0) {
        const int below = fleets / fleet_block * fleet_block;
        value.fail({fmt::format("is not a multiple of {}", fleet_block), "fleets are drawn in blocks",
                    fmt::format("try {} or {}", below, below + fleet_block)});
    }
    return fleets;
}

const Fields<Rung>& rung_fields()
{
    static const auto fields =
        Fields<Rung>("a rung", "number of fleets (random samples of GPUs) and of steps drawn per fleet")
            .integer("fleets", &Rung::fleets, fleets_range)
            .required()
            .integer("steps", &Rung::steps, steps_range)
            .required()
            .check([](Table& table, const Rung&) { whole_blocks(*table.find("fleets"), fleets_range); });
    return fields;
}

Rung read_rung(const Value& value)
{
    Table table = value.table(rung_example);
    Rung rung;
    rung_fields().read_whole(table, Keys::all, rung);
    return rung;
}

/// A higher rung extends the draws of the lower one, so steps stay equal and fleets grow.
std::vector<Rung> read_rungs(const Value& list)
{
    std::vector<Rung> rungs;
    for (const Value& element : list.list("[{ fleets = 64, steps = 2 }, { fleets = 2048, steps = 2 }]")) {
        const Rung rung = read_rung(element);
        if (!rungs.empty() && rung.steps != rungs.back().steps) {
            element.table("")
                .at("steps", "")
                .fail({"differs from the previous rung", "a rung extends the draws of the previous one",
                       fmt::format("write {}", rungs.back().steps)});
        }
        if (!rungs.empty() && rung.fleets <= rungs.back().fleets) {
            element.table("")
                .at("fleets", "")
                .fail({"is not more than in the previous rung", "each rung adds fleets",
                       fmt::format("write {} or more", rungs.back().fleets + fleet_block)});
        }
        rungs.push_back(rung);
    }
    return rungs;
}

constexpr const char* objectives_example = R"(["training_time_p99", "cost", "gpus"])";

std::vector<std::string> objective_names()
{
    std::vector<std::string> names;
    for (const Objective& objective : objectives()) {
        if (objective.name != "promised_time") {  // [question] adds it
            names.emplace_back(objective.name);
        }
    }
    return names;
}

/// Quantiles of any probability are not listed, and `promised_time` is not chosen here.
std::string read_objective(const Value& element)
{
    const std::string name = element.text("training_time_p99");
    const Objective* found = find_objective(name);
    if (found != nullptr && found->percent > 0) {
        return name;
    }
    return element.choice(objective_names(), "objectives that can be minimised",
                          "training_time_pNN or step_time_pNN with NN from 1 to 99.");
}

/// "recomputed_layers=40": an axis of the space and a value.
std::string read_axis_value(const Value& element)
{
    const std::string text = element.text("recomputed_layers=40");
    const std::size_t equals = text.find('=');
    bool known = false;
    for_each_axis([&](const auto& axis) { known = known || axis.name == text.substr(0, equals); });
    if (!known || equals == std::string::npos || equals + 1 == text.size()) {
        element.fail({"is no value of an axis", "it begins with the name of an axis of [space]",
                      fmt::format("write for example {}", runs_too_example)});
    }
    return text;
}

}  // namespace

std::vector<std::string> read_objectives(Table table, Seconds& deadline)
{
    if (const auto value = table.find("deadline")) {
        deadline = value->quantity<Seconds>("60 day");
    }
    std::vector<std::string> chosen;
    for (const Value& element :
         table.at("minimise", "minimise = " + std::string(objectives_example)).list(objectives_example)) {
        const std::string name = read_objective(element);
        if (std::find(chosen.begin(), chosen.end(), name) != chosen.end()) {
            element.fail({"is listed twice", "each objective counts once", "remove one of the two"});
        }
        if (name == "miss_probability" && deadline.si == 0.0) {
            element.fail({"needs a deadline", "it is the probability that the training takes longer",
                          "add deadline = \"60 day\" to [objectives]"});
        }
        chosen.push_back(name);
    }
    table.refuse_unknown_keys();
    return chosen;
}

const SectionTable& objectives_table()
{
    static const SectionTable table = [] {
        SectionTable section("[objectives]", "objectives of the search; may be absent beside [question]");
        section.add({"minimise",
                     "objectives to minimise, in this order; also training_time_pNN and step_time_pNN with "
                     "NN from 1 to 99",
                     objectives_example,
                     {[] {
                         ValueShape shape = choice_shape(objective_names);
                         shape.open = true;
                         shape.list = true;
                         return shape;
                     }()},
                     Need::required});
        section.add({"deadline",
                     "training time after which the deadline is missed, for miss_probability",
                     in_quotes("60 day"),
                     {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::time}}});
        return section;
    }();
    return table;
}

const Fields<SearchSettings>& search_fields()
{
    const ValueShape rung{.kind = ValueShape::Kind::section,
                          .section = []() -> const SectionTable& { return rung_fields(); }};
    ValueShape rung_list = rung;
    rung_list.list = true;
    static const auto fields =
        Fields<SearchSettings>("[search]", "settings of the search; the defaults suit most studies")
            .custom({"strategy",
                     "search strategy",
                     in_quotes("exact"),
                     {choice_shape(strategy_names)},
                     Need::optional,
                     in_quotes(SearchSettings{}.strategy)},
                    [](const Value& value, SearchSettings& search, Keys) {
                        search.strategy = value.choice(strategy_names(), "search strategies");
                    })
            .integer("max_evaluations", &SearchSettings::max_evaluations, evaluations_range)
            .number("confidence", &SearchSettings::confidence, confidence_range)
            .custom({"rungs",
                     "rungs that plans climb: fleets (random samples of GPUs) and steps drawn per fleet. "
                     "Between them, an exact "
                     "search has rungs of four times the fleets; it draws more fleets of its incumbents if "
                     "their upper confidence "
                     "limits need them. Halving doubles the fleets from the first rung to the last",
                     "[{ fleets = 64, steps = 2 }, { fleets = 2048, steps = 2 }]",
                     {rung_list}},
                    [](const Value& value, SearchSettings& search, Keys) {
                        search.rungs = read_rungs(value);
                    })
            .custom({"confirm",
                     "draws that re-estimate the front, from an independent random stream",
                     std::string(rung_example),
                     {rung}},
                    [](const Value& value, SearchSettings& search, Keys) {
                        search.confirm = read_rung(value);
                    })
            .integer("replicas_simulated", &SearchSettings::replicas_simulated, replicas_range)
            .quantity("gpu_price_limit", &SearchSettings::gpu_price_limit, "4 USD/h",
                      "price per GPU-hour above which hardware variants are excluded")
            .custom({"runnable_by",
                     "search only plans that this training framework can run",
                     in_quotes("megatron"),
                     {choice_shape(trainer_names)}},
                    [](const Value& value, SearchSettings& search, Keys) {
                        search.runnable_by =
                            value.choice(trainer_names(), "trainers that plans can be exported for");
                    })
            .custom(
                {"runs_too",
                 "values of axes, as --design has them, that pass `runnable_by`: the framework runs them, "
                 "although no export writes them",
                 std::string(runs_too_example),
                 {{.kind = ValueShape::Kind::text, .list = true}}},
                [](const Value& value, SearchSettings& search, Keys) {
                    for (const Value& element : value.list(runs_too_example)) {
                        search.runs_too.push_back(read_axis_value(element));
                    }
                })
            .integer("tune_points", &SearchSettings::tune_points, tune_points_range)
            .integer("tune_evaluations", &SearchSettings::tune_evaluations, tune_evaluations_range)
            .integer("tune_fleets", &SearchSettings::tune_fleets, tune_fleets_range)
            .check([](Table& table, const SearchSettings& search) {
                if (const auto value = table.find("runs_too"); value && search.runnable_by.empty()) {
                    value->fail({"has no effect", "there is no runnable_by, which it widens",
                                 "add runnable_by, or remove it"});
                }
                if (const auto value = table.find("tune_fleets")) {
                    whole_blocks(*value, tune_fleets_range);
                }
            });
    return fields;
}

}  // namespace prismopt
