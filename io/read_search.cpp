#include "io/sections.hpp"

#include "io/export/trainer.hpp"
#include "model/objective.hpp"
#include "search/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr int fleet_block = 64;  // fleets are drawn in blocks of this many
constexpr Range fleets_range{"fleets drawn", fleet_block, 1'000'000, "1024"};
constexpr Range evaluations_range{"plans drawn at most", 1, 1'000'000'000, "5000"};
constexpr Range tune_points_range{"points of the front that knobs are tuned for", 1, 1000, "12"};
constexpr Range tune_evaluations_range{"evaluations of one tuning", 10, 1'000'000, "200"};
constexpr Range tune_fleets_range{"fleets drawn in each evaluation of a tuning", 0, 1'000'000, "256"};
constexpr Range steps_range{"steps drawn in each fleet", 1, 10'000, "2"};
constexpr Range confidence_range{"confidence of the whole study", 0.5, 1, "0.95", Range::Ends::open_high};
constexpr Range replicas_range{"data parallel replicas simulated in full", 2, 100'000, "4"};
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

Rung read_rung(const Value& value)
{
    Table table = value.table(rung_example);
    Rung rung;
    rung.fleets = whole_blocks(table.at("fleets", "fleets = 2048"), fleets_range);
    rung.steps = table.at("steps", "steps = 2").count(steps_range);
    table.refuse_unknown_keys();
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
                .fail({"differs from the rung before", "a rung extends the draws of the one before it",
                       fmt::format("write {}", rungs.back().steps)});
        }
        if (!rungs.empty() && rung.fleets <= rungs.back().fleets) {
            element.table("")
                .at("fleets", "")
                .fail({"is not more than the rung before", "each rung adds fleets",
                       fmt::format("write {} or more", rungs.back().fleets + fleet_block)});
        }
        rungs.push_back(rung);
    }
    return rungs;
}

}  // namespace

std::vector<std::string> read_objectives(Table table, Seconds& deadline)
{
    if (const auto value = table.find("deadline")) {
        deadline = value->quantity<Seconds>("60 day");
    }
    std::vector<std::string> names;
    for (const Objective& objective : objectives()) {
        names.emplace_back(objective.name);
    }
    const std::string example = R"(["training_time_p99", "cost", "gpus"])";
    std::vector<std::string> chosen;
    for (const Value& element : table.at("minimise", "minimise = " + example).list(example)) {
        const std::string name = element.choice(names, "objectives that can be minimised");
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

SearchSettings read_search(Table table)
{
    SearchSettings search;
    if (const auto value = table.find("strategy")) {
        search.strategy = value->choice(strategy_names(), "search strategies");
    }
    if (const auto value = table.find("max_evaluations")) {
        search.max_evaluations = static_cast<std::uint64_t>(value->count(evaluations_range));
    }
    if (const auto value = table.find("confidence")) {
        search.confidence = value->number(confidence_range);
    }
    if (const auto value = table.find("rungs")) {
        search.rungs = read_rungs(*value);
    }
    if (const auto value = table.find("confirm")) {
        search.confirm = read_rung(*value);
    }
    if (const auto value = table.find("replicas_simulated")) {
        search.replicas_simulated = value->count(replicas_range);
    }
    if (const auto value = table.find("gpu_price_limit")) {
        search.gpu_price_limit = value->quantity<DollarsPerSecond>("4 USD/h");
    }
    if (const auto value = table.find("runnable_by")) {
        search.runnable_by = value->choice(trainer_names(), "trainers that plans are exported for");
    }
    if (const auto value = table.find("tune_points")) {
        search.tune_points = value->count(tune_points_range);
    }
    if (const auto value = table.find("tune_evaluations")) {
        search.tune_evaluations = value->count(tune_evaluations_range);
    }
    if (const auto value = table.find("tune_fleets")) {
        search.tune_fleets = whole_blocks(*value, tune_fleets_range);
    }
    table.refuse_unknown_keys();
    return search;
}

}  // namespace prismopt
